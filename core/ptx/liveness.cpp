// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/liveness.h"

#include <bit>

namespace trimtab::ptx {

bool RegisterSet::merge(const RegisterSet& other) {
    bool grew = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
        grew = grew || (other.words_[i] & ~words_[i]) != 0;
        words_[i] |= other.words_[i];
    }
    return grew;
}

bool RegisterSet::merge_without(const RegisterSet& other, const RegisterSet& removed) {
    bool grew = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
        const std::uint64_t added = other.words_[i] & ~removed.words_[i];
        grew = grew || (added & ~words_[i]) != 0;
        words_[i] |= added;
    }
    return grew;
}

std::vector<RegisterIndex> RegisterSet::list() const {
    std::vector<RegisterIndex> all;
    for (std::size_t i = 0; i < words_.size(); ++i) {
        for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
            all.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<unsigned>(std::countr_zero(rest))));
    }
    return all;
}

Liveness::Liveness(const Function& function, const ControlFlow& flow)
    : function_(function),
      flow_(flow),
      in_(flow.blocks.size(), RegisterSet(function.registers.size())),
      out_(in_) {
    // What a block reads of before; what it writes first.
    std::vector<RegisterSet> killed = out_;
    for (const BlockIndex b : flow.reverse_post_order) {
        for (std::uint32_t i = flow.blocks[b].last; i-- > flow.blocks[b].first;) {
            step_back(
                function.body[i],
                [&](RegisterIndex reg) {
                    in_[b].insert(reg);
                    killed[b].erase(reg);
                },
                [&](RegisterIndex reg) {
                    in_[b].erase(reg);
                    killed[b].insert(reg);
                });
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (auto at = flow.reverse_post_order.rbegin(); at != flow.reverse_post_order.rend(); ++at) {
            bool grew = false;
            for (const BlockIndex next : flow.blocks[*at].successors)
                grew = out_[*at].merge(in_[next]) || grew;
            if (grew) changed = in_[*at].merge_without(out_[*at], killed[*at]) || changed;
        }
    }
}

RegisterSet Liveness::before(std::uint32_t index) const {
    if (index >= function_.body.size()) return RegisterSet(function_.registers.size());
    const BlockIndex block = flow_.block_of[index];
    RegisterSet live = out_[block];
    for (std::uint32_t i = flow_.blocks[block].last; i-- > index;) {
        step_back(
            function_.body[i], [&live](RegisterIndex reg) { live.insert(reg); },
            [&live](RegisterIndex reg) { live.erase(reg); });
    }
    return live;
}

}  // namespace trimtab::ptx
