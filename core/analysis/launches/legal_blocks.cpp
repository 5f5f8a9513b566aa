// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/legal_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/free_totals.h"
#include "core/model/launch_configuration.h"

namespace trimtab::analysis {
namespace {

// Up to here a global index is the same number as u32, s32, u64 and s64: what the proof took for granted when
// it let index values through sign and zero extensions.
constexpr std::uint64_t max_extent = 0x7fffffff;

using model::components;
using Extents = std::array<std::uint64_t, 3>;

trimtab_dim3 to_dim3(const Extents& value) {
    return {static_cast<std::uint32_t>(value[0]), static_cast<std::uint32_t>(value[1]),
            static_cast<std::uint32_t>(value[2])};
}

// A device's limit as an integer; 0 where the description has none.
std::uint64_t limit(double value) {
    return value >= 1 ? static_cast<std::uint64_t>(std::min(value, 4294967295.0)) : 0;
}

struct Limits {
    Extents max_block{}, max_grid{};
    std::uint64_t max_threads = 0, warp_size = 32;
};

Limits device_limits(const trimtab_device& device, const trimtab_image& image) {
    Limits limits;
    limits.max_block = {limit(device.max_block_x), limit(device.max_block_y), limit(device.max_block_z)};
    limits.max_grid = {limit(device.max_grid_x), limit(device.max_grid_y), limit(device.max_grid_z)};
    limits.max_threads = limit(device.max_threads_per_block);
    limits.warp_size = std::max<std::uint64_t>(1, limit(device.warp_size));
    if (const std::uint64_t own = limit(image.max_threads_per_block); own != 0)
        limits.max_threads = std::min(limits.max_threads, own);
    return limits;
}

// The threads that a block's registers allow: they are given out by the warp, in units. Where register counts
// are estimates, the launch as written is the better witness.
std::uint64_t register_limit(const trimtab_device& device, const trimtab_image& image,
                             std::uint64_t warp_size, std::uint64_t written_threads) {
    const std::uint64_t unit = std::max<std::uint64_t>(1, limit(device.register_allocation_unit));
    const std::uint64_t a_warp = (limit(image.registers_per_thread) * warp_size + unit - 1) / unit * unit;
    const std::uint64_t a_block = limit(device.registers_per_block);
    if (a_warp == 0 || a_block == 0) return std::numeric_limits<std::uint64_t>::max();
    return std::max(a_block / a_warp * warp_size, written_threads);
}

// Why the launch as written is not valid itself; empty where it is.
std::string written_fault(const Extents& grid, const Extents& block, const Limits& limits) {
    std::uint64_t threads = 1;
    for (std::size_t d = 0; d < 3; d++) {
        if (grid[d] == 0 || block[d] == 0)
            return fmt::format("the launch as written has no threads in {}", model::axis_names[d]);
        if (grid[d] > limits.max_grid[d])
            return fmt::format("the grid as written has {} blocks in {}, the device allows {}", grid[d],
                               model::axis_names[d], limits.max_grid[d]);
        threads *= block[d];
        if (block[d] > limits.max_block[d] || threads > limits.max_threads)
            return fmt::format("the block as written ({}, {}, {}) is above the kernel's limit of {} threads",
                               block[0], block[1], block[2], limits.max_threads);
    }
    return {};
}

class Tails {
  public:
    // Threads past the extent of a `free` dimension work as the others do.
    Tails(const KernelDescription& description, ArgumentBytes arguments, const Extents& extent,
          const Extents& max_block, const std::array<bool, 3>& free)
        : description_(description),
          arguments_(arguments),
          offsets_(description.parameter_offsets()),
          extent_(extent),
          max_block_(max_block),
          free_(free) {}

    // Which of `candidates` can be covered: every index past the extent exits. Threads past a covered
    // dimension's extent exit whatever their other indices are, so the proof for the next dimension may leave
    // them out; those of a dimension that is not covered do not exist.
    std::array<bool, 3> covered(std::array<bool, 3> candidates) const {
        std::array<bool, 3> shown{};
        bool progress = true;
        while (progress) {
            progress = false;
            for (std::size_t d = 0; d < 3; d++) {
                if (!candidates[d] || shown[d] || !exits_past(d, candidates, shown)) continue;
                shown[d] = progress = true;
            }
        }
        // Give up one dimension after the other: without its tail, the rest may be shown.
        for (std::size_t d = 3; d-- > 0;) {
            if (!candidates[d] || shown[d]) continue;
            candidates[d] = false;
            return covered(candidates);
        }
        return shown;
    }

  private:
    bool exits_past(std::size_t dimension, const std::array<bool, 3>& candidates,
                    const std::array<bool, 3>& shown) const {
        IndexBox box;
        for (std::size_t d = 0; d < 3; d++) {
            const bool has_tail = free_[d] || (candidates[d] && !shown[d]);
            box[d] = {0, extent_[d] - 1 + (has_tail ? max_block_[d] : 0)};
        }
        box[dimension] = {extent_[dimension], extent_[dimension] - 1 + max_block_[dimension]};
        return std::ranges::any_of(description_.guards, [&](const Guard& guard) {
            return static_cast<std::size_t>(guard.dimension) == dimension &&
                   truth(guard.exits, arguments_, offsets_, box) == Truth::always;
        });
    }

    const KernelDescription& description_;
    ArgumentBytes arguments_;
    std::vector<std::uint32_t> offsets_;
    const Extents& extent_;
    const Extents& max_block_;
    const std::array<bool, 3>& free_;
};

// Where the covering grid may have more threads than the launch as written, and they go on by as many.
std::array<bool, 3> totals(const KernelDescription& description, ArgumentBytes arguments,
                           const Extents& extent, const Extents& most, const Extents& written) {
    if (description.strides.empty() || description.verdict == Verdict::annotated) return {};
    return free_totals(description, arguments, extent, most, written);
}

// The warp size, so that no block wastes lanes, unless the launch as written is smaller, or no block of whole
// warps divides the extents that must be divided.
std::uint32_t thread_multiple(const trimtab_limits& limits, const Extents& block, std::uint64_t warp_size) {
    const Extents extent = components(limits.extent), max_block = components(limits.max_block);
    const std::uint64_t threads = block[0] * block[1] * block[2];
    const bool at_least_a_warp =
        extent[0] >= warp_size || extent[1] >= warp_size || extent[0] * extent[1] >= warp_size ||
        extent[0] * extent[1] * std::min<std::uint64_t>(extent[2], warp_size) >= warp_size;
    if (threads % warp_size != 0 && !at_least_a_warp) return 1;
    std::uint64_t reachable = 1;
    for (std::size_t d = 0; d < 3; d++) {
        const std::uint64_t largest = std::bit_floor(max_block[d]);
        const bool divides = (limits.dividing >> d & 1) != 0;
        const std::uint64_t power_of_two = extent[d] & (std::uint64_t{0} - extent[d]);
        reachable *= divides ? std::min(power_of_two, largest) : largest;
    }
    return reachable % warp_size == 0 && limits.max_threads >= warp_size
               ? static_cast<std::uint32_t>(warp_size)
               : 1;
}

unsigned capability(std::string_view architecture) {
    if (architecture.starts_with("sm_")) architecture.remove_prefix(3);
    unsigned value = 0;
    std::from_chars(architecture.data(), architecture.data() + architecture.size(), value);
    return value;
}

// `other_extent`: of a launch that takes the place of the one written, null for its own. `is_other_body`: the one
// written is of another body.
std::expected<trimtab_limits, std::string> judge(const KernelDescription& description,
                                                 ArgumentBytes arguments, trimtab_dim3 grid,
                                                 trimtab_dim3 block, const trimtab_device& device,
                                                 const trimtab_image& image, const Extents* other_extent,
                                                 bool is_other_body = false) {
    if (description.verdict == Verdict::fixed)
        return std::unexpected(description.reasons.empty() ? "the kernel is left alone"
                                                           : description.reasons.front().text);
    Limits limits = device_limits(device, image);
    const Extents grids = components(grid), blocks = components(block);
    if (std::string fault = built_in_block_mismatch(description, blocks); !fault.empty())
        return std::unexpected(std::move(fault));
    for (std::size_t d = 0; d < 3 && description.verdict != Verdict::annotated; d++) {
        if (grids[d] > max_blocks_in_dimension)
            return std::unexpected(
                fmt::format("{} blocks in {} are more than 2^24 - 1", grids[d], model::axis_names[d]));
        limits.max_grid[d] = std::min<std::uint64_t>(limits.max_grid[d], max_blocks_in_dimension);
    }
    if (std::string fault = written_fault(grids, blocks, limits); !fault.empty() && !is_other_body)
        return std::unexpected(std::move(fault));
    // The block as written is known to have registers enough; of this body.
    const std::uint64_t known_threads = is_other_body ? 0 : blocks[0] * blocks[1] * blocks[2];
    limits.max_threads =
        std::min(limits.max_threads, register_limit(device, image, limits.warp_size, known_threads));
    for (std::uint64_t& extent : limits.max_block) extent = std::min(extent, limits.max_threads);

    if (other_extent != nullptr && description.keeps_grid())
        return std::unexpected("the number of blocks must stay as it is");
    Extents extent = description.counted_extent(grid, block);
    std::array<bool, 3> may_cover{};
    bool changed = false;
    trimtab_limits result{};
    for (std::size_t d = 0; d < 3; d++) {
        const char dimension = model::axis_names[d];
        const bool is_other = other_extent != nullptr && (*other_extent)[d] != extent[d];
        if (is_other) {
            if (!description.reads_total(d) || (*other_extent)[d] == 0)
                return std::unexpected(
                    fmt::format("the number of threads in {} must stay as it is", dimension));
            extent[d] = (*other_extent)[d];
        }
        changed |= is_other;
        if (extent[d] > max_extent)
            return std::unexpected(
                fmt::format("{} threads in {} are more than 2^31 - 1", extent[d], dimension));
        const bool has_one = description.dimensions[d].block == BlockWidth::one;
        if (has_one && blocks[d] != 1)
            return std::unexpected(fmt::format(
                "the kernel reads blockIdx.{0} without threadIdx.{0}, and the block has {1} threads in {0}",
                dimension, blocks[d]));
        if (!is_other_body && description.dimensions[d].block == BlockWidth::powers &&
            !std::has_single_bit(blocks[d]))
            return std::unexpected(
                fmt::format("the exchange between its threads is proved only for a power of two of them; "
                            "this block has {} in {}",
                            blocks[d], dimension));
        if (!is_other_body && description.is_of_warps(d) &&
            (blocks[d] % warp_size != 0 || limits.warp_size != warp_size))
            return std::unexpected(fmt::format(
                "the proof covers only whole warps; this block has {} threads in {}", blocks[d], dimension));
        if (!description.reads(d) && extent[d] != 1)
            return std::unexpected(
                fmt::format("the kernel has no index in {0}, and the launch has {1} threads in {0}",
                            dimension, extent[d]));
        if (!description.varies(d)) {
            limits.max_block[d] = 1;
            continue;
        }
        // The covering grid's last index must stay in range too.
        may_cover[d] =
            description.dimensions[d].index == Index::global && extent[d] + limits.max_block[d] <= max_extent;
    }
    if (const std::uint64_t threads = blocks[0] * blocks[1] * blocks[2];
        threads < description.least_threads && !is_other_body)
        return std::unexpected(fmt::format("its first {} threads fill shared memory; this block has only {}",
                                           description.least_threads, threads));
    if (!indices_are_apart(description, arguments, extent))
        return std::unexpected(
            "it has barriers, and with these arguments its threads may touch the same memory");
    // The user answers for it.
    if (description.verdict == Verdict::annotated) may_cover = {};
    Extents most{};  // that any launch has which is allowed here, or the one written
    for (std::size_t d = 0; d < 3; d++)
        most[d] = description.grid_stays(d)
                      ? std::max(limits.max_block[d], blocks[d])
                      : std::max(extent[d] + limits.max_block[d] - 1, grids[d] * blocks[d]);
    Extents written{};  // threads of this body; of another one's launch nothing follows
    for (std::size_t d = 0; d < 3 && !is_other_body; d++)
        written[d] = description.grid_stays(d) ? blocks[d] : grids[d] * blocks[d];
    const std::array<bool, 3> free = totals(description, arguments, extent, most, written);
    for (std::size_t d = 0; d < 3; d++) {
        if (!description.grid_stays(d)) continue;
        if (!free[d] && description.verdict != Verdict::annotated)
            return std::unexpected(
                fmt::format("with these arguments, its loops over threadIdx.{} are not proved to give the "
                            "same results in other blocks",
                            model::axis_names[d]));
        // From here on the indices of a block: nothing need cover them, and no block is too large for them.
        extent[d] = most[d];
    }
    if (changed && free == std::array<bool, 3>{})
        return std::unexpected("the number of threads must stay as it is");
    const auto covered = Tails(description, arguments, extent, limits.max_block, free).covered(may_cover);
    for (std::uint32_t d = 0; d < 3; d++)
        if (!covered[d] && !free[d] && limits.max_block[d] > 1 && description.verdict != Verdict::annotated)
            result.dividing |= 1u << d;
    result.extent = to_dim3(extent);
    result.max_block = to_dim3(limits.max_block);
    result.max_grid = to_dim3(limits.max_grid);
    result.max_threads = static_cast<std::uint32_t>(limits.max_threads);
    result.thread_multiple = thread_multiple(result, blocks, limits.warp_size);
    // Multiples of what is needed are never less.
    if (const std::uint32_t least = description.least_threads; least > result.thread_multiple)
        result.thread_multiple =
            (least + result.thread_multiple - 1) / result.thread_multiple * result.thread_multiple;
    // What a block gets without cudaFuncSetAttribute.
    result.max_dynamic_shared_bytes =
        static_cast<std::uint32_t>(limit(device.shared_bytes_per_block - image.static_shared_bytes));
    return result;
}

}  // namespace

std::expected<trimtab_limits, std::string> legal_blocks(const KernelDescription& description,
                                                        ArgumentBytes arguments, trimtab_dim3 grid,
                                                        trimtab_dim3 block, const trimtab_device& device,
                                                        const trimtab_image& image) {
    return judge(description, arguments, grid, block, device, image, nullptr);
}

std::expected<trimtab_limits, std::string> legal_blocks_of_body(const KernelDescription& description,
                                                                ArgumentBytes arguments, trimtab_dim3 grid,
                                                                trimtab_dim3 block,
                                                                const trimtab_device& device,
                                                                const trimtab_image& image) {
    return judge(description, arguments, grid, block, device, image, nullptr, true);
}

std::expected<trimtab_limits, std::string> legal_blocks_of_total(
    const KernelDescription& description, ArgumentBytes arguments, trimtab_dim3 grid, trimtab_dim3 block,
    const trimtab_device& device, const trimtab_image& image, trimtab_dim3 extent) {
    const Extents other = components(extent);
    return judge(description, arguments, grid, block, device, image, &other);
}

trimtab_dim3 covering_grid(const trimtab_limits& limits, trimtab_dim3 block) {
    const Extents extent = components(limits.extent), blocks = components(block);
    Extents grid{};
    for (std::size_t d = 0; d < 3; d++)
        grid[d] = blocks[d] == 0 ? 0 : (extent[d] + blocks[d] - 1) / blocks[d];
    return to_dim3(grid);
}

bool is_legal(const trimtab_limits& limits, trimtab_dim3 block) {
    const Extents extent = components(limits.extent), blocks = components(block),
                  max_block = components(limits.max_block), max_grid = components(limits.max_grid),
                  grid = components(covering_grid(limits, block));
    std::uint64_t threads = 1;
    for (std::size_t d = 0; d < 3; d++) {
        if (blocks[d] == 0 || blocks[d] > max_block[d] || grid[d] > max_grid[d]) return false;
        if ((limits.dividing >> d & 1) != 0 && extent[d] % blocks[d] != 0) return false;
        threads *= blocks[d];
        if (threads > limits.max_threads) return false;
    }
    return limits.thread_multiple <= 1 || threads % limits.thread_multiple == 0;
}

const KernelImage& image_for(const KernelDescription& description, unsigned compute_capability) {
    static const KernelImage unknown;
    if (description.images.empty()) return unknown;
    const KernelImage* best = nullptr;
    const KernelImage* lowest = &description.images.front();
    for (const KernelImage& image : description.images) {
        const unsigned architecture = capability(image.architecture);
        if (architecture < capability(lowest->architecture)) lowest = &image;
        if (architecture > compute_capability) continue;
        if (best == nullptr || architecture > capability(best->architecture)) best = &image;
    }
    return best != nullptr ? *best : *lowest;
}

trimtab_image to_driver_image(const KernelImage& image) {
    return {.registers_per_thread = static_cast<double>(image.registers),
            .static_shared_bytes = static_cast<double>(image.shared_bytes),
            .local_bytes_per_thread = static_cast<double>(image.local_bytes),
            .max_threads_per_block = static_cast<double>(image.max_threads)};
}

}  // namespace trimtab::analysis
