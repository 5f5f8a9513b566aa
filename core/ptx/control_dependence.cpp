// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/control_dependence.h"

namespace trimtab::ptx {

ControlDependence::ControlDependence(const Function& function, const ControlFlow& flow)
    : direct_(flow.blocks.size()) {
    for (const BlockIndex branch : flow.reverse_post_order) {
        const BasicBlock& block = flow.blocks[branch];
        if (block.first == block.last || block.successors.empty()) continue;
        const Instruction& last = function.body[block.last - 1];
        const bool is_indirect = last.opcode == Opcode::brx;
        const bool is_conditional = is_indirect || last.guard != no_index;
        if (!is_conditional) continue;
        for (std::size_t i = 0; i < block.successors.size(); i++) {
            const bool goes_there = last.opcode == Opcode::bra && i == 0;
            const std::uint8_t way = is_indirect ? one_of_many : goes_there ? taken : falls_through;
            // What post-dominates the branch is reached either way.
            for (BlockIndex at = block.successors[i];
                 at != no_index && at != flow.immediate_post_dominator[branch];
                 at = flow.immediate_post_dominator[at])
                direct_[at].push_back({branch, way});
        }
    }
}

std::map<BlockIndex, std::uint8_t> ControlDependence::deciding(BlockIndex block) const {
    std::map<BlockIndex, std::uint8_t> result;
    (void)reached_from(direct_.size(), {block}, [&](BlockIndex at, const auto& go) {
        for (const Edge& edge : direct_[at]) {
            result[edge.branch] |= edge.way;
            go(edge.branch);
        }
    });
    return result;
}

}  // namespace trimtab::ptx
