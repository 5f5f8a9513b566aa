// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/pipeline.h"

#include <algorithm>
#include <cmath>

#include "emulation/opencl/pruning/bounds.h"

namespace trimtab::pruning {

namespace {

struct Arrival {
    double cycles = 0;
    std::uint64_t order = 0;  // when its warp was served last
    std::uint32_t warp = 0;

    [[nodiscard]] bool is_before(const Arrival& other) const {
        return cycles < other.cycles || (cycles == other.cycles && order < other.order);
    }
};

class Pipeline {
  public:
    Pipeline(const Round& round, const TracePool& pool, bool only_first_half)
        : round_(round), only_first_half_(only_first_half), at_(round.warps.size()) {
        const std::size_t groups = round.warps.size() / round.warps_per_group;
        unfinished_.assign(groups, round.warps_per_group);
        waiting_.resize(groups);
        for (std::uint32_t w = 0; w < round.warps.size(); ++w) {
            const WarpTrace& trace = pool.trace(round.warps[w]);
            at_[w] = {trace.data(), trace.data() + trace.size()};
            arrivals_.push_back(
                {.cycles = 0, .order = w, .warp = w});  // a heap already: all equal but for order
        }
        next_order_ = round.warps.size();
    }

    double run() {
        while (!arrivals_.empty()) step();
        return end_;
    }

  private:
    struct Position {
        const Operation *next = nullptr, *end = nullptr;
    };

    void step() {
        Arrival now = arrivals_.front();
        Position& at = at_[now.warp];
        if (only_first_half_)
            while (at.next != at.end && at.next->weight != 1) ++at.next;
        if (at.next == at.end) {
            end_ = std::max(end_, now.cycles);
            remove_first();
            const std::uint32_t group = now.warp / round_.warps_per_group;
            --unfinished_[group];
            open_barrier(group, now.cycles);
            return;
        }
        const Operation& operation = *at.next++;
        if (operation.is_barrier) {
            remove_first();
            const std::uint32_t group = now.warp / round_.warps_per_group;
            waiting_[group].push_back(now.warp);
            open_barrier(group, now.cycles);
            return;
        }
        double& free = free_[index(operation.component)];
        free = std::max(now.cycles, free) + operation.busy_cycles;
        now.cycles = free + operation.wait_cycles;
        now.order = next_order_++;
        replace_first(now);
    }

    // All that have not ended are there.
    void open_barrier(std::uint32_t group, double cycles) {
        std::vector<std::uint32_t>& waiting = waiting_[group];
        if (waiting.empty() || waiting.size() != unfinished_[group]) return;
        for (const std::uint32_t warp : waiting)
            add({.cycles = cycles, .order = next_order_++, .warp = warp});
        waiting.clear();
    }

    static bool later(const Arrival& a, const Arrival& b) { return b.is_before(a); }
    void add(const Arrival& one) {
        arrivals_.push_back(one);
        std::ranges::push_heap(arrivals_, later);
    }
    void remove_first() {
        std::ranges::pop_heap(arrivals_, later);
        arrivals_.pop_back();
    }
    void replace_first(const Arrival& one) {
        std::size_t hole = 0;
        const std::size_t count = arrivals_.size();
        for (std::size_t child = 1; child < count; child = 2 * hole + 1) {
            if (child + 1 < count && arrivals_[child + 1].is_before(arrivals_[child])) ++child;
            if (!arrivals_[child].is_before(one)) break;
            arrivals_[hole] = arrivals_[child];
            hole = child;
        }
        arrivals_[hole] = one;
    }

    const Round& round_;
    bool only_first_half_;
    std::vector<Position> at_;
    std::vector<Arrival> arrivals_;  // a heap
    std::vector<std::uint32_t> unfinished_;
    std::vector<std::vector<std::uint32_t>> waiting_;
    std::array<double, component_count> free_{};
    std::uint64_t next_order_ = 0;
    double end_ = 0;
};

// Warp cycles of the round's operations: with the kept iterations once, with the first half of them, and with all
// iterations.
struct Work {
    double kept = 0, first_half = 0, all = 0;
};
Work work_of(const Round& round, const TracePool& pool) {
    Work work;
    for (const TraceIndex warp : round.warps) {
        for (const Operation& one : pool.trace(warp)) {
            const double cycles = one.busy_cycles + one.wait_cycles;
            work.kept += cycles;
            if (one.weight == 1) work.first_half += cycles;
        }
        work.all += pool.sums(warp).serial_cycles;
    }
    return work;
}

}  // namespace

double round_cycles(const Round& round, const TracePool& pool) {
    const double kept = Pipeline(round, pool, false).run();
    if (std::ranges::none_of(round.warps, [&](TraceIndex warp) { return pool.sums(warp).is_cut; }))
        return kept;
    const double half = Pipeline(round, pool, true).run();
    const Work work = work_of(round, pool);
    const double second = work.kept - work.first_half;
    const double whole = second > 0 ? kept + (kept - half) * (work.all - work.kept) / second : kept;
    const Bounds bounds = proved_bounds(round, pool);
    return std::clamp(whole, bounds.best_cycles, bounds.worst_cycles);
}

}  // namespace trimtab::pruning
