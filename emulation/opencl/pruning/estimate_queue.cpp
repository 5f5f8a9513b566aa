// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/estimate_queue.h"

#include <algorithm>
#include <array>
#include <map>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trimtab::pruning {

EstimateQueue::EstimateQueue(std::span<const SizeToEstimate> sizes, std::function<double(std::size_t)> round)
    : round_(std::move(round)) {
    constexpr std::uint32_t together = 8;  // elements of 4 bytes in a sector
    std::map<std::array<std::uint32_t, 5>, std::vector<SizeToEstimate>> alike;
    for (const SizeToEstimate& one : sizes) {
        if (known_.size() <= one.index) known_.resize(one.index + 1);
        known_[one.index].rounds = one.rounds;
        alike[{one.size.z, one.size.y, (one.size.x - 1) / together, one.groups_at_once, one.warps_at_once}]
            .push_back(one);
    }
    for (auto& [key, ones] : alike) {
        std::ranges::sort(ones, {}, [](const SizeToEstimate& one) { return one.size.x; });
        const std::size_t first = ones.front().index, last = ones.back().index;
        double least = make(first);
        if (last != first) least = std::min(least, make(last));
        for (const SizeToEstimate& one : ones) {
            if (!known_[one.index].is_made) known_[one.index].estimate = least * one.rounds;
            waiting_.insert(waiting_of(one.index));
        }
    }
}

double EstimateQueue::make(std::size_t index) {
    const double round = round_(index);
    known_[index].estimate = round * known_[index].rounds;
    known_[index].is_made = true;
    return round;
}

EstimateQueue::Waiting EstimateQueue::waiting_of(std::size_t index) const {
    return {.estimate = known_[index].estimate, .hash = XXH3_64bits(&index, sizeof index), .index = index};
}

std::optional<std::size_t> EstimateQueue::first_between(double from, double to) {
    for (;;) {
        const auto first = std::ranges::lower_bound(waiting_, from, {}, &Waiting::estimate);
        if (first == waiting_.end() || first->estimate > to) return std::nullopt;
        const std::size_t index = first->index;
        if (known_[index].is_made) return index;
        waiting_.erase(first);
        make(index);
        waiting_.insert(waiting_of(index));
    }
}

}  // namespace trimtab::pruning
