// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds against what can be counted by hand, and answers against bounds.
#include "emulation/schedule/bounds.h"

#include <gmock/gmock.h>

#include "emulation/schedule/work_count.h"
#include "tests/emulation/schedule/generated_kernels.h"
#include "tests/emulation/schedule/made_up_trace.h"

namespace trimtab::schedule {
namespace {

TracedLaunch launch_of(KernelTrace trace, Machine machine, std::uint64_t blocks, std::uint32_t resident) {
    TracedLaunch launch;
    launch.trace = std::move(trace);
    launch.machine = std::move(machine);
    launch.blocks_on_sm = blocks;
    launch.resident = resident;
    return launch;
}

// Three multiply-adds one after the other and two divisions' steps a warp, on two schedulers.
TEST(Bounds, AreTheBusiestResourceTheChainAndTheSerialSum) {
    MadeUpTrace made;
    for (int i = 0; i < 3; ++i) made.add(Resource::fp32, {0}, {0});
    for (std::uint32_t i = 1; i < 3; ++i) made.add(Resource::special_function, {i}).slots = 4;
    Machine machine = simple_machine(Policy::greedy_then_oldest, 2);
    machine.of(Resource::issue).per_scheduler = true;
    machine.of(Resource::fp32) = {.latency_cycles = 10, .gap_cycles = 2, .per_scheduler = true};
    machine.of(Resource::special_function) = {.latency_cycles = 20, .gap_cycles = 3};
    machine.block_start_cycles = 5;
    const KernelTrace trace = made.once(1, 4);
    // Twelve blocks of four warps: 48 x 2 x 4 slots of 3 cycles, on one unit.
    const Bounds many = bounds(launch_of(trace, machine, 12, 6));
    EXPECT_DOUBLE_EQ(many.least_cycles, 48 * 2 * 4 * 3);
    EXPECT_EQ(many.least_by, "special_function");
    // An instruction: a cycle to issue, a stall of one, its slots and its latency.
    EXPECT_DOUBLE_EQ(many.most_cycles, 48 * (3 * (2 + 2 + 10) + 2 * (2 + 12 + 20)) + 12 * 5);
    // One block at a time of one warp: three sums end at 30, the last one's issue is at 20, the two others' at 21 and 22;
    // of four slots half a cycle apart the last is 1.5 cycles behind the first.
    const KernelTrace alone = made.once(1, 1);
    machine.of(Resource::special_function).gap_cycles = 0.5;
    const Bounds few = bounds(launch_of(alone, machine, 12, 1));
    EXPECT_EQ(few.least_by, "dependences");
    EXPECT_DOUBLE_EQ(few.least_cycles, 12 * (22 + 1.5 + 20));
}

TEST(Bounds, LoopsCountWhole) {
    MadeUpTrace made;
    made.begin_stretch();
    made.add(Resource::fp32, {0}, {0});
    KernelTrace trace = made.looped(1, 2, kept_iterations);
    for (WarpTrace& warp : trace.blocks[0].warps) warp.iterations[0] = 10'000;
    Machine machine = simple_machine();
    machine.of(Resource::fp32) = {.latency_cycles = 8, .gap_cycles = 2};
    const TracedLaunch launch = launch_of(trace, machine, 3, 1);
    EXPECT_DOUBLE_EQ(work_count(launch.trace, machine, 3).cycles[index(Resource::fp32)], 3 * 2 * 10'000 * 2);
    EXPECT_DOUBLE_EQ(bounds(launch).least_cycles, 3 * 8 * 10'000);
    EXPECT_EQ(bounds(launch).least_by, "dependences");
}

// A time that no SM can reach is not given.
TEST(Bounds, AnAnswerThatCrossesOneIsTheBoundAndSaysSo) {
    MadeUpTrace made;
    made.begin_stretch();
    made.add(Resource::fp32, {0}, {0});
    KernelTrace trace = made.looped(1, 8, kept_iterations);
    Machine machine = simple_machine();
    machine.of(Resource::fp32) = {.latency_cycles = 8, .gap_cycles = 2};
    TracedLaunch launch = launch_of(trace, machine, 1, 1);
    EXPECT_FALSE(estimate(launch).crossed);
    Estimate answer{.time_ns = 0, .cycles = 0.99 * bounds(launch).least_cycles};
    keep_within(bounds(launch), answer);
    ASSERT_TRUE(answer.crossed);
    EXPECT_TRUE(answer.crossed->is_below);
    EXPECT_EQ(answer.crossed->by, "fp32");
    EXPECT_DOUBLE_EQ(answer.cycles, bounds(launch).least_cycles);
    EXPECT_DOUBLE_EQ(answer.crossed->emulated_cycles, 0.99 * answer.cycles);
    answer = {.time_ns = 0, .cycles = 1.01 * bounds(launch).most_cycles};
    keep_within(bounds(launch), answer);
    ASSERT_TRUE(answer.crossed);
    EXPECT_FALSE(answer.crossed->is_below);
    EXPECT_DOUBLE_EQ(answer.cycles, bounds(launch).most_cycles);
#ifndef NDEBUG
    Estimate wrong{.time_ns = 0, .cycles = bounds(launch).least_cycles / 2};
    EXPECT_DEATH(keep_within(bounds(launch), wrong), "bound_tolerance");
#endif
}

TEST(Bounds, HoldForEveryKindOfWork) {
    for (const char* slug : {"h100", "gtx1080ti"})
        for (const double sms : {1.0, 132.0}) {
            answers_keep_within(with_sms(slug, sms), 64, 70, 1000);
            answers_keep_within(with_sms(slug, sms), 256, 3, 200);
        }
}

}  // namespace
}  // namespace trimtab::schedule
