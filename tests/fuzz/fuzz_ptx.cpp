// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <string>

#include "core/analysis/describe.h"
#include "core/ptx/module.h"
#include "emulation/emulator/exec/launch.h"
#include "tests/fuzz/run_kernels.h"
#include "tests/fuzz/targets.h"

namespace trimtab::fuzz {

void fuzz_ptx(Input input) {
    const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
    auto parsed = ptx::parse(text, "fuzzed.ptx");
    if (!parsed) return;
    std::vector<ptx::Module> modules;
    modules.push_back(std::move(*parsed));
    auto linked = ptx::link(std::move(modules));
    if (!linked) return;
    const analysis::Image image{
        .module = &*linked, .architecture = "sm_75", .resources = {}, .resources_from = ""};
    (void)analysis::describe({&image, 1}, {});
    auto program = emulator::load_program(std::move(*linked));
    if (!program) return;
    // Which way the kernels are watched is the input's choice too.
    const auto watch = static_cast<Watch>(input.size() % 3);
    for (const emulator::KernelInfo& kernel : emulator::kernels(**program)) {
        std::vector<std::byte> parameters(kernel.parameter_bytes);
        for (std::size_t i = 0; i + 8 <= parameters.size(); i += 8) {
            const std::uint64_t value = Regions::first + i / 8 % 4 * (Regions::bytes + Regions::gap);
            std::memcpy(parameters.data() + i, &value, sizeof value);
        }
        Regions memory;
        run_some(**program, memory, kernel.name, {2, 1, 1}, {48, 1, 1}, 256, parameters, watch);
    }
}

}  // namespace trimtab::fuzz
