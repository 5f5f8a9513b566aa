#include "analysis/register_estimate.h"

#include <algorithm>
#include <vector>

#include "ptx/control_flow.h"

namespace trimtab::analysis {
namespace {

using ptx::Operand;
using ptx::RegisterIndex;

// ptxas's own: the stack pointer, addresses in flight, the constant bank's base. From kernels compiled by
// ptxas 13.0 for sm_75.
constexpr std::uint32_t overhead = 4;
constexpr std::uint32_t least = 10, most = 255;

using Set = std::vector<bool>;

std::uint32_t weight(ptx::Type type) {
    if (type == ptx::Type::pred) return 0;  // predicates have a file of their own
    return std::max(1u, ptx::size_bytes(type) / 4);
}

template <typename Visit>
void for_each_register(const Operand& operand, Visit visit) {
    if (operand.reg != ptx::no_index) visit(operand.reg);
    for (const Operand& element : operand.elements)
        if (element.reg != ptx::no_index) visit(element.reg);
}

class Liveness {
  public:
    Liveness(const ptx::Function& function, const ptx::ControlFlow& flow) : function_(function), flow_(flow) {
        live_in_.assign(flow.blocks.size(), Set(function.registers.size()));
    }

    std::uint32_t peak() {
        for (bool changed = true; changed;) {
            changed = false;
            const auto& order = flow_.reverse_post_order;
            for (auto block = order.rbegin(); block != order.rend(); ++block) {
                Set live = live_out(*block);
                walk(*block, live);
                if (live == live_in_[*block]) continue;
                live_in_[*block] = std::move(live);
                changed = true;
            }
        }
        return peak_;
    }

  private:
    Set live_out(ptx::BlockIndex block) const {
        Set live(function_.registers.size());
        for (const ptx::BlockIndex successor : flow_.blocks[block].successors)
            for (std::size_t r = 0; r < live.size(); r++)
                if (live_in_[successor][r]) live[r] = true;
        return live;
    }

    void walk(ptx::BlockIndex block, Set& live) {
        std::uint32_t alive = 0;
        for (std::size_t r = 0; r < live.size(); r++)
            if (live[r]) alive += weight(function_.registers[r].type);
        const auto set = [&](RegisterIndex reg, bool value) {
            if (live[reg] == value) return;
            live[reg] = value;
            const std::uint32_t size = weight(function_.registers[reg].type);
            alive = value ? alive + size : alive - size;
        };
        peak_ = std::max(peak_, alive);
        for (std::uint32_t i = flow_.blocks[block].last; i-- > flow_.blocks[block].first;) {
            const ptx::Instruction& made = function_.body[i];
            if (made.guard == ptx::no_index)
                for (const Operand& operand : made.destinations())
                    for_each_register(operand, [&](RegisterIndex reg) { set(reg, false); });
            for (const Operand& operand : made.sources())
                for_each_register(operand, [&](RegisterIndex reg) { set(reg, true); });
            if (made.guard != ptx::no_index) set(made.guard, true);
            peak_ = std::max(peak_, alive);
        }
    }

    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    std::vector<Set> live_in_;
    std::uint32_t peak_ = 0;
};

}  // namespace

std::uint32_t estimate_registers(const ptx::Module& module, const ptx::Function& kernel) {
    std::uint32_t own = 0, called = 0;
    for (const ptx::Function* function : reachable_functions(module, kernel)) {
        if (function->body.empty()) continue;
        const auto flow = ptx::control_flow(*function);
        if (!flow) return 0;
        const std::uint32_t peak = Liveness(*function, *flow).peak();
        if (function == &kernel)
            own = peak;
        else
            called = std::max(called, peak);
    }
    std::uint32_t registers = std::clamp(own + called + overhead, least, most);
    if (kernel.max_registers) registers = std::min(registers, *kernel.max_registers);
    return registers;
}

}  // namespace trimtab::analysis
