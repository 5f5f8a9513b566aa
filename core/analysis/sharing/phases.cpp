// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/phases.h"

#include <algorithm>
#include <utility>

#include "core/analysis/values/instruction_rules.h"

namespace trimtab::analysis {

using ptx::BlockIndex;

std::vector<std::uint32_t> Phases::block_barriers(const FunctionValues& kernel) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = 0; i < kernel.function().body.size(); i++)
        if (kernel.is_reachable(i) && is_block_barrier(kernel, i)) result.push_back(i);
    return result;
}

Phases::Phases(const FunctionValues& kernel) : Phases(kernel, block_barriers(kernel)) {}

Phases::Phases(const FunctionValues& kernel, std::vector<std::uint32_t> barriers)
    : flow_(kernel.flow()),
      barriers_(std::move(barriers)),
      is_barrier_(kernel.function().body.size()),
      masks_(kernel.function().body.size()) {
    for (const std::uint32_t barrier : barriers_) is_barrier_[barrier] = true;
    const auto mark = [&](std::size_t phase, const std::vector<bool>& reached) {
        for (std::size_t i = 0; i < reached.size(); i++)
            if (reached[i]) masks_[i] |= std::uint64_t{1} << std::min<std::size_t>(phase, 63);
    };
    mark(0, reached(0, flow_.blocks[0].first));
    for (std::size_t b = 0; b < barriers_.size(); b++)
        mark(b + 1, reached(flow_.block_of[barriers_[b]], barriers_[b] + 1));
}

// All instructions that are come to from `instruction` on, which is of the block or its end, up to barriers.
std::vector<bool> Phases::reached(BlockIndex block, std::uint32_t instruction) const {
    std::vector<bool> result(is_barrier_.size()), seen(flow_.blocks.size());
    std::vector<std::pair<BlockIndex, std::uint32_t>> work{{block, instruction}};
    while (!work.empty()) {
        const auto [at, first] = work.back();
        work.pop_back();
        std::uint32_t i = first;
        while (i < flow_.blocks[at].last && !is_barrier_[i]) result[i++] = true;
        if (i < flow_.blocks[at].last) continue;
        for (const BlockIndex to : flow_.blocks[at].successors) {
            if (seen[to]) continue;
            seen[to] = true;
            work.emplace_back(to, flow_.blocks[to].first);
        }
    }
    return result;
}

bool Phases::leads(std::uint32_t from, std::uint32_t to) const {
    return reached(flow_.block_of[from], from + 1)[to];
}

}  // namespace trimtab::analysis
