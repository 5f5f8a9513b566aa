// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "emulation/schedule/line_cache.h"
#include "tests/emulation/schedule/made_up_trace.h"

namespace trimtab::schedule {
namespace {

using testing::ElementsAre;

std::vector<TimelineEntry> timeline_of(const Machine& machine, Work work) {
    std::vector<TimelineEntry> entries;
    entries.reserve(100);
    work.timeline = &entries;
    (void)emulate(machine, work);
    return entries;
}

// Section 4.2 of Hong et al. 2018: latency 500 and gap 100 of global memory, 100 and 20 of the functional
// unit; three warps; in each a load, an addition, and an addition that needs the first one's result.
TEST(Scheduler, FollowsThePapersWorkedExample) {
    Machine machine = simple_machine();
    machine.of(Resource::dram) = {.latency_cycles = 500, .gap_cycles = 100};
    machine.of(Resource::integer) = {.latency_cycles = 100, .gap_cycles = 20};
    MadeUpTrace made;
    made.add(Resource::dram, {0});
    made.add(Resource::integer, {1}, {2});
    made.add(Resource::integer, {3}, {1});
    const auto entries = timeline_of(machine, {.trace = &made.once(1, 3)});
    std::vector<std::tuple<std::uint32_t, std::uint32_t, double, double>> seen;
    for (const TimelineEntry& e : entries)
        seen.emplace_back(e.warp + 1, e.instruction + 1, e.issue_cycles, e.end_cycles);
    // Warp, statement, issued, finished. Loads are admitted at 0, 100 and 200, additions at 1, 21, 41. By its
    // algorithm 1, which spends a cycle on each instruction, S32 issues at 5; its text says 4. Both finish at 141.
    EXPECT_THAT(seen, ElementsAre(std::tuple(1, 1, 0, 500), std::tuple(1, 2, 1, 101),  //
                                  std::tuple(2, 1, 2, 600), std::tuple(2, 2, 3, 121),  //
                                  std::tuple(3, 1, 4, 700), std::tuple(3, 2, 5, 141),  //
                                  std::tuple(1, 3, 101, 201),  // S13, when S12 is done
                                  std::tuple(2, 3, 121, 221), std::tuple(3, 3, 141, 241)));
}

// Section 3.2: C independent operations, each P times after itself. Latency-limited where L > C G: L P + (C - 1) G;
// else throughput-limited: L + (C P - 1) G. Concurrency is of warps and, within each, of instructions. They take
// issue slots for free: where the one slot a cycle is what is short (G = 1), taking the oldest warp first leaves
// the youngest to finish alone, and iterations must be fair.
TEST(Scheduler, MeetsThePapersFormulas) {
    for (const Policy policy : {Policy::greedy_then_oldest, Policy::loose_round_robin})
        for (const unsigned warps : {1u, 2u, 5u, 16u})
            for (const unsigned parallel : {1u, 3u})
                for (const double gap : {policy == Policy::greedy_then_oldest ? 1.5 : 1.0, 2.0, 7.0})
                    for (const double latency : {8.0, 40.0, 41.5, 300.0})
                        for (const unsigned phases : {1u, 2u, 9u}) {
                            const double concurrency = warps * parallel;
                            Machine machine = simple_machine(policy);
                            machine.of(Resource::fp32) = {.latency_cycles = latency, .gap_cycles = gap};
                            MadeUpTrace made;
                            made.begin_stretch();
                            for (unsigned i = 0; i < parallel; ++i) made.add(Resource::fp32, {i}, {i});
                            const Outcome outcome = emulate(
                                machine,
                                {.trace = &made.looped(1, warps, static_cast<std::uint16_t>(phases))});
                            const double expected = latency > concurrency * gap
                                                        ? latency * phases + (concurrency - 1) * gap
                                                        : latency + (concurrency * phases - 1) * gap;
                            EXPECT_DOUBLE_EQ(outcome.cycles, expected)
                                << name(policy) << " warps " << warps << " parallel " << parallel << " G "
                                << gap << " L " << latency << " P " << phases;
                            EXPECT_EQ(outcome.warp_instructions, warps * parallel * phases);
                            EXPECT_DOUBLE_EQ(outcome.admitted_cycles[index(Resource::fp32)],
                                             concurrency * phases * gap);
                        }
}

TEST(Scheduler, ManySchedulersHaveTheirOwnPipes) {
    MadeUpTrace made;
    made.add(Resource::fp32, {0}, {1});
    Machine machine = simple_machine(Policy::greedy_then_oldest, 4);
    machine.of(Resource::fp32) = {.latency_cycles = 4, .gap_cycles = 2, .per_scheduler = true};
    KernelTrace& trace = made.once(1, 8);
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &trace}).cycles, 4 + 2);  // two warps a scheduler
    machine.of(Resource::fp32).per_scheduler = false;
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &trace}).cycles, 4 + 7 * 2);
}

TEST(Scheduler, IssuesAsManyACycleAsItHasSlots) {
    MadeUpTrace made;
    for (std::uint32_t i = 0; i < 10; ++i) made.add(Resource::fp32, {i});
    Machine machine = simple_machine();
    machine.of(Resource::fp32) = {.latency_cycles = 6, .gap_cycles = 0.1};
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &made.once(1, 1)}).cycles, 9 + 6);
    machine.issues_per_cycle = 2;
    EXPECT_NEAR(emulate(machine, {.trace = &made.once(1, 1)}).cycles, 4 + 6, 0.2);
}

// Two warps of four independent instructions each.
TEST(Scheduler, PoliciesDifferInWhoIsNext) {
    const auto warps = [](Policy policy, bool first_waits) {
        MadeUpTrace made;
        for (std::uint32_t i = 0; i < 3; ++i)
            made.add(Resource::fp32, {i}, {first_waits && i == 1 ? 0u : 9u});
        Machine machine = simple_machine(policy);
        machine.of(Resource::fp32) = {.latency_cycles = 10, .gap_cycles = 1};
        std::vector<std::pair<std::uint32_t, double>> out;
        for (const auto& e : timeline_of(machine, {.trace = &made.once(1, 2)}))
            out.emplace_back(e.warp, e.issue_cycles);
        return out;
    };
    using Pair = std::pair<std::uint32_t, double>;
    EXPECT_THAT(warps(Policy::greedy_then_oldest, false),
                ElementsAre(Pair(0, 0), Pair(0, 1), Pair(0, 2), Pair(1, 3), Pair(1, 4), Pair(1, 5)));
    EXPECT_THAT(warps(Policy::loose_round_robin, false),
                ElementsAre(Pair(0, 0), Pair(1, 1), Pair(0, 2), Pair(1, 3), Pair(0, 4), Pair(1, 5)));
    // The second needs the first's result at 10: round robin keeps the iteration, so warp 1 comes at 11, not sooner.
    EXPECT_THAT(warps(Policy::round_robin, true),
                ElementsAre(Pair(0, 0), Pair(1, 1), Pair(0, 10), Pair(1, 11), Pair(0, 12), Pair(1, 13)));
    EXPECT_THAT(warps(Policy::greedy_then_oldest, true),
                ElementsAre(Pair(0, 0), Pair(1, 1), Pair(0, 10), Pair(0, 11), Pair(1, 12), Pair(1, 13)));
}

TEST(Scheduler, ABarrierWaitsForTheSlowestWarpOfItsBlock) {
    MadeUpTrace made;
    made.add(Resource::fp64, {0}, {0});
    made.add(Resource::barrier, {}, {0}).kind = Kind::barrier;
    made.add(Resource::integer, {1});
    Machine machine = simple_machine();
    machine.of(Resource::fp64) = {.latency_cycles = 50, .gap_cycles = 30};
    machine.of(Resource::barrier) = {.latency_cycles = 5, .gap_cycles = 1};
    machine.of(Resource::integer) = {.latency_cycles = 4, .gap_cycles = 1};
    // Three doubles start at 0, 30 and 60, end at 50, 80, 110; then the barrier, then three integers.
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &made.once(1, 3)}).cycles, 110 + 5 + 2 + 4);
    // Warps of other blocks are not waited for: the third block's ends at 110, the first one's at 50.
    const Outcome apart = emulate(machine, {.trace = &made.once(3, 1), .resident = 3, .blocks = 3});
    EXPECT_THAT(apart.block_end_cycles, ElementsAre(50 + 5 + 4, 80 + 5 + 4, 110 + 5 + 4));
}

TEST(Scheduler, BlocksTakeThePlacesOfThoseThatEnd) {
    MadeUpTrace made;
    made.add(Resource::fp32, {0}, {0});
    Machine machine = simple_machine();
    machine.of(Resource::fp32) = {.latency_cycles = 100, .gap_cycles = 1};
    machine.block_start_cycles = 10;
    // Five blocks, two at once: three waves, the last of one block.
    const Outcome outcome = emulate(machine, {.trace = &made.once(1, 1), .resident = 2, .blocks = 5});
    EXPECT_THAT(outcome.block_end_cycles, ElementsAre(100, 101, 210, 211, 320));
    EXPECT_DOUBLE_EQ(outcome.cycles, 320);
}

KernelTrace& one_load(MadeUpTrace& made, Request request, std::vector<Line> lines, std::size_t times) {
    Instruction& load = made.add(Resource::load_store, {0});
    load.kind = Kind::load;
    load.has_request = true;
    load.access = 0;
    made.add(Resource::integer, {1}, {0});
    KernelTrace& trace = made.trace();
    trace.code.stretches.front().requests = 1;
    std::vector<Step> steps(times);
    std::vector<Request> requests(times, request);
    for (std::uint32_t i = 0; i < times; ++i) steps[i].first_request = i;
    made.with_blocks(1, 1, steps, requests);
    trace.blocks.front().lines = std::move(lines);
    trace.accesses.resize(1);
    return trace;
}

TEST(Scheduler, UncoalescedRequestsTakeASlotForEachSectorAndLine) {
    Machine machine = simple_machine();
    machine.of(Resource::load_store) = {.latency_cycles = 0, .gap_cycles = 2};
    machine.of(Resource::l1) = {.latency_cycles = 30, .gap_cycles = 0.5};
    machine.of(Resource::l2) = {.latency_cycles = 200, .gap_cycles = 1};
    machine.of(Resource::dram) = {.latency_cycles = 500, .gap_cycles = 6};
    machine.of(Resource::integer) = {.latency_cycles = 4, .gap_cycles = 1};
    MadeUpTrace scattered, together;
    std::vector<Line> lines;
    for (std::uint64_t n = 0; n < 32; ++n) lines.push_back({.number = n, .sectors = 1});
    KernelTrace& apart = one_load(scattered, {.lanes = 32, .sectors = 32, .lines = 32}, lines, 1);
    KernelTrace& near =
        one_load(together, {.lanes = 32, .sectors = 4, .lines = 1}, {{.number = 0, .sectors = 15}}, 1);
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &apart}).cycles, 31 * 6 + 500 + 4);
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &near}).cycles, 3 * 6 + 500 + 4);
    // From L2 alone.
    apart.accesses[0] = near.accesses[0] = {.dram_sectors = 0, .dram_waits = 0};
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &apart}).cycles, 31 + 200 + 4);
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &near}).cycles, 1 + 200 + 4);  // two segments of 64 bytes
}

TEST(Scheduler, WhatL1HoldsIsNotFetchedAgain) {
    Machine machine = simple_machine();
    machine.of(Resource::load_store) = {.latency_cycles = 0, .gap_cycles = 1};
    machine.of(Resource::l1) = {.latency_cycles = 30, .gap_cycles = 1};
    machine.of(Resource::l2) = {.latency_cycles = 200, .gap_cycles = 1};
    machine.of(Resource::dram) = {.latency_cycles = 500, .gap_cycles = 1};
    machine.of(Resource::integer) = {.latency_cycles = 0, .gap_cycles = 1};
    MadeUpTrace made;
    KernelTrace& trace =
        one_load(made, {.lanes = 32, .sectors = 4, .lines = 1}, {{.number = 7, .sectors = 15}}, 3);
    trace.code.instructions.front().caches_in_l1 = true;
    // The registers of later loads are independent: those are under way with the first.
    trace.accesses[0] = {.dram_sectors = 0, .dram_waits = 0};
    EXPECT_DOUBLE_EQ(emulate(machine, {.trace = &trace}).admitted_cycles[index(Resource::l2)], 6);
    machine.l1_bytes = 4096;
    const Outcome cached = emulate(machine, {.trace = &trace});
    EXPECT_DOUBLE_EQ(cached.admitted_cycles[index(Resource::l2)], 2);
}

// An access says what share of a block's sectors comes from DRAM, those included that it has in common with others: what
// it finds in L1 of theirs is in that share.
TEST(Scheduler, DramBringsItsShareOfWhatAnotherBlockHasInL1) {
    Machine machine = simple_machine();
    machine.of(Resource::l1) = {.latency_cycles = 30, .gap_cycles = 1};
    machine.of(Resource::l2) = {.latency_cycles = 200, .gap_cycles = 1};
    machine.of(Resource::dram) = {.latency_cycles = 500, .gap_cycles = 1};
    machine.l1_bytes = machine.l2_bytes = 4096;
    MadeUpTrace made;
    KernelTrace& trace =
        one_load(made, {.lanes = 32, .sectors = 4, .lines = 1}, {{.number = 7, .sectors = 15}}, 3);
    trace.code.instructions.front().caches_in_l1 = true;
    trace.accesses[0] = {.dram_sectors = 0.5, .dram_waits = 0};
    trace.blocks.push_back(trace.blocks.front());
    const Outcome outcome = emulate(machine, {.trace = &trace, .resident = 2, .blocks = 2});
    EXPECT_DOUBLE_EQ(outcome.admitted_cycles[index(Resource::l2)], 2);        // segments of two sectors, once
    EXPECT_DOUBLE_EQ(outcome.admitted_cycles[index(Resource::dram)], 2 * 2);  // half of four, for each block
}

TEST(Scheduler, BanksOfL1LookUpOneSectorEach) {
    Machine machine = simple_machine();
    machine.of(Resource::l1) = {.latency_cycles = 30, .gap_cycles = 1};
    machine.of(Resource::integer) = {.latency_cycles = 0, .gap_cycles = 1};
    MadeUpTrace made;
    std::vector<Line> lines;
    for (std::uint64_t n = 0; n < 16; ++n) lines.push_back({.number = n, .sectors = 1});
    KernelTrace& trace =
        one_load(made, {.lanes = 32, .sectors = 16, .lines = 16, .in_one_bank = 4}, lines, 1);
    const auto taken = [&] {
        return emulate(machine, {.trace = &trace}).admitted_cycles[index(Resource::l1)];
    };
    EXPECT_DOUBLE_EQ(taken(), 16);  // a line at a time
    machine.has_banked_l1 = true;
    EXPECT_DOUBLE_EQ(taken(), 4);
    machine.l1_sectors_a_slot = 2;  // what it delivers is less
    EXPECT_DOUBLE_EQ(taken(), 8);
}

TEST(LineCache, WhatIsDistrustedIsReadAgainOnce) {
    LineCache cache(1024);
    const auto trusts = [](std::uint16_t) { return false; };
    const auto distrusts_none = [](std::uint16_t reader) { return reader == no_loop; };
    EXPECT_EQ(cache.find(1, 15, LineCache::Use::reads, no_loop, trusts).missing, 15);
    EXPECT_EQ(cache.find(1, 3, LineCache::Use::reads, 0, distrusts_none).missing, 3);
    EXPECT_EQ(cache.find(1, 3, LineCache::Use::reads, 0, distrusts_none).missing, 0);
    EXPECT_EQ(cache.find(2, 15, LineCache::Use::reads, no_loop, trusts).missing, 15);
    EXPECT_EQ(cache.find(2, 15, LineCache::Use::reads, 0, trusts).missing, 0);  // the loop has read it since
    EXPECT_EQ(cache.find(2, 15, LineCache::Use::reads, 0, distrusts_none).missing, 0);
}

// A sector that is read, then written five times, goes to DRAM once: it is dirtied once until it has left.
TEST(LineCache, SectorsAreDirtiedOnceUntilTheyLeave) {
    LineCache cache(1024);  // one set of eight lines
    constexpr auto writes = LineCache::Use::writes;
    EXPECT_EQ(cache.find(1, 15).dirtied, 0);
    EXPECT_EQ(cache.find(1, 3, writes).dirtied, 3);
    EXPECT_EQ(cache.find(1, 7, writes).dirtied, 4);
    EXPECT_EQ(cache.find(1, 7, writes).dirtied, 0);
    for (std::uint64_t line = 2; line < 10; ++line) EXPECT_EQ(cache.find(line, 1, writes).dirtied, 1);
    EXPECT_EQ(cache.find(1, 3).missing, 3);
    EXPECT_EQ(cache.find(1, 3, writes).dirtied, 3);
}

TEST(LineCache, KeepsTheLinesUsedLast) {
    LineCache cache(1024);  // one set of eight lines
    for (std::uint64_t line = 0; line < 8; ++line) EXPECT_EQ(cache.find(line, 15).missing, 15);
    EXPECT_EQ(cache.find(0, 1).missing, 0);
    EXPECT_EQ(cache.find(8, 3).missing, 3);  // line 1 goes
    EXPECT_EQ(cache.find(8, 7).missing, 4);  // a sector more
    EXPECT_EQ(cache.find(0, 8).missing, 0);
    EXPECT_EQ(cache.find(1, 1).missing, 1);
}

TEST(Scheduler, AChangeIsOfOneRegion) {
    MadeUpTrace made;
    made.add(Resource::fp32, {0}, {0});
    made.add(Resource::fp32, {0}, {0}).region = 1;
    Machine machine = simple_machine();
    machine.of(Resource::fp32) = {.latency_cycles = 100, .gap_cycles = 1};
    KernelTrace& trace = made.once(1, 1);
    Change change{.resource = Resource::fp32, .latency_factor = 1.1};
    const auto cycles = [&] { return emulate(machine, {.trace = &trace, .change = &change}).cycles; };
    EXPECT_DOUBLE_EQ(cycles(), 220);
    change.region = 1;
    EXPECT_DOUBLE_EQ(cycles(), 210);
    change.resource = Resource::fp64;
    EXPECT_DOUBLE_EQ(cycles(), 200);
}

// Code that says when the next may issue: with no cycles between, both issue in one, if the scheduler can.
TEST(Scheduler, PairsAreThoseThatTheCodeStates) {
    for (const unsigned issues : {1u, 2u}) {
        Machine machine = simple_machine();
        machine.issues_per_cycle = issues;
        MadeUpTrace made;
        made.add(Resource::fp32, {}).stall_cycles = 0;
        made.add(Resource::load_store, {}).stall_cycles = 1;
        made.add(Resource::fp32, {}).stall_cycles = 6;
        made.add(Resource::load_store, {}).stall_cycles = 1;
        made.trace().code.waits_by_counters = true;
        std::vector<double> issued;
        for (const TimelineEntry& e : timeline_of(machine, {.trace = &made.once(1, 1)}))
            issued.push_back(e.issue_cycles);
        if (issues == 2)
            EXPECT_THAT(issued, ElementsAre(0, 0, 1, 7));
        else
            EXPECT_THAT(issued, ElementsAre(0, 1, 2, 8));
    }
}

// Three instructions take one counter, and end at 10, 101 and 13 by themselves. The counter's registers say when all have
// ended, all but the youngest, and all but the two youngest: in the order of their issue.
TEST(Scheduler, CountersLetTheYoungestGoOn) {
    constexpr std::uint32_t counter = 0;
    for (const auto& [left, ready] : {std::pair(0u, 101.0), std::pair(1u, 101.0), std::pair(2u, 10.0)}) {
        Machine machine = simple_machine();
        machine.of(Resource::fp32) = {.latency_cycles = 10, .gap_cycles = 1};
        machine.of(Resource::fp64) = {.latency_cycles = 100, .gap_cycles = 1};
        machine.of(Resource::integer) = {.latency_cycles = 11, .gap_cycles = 1};
        MadeUpTrace made;
        made.add(Resource::fp32, {counter});
        made.add(Resource::fp64, {counter});
        made.add(Resource::integer, {counter});
        made.add(Resource::branch, {}, {counter + left});
        Code& code = made.trace().code;
        code.waits_by_counters = true;
        code.register_count = code.registers_of_counter = 3;
        EXPECT_DOUBLE_EQ(timeline_of(machine, {.trace = &made.once(1, 1)}).at(3).issue_cycles, ready);
    }
}

// The second load touches nothing and would be done at 2, but the first ends at 100.
TEST(Scheduler, LoadsEndInTheOrderOfTheirIssue) {
    for (const bool in_order : {false, true}) {
        Machine machine = simple_machine();
        machine.of(Resource::l1) = {.latency_cycles = 100, .gap_cycles = 1};
        MadeUpTrace made;
        made.add(Resource::load_store, {}).kind = Kind::local;
        Instruction& second = made.add(Resource::load_store, {0});
        second.kind = Kind::local;
        second.has_request = true;
        made.add(Resource::branch, {}, {0});
        Code& code = made.trace().code;
        code.waits_by_counters = true;
        code.loads_end_in_order = in_order;
        const auto entries = timeline_of(machine, {.trace = &made.with_blocks(1, 1, {Step{}}, {Request{}})});
        EXPECT_DOUBLE_EQ(entries.at(2).issue_cycles, in_order ? 100 : 2);
    }
}

TEST(Scheduler, CapsLeaveOutIterationsAndCountTheRest) {
    MadeUpTrace made;
    const std::uint32_t outer = made.begin_stretch(1);
    made.add(Resource::fp32, {0}, {0});
    const std::uint32_t inner = made.begin_stretch(2);
    made.add(Resource::fp32, {0}, {0});
    std::vector<Step> steps;
    for (std::uint16_t i = 1; i <= 5; ++i) {
        steps.push_back({.stretch = outer, .loops = {0, no_loop, no_loop}, .iteration = {i, 0, 0}});
        for (std::uint16_t j = 1; j <= 4; ++j)
            steps.push_back({.stretch = inner, .loops = {0, 1, no_loop}, .iteration = {i, j, 0}});
    }
    KernelTrace& trace = made.with_blocks(1, 2, steps);
    const Machine machine = simple_machine();
    const Outcome all = emulate(machine, {.trace = &trace});
    EXPECT_THAT(all.iterations, ElementsAre(2 * 5, 2 * 20));
    const Outcome cut = emulate(machine, {.trace = &trace, .caps = {3, 2}});
    EXPECT_THAT(cut.iterations, ElementsAre(2 * 3, 2 * 6));
    EXPECT_EQ(cut.warp_instructions, 2 * (3 + 6));
}

}  // namespace
}  // namespace trimtab::schedule
