// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of a walk: iterations, and which of them need not be walked (section 4.1.2).
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "emulation/opencl/pruning/warp_walk.h"

namespace trimtab::pruning {

namespace {

using ValueKind = WarpValue::Kind;
using ptx::no_index;

// Iterations of all loops that one warp walks; beyond, the loops end.
constexpr std::uint64_t most_iterations = 20'000;

// The first iteration from now, at least 1, in which `comparison` of d + k * step with 0 has another answer;
// nothing: never.
std::optional<std::uint64_t> changes_after(ptx::Comparison comparison, std::int64_t d, std::int64_t step) {
    if (step == 0) return std::nullopt;
    const auto crossing = [&](std::int64_t at) -> std::optional<std::uint64_t> {
        // Of d < at.
        if (step > 0) {
            if (d >= at) return std::nullopt;
            return static_cast<std::uint64_t>((at - d + step - 1) / step);
        }
        if (d < at) return std::nullopt;
        return static_cast<std::uint64_t>((d - at) / -step + 1);
    };
    switch (comparison) {
        case ptx::Comparison::lt:
        case ptx::Comparison::ge:
            return crossing(0);
        case ptx::Comparison::le:
        case ptx::Comparison::gt:
            return crossing(1);
        default:
            if (d == 0) return 1;
            if (d % step != 0 || d / step > 0) return std::nullopt;
            return static_cast<std::uint64_t>(-(d / step));
    }
}

std::optional<WarpValue> step_between(const WarpValue& a, const WarpValue& b) {
    if (a.kind != b.kind || a.kind == ValueKind::lanes || a.kind == ValueKind::predicate) return std::nullopt;
    if (a.kind == ValueKind::unknown) return WarpValue{};
    if (a.x != b.x || a.y != b.y || a.z != b.z) return std::nullopt;
    return WarpValue{.kind = a.kind, .base = b.base - a.base, .x = 0, .y = 0, .z = 0};
}

}  // namespace

// Where the block's branch hangs on a comparison of integers made in it, and nothing else.
const Step* WarpWalk::comparison_of(ptx::BlockIndex b) const {
    if (comparisons_[b] == no_index) return nullptr;
    const Step& step = code_.blocks[b].steps[comparisons_[b]];
    const bool is_plain = step.operation.op == analysis::Operator::setp &&
                          step.combined == ptx::BooleanOp::none && step.guard == no_index;
    return is_plain ? &step : nullptr;
}

WarpWalk::Iteration WarpWalk::iteration_of(std::uint32_t loop) {
    Iteration iteration;
    for (const ptx::ValueIndex v : code_.blocks[code_.flow.loops[loop].header].phis)
        iteration.phis.push_back(values_[v]);
    for (const ptx::BlockIndex b : branches_[loop]) {
        WarpValue difference;
        if (const Step* const step = comparison_of(b)) {
            WarpValue left = operand(step->operands[0]).value, right = operand(step->operands[1]).value;
            if (left.is_sum() && right.is_sum() && make_exact(left, step->operation.type, lanes_) &&
                make_exact(right, step->operation.type, lanes_))
                difference = {.kind = ValueKind::sum,
                              .base = left.base - right.base,
                              .x = left.x - right.x,
                              .y = left.y - right.y,
                              .z = left.z - right.z};
        }
        iteration.differences.push_back(difference);
    }
    return iteration;
}

WarpWalk::Skip WarpWalk::possible_skip(std::uint32_t loop, std::span<const Iteration> last,
                                       std::uint32_t mask) {
    Skip skip;
    const Iteration &a = last[0], &b = last[1], &c = last[2];
    for (std::size_t i = 0; i < c.phis.size(); ++i) {
        const auto before = step_between(a.phis[i], b.phis[i]), now = step_between(b.phis[i], c.phis[i]);
        if (!before || !now || !(*before == *now)) return {};
        skip.steps.push_back(*now);
    }
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < c.differences.size(); ++i) {
        const ptx::BlockIndex block = branches_[loop][i];
        const WarpValue& condition = values_[code_.blocks[block].condition];
        if (condition.kind != ValueKind::predicate) continue;  // memory decides: it does not end the skip
        const auto before = step_between(a.differences[i], b.differences[i]),
                   now = step_between(b.differences[i], c.differences[i]);
        if (!c.differences[i].is_sum() || !before || !now || !(*before == *now)) {
            // The same answer in all iterations: an argument's, or of what does not move.
            const bool is_constant =
                (condition.mask() & lanes_.present) == 0 || (~condition.mask() & lanes_.present) == 0;
            if (is_constant && !c.differences[i].is_sum() && comparison_of(block) == nullptr &&
                comparisons_[block] == no_index)
                continue;
            return {};
        }
        LaneNumbers numbers;
        numbers_of({.value = c.differences[i]}, ptx::Type::s64, lanes_, numbers);
        const Step& step = *comparison_of(block);
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            if (const auto iterations =
                    changes_after(step.operation.comparison,
                                  numbers[static_cast<unsigned>(std::countr_zero(left))], now->base))
                least = std::min(least, *iterations);
    }
    // The iteration in which an answer changes is walked.
    if (least > 1 && least != std::numeric_limits<std::uint64_t>::max()) skip.iterations = least - 1;
    return skip;
}

void WarpWalk::run_loop(std::uint32_t loop) {
    const ptx::BlockIndex header = code_.flow.loops[loop].header;
    for (const ExitEdge& exit : exits_[loop])
        if (exit.leaves == loop) edges_[exit.edge] = 0;
    for (const std::uint32_t edge : back_edges_[loop]) edges_[edge] = 0;
    if (incoming(header) == 0) return;
    known_exit_[loop] = unknown_exit_[loop] = false;
    skips_[loop].iterations = 0;

    const auto left_by = [&] {
        std::uint32_t mask = 0;
        for (const ExitEdge& exit : exits_[loop]) mask |= edges_[exit.edge];
        return mask;
    };
    const std::uint32_t kept = std::max(4u, settings.kept_iterations);
    std::vector<Iteration> last;
    std::uint32_t iteration = 0, since = 0, half_iteration = 0, iterations_with_exits = 0, left = left_by();
    schedule::TraceWriter::Mark half;
    std::uint64_t half_instructions = instructions_;
    const auto mark = [&](std::uint32_t at) {
        half_iteration = at;
        half_instructions = instructions_;
        if (writer_ != nullptr) half = writer_->mark(at_);
    };
    for (;; ++iteration) {
        if (iteration == since + kept / 2) mark(iteration);
        known_exit_[loop] = false;
        run_items(code_.loop_items[loop]);
        for (const std::uint32_t edge : entry_edges_[loop]) edges_[edge] = 0;
        if (const std::uint32_t now = left_by(); now != left) ++iterations_with_exits, left = now;
        std::uint32_t on = 0;
        for (const std::uint32_t edge : back_edges_[loop]) on |= edges_[edge];
        if (on == 0) break;
        if (!known_exit_[loop]) {
            notes_.undecided_loops[loop] = true;
            if (iteration + 1 >= settings.unknown_trips) break;
        }
        if (++iterations_ > most_iterations) {
            notes_.is_cut = true;
            break;
        }
        if (iteration + 3 < since + kept) continue;  // the last three before a skip are compared
        if (last.size() == 3) last.erase(last.begin());
        last.push_back(iteration_of(loop));
        if (iteration + 1 < since + kept || last.size() < 3) continue;
        Skip skip = possible_skip(loop, last, on);
        if (!known_exit_[loop]) skip.iterations = 0;
        if (skip.iterations == 0) continue;
        // What is left out is like the second half of what was kept.
        const std::uint64_t seen = std::max(1u, iteration + 1 - half_iteration);
        instructions_ += static_cast<std::uint64_t>(
            std::llround(static_cast<double>(instructions_ - half_instructions) *
                         static_cast<double>(skip.iterations) / static_cast<double>(seen)));
        if (writer_ != nullptr) writer_->leave_out_alike(at_, loop, half, seen, skip.iterations);
        skips_[loop] = std::move(skip);
        since = iteration + 1;
        mark(since);
        last.clear();
    }
    // Lanes that left in different iterations have different iterations' values.
    if (iterations_with_exits > 1 || unknown_exit_[loop] || notes_.undecided_loops[loop])
        for (const ptx::ValueIndex v : code_.kept_values[loop]) values_[v] = {};
}

}  // namespace trimtab::pruning
