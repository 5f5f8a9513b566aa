// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/exchange_piece.h"

#include <algorithm>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;

std::optional<ExchangePiece> piece_around(const ptx::ControlFlow& flow, const std::vector<BlockIndex>& held) {
    BlockIndex from = held.front(), to = held.front();
    // A loop of the one block that the other is not in.
    const auto is_deeper = [&](BlockIndex block, BlockIndex other) {
        for (std::uint32_t l = flow.innermost_loop[block]; l != no_index; l = flow.loops[l].parent)
            if (!flow.loops[l].contains(other)) return true;
        return false;
    };
    for (bool changed = true; changed;) {
        changed = false;
        while (!std::ranges::all_of(held, [&](BlockIndex b) { return flow.dominates(from, b); }) ||
               !flow.dominates(from, to) || is_deeper(from, to)) {
            if (from == 0) return std::nullopt;
            from = flow.immediate_dominator[from];
            changed = true;
        }
        while (!std::ranges::all_of(held, [&](BlockIndex b) { return flow.post_dominates(to, b); }) ||
               !flow.post_dominates(to, from) || is_deeper(to, from)) {
            to = flow.immediate_post_dominator[to];
            if (to == no_index) return std::nullopt;
            changed = true;
        }
    }
    ExchangePiece piece{from, to,
                        ptx::reached_from(flow.blocks.size(), {from}, [&](BlockIndex at, const auto& go) {
                            for (const BlockIndex next : flow.blocks[at].successors)
                                if (at != to) go(next);
                        })};
    piece.blocks[from] = piece.blocks[to] = true;
    return piece;
}

WarpBytes dynamic_shared_of(std::span<const ExchangeOutcome> outcomes, std::span<const unsigned> threads) {
    const auto warps = [&](std::size_t at) { return std::uint64_t{threads[at] / warp_size}; };
    WarpBytes needed;
    for (std::size_t at = 1; at < outcomes.size(); at++) {
        const std::uint64_t bytes = outcomes[at].dynamic_bytes;
        if (bytes > outcomes[0].dynamic_bytes)
            needed.a_warp = std::max(needed.a_warp,
                                     (bytes - outcomes[0].dynamic_bytes + warps(at) - 2) / (warps(at) - 1));
    }
    if (!outcomes.empty() && outcomes[0].dynamic_bytes > needed.a_warp * warps(0))
        needed.a_block = outcomes[0].dynamic_bytes - needed.a_warp * warps(0);
    return needed;
}

}  // namespace trimtab::analysis
