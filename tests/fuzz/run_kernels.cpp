// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fuzz/run_kernels.h"

#include "emulation/emulator/check/checker.h"

namespace trimtab::fuzz {

using namespace emulator;

Regions::Regions() {
    for (std::uint64_t i = 0; i < count; i++) regions_.push_back(std::make_unique<std::byte[]>(bytes));
}

GlobalMemory::Range Regions::range_of(std::uint64_t address, Access) {
    if (address < first) return {};
    const std::uint64_t region = (address - first) / (bytes + gap);
    const std::uint64_t start = first + region * (bytes + gap);
    if (region >= count || address >= start + bytes) return {};
    return {.first = start, .end = start + bytes, .host = regions_[region].get()};
}

std::string Regions::explain(std::uint64_t) const {
    return "in no region";
}

void run_some(Program& program, GlobalMemory& memory, std::string_view kernel, const trimtab_dim3& grid,
              const trimtab_dim3& block, std::uint32_t dynamic_shared_bytes,
              std::span<const std::byte> parameters, Watch watch) {
    LaunchRequest request;
    request.kernel = kernel;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared_bytes = dynamic_shared_bytes;
    request.parameters = parameters;
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    request.blocks = {0};
    if (blocks > 1) request.blocks.push_back(blocks - 1);
    request.instruction_limit = 20000;
    request.threads = 1;
    request.print = [](std::string_view) {};
    check::Checker checker({.memory = true, .race = true, .init = true, .sync = true});
    if (watch == Watch::counted) {
        request.counting.count = request.counting.footprints = true;
        request.counting.groups = {{0}};
    }
    if (watch == Watch::checked) {
        request.observer = &checker;
        checker.begin_launch();
    }
    (void)emulator::launch(program, memory, request);
    if (watch == Watch::checked) {
        checker.end_launch();
        (void)checker.json();
    }
}

}  // namespace trimtab::fuzz
