// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/free_totals.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/analysis/launches/interval.h"

namespace trimtab::analysis {
namespace {

using Extents = std::array<std::uint64_t, 3>;

// Up to here an index is the same number in every type of at least 32 bits: the proof took that for granted.
constexpr std::uint64_t max_index = 0x7fffffff;

class Bounds {
  public:
    Bounds(ArgumentBytes arguments, std::span<const std::uint32_t> offsets)
        : arguments_(arguments), offsets_(offsets) {
        others_.fill({0, max_index});
    }

    // What is known of the other indices that a test may ask for: `count` of them, threads' in x, y and z, then rows'.
    void limit(std::size_t index, std::uint64_t count) {
        others_[index].last = std::min(max_index, std::max<std::uint64_t>(count, 1) - 1);
    }

    // How many iterations the loop makes, over all threads. Nothing: not shown to be one number whatever the
    // total is.
    std::optional<std::uint64_t> of(const GridStrideLoop& loop, std::uint64_t most_threads) const {
        const std::uint64_t bound = guess(loop);
        if (bound == 0 ? most_threads > max_index : bound - 1 + most_threads > max_index) return std::nullopt;
        for (const Expression& exits : loop.exits) {
            // The last iteration is followed by a test of an index up to so far past the bound.
            if (truth_over(exits, loop.dimension, bound, bound + most_threads - 1) != Truth::always)
                return std::nullopt;
            if (bound > 0 && truth_over(exits, loop.dimension, 0, bound - 1) != Truth::never)
                return std::nullopt;
        }
        return bound;
    }

  private:
    // The least index with an exit, if they begin somewhere: what is found is verified. It is looked for from the
    // small ones on, for 4 * i wraps long before i does.
    std::uint64_t guess(const GridStrideLoop& loop) const {
        const auto ends = [&](std::uint64_t at) {
            std::array<std::uint64_t, 3> index{};
            index[static_cast<std::size_t>(loop.dimension)] = at;
            return evaluate(loop.exits.front(), arguments_, offsets_, index) != 0;
        };
        std::uint64_t first = 0, last = 0;
        while (last < max_index && !ends(last)) {
            first = last + 1;
            last = std::min(2 * last + 1, max_index);
        }
        while (first < last) {
            const std::uint64_t middle = first + (last - first) / 2;
            if (ends(middle))
                last = middle;
            else
                first = middle + 1;
        }
        return first;
    }
    Truth truth_over(const Expression& exits, Dimension dimension, std::uint64_t first,
                     std::uint64_t last) const {
        IndexBox box = others_;
        box[static_cast<std::size_t>(dimension)] = {first, last};
        return truth(exits, arguments_, offsets_, box);
    }

    ArgumentBytes arguments_;
    std::span<const std::uint32_t> offsets_;
    IndexBox others_{};
};

// The bytes that one access touches, as integers: first + sum of slope * index, and the `bytes` from there.
struct Touched {
    const GridStrideAccess* access = nullptr;
    Wide first = 0, bytes = 0;
    std::array<Wide, 6> slope{};
    std::array<Wide, 6> least{}, most{};  // of slope * index, over all of its indices
};

std::optional<Touched> touched(const GridStrideAccess& access, ArgumentBytes arguments,
                               std::span<const std::uint32_t> offsets, const IndexBox& box) {
    const auto form = affine_form(access.address, arguments, offsets, box);
    if (!form) return std::nullopt;
    Touched result{.access = &access, .first = Wide{form->base}, .bytes = Wide{access.bytes}};
    Wide lo = result.first, end = result.first + result.bytes;
    for (std::size_t d = 0; d < box.size(); d++) {
        result.slope[d] = Wide{sign_extend(form->slope[d], 64)};
        const Wide at_first = result.slope[d] * Wide{box[d].first},
                   at_last = result.slope[d] * Wide{box[d].last};
        result.least[d] = std::min(at_first, at_last);
        result.most[d] = std::max(at_first, at_last);
        lo += result.least[d];
        end += result.most[d];
    }
    // Past the end of the address space it would come round to places that this does not know of.
    if (lo < 0 || end > (Wide{1} << 64)) return std::nullopt;
    return result;
}

// Of each of KernelDescription::strides, how many iterations it makes.
using Iterations = std::vector<std::uint64_t>;

// The indices of an access: of the loops that it is in, where these are known. Nothing: they make no iteration.
std::optional<IndexBox> box_of(const GridStrideAccess& access, const KernelDescription& description,
                               const Iterations& iterations, IndexBox box) {
    std::array<std::uint64_t, 3> most{};
    std::array<bool, 3> is_in_loop{};
    for (std::size_t loop = 0; loop < std::min(iterations.size(), most_numbered_loops); loop++) {
        if ((access.loops >> loop & 1) == 0) continue;
        const auto d = static_cast<std::size_t>(description.strides[loop].dimension);
        is_in_loop[d] = true;
        most[d] = std::max(most[d], iterations[loop]);
    }
    for (std::size_t d = 0; d < 3; d++) {
        if (!is_in_loop[d]) continue;
        if (most[d] == 0) return std::nullopt;
        box[d].last = std::min(box[d].last, most[d] - 1);
    }
    return box;
}

// Which indices of an IndexBox two iterations may differ in.
using Free = std::array<bool, 6>;

// Does one of them end before the other begins? An index that is the same for both, and moves both alike, is left out.
bool lie_apart(const Touched& a, const Touched& b, const Free& free) {
    Wide a_lo = a.first, a_end = a.first + a.bytes, b_lo = b.first, b_end = b.first + b.bytes;
    for (std::size_t d = 0; d < free.size(); d++) {
        if (!free[d] && a.slope[d] == b.slope[d]) continue;
        a_lo += a.least[d], a_end += a.most[d];
        b_lo += b.least[d], b_end += b.most[d];
    }
    return a_end <= b_lo || b_end <= a_lo;
}

// May two different iterations touch one byte by these accesses? Indices of dimensions that are not free, and
// those of blocks, belong to threads that the launch as written tells apart already: they are the same here.
// But a block's loop over rows goes from one to the next with its threads: rows are free there. Iterations of one
// index in two rows are the same thread's, in its order, in every launch.
bool may_meet(const Touched& a, const Touched& b, const Free& free, const IndexBox& box) {
    if ((a.access->phases & b.access->phases) == 0) return false;
    if (lie_apart(a, b, free)) return false;
    if (a.slope != b.slope) return true;
    Wide window = std::max(a.first + a.bytes, b.first + b.bytes) - std::min(a.first, b.first);
    std::array<std::pair<Wide, Wide>, 6> steps;  // |slope| and the number of indices; those in use first
    steps.fill({Wide{1} << 100, 1});
    std::size_t count = 0;
    for (std::size_t d = 0; d < box.size(); d++) {
        const Wide indices = Wide{box[d].last} - Wide{box[d].first} + 1;
        // One thread's, in its order, before and after.
        if (a.access->once[d % 3] && b.access->once[d % 3]) continue;
        if (d >= 3 && a.slope[d] == 0) continue;
        if (free[d] && indices > 1) steps[count++] = {a.slope[d] < 0 ? -a.slope[d] : a.slope[d], indices};
    }
    std::ranges::sort(steps);
    // As digits of a number: each step is at least as wide as all that the smaller ones reach.
    for (std::size_t i = 0; i < count; i++) {
        if (steps[i].first < window) return true;
        window += steps[i].first * (steps[i].second - 1);
    }
    return false;
}

bool are_apart(std::span<const GridStrideAccess> accesses, const KernelDescription& description,
               const Iterations& iterations, ArgumentBytes arguments, const Free& free, const IndexBox& box) {
    const std::vector<std::uint32_t> offsets = description.parameter_offsets();
    std::vector<Touched> all;
    for (const GridStrideAccess& access : accesses) {
        const auto own = box_of(access, description, iterations, box);
        if (!own) continue;
        const auto found = touched(access, arguments, offsets, *own);
        if (!found) return false;
        all.push_back(*found);
    }
    for (std::size_t i = 0; i < all.size(); i++) {
        for (std::size_t j = i; j < all.size(); j++) {
            const GridStrideAccess &a = *all[i].access, &b = *all[j].access;
            if (!a.writes && !b.writes) continue;
            if (!a.reduction.empty() && a.reduction == b.reduction) continue;
            if (may_meet(all[i], all[j], free, box)) return false;
        }
    }
    return true;
}

// Threads that a guard sends away touch no memory by their index: what is left of `box`, which has the indices of
// all threads. One index stays in any case: what every thread touches does not go with it.
IndexBox without_guarded(const KernelDescription& description, ArgumentBytes arguments,
                         std::span<const std::uint32_t> offsets, IndexBox box) {
    for (const Guard& guard : description.guards) {
        IndexRange& indices = box[static_cast<std::size_t>(guard.dimension)];
        // All from `first_known` on are shown to exit; at first of none.
        std::uint64_t first = indices.first + 1, first_known = indices.last + 1;
        while (first < first_known) {
            const std::uint64_t middle = first + (first_known - first) / 2;
            IndexBox past = box;
            past[static_cast<std::size_t>(guard.dimension)].first = middle;
            if (truth(guard.exits, arguments, offsets, past) == Truth::always)
                first_known = middle;
            else
                first = middle + 1;
        }
        indices.last = first_known - 1;
    }
    return box;
}

}  // namespace

std::array<bool, 3> free_totals(const KernelDescription& description, ArgumentBytes arguments,
                                const std::array<std::uint64_t, 3>& extent,
                                const std::array<std::uint64_t, 3>& most_threads,
                                const std::array<std::uint64_t, 3>& written_threads) {
    const std::vector<std::uint32_t> offsets = description.parameter_offsets();
    Bounds bounds(arguments, offsets);
    std::array<bool, 3> free{};
    Free differ{};
    IndexBox box{};
    const auto blocks = [&](std::size_t d) { return std::max<std::uint64_t>(extent[d], 1); };
    for (const GridStrideLoop& loop : description.strides) {
        if (!loop.is_of_rows) continue;
        const auto d = static_cast<std::size_t>(loop.dimension);
        const auto rows = bounds.of(loop, blocks(d));
        // Their index stands in the place of a block's, of which there are not more.
        if (!rows || *rows > max_blocks_in_dimension || !description.grid_stays(d)) return {};
        differ[d + 3] = true;
        if (*rows > 0) box[d + 3].last = std::max(box[d + 3].last, *rows - 1);
    }
    // Of rows there are no more than these, and of threads that do not stride no more than a launch may have.
    for (std::size_t d = 0; d < 3; d++) {
        if (description.grid_stays(d)) bounds.limit(d + 3, std::max(blocks(d), box[d + 3].last + 1));
        if (!description.reads_total(d) && !description.grid_stays(d)) bounds.limit(d, most_threads[d]);
    }
    Iterations iterations;
    for (const GridStrideLoop& loop : description.strides) {
        const auto d = static_cast<std::size_t>(loop.dimension);
        iterations.push_back(0);
        if (loop.is_of_rows) continue;
        const auto bound = bounds.of(loop, most_threads[d]);
        if (!bound || !(description.reads_total(d) || description.grid_stays(d))) return {};
        if (description.needs_one_iteration_a_thread && *bound > written_threads[d]) return {};
        free[d] = true;
        iterations.back() = *bound;
        if (*bound > 0) box[d].last = std::max(box[d].last, *bound - 1);
    }
    for (std::size_t d = 0; d < 3; d++) {
        // A total that does more than stride.
        if ((description.reads_total(d) || description.grid_stays(d)) && !free[d]) return {};
        differ[d] = free[d];
        if (description.grid_stays(d)) {
            box[d + 3].last = std::max(box[d + 3].last, blocks(d) - 1);
            // Threads that make no iteration read what all threads read.
            box[d].last = std::max<std::uint64_t>(box[d].last, 1);
        } else if (!free[d]) {
            box[d] = {0, blocks(d) - 1};
        }
    }
    if (!are_apart(description.stride_accesses, description, iterations, arguments, differ, box)) return {};
    return free;
}

bool indices_are_apart(const KernelDescription& description, ArgumentBytes arguments,
                       const std::array<std::uint64_t, 3>& extent) {
    const std::vector<std::uint32_t> offsets = description.parameter_offsets();
    if (description.apart.empty()) return true;
    const Bounds bounds(arguments, offsets);
    Free all{};
    IndexBox box{};
    for (std::size_t d = 0; d < 3; d++) {
        all[d] = description.reads(d);
        const bool has_loops = std::ranges::any_of(description.strides, [&](const GridStrideLoop& loop) {
            return static_cast<std::size_t>(loop.dimension) == d;
        });
        if (description.reads_total(d) && !has_loops) return false;
        box[d].last = std::max<std::uint64_t>(extent[d], 1) - 1;
    }
    box = without_guarded(description, arguments, offsets, box);
    // In loops the global index stands for theirs, which goes further.
    for (const GridStrideLoop& loop : description.strides) {
        const auto d = static_cast<std::size_t>(loop.dimension);
        const auto bound = bounds.of(loop, std::max<std::uint64_t>(extent[d], 1));
        if (!bound || loop.is_of_rows) return false;
        if (*bound > 0) box[d].last = std::max(box[d].last, *bound - 1);
    }
    return are_apart(description.apart, description, {}, arguments, all, box);
}

std::array<std::uint64_t, 3> loop_iterations(const KernelDescription& description, ArgumentBytes arguments) {
    const std::vector<std::uint32_t> offsets = description.parameter_offsets();
    const Bounds bounds(arguments, offsets);
    std::array<std::uint64_t, 3> iterations{};
    for (const GridStrideLoop& loop : description.strides) {
        if (loop.is_of_rows) continue;
        std::uint64_t& most = iterations[static_cast<std::size_t>(loop.dimension)];
        most = std::max(most, bounds.of(loop, 1).value_or(0));
    }
    return iterations;
}

}  // namespace trimtab::analysis
