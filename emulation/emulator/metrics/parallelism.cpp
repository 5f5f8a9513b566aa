// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instruction-level parallelism of a kernel's code: how many instructions of a block there are for each step
// of its longest chain of dependences, every instruction a step, weighted by how often each block ran.
#include <algorithm>
#include <unordered_map>

#include "core/ptx/control_flow.h"
#include "core/ptx/instruction_registers.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/metrics/metrics.h"

namespace trimtab::emulator {
namespace {

std::uint32_t height(const ptx::Function& function, const ptx::BasicBlock& block) {
    std::unordered_map<std::uint32_t, std::uint32_t> ready;  // by register: the step after which it is there
    std::uint32_t highest = 0;
    for (std::uint32_t i = block.first; i < block.last; i++) {
        const ptx::Instruction& instruction = function.body[i];
        std::uint32_t step = 0;
        visit_reads(instruction, [&](std::uint32_t reg) {
            const auto known = ready.find(reg);
            if (known != ready.end()) step = std::max(step, known->second);
        });
        step++;
        visit_writes(instruction, [&](std::uint32_t reg) { ready[reg] = step; });
        highest = std::max(highest, step);
    }
    return highest;
}

}  // namespace

double instruction_parallelism(const Program& program, std::string_view kernel_name,
                               const LaunchCounters& counters) {
    const CompiledKernel* kernel = program.kernel(kernel_name);
    if (kernel == nullptr) return 1;
    double instructions = 0, steps = 0;
    for (std::size_t f = 0; f < kernel->reached().size(); f++) {
        const ptx::Function& function = *kernel->reached()[f];
        const std::uint32_t base = kernel->bases()[f];
        if (base + function.body.size() > counters.instructions.size()) break;
        const auto flow = ptx::control_flow(function);
        if (!flow) continue;
        for (const ptx::BasicBlock& block : flow->blocks) {
            std::uint64_t executions = 0;
            for (std::uint32_t i = block.first; i < block.last; i++)
                executions = std::max(executions, counters.instructions[base + i].warp);
            if (executions == 0) continue;
            instructions += static_cast<double>(executions) * (block.last - block.first);
            steps += static_cast<double>(executions) * height(function, block);
        }
    }
    return steps == 0 ? 1 : std::max(1.0, instructions / steps);
}

}  // namespace trimtab::emulator
