// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/skip_iterations.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/ptx/comparison.h"
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::schedule {

namespace {

using emulator::Warp;

// What leaving iterations out costs, in warp instructions: the launch's limit bounds it, too.
constexpr std::uint64_t cost_of_skipping = 16;

// One side of the comparison in one lane: at + iteration * by.
template <class T>
struct Side {
    T at = 0;
    T by = 0;  // in T's bits: of an unsigned type too it may lead down
    [[nodiscard]] bool reaches(std::uint64_t iteration, T& value) const {
        using Signed = std::make_signed_t<T>;
        const auto step = static_cast<Signed>(by);
        if (iteration > static_cast<std::uint64_t>(std::numeric_limits<Signed>::max())) return false;
        Signed way = 0;
        if (__builtin_mul_overflow(step, static_cast<Signed>(iteration), &way)) return false;
        return !__builtin_add_overflow(at, way, &value);
    }
};

// Iterations from now on at whose end the loop goes on, without a gap; fewer where a side would wrap around.
//
// Where no side wraps, a and b are linear in the iteration, and a < b, its like and a == b hold in one stretch of
// iterations: a search by halves finds its end. a != b holds until the difference is nought, which a step that
// divides it meets.
template <class T>
std::uint64_t iterations_that_go_on(const CountedLoop& loop, const Side<T>& a, const Side<T>& b,
                                    std::uint64_t most) {
    const bool until_equal = (loop.comparison == ptx::Comparison::ne && loop.goes_on_if) ||
                             (loop.comparison == ptx::Comparison::eq && !loop.goes_on_if);
    if (until_equal) {
        using Unsigned = std::make_unsigned_t<T>;
        auto left = static_cast<Unsigned>(static_cast<Unsigned>(b.at) - static_cast<Unsigned>(a.at));
        auto step = static_cast<Unsigned>(static_cast<Unsigned>(a.by) - static_cast<Unsigned>(b.by));
        if (static_cast<std::make_signed_t<T>>(step) < 0) {
            left = static_cast<Unsigned>(0 - left);
            step = static_cast<Unsigned>(0 - step);
        }
        return step == 0 || left % step != 0 ? 0 : std::min<std::uint64_t>(left / step, most);
    }
    const auto goes_on = [&](std::uint64_t iteration) {
        T at_left = 0, at_right = 0;
        return a.reaches(iteration, at_left) && b.reaches(iteration, at_right) &&
               ptx::holds(loop.comparison, at_left, at_right) == loop.goes_on_if;
    };
    if (most == 0 || !goes_on(0)) return 0;
    std::uint64_t known = 0, beyond = most;  // `known` goes on; `beyond` does not, or is not asked
    for (std::uint64_t reach = 1; known + reach < most; reach *= 2) {
        if (!goes_on(known + reach)) {
            beyond = known + reach;
            break;
        }
        known += reach;
    }
    while (known + 1 < beyond) {
        const std::uint64_t middle = known + (beyond - known) / 2;
        (goes_on(middle) ? known : beyond) = middle;
    }
    return known + 1;
}

std::uint64_t value_of(Warp& w, const LoopOperand& operand, std::uint32_t bytes, unsigned lane) {
    if (operand.at == emulator::no_operand) return operand.value;
    return bytes == 8 ? w.lanes<std::uint64_t>(operand.at)[lane] : w.lanes<std::uint32_t>(operand.at)[lane];
}

// What an iteration adds.
std::uint64_t amount_of(Warp& w, const CountedLoop::Moving& moving, unsigned lane) {
    const std::uint64_t by = value_of(w, moving.by, moving.bytes, lane);
    return moving.is_subtracted ? 0 - by : by;
}

template <class T>
Side<T> side_of(Warp& w, const CountedLoop& loop, const LoopOperand& operand, unsigned lane) {
    Side<T> side{.at = static_cast<T>(value_of(w, operand, sizeof(T), lane))};
    if (operand.moving == none) return side;
    using Unsigned = std::make_unsigned_t<T>;
    side.by = static_cast<T>(amount_of(w, loop.moving[operand.moving], lane));
    if (operand.moves_first)
        side.at = static_cast<T>(static_cast<Unsigned>(side.at) + static_cast<Unsigned>(side.by));
    return side;
}

template <class T>
std::uint64_t iterations_of_all_lanes(Warp& w, const CountedLoop& loop, std::uint64_t most) {
    Side<T> last_left, last_right;
    bool is_first = true;
    for (std::uint32_t rest = w.path_lanes; rest != 0 && most != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const Side<T> left = side_of<T>(w, loop, loop.left, lane),
                      right = side_of<T>(w, loop, loop.right, lane);
        const bool is_known = !is_first && left.at == last_left.at && left.by == last_left.by &&
                              right.at == last_right.at && right.by == last_right.by;
        if (is_known) continue;
        most = iterations_that_go_on(loop, left, right, most);
        last_left = left;
        last_right = right;
        is_first = false;
    }
    return most;
}

}  // namespace

LoopsBySlot::LoopsBySlot(std::vector<CountedLoop> loops) : loops_(std::move(loops)) {
    for (std::uint32_t l = 0; l < loops_.size(); ++l) {
        if (loops_[l].slot >= number_.size()) number_.resize(loops_[l].slot + std::size_t{1}, none);
        number_[loops_[l].slot] = l;
    }
}

std::uint64_t skip_iterations(Warp& w, const CountedLoop& loop, std::uint64_t most) {
    w.executed += cost_of_skipping;
    std::uint64_t iterations = 0;
    switch (loop.type) {
        case ptx::Type::s32:
            iterations = iterations_of_all_lanes<std::int32_t>(w, loop, most);
            break;
        case ptx::Type::s64:
            iterations = iterations_of_all_lanes<std::int64_t>(w, loop, most);
            break;
        case ptx::Type::u64:
        case ptx::Type::b64:
            iterations = iterations_of_all_lanes<std::uint64_t>(w, loop, most);
            break;
        default:
            iterations = iterations_of_all_lanes<std::uint32_t>(w, loop, most);
    }
    if (iterations == 0) return 0;
    for (const CountedLoop::Moving& moving : loop.moving)
        for (std::uint32_t rest = w.path_lanes; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            const std::uint64_t by = iterations * amount_of(w, moving, lane);
            if (moving.bytes == 8)
                w.lanes<std::uint64_t>(moving.at)[lane] += by;
            else
                w.lanes<std::uint32_t>(moving.at)[lane] += static_cast<std::uint32_t>(by);
        }
    return iterations;
}

NestWatch::NestWatch(const LoopsBySlot& loops) {
    for (const CountedLoop& loop : loops.all())
        if (loop.is_nest()) nests_.push_back(&loop);
}

std::vector<NestWatch::Seen>& NestWatch::of(const Warp& w) {
    std::vector<Seen>& seen = warps_[{w.block->linear_index(), w.index}];
    seen.resize(nests_.size());
    return seen;
}

std::uint64_t NestWatch::enters(const Warp& w, const emulator::RegionInfo& region) {
    if (nests_.empty()) return 0;
    std::vector<Seen>& seen = of(w);
    std::uint64_t iteration = 0;
    for (std::size_t n = 0; n < nests_.size(); ++n) {
        Seen& one = seen[n];
        if (nests_[n]->slot == region.slot) {
            if (one.is_whole && one.lanes == w.path_lanes) iteration = one.instructions;
            one = {.is_whole = true, .lanes = w.path_lanes, .instructions = region.count};
        } else if (nests_[n]->has(region.slot)) {
            one.instructions += region.count;
        } else {
            one.is_whole = false;
        }
    }
    return iteration;
}

void NestWatch::leaves_out(const Warp& w, std::uint32_t slot, std::uint64_t instructions) {
    if (nests_.empty()) return;
    std::vector<Seen>& seen = of(w);
    for (std::size_t n = 0; n < nests_.size(); ++n)
        if (nests_[n]->slot != slot && nests_[n]->has(slot)) seen[n].instructions += instructions;
}

void TurnSkipper::enters(Warp& w, const emulator::RegionInfo& region) {
    if (is_over_) return;
    const std::uint64_t iteration = watch_.enters(w, region);
    const CountedLoop* const loop = loops_.at(region.slot);
    if (loop == nullptr || (loop->is_nest() && iteration == 0)) return;
    constexpr std::uint64_t most = 1u << 30;
    const std::uint64_t instructions =
        skip_iterations(w, *loop, most) * (loop->is_nest() ? iteration : loop->instructions);
    watch_.leaves_out(w, region.slot, instructions);
    skipped_ += instructions;
}

}  // namespace trimtab::schedule
