// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/ordering.h"

#include <algorithm>
#include <bit>

namespace trimtab::emulator::check {

bool Ordering::Releaser::covers(std::uint32_t access_time, std::uint32_t acquired_at) const {
    const auto first =
        std::upper_bound(releases.begin(), releases.end(), access_time,
                         [](std::uint32_t time, const Release& release) { return time < release.covers; });
    return first != releases.end() && first->at <= acquired_at;
}

void Ordering::Releaser::release(std::uint32_t covered, std::uint32_t at) {
    // A release that covers no more than the last one tells nobody anything new.
    if (releases.empty() || releases.back().covers < covered) releases.push_back({covered, at});
}

void Ordering::start_block(std::uint64_t linear_index, std::uint32_t warps) {
    auto block = std::make_unique<BlockOrder>();
    block->number = static_cast<std::uint32_t>(blocks_.size());
    block->warps.resize(warps);
    open_[linear_index] = block.get();
    linear_.push_back(linear_index);
    blocks_.push_back(std::move(block));
    current_ = nullptr;
}

void Ordering::finish_block(std::uint64_t linear_index) {
    const auto found = open_.find(linear_index);
    if (found == open_.end()) return;
    found->second->warps = {};
    open_.erase(found);
    current_ = nullptr;
}

void Ordering::enter(std::uint64_t linear_index, std::uint32_t warp) {
    if (current_ == nullptr || current_index_ != linear_index) {
        current_ = open_.at(linear_index);
        current_index_ = linear_index;
    }
    warp_ = warp;
}

void Ordering::fence() {
    time_++;
    current_->releaser.fence = current_->warps[warp_].releaser.fence = time_;
}

void Ordering::acquire() {
    current_->releaser.acquired = current_->warps[warp_].releaser.acquired = time_;
}

void Ordering::release(bool fences) {
    if (fences) fence();
    Releaser& warp = current_->warps[warp_].releaser;
    if (warp.fence == 0 && current_->releaser.fence == 0) return;
    time_++;
    warp.release(warp.fence, time_);
    current_->releaser.release(current_->releaser.fence, time_);
}

void Ordering::synchronize(WarpOrder& warp, std::uint32_t lanes) const {
    std::array<std::uint32_t, warp_lanes> known{};
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        for (unsigned other = 0; other < warp_lanes; other++)
            known[other] = std::max(known[other], warp.known_lanes[lane][other]);
        known[lane] = time_;
    }
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        warp.known_lanes[static_cast<unsigned>(std::countr_zero(rest))] = known;
}

void Ordering::synchronize_lanes(std::uint32_t lanes) {
    time_++;
    synchronize(current_->warps[warp_], lanes);
}

void Ordering::synchronize_warps(std::uint64_t linear_index, std::span<const std::uint32_t> arrived) {
    const auto found = open_.find(linear_index);
    if (found == open_.end()) return;
    std::vector<WarpOrder>& warps = found->second->warps;
    time_++;
    std::array<std::uint32_t, warp_lanes> known{};
    for (std::size_t i = 0; i < arrived.size(); i++) {
        if (arrived[i] == 0) continue;
        for (unsigned other = 0; other < warp_lanes; other++)
            known[other] = std::max(known[other], warps[i].known_warps[other]);
        known[i] = time_;
        synchronize(warps[i], arrived[i]);
    }
    for (std::size_t i = 0; i < arrived.size(); i++) {
        if (arrived[i] != 0) warps[i].known_warps = known;
    }
}

bool Ordering::is_before(const Stamp& access, unsigned lane) const {
    if (access.block != current_->number)
        return blocks_[access.block]->releaser.covers(access.time, current_->releaser.acquired);
    const WarpOrder& own = current_->warps[warp_];
    const std::uint32_t other = access.thread / warp_lanes;
    if (other == warp_) {
        const std::uint32_t other_lane = access.thread % warp_lanes;
        if (other_lane == lane || own.known_lanes[lane][other_lane] > access.time) return true;
    } else if (own.known_warps[other] > access.time) {
        return true;
    }
    return current_->warps[other].releaser.covers(access.time, own.releaser.acquired);
}

}  // namespace trimtab::emulator::check
