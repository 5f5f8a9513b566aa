// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few iterations of a loop stand for all of them, and an SM is as full with them as the launch fills it.
#include <gmock/gmock.h>

#include "emulation/schedule/architecture.h"
#include "tests/emulation/schedule/generated_kernels.h"
#include "tests/emulation/schedule/made_up_trace.h"

namespace trimtab::schedule {
namespace {

// 2^20 elements, 10 000 iterations of three floating-point instructions: issue slots bound it, whatever the block.
TEST(SteadyState, ManySmsAreNoFasterThanTheirIssueSlots) {
    for (const char* slug : {"h100", "rtx3090"})
        for (const std::uint32_t threads : {64u, 128u, 256u}) {
            SCOPED_TRACE(fmt::format("{}, {} threads", slug, threads));
            const model::Device device = *model::find_device(slug);
            const auto traced = trace(map_kernel(threads), 10'000, {(1u << 20) / threads, 1, 1},
                                      {threads, 1, 1}, device, resident_blocks(device, threads));
            ASSERT_TRUE(traced) << traced.error().text();
            const Estimate answer = estimate(traced->launch);
            // Six instructions an iteration; four schedulers, and units for integers on half of them.
            const double warps = std::ceil((1u << 20) / threads / device.values.sm_count) * threads / 32;
            const double issue = warps * 10'000 * 6 / 4, least = bounds(traced->launch).least_cycles;
            EXPECT_GE(least, issue);
            EXPECT_GE(emulated_cycles(answer), (1 - bound_tolerance) * least);
            EXPECT_LE(answer.cycles, 1.15 * least);
        }
}

TEST(SteadyState, TheSameWorkAnSmTakesTheSameTime) {
    for (const std::uint32_t threads : {32u, 64u, 256u}) {
        std::vector<double> cycles;
        for (const double sms : {10.0, 41.0, 82.0, 132.0}) {
            const model::Device device = with_sms("h100", sms);
            const auto traced =
                trace(map_kernel(threads), 10'000, {static_cast<std::uint32_t>(sms) * 12'800 / threads, 1, 1},
                      {threads, 1, 1}, device, resident_blocks(device, threads));
            ASSERT_TRUE(traced) << traced.error().text();
            cycles.push_back(emulated_cycles(estimate(traced->launch)));
        }
        for (const double one : cycles) EXPECT_NEAR(one, cycles.front(), 0.03 * cycles.front()) << threads;
    }
}

// Blocks of two warps: a few instructions, so many iterations of a loop, a few instructions.
TracedLaunch loop_launch(std::uint16_t recorded, std::uint64_t iterations, std::uint64_t blocks, double gap) {
    MadeUpTrace made;
    made.begin_stretch(1);
    for (int i = 0; i < 3; ++i) made.add(Resource::dram, {0}, {0});
    const std::uint32_t body = made.begin_stretch();
    made.add(Resource::fp32, {0}, {0});
    made.add(Resource::fp32, {0}, {0});
    made.add(Resource::integer, {1}, {1});
    const std::uint32_t behind = made.begin_stretch();
    made.add(Resource::dram, {}, {0});
    std::vector<Step> steps{{.stretch = 0}};
    for (std::uint16_t t = 1; t <= recorded; ++t)
        steps.push_back({.stretch = body, .loops = {0, no_loop, no_loop}, .iteration = {t, 0, 0}});
    steps.push_back({.stretch = behind});
    TracedLaunch launch;
    launch.trace = made.with_blocks(1, 2, steps);
    launch.trace.code.loops[0].kept_iterations = std::min(recorded, kept_iterations);
    launch.trace.code.loops[0].is_cut = recorded < iterations;
    for (WarpTrace& warp : launch.trace.blocks[0].warps) warp.iterations[0] = iterations;
    launch.machine = simple_machine(Policy::greedy_then_oldest, 4);
    for (Pipe& pipe : launch.machine.pipes) pipe.per_scheduler = true;
    launch.machine.of(Resource::dram) = {.latency_cycles = 200, .gap_cycles = 1};
    launch.machine.of(Resource::fp32) = {.latency_cycles = 4, .gap_cycles = 1, .per_scheduler = true};
    launch.machine.of(Resource::integer) = {.latency_cycles = 4, .gap_cycles = 2, .per_scheduler = true};
    launch.machine.block_start_cycles = 200;
    launch.machine.block_gap_cycles = gap;
    launch.resident = 16;
    launch.blocks_on_sm = blocks;
    return launch;
}

// The whole launch, every block and iteration of it, against the estimate of a trace that has the first 64.
TEST(SteadyState, FewIterationsStandForAllOfThem) {
    for (const std::uint64_t iterations : {400u, 3000u})
        for (const std::uint64_t blocks : {7u, 16u, 40u, 150u})
            for (const double gap : {10.0, 300.0, 2000.0}) {
                SCOPED_TRACE(
                    fmt::format("{} iterations, {} blocks, {} cycles apart", iterations, blocks, gap));
                const TracedLaunch whole =
                    loop_launch(static_cast<std::uint16_t>(iterations), iterations, blocks, gap);
                const double cycles = emulate(whole.machine, {.trace = &whole.trace,
                                                              .resident = whole.resident,
                                                              .blocks = static_cast<std::uint32_t>(blocks)})
                                          .cycles;
                const Estimate answer = estimate(loop_launch(kept_iterations, iterations, blocks, gap));
                EXPECT_NEAR(answer.cycles, cycles, 0.05 * cycles);
            }
}

// One warp of each two goes round a sixth as often as the other, which is alone from then on.
TEST(SteadyState, WarpsOfUnequalLoopsKeepTheSameShareOfThem) {
    constexpr std::uint64_t iterations = 3000, fewer = 500;
    for (const std::uint64_t blocks : {1u, 2u, 16u, 40u}) {
        SCOPED_TRACE(fmt::format("{} blocks", blocks));
        TracedLaunch whole = loop_launch(iterations, iterations, blocks, 10);
        WarpTrace& shorter = whole.trace.blocks[0].warps[1];
        shorter.steps.erase(shorter.steps.begin() + 1 + fewer, shorter.steps.end() - 1);
        const double cycles = emulate(whole.machine, {.trace = &whole.trace,
                                                      .resident = whole.resident,
                                                      .blocks = static_cast<std::uint32_t>(blocks)})
                                  .cycles;
        TracedLaunch kept = loop_launch(kept_iterations, iterations, blocks, 10);
        kept.trace.blocks[0].warps[1].iterations[0] = fewer;
        const Estimate answer = estimate(kept);
        EXPECT_FALSE(answer.crossed);
        EXPECT_NEAR(answer.cycles, cycles, 0.05 * cycles);
    }
}

// Sections 5 and 6 of Sim et al., PPoPP 2012: on a Tesla C2050 a chain's throughput grows with the warps up to 18 of
// them and then stays, whatever the scheduler does.
TEST(SteadyState, WarpsOfAChainReachAPlateau) {
    std::string chain;
    for (int i = 0; i < 16; ++i) chain += "    fma.rn.f32 %f1, %f1, %f1, %f1;\n";
    std::vector<double> throughput;
    for (const std::uint32_t warps : {4u, 8u, 12u, 16u, 18u, 20u, 24u, 28u, 32u}) {
        const auto traced = trace(loop("", chain), 1000, {14, 1, 1}, {32 * warps, 1, 1}, "c2050");
        ASSERT_TRUE(traced) << traced.error().text();
        throughput.push_back(warps / estimate(traced->launch).cycles);
    }
    for (std::size_t i = 1; i < throughput.size(); ++i)
        EXPECT_GE(throughput[i], 0.995 * throughput[i - 1]) << i;
    const double plateau = throughput.back();
    EXPECT_LT(throughput[2], 0.85 * plateau);             // 12 warps
    EXPECT_LT(throughput[3], 0.98 * plateau);             // 16
    EXPECT_NEAR(throughput[5], plateau, 0.02 * plateau);  // 20
}

// SAAKE, 4.3: a scheduler's second instruction of a cycle comes from the same warp, and depends on the first here.
TEST(SteadyState, AChainIssuesOneInstructionACycleAndScheduler) {
    std::string chain;
    for (int i = 0; i < 8; ++i)
        chain +=
            "    mul.f32 %f1, %f1, %f1;\n    mov.b32 %r5, %f1;\n    and.b32 %r5, %r5, %r6;\n    mov.b32 %f1, "
            "%r5;\n";
    for (const char* slug : {"gtx1080ti", "titanx-pascal", "k20c"}) {
        SCOPED_TRACE(slug);
        const model::Device device = *model::find_device(slug);
        for (const std::uint32_t blocks : {1u, 2u}) {
            const std::uint32_t warps = 32, iterations = 1000;
            const auto traced = trace(loop("", chain), iterations,
                                      {static_cast<std::uint32_t>(device.values.sm_count) * blocks, 1, 1},
                                      {32 * warps, 1, 1}, device, 2);
            ASSERT_TRUE(traced) << traced.error().text();
            // Of the chain, 16 an iteration: what counts the loop's iterations may go with it.
            const double rate =
                16.0 * warps * blocks * iterations / emulated_cycles(estimate(traced->launch));
            EXPECT_LE(rate, 4);
            EXPECT_GE(rate, blocks == 1 ? 2.5 : 3.2);
        }
    }
}

TEST(SteadyState, IssueSlotsAreAResource) {
    const auto traced =
        trace(loop("", "    fma.rn.f32 %f1, %f1, %f1, %f1;\n"), 1000, {132, 1, 1}, {1024, 1, 1}, "h100");
    ASSERT_TRUE(traced) << traced.error().text();
    const Estimate base = estimate(traced->launch);
    EXPECT_GT(base.utilisation[index(Resource::issue)], 0.95);
    const Bottleneck found = sensitivities(traced->launch, base, 2);
    EXPECT_TRUE(std::ranges::any_of(found.all, [](const Sensitivity& one) {
        return one.resource == Resource::issue && one.is_gap && one.value > 0.5;
    }));
}

// Two of each three blocks do eight times the work of the first: an SM that is full of one block at a time does 17
// eights of special functions for each three, whatever the mix of those that are emulated.
TEST(SteadyState, UnequalBlocksCountByTheLaunchsMix) {
    MadeUpTrace made;
    for (std::uint32_t i = 0; i < 8; ++i) made.add(Resource::special_function, {i});
    TracedLaunch launch;
    launch.trace = made.once(3, 1);
    launch.machine = simple_machine();
    launch.blocks_on_sm = 300;
    for (const std::size_t heavy : {1u, 2u}) {
        std::vector<Step>& steps = launch.trace.blocks[heavy].warps.front().steps;
        steps.assign(8, steps.front());
    }
    launch.machine.of(Resource::special_function).gap_cycles = 4;
    const Estimate answer = estimate(launch);
    const double busy_cycles = 100.0 * (1 + 8 + 8) * 8 * 4;
    EXPECT_FALSE(answer.crossed);
    EXPECT_GE(answer.cycles, busy_cycles);
    EXPECT_NEAR(answer.utilisation[index(Resource::special_function)] * answer.cycles, busy_cycles, 1);
}

}  // namespace
}  // namespace trimtab::schedule
