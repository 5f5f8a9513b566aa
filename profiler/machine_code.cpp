// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/machine_code.h"

#include "emulation/emulator/exec/program.h"

namespace trimtab::profiler {

std::vector<sass::PtxCounts> ptx_counts(const emulator::Program& program, std::string_view kernel_name,
                                        const emulator::LaunchCounters& counters) {
    std::vector<sass::PtxCounts> out;
    const emulator::CompiledKernel* kernel = program.kernel(kernel_name);
    if (kernel == nullptr) return out;
    for (std::size_t f = 0; f < kernel->reached().size(); ++f) {
        sass::PtxCounts one{.function = kernel->reached()[f], .executions = {}};
        for (std::size_t i = 0; i < one.function->body.size(); ++i) {
            const std::size_t index = kernel->bases()[f] + i;
            one.executions.push_back(
                index < counters.instructions.size() ? double(counters.instructions[index].warp) : 0);
        }
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace trimtab::profiler
