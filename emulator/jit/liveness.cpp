#include "emulator/jit/liveness.h"

#include <bit>

#include "emulator/exec/instruction_registers.h"

namespace trimtab::emulator::jit {

bool RegisterSet::merge(const RegisterSet& other) {
    bool grew = false;
    for (std::size_t i = 0; i < words_.size(); i++) {
        grew = grew || (other.words_[i] & ~words_[i]) != 0;
        words_[i] |= other.words_[i];
    }
    return grew;
}

std::vector<ptx::RegisterIndex> RegisterSet::list() const {
    std::vector<ptx::RegisterIndex> all;
    for (std::size_t i = 0; i < words_.size(); i++) {
        for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
            all.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<unsigned>(std::countr_zero(rest))));
    }
    return all;
}

Liveness::Liveness(const ptx::Function& function, const ptx::ControlFlow& flow)
    : function_(function),
      flow_(flow),
      in_(flow.blocks.size(), RegisterSet(function.registers.size())),
      out_(in_) {
    for (bool changed = true; changed;) {
        changed = false;
        for (auto at = flow.reverse_post_order.rbegin(); at != flow.reverse_post_order.rend(); ++at) {
            const ptx::BasicBlock& block = flow.blocks[*at];
            for (const ptx::BlockIndex next : block.successors) (void)out_[*at].merge(in_[next]);
            RegisterSet live = out_[*at];
            for (std::uint32_t i = block.last; i-- > block.first;) step_back(live, i);
            changed = in_[*at].merge(live) || changed;
        }
    }
}

void Liveness::step_back(RegisterSet& live, std::uint32_t index) const {
    const ptx::Instruction& instruction = function_.body[index];
    // What is written under a guard alone keeps its old value elsewhere.
    if (instruction.guard == ptx::no_index)
        visit_writes(instruction, [&live](ptx::RegisterIndex reg) { live.erase(reg); });
    else
        visit_writes(instruction, [&live](ptx::RegisterIndex reg) { live.insert(reg); });
    visit_reads(instruction, [&live](ptx::RegisterIndex reg) { live.insert(reg); });
}

RegisterSet Liveness::before(std::uint32_t index) const {
    if (index >= function_.body.size()) return RegisterSet(function_.registers.size());
    const ptx::BlockIndex block = flow_.block_of[index];
    RegisterSet live = out_[block];
    for (std::uint32_t i = flow_.blocks[block].last; i-- > index;) step_back(live, i);
    return live;
}

}  // namespace trimtab::emulator::jit
