// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/sharing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "emulation/schedule/recorder.h"

namespace trimtab::schedule {

namespace {

// Enough to see how blocks overlap, few enough to be counted in some milliseconds.
constexpr std::size_t most_sectors = 512, most_of_access = 128, most_moved = 1 << 16;

// What a block touches by accesses that move alike from block to block: some sectors of what was kept of the
// trace, how many there are in that, and how many in the whole block, if later iterations go on as the second half of
// the kept ones. One access may find in another block what a neighbour of it found there: rows of a stencil.
struct TouchedSectors {
    std::array<std::int64_t, 3> strides{};
    std::unordered_set<std::uint64_t> all{}, sectors{};
    double in_block = 0;
};

// Iterations of each loop in the whole run for each that was kept, of all warps.
std::vector<double> iterations_a_kept_one(const BlockTrace& trace, std::size_t loops) {
    std::vector<double> all(loops, 0), kept(loops, 0);
    for (const WarpTrace& warp : trace.warps) {
        for (std::size_t l = 0; l < loops; ++l) all[l] += static_cast<double>(warp.iterations[l]);
        Step last;
        for (const Step& step : warp.steps) {
            bool is_new = false;
            for (std::size_t d = 0; d < loop_depth; ++d) {
                is_new = is_new || step.loops[d] != last.loops[d] || step.iteration[d] != last.iteration[d];
                if (is_new && step.loops[d] != no_loop) kept[step.loops[d]] += 1;
            }
            last = step;
        }
    }
    for (std::size_t l = 0; l < loops; ++l) all[l] = kept[l] > 0 ? std::max(1.0, all[l] / kept[l]) : 1;
    return all;
}

struct Grouped {
    std::vector<TouchedSectors> groups;
    std::vector<std::size_t> group_of;  // by access; none: it touches nothing
};

Grouped touched_by(const BlockTrace& trace, const Code& code, const Neighbours& neighbours) {
    Grouped out;
    out.group_of.assign(neighbours.addresses.size(), none);
    std::vector<std::size_t> taken(neighbours.addresses.size(), 0);
    const std::vector<double> scale = iterations_a_kept_one(trace, code.loops.size());
    const auto group_of = [&](std::uint32_t access) -> TouchedSectors& {
        std::size_t& own = out.group_of[access];
        const auto& strides = neighbours.strides[access];
        if (own == none) {
            own = static_cast<std::size_t>(std::ranges::find(out.groups, strides, &TouchedSectors::strides) -
                                           out.groups.begin());
            if (own == out.groups.size()) out.groups.push_back({.strides = strides});
        }
        return out.groups[own];
    };
    for (const WarpTrace& warp : trace.warps)
        for (const Step& step : warp.steps) {
            const Stretch& stretch = code.stretches[step.stretch];
            const Request* request = warp.requests.data() + step.first_request;
            std::size_t depth = 0;
            while (depth < loop_depth && step.loops[depth] != no_loop) ++depth;
            // Sectors that are new in the second half stand for those of the iterations that were not kept.
            const double iterations = depth == 0 ? 1 : scale[step.loops[depth - 1]];
            const bool is_late = depth > 0 && step.iteration[depth - 1] >
                                                  code.loops[step.loops[depth - 1]].kept_iterations / 2;
            const double stands_for = is_late ? 2 * iterations - 1 : 1;
            for (std::uint32_t i = stretch.first; i < stretch.first + stretch.count; ++i) {
                const Instruction& instruction = code.instructions[i];
                if (!instruction.has_request) continue;
                const Request& own = *request++;
                if (instruction.access == none || own.lanes == 0) continue;
                TouchedSectors& touched = group_of(instruction.access);
                for (unsigned n = 0; n < own.lines; ++n) {
                    const Line& line = trace.lines[own.first_line + n];
                    for (unsigned rest = line.sectors; rest != 0; rest &= rest - 1) {
                        const std::uint64_t sector =
                            line.number * 4 + static_cast<unsigned>(std::countr_zero(rest));
                        if (!touched.all.insert(sector).second) continue;
                        touched.in_block += stands_for;
                        if (taken[instruction.access]++ < most_of_access &&
                            touched.sectors.size() < most_sectors)
                            touched.sectors.insert(sector);
                    }
                }
            }
        }
    return out;
}

using Strides = std::array<std::int64_t, 3>;

std::int64_t shift_of(const Strides& strides, const Grid& grid, std::uint64_t block) {
    const std::uint64_t x = block % grid.size.x, y = block / grid.size.x % grid.size.y,
                        z = block / (std::uint64_t{grid.size.x} * grid.size.y);
    return strides[0] * static_cast<std::int64_t>(x) + strides[1] * static_cast<std::int64_t>(y) +
           strides[2] * static_cast<std::int64_t>(z);
}

struct Union {
    double demanded = 1, distinct = 1;  // sectors, of blocks [first, first + count)
    // Of the sectors of blocks that touch other places than each other, the share that none has in common.
    // Where blocks touch the very same at the same time all wait for it; of what lies elsewhere in another
    // block's way, one comes first.
    double first_share = 1;
};

Union united(const TouchedSectors& touched, const Grid& grid, std::uint64_t first, std::uint64_t count) {
    Union out;
    // Some of very many blocks: whole stretches of neighbours, which are those that overlap.
    const std::size_t most_shifts = most_moved / touched.sectors.size();
    const std::uint64_t looked_at = std::min<std::uint64_t>(count, most_shifts * 4);
    std::vector<std::int64_t> shifts;
    for (std::uint64_t i = 0; i < looked_at; ++i)
        shifts.push_back(shift_of(touched.strides, grid, first + i));
    std::ranges::sort(shifts);
    shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
    const double shared = static_cast<double>(looked_at) / static_cast<double>(shifts.size());
    if (shifts.size() > most_shifts) shifts.resize(most_shifts);
    std::unordered_set<std::uint64_t> distinct;
    for (const std::int64_t shift : shifts)
        for (const std::uint64_t sector : touched.sectors)
            distinct.insert(static_cast<std::uint64_t>(static_cast<std::int64_t>(sector * 32) + shift) / 32);
    const double each = static_cast<double>(touched.sectors.size());
    out.demanded = each * static_cast<double>(shifts.size()) * shared;
    out.distinct = static_cast<double>(distinct.size());
    out.first_share = out.distinct / (each * static_cast<double>(shifts.size()));
    const double scale =
        static_cast<double>(count) / (static_cast<double>(shifts.size()) * shared) * touched.in_block / each;
    out.demanded *= scale;
    out.distinct *= scale;
    return out;
}

// Of L2, what one kind of data can fill (the closed form's, docs/model.md: judged).
constexpr double usable_share = 0.8;

// The share of data that L2 still holds when so many bytes have passed since: a soft edge, for its replacement
// is not perfect.
double kept_share(double bytes, double l2_bytes) {
    return l2_bytes <= 0 ? 0 : 1 / (1 + std::pow(bytes / (usable_share * l2_bytes), 4));
}

// Distinct shifts over the whole grid, where the strides are independent: those that are not nought count.
double positions(const Strides& strides, const Grid& grid) {
    double count = 1;
    for (const auto& [stride, size] : {std::pair(strides[0], grid.size.x), std::pair(strides[1], grid.size.y),
                                       std::pair(strides[2], grid.size.z)})
        if (stride != 0) count *= size;
    return count;
}

// How often a wave fetches each sector of a group, where blocks that touch the same drift apart.
//
// An SM with several blocks replaces them one by one, and which of its warps go first differs from SM to SM: nothing
// keeps blocks on different SMs at the same place of their loops. Blocks that touch a sector at random moments of
// their lives, s of them, leave s gaps; the chance that a gap is longer than the share g of a life is (1 - g)^(s - 1)
// (spacings of s points on a circle), and after a gap in which as much was fetched as L2 holds the sector is gone.
// What is fetched in a life, W, follows from that, and g = L2 / W from what is fetched: the fixed point that is
// reached from blocks in step. Where L2 bridges the gaps, they stay in step: who is ahead waits for DRAM, the
// others catch up.
std::vector<double> fetches_of_wave(const std::vector<Union>& unions, const std::vector<double>& misses,
                                    const Grid& grid, double waves) {
    std::vector<double> fetches(unions.size(), 1);
    if (grid.resident < 2 || waves < 2 || grid.l2_bytes <= 0) return fetches;
    constexpr int most_rounds = 100;
    for (int round = 0; round < most_rounds; ++round) {
        double bytes = 0, change = 0;
        for (std::size_t i = 0; i < unions.size(); ++i)
            bytes += 32 * unions[i].distinct * misses[i] * fetches[i];
        const double share = std::min(1.0, usable_share * grid.l2_bytes / std::max(1.0, bytes));
        for (std::size_t i = 0; i < unions.size(); ++i) {
            const double sharers = std::max(1.0, unions[i].demanded / unions[i].distinct);
            const double next = std::clamp(sharers * std::pow(1 - share, sharers - 1), 1.0, sharers);
            change = std::max(change, std::abs(next / fetches[i] - 1));
            fetches[i] = next;
        }
        if (change < 0.001) break;
    }
    return fetches;
}

}  // namespace

Access local_access(double bytes, double l2_bytes) {
    const double lost = 1 - kept_share(bytes, l2_bytes);
    return {.dram_sectors = lost, .dram_waits = lost};
}

Sharing sharing(const BlockTrace& trace, const Code& code, const Neighbours& neighbours, const Grid& grid) {
    Sharing out;
    out.accesses.resize(neighbours.addresses.size());
    const Grouped touched = touched_by(trace, code, neighbours);
    const std::uint64_t blocks = std::uint64_t{grid.size.x} * grid.size.y * grid.size.z;
    const std::uint64_t wave = std::min(blocks, std::max<std::uint64_t>(1, grid.wave_blocks));
    const std::uint64_t first = std::min(neighbours.block, blocks - wave);
    std::vector<Union> unions;
    std::vector<double> whole;  // sectors of the whole launch
    double demanded = 0, distinct = 0;
    for (const TouchedSectors& group : touched.groups) {
        const Union& in_wave = unions.emplace_back(united(group, grid, first, wave));
        demanded += in_wave.demanded;
        distinct += in_wave.distinct;
        // What a wave adds for each of its positions, for all positions; a wave's at least, all waves' at most.
        const double of_each = std::max(1.0, in_wave.demanded / in_wave.distinct);
        const double positions_in_wave = std::max(1.0, static_cast<double>(wave) / of_each);
        const double of_launch = std::min(positions(group.strides, grid), static_cast<double>(blocks));
        whole.push_back(
            std::clamp(in_wave.distinct * of_launch / positions_in_wave, in_wave.distinct,
                       in_wave.distinct * static_cast<double>(blocks) / static_cast<double>(wave)));
    }
    // Data stay in L2 from wave to wave as far as they fit. A group whose data a wave touches whole meets them again in
    // the next; another after as many waves as it has parts.
    const auto kept_until_again = [&](std::size_t group) {
        const double waves_between = std::max(1.0, whole[group] / unions[group].distinct);
        double bytes = 0;
        for (std::size_t g = 0; g < unions.size(); ++g)
            bytes += 32 * std::min(whole[g], unions[g].distinct * waves_between);
        return kept_share(bytes, grid.l2_bytes);
    };
    // What a launch touches for the first time, whoever brought or made it before has left in L2, as far as it fits there
    // with all the rest: a copy from the host passes L2, too.
    double launch_bytes = 0;
    for (const double sectors : whole) launch_bytes += 32 * sectors;
    const double kept_before = kept_share(launch_bytes, grid.l2_bytes);
    const double waves = static_cast<double>(blocks) / static_cast<double>(wave);
    std::vector<double> misses_of;
    for (std::size_t g = 0; g < unions.size(); ++g) {
        const double first_touches = std::min(1.0, whole[g] / (waves * unions[g].distinct));
        misses_of.push_back(first_touches * (1 - kept_before) +
                            (1 - first_touches) * (1 - kept_until_again(g)));
    }
    const std::vector<double> fetches_of = fetches_of_wave(unions, misses_of, grid, waves);
    for (std::size_t a = 0; a < out.accesses.size(); ++a) {
        const std::size_t group = touched.group_of[a];
        if (group == none) continue;
        const double misses = misses_of[group], fetches = fetches_of[group];
        const double sharers = std::max(1.0, unions[group].demanded / unions[group].distinct);
        out.accesses[a].dram_sectors =
            misses * std::min(1.0, fetches * unions[group].distinct / unions[group].demanded);
        // In step all wait for what one of them fetches; apart, each for what it fetches itself.
        const double apart = sharers > 1 ? (fetches - 1) / (sharers - 1) : 0;
        const double in_step = unions[group].first_share;
        out.accesses[a].dram_waits = misses * (in_step + apart * (1 - in_step));
    }
    if (distinct > 0) out.l2_share = std::max(1.0, demanded / distinct);
    return out;
}

}  // namespace trimtab::schedule
