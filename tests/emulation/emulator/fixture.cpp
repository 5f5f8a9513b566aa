// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/fixture.h"

#include <fmt/format.h>

#include "core/ptx/module.h"

namespace trimtab::emulator::test {

GlobalMemory::Range HostMemory::range_of(std::uint64_t address, Access) {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return {};
    const auto [first, size] = *std::prev(after);
    if (address >= first + size) return {};
    return {first, first + size, reinterpret_cast<std::byte*>(first)};
}

std::string HostMemory::explain(std::uint64_t address) const {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return "below every allocation";
    const auto [first, size] = *std::prev(after);
    return fmt::format("{} bytes past the end of an allocation of {} bytes", address - first - size, size);
}

std::shared_ptr<Program> load(std::string_view ptx) {
    auto module = ptx::parse(ptx, "test.ptx");
    if (!module) {
        ADD_FAILURE() << module.error().text();
        return nullptr;
    }
    auto program = load_program(std::move(*module));
    if (!program) {
        ADD_FAILURE() << program.error().text();
        return nullptr;
    }
    return *program;
}

std::expected<LaunchResult, Fault> try_run(Program& program, GlobalMemory& memory, std::string_view kernel,
                                           const Grid& grid, const Parameters& parameters,
                                           const CountingPlan& counting) {
    LaunchRequest request;
    request.kernel = kernel;
    request.grid = grid.grid;
    request.block = grid.block;
    request.dynamic_shared_bytes = grid.shared_bytes;
    request.parameters = parameters.bytes();
    request.counting = counting;
    request.threads = grid.threads;
    request.instruction_limit = 1u << 28;  // a test that hangs is a test that fails
    return launch(program, memory, request);
}

LaunchResult run(Program& program, GlobalMemory& memory, std::string_view kernel, const Grid& grid,
                 const Parameters& parameters, const CountingPlan& counting) {
    auto result = try_run(program, memory, kernel, grid, parameters, counting);
    if (result) return *result;
    ADD_FAILURE() << result.error().message;
    return {};
}

}  // namespace trimtab::emulator::test
