// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/register_estimate.h"

#include <algorithm>

#include "core/ptx/liveness.h"

namespace trimtab::analysis {
namespace {

// ptxas's own: the stack pointer, addresses in flight, the constant bank's base. From kernels compiled by
// ptxas 13.0 for sm_75.
constexpr std::uint32_t overhead = 4;
constexpr std::uint32_t least = 10, most = 255;

std::uint32_t weight(ptx::Type type) {
    if (type == ptx::Type::pred) return 0;  // predicates have a file of their own
    return std::max(1u, ptx::size_bytes(type) / 4);
}

// The most that is live at once, in registers of 32 bits.
std::uint32_t peak(const ptx::Function& function, const ptx::ControlFlow& flow) {
    const ptx::Liveness liveness(function, flow);
    std::uint32_t most_alive = 0;
    for (const ptx::BlockIndex block : flow.reverse_post_order) {
        ptx::RegisterSet live = liveness.out_of(block);
        std::uint32_t alive = 0;
        const auto lives = [&](ptx::RegisterIndex reg) {
            if (!live.contains(reg)) alive += weight(function.registers[reg].type);
            live.insert(reg);
        };
        const auto dies = [&](ptx::RegisterIndex reg) {
            if (live.contains(reg)) alive -= weight(function.registers[reg].type);
            live.erase(reg);
        };
        for (const ptx::RegisterIndex reg : live.list()) alive += weight(function.registers[reg].type);
        most_alive = std::max(most_alive, alive);
        for (std::uint32_t i = flow.blocks[block].last; i-- > flow.blocks[block].first;) {
            ptx::Liveness::step_back(function.body[i], lives, dies);
            most_alive = std::max(most_alive, alive);
        }
    }
    return most_alive;
}

}  // namespace

std::uint32_t estimate_registers(const ptx::Module& module, const ptx::Function& kernel) {
    std::uint32_t own = 0, called = 0;
    for (const ptx::Function* function : reachable_functions(module, kernel)) {
        if (function->body.empty()) continue;
        const auto flow = ptx::control_flow(*function);
        if (!flow) return 0;
        std::uint32_t& most_alive = function == &kernel ? own : called;
        most_alive = std::max(most_alive, peak(*function, *flow));
    }
    std::uint32_t registers = std::clamp(own + called + overhead, least, most);
    if (kernel.max_registers) registers = std::min(registers, *kernel.max_registers);
    return registers;
}

}  // namespace trimtab::analysis
