// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/reuse_distance.h"

namespace trimtab::pruning {

namespace {

std::uint64_t mixed(std::uint64_t line) {
    return (line * 0x9e3779b97f4a7c15u) >> 24;
}

}  // namespace

void ReuseCache::clear() {
    if (++epoch_ == 0) {
        slots_.assign(slots_.size(), {});
        epoch_ = 1;
    }
    nodes_.clear();
    held_ = 0;
    first_ = last_ = none;
}

std::uint32_t ReuseCache::find_or_add(std::uint64_t line) {
    if (2 * nodes_.size() >= slots_.size()) grow();
    for (std::size_t at = mixed(line) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
        Slot& slot = slots_[at];
        if (slot.epoch != epoch_) {
            slot = {.epoch = epoch_, .node = static_cast<std::uint32_t>(nodes_.size())};
            nodes_.push_back({.line = line, .sectors = 0});
            return slot.node;
        }
        if (nodes_[slot.node].line == line) return slot.node;
    }
}

void ReuseCache::grow() {
    std::vector<Slot> wider(slots_.size() * 2);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        std::size_t at = mixed(nodes_[node].line) & (wider.size() - 1);
        while (wider[at].epoch == epoch_) at = (at + 1) & (wider.size() - 1);
        wider[at] = {.epoch = epoch_, .node = node};
    }
    slots_ = std::move(wider);
}

void ReuseCache::unlink(std::uint32_t node) {
    const Node& own = nodes_[node];
    (own.before == none ? first_ : nodes_[own.before].after) = own.after;
    (own.after == none ? last_ : nodes_[own.after].before) = own.before;
}

void ReuseCache::put_first(std::uint32_t node) {
    nodes_[node].before = none;
    nodes_[node].after = first_;
    (first_ == none ? last_ : nodes_[first_].before) = node;
    first_ = node;
}

std::uint32_t ReuseCache::missing(std::uint64_t line, std::uint32_t sectors) {
    if (capacity_ == 0 || sectors == 0) return sectors;
    const std::uint32_t node = find_or_add(line);
    const std::uint32_t there = nodes_[node].sectors;
    if (there == 0) {
        if (held_ == capacity_) {
            nodes_[last_].sectors = 0;
            unlink(last_);
        } else {
            ++held_;
        }
        put_first(node);
    } else if (first_ != node) {
        unlink(node);
        put_first(node);
    }
    nodes_[node].sectors = there | sectors;
    return sectors & ~there;
}

}  // namespace trimtab::pruning
