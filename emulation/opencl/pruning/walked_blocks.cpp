// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/walked_blocks.h"

#include <algorithm>
#include <utility>

namespace trimtab::pruning {

namespace {

// Iterations that show what a loop's others do, where only their number is asked for.
constexpr std::uint32_t counted_iterations = 8;

}  // namespace

WalkedBlocks::WalkedBlocks(WarpWalk& walk, trimtab_dim3 grid, trimtab_dim3 group)
    : walk_(walk), grid_(grid), group_(group) {
    const std::uint32_t items = group.x * group.y * group.z;
    for (std::uint32_t w = 0; w * warp_lanes < items; ++w)
        lanes_.push_back(WarpLanes::of({group.x, group.y, group.z}, w));
}

WalkPlace WalkedBlocks::place_of(std::uint64_t block, std::uint32_t warp) const {
    return {.group = {group_.x, group_.y, group_.z},
            .groups = {grid_.x, grid_.y, grid_.z},
            .index = {static_cast<std::uint32_t>(block % grid_.x),
                      static_cast<std::uint32_t>(block / grid_.x % grid_.y),
                      static_cast<std::uint32_t>(block / grid_.x / grid_.y)},
            .warp = warp};
}

std::expected<schedule::RecordedBlocks, Error> WalkedBlocks::record(const schedule::BuiltCode& code,
                                                                    const schedule::StoreRules& stores,
                                                                    std::span<const std::uint64_t> blocks) {
    schedule::TraceWriter writer(code, stores);
    std::uint64_t instructions = 0;
    for (const std::uint64_t block : blocks) {
        const std::size_t number = writer.begin_block(block, lanes_.size());
        for (std::uint32_t w = 0; w < lanes_.size(); ++w)
            instructions += walk_.walk(place_of(block, w), lanes_[w], &writer, {.block = number, .warp = w});
    }
    schedule::RecordedBlocks out = writer.take();
    out.warp_instructions = instructions;
    return out;
}

std::expected<std::uint64_t, Error> WalkedBlocks::count(std::span<const std::uint64_t> blocks) {
    const std::uint32_t kept = std::exchange(walk_.settings.kept_iterations, counted_iterations);
    std::uint64_t instructions = 0;
    for (const std::uint64_t block : blocks)
        for (std::uint32_t w = 0; w < lanes_.size(); ++w)
            instructions += walk_.walk(place_of(block, w), lanes_[w], nullptr, {});
    walk_.settings.kept_iterations = kept;
    return instructions;
}

std::vector<std::uint64_t> WalkedBlocks::first_addresses(const schedule::BuiltCode& code,
                                                         std::uint64_t block) {
    const std::uint32_t kept = std::exchange(walk_.settings.kept_iterations, counted_iterations);
    schedule::TraceWriter writer(code, {});
    const std::size_t number = writer.begin_block(block, lanes_.size());
    // A later warp is asked where those before make no access of a kind.
    const std::vector<std::uint64_t>& first = writer.recorded().first_addresses.front();
    for (std::uint32_t w = 0; w < lanes_.size() && (w == 0 || std::ranges::find(first, 0u) != first.end());
         ++w)
        walk_.walk(place_of(block, w), lanes_[w], &writer, {.block = number, .warp = w});
    walk_.settings.kept_iterations = kept;
    return first;
}

}  // namespace trimtab::pruning
