// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces of real kernels, and the times made of them.
#include "emulation/schedule/traced_launch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "emulation/schedule/architecture.h"
#include "emulation/schedule/estimate.h"
#include "emulation/schedule/recorder.h"
#include "tests/emulation/schedule/told_by.h"
#include "tests/emulation/schedule/traced_kernel.h"

namespace trimtab::schedule {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;

std::vector<Request> requests(const Traced& traced) {
    return traced.launch.trace.blocks.front().warps.front().requests;
}

// Which sets of a cache they fall into hangs on them, and two runs must agree.
TEST(TracedLaunch, AddressesAreTheKernelsWhereverTheProcessHasThem) {
    const auto traced = trace(R"(
    mul.wide.u32 %rd4, %r2, 1048576;
    add.s64 %rd4, %rd1, %rd4;
    ld.global.f32 %f1, [%rd4];  // a page each
)",
                              1);
    ASSERT_TRUE(traced) << traced.error().text();
    const auto all = requests(*traced);
    ASSERT_EQ(all.size(), 1);
    const auto& lines = traced->launch.trace.blocks.front().lines;
    ASSERT_EQ(all[0].lines, 32);
    for (std::uint64_t lane = 0; lane < 32; ++lane)
        EXPECT_EQ(lines[all[0].first_line + lane].number,
                  (emulator::SparseMemory::region_base(0) + lane * 1048576) / 128);
}

// The block that is traced is the last but one of its row, and the last does nothing: how far apart blocks' data are then shows
// on the other side. 13 MB that each block has a part of are read from DRAM.
TEST(TracedLaunch, ANeighbourThatDoesNothingIsNotTakenForOneThatSharesAll) {
    const auto traced = trace(R"(
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra END;
    mov.u32 %r4, %ctaid.y;
    mad.lo.u32 %r4, %r4, 401, %r3;
    shl.b32 %r4, %r4, 13;
    shl.b32 %r5, %r2, 5;
    add.u32 %r4, %r4, %r5;
    cvt.u64.u32 %rd4, %r4;
    add.s64 %rd4, %rd1, %rd4;
    ld.global.f32 %f1, [%rd4];
END:
)",
                              400, {401, 4, 1}, {256, 1, 1});
    ASSERT_TRUE(traced) << traced.error().text();
    ASSERT_EQ(traced->launch.trace.blocks.front().block % 401, 399u);
    EXPECT_GT(traced->launch.trace.accesses.front().dram_sectors, 0.9);
}

// Of four blocks that an SM has in the middle of a launch one is the last of its row, which does nothing: it is no more in the
// trace than in the launch. 67 MB are read and as many written, at 85 % of 28.8 GB/s.
TEST(TracedLaunch, BlocksAtAnEdgeStandForNoOthers) {
    const auto traced = trace(R"(
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra END;
    mov.u32 %r4, %ctaid.y;
    shl.b32 %r4, %r4, 9;
    add.u32 %r4, %r4, %r2;
    shl.b32 %r5, %r3, 12;
    add.u32 %r4, %r4, %r5;
    mul.wide.u32 %rd4, %r4, 4;
    add.s64 %rd4, %rd1, %rd4;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd4], %f1;
END:
)",
                              4095, {4096, 8, 1}, {512, 1, 1}, "k620", 4);
    ASSERT_TRUE(traced) << traced.error().text();
    for (const BlockTrace& block : traced->launch.trace.blocks) EXPECT_LT(block.block % 4096, 4095u);
    EXPECT_GE(estimate(traced->launch).time_ns, 4095.0 * 4096 * 4 * 2 / (0.85 * 28.8));
}

// A grid's width may be a multiple of the distance at which blocks are counted.
TEST(TracedLaunch, WorkOfSingleColumnsIsCountedAsOftenAsItIsThere) {
    const auto work_of_a_block = [](const std::string& when, std::uint32_t width) {
        const auto traced = trace("    setp.ne.u32 %p1, %r3, " + when + R"(;
    @%p1 bra END;
    mov.u32 %r5, 0;
LOOP:
    fma.rn.f32 %f1, %f1, %f1, %f1;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, %r1;
    @%p2 bra LOOP;
END:
)",
                                  2000, {width, 16, 1}, {32, 1, 1}, "k620", 4);
        EXPECT_TRUE(traced) << traced.error().text();
        return traced ? traced->launch.work_ratio * traced->launch.block_warp_instructions : 0;
    };
    for (std::uint32_t width = 3; width <= 12; ++width)
        for (const std::uint32_t column : {1U, width / 2, width - 2}) {
            const double all = 2000 * 4 / double(width);
            EXPECT_NEAR(work_of_a_block(std::to_string(column), width) / all, 1, 0.75)
                << column << " of " << width;
        }
}

TEST(TracedLaunch, RequestsAreWhatTheLanesTouched) {
    const auto traced = trace(R"(
    shl.b32 %r4, %r2, 2;
    cvt.u64.u32 %rd4, %r4;
    add.s64 %rd4, %rd1, %rd4;
    ld.global.f32 %f1, [%rd4];        // side by side: 4 sectors, 1 line
    mul.wide.u32 %rd5, %r2, 128;
    add.s64 %rd5, %rd1, %rd5;
    ld.global.f32 %f2, [%rd5+65536];  // a line each
    st.global.f32 [%rd4+131072], %f1; // two whole segments
    bar.sync 0;
    st.global.f32 [%rd5+262144], %f2; // 32 parts of sectors
    bar.sync 0;
    mov.u32 %r5, buffer;
    shl.b32 %r6, %r2, 3;
    add.u32 %r6, %r5, %r6;
    st.shared.f32 [%r6], %f1;         // every second bank: two passes
    bar.sync 0;
    setp.gt.u32 %p1, %r2, 99;
    @%p1 ld.shared.f32 %f3, [%r5];    // nobody
    bar.sync 0;
    atom.global.add.u32 %r7, [%rd1+524288], 1;  // all lanes on one word
)",
                              1);
    ASSERT_TRUE(traced) << traced.error().text();
    const auto all = requests(*traced);
    ASSERT_EQ(all.size(), 7);
    const auto& [together, apart, whole, parts, shared, nobody, atomic] =
        std::tie(all[0], all[1], all[2], all[3], all[4], all[5], all[6]);
    EXPECT_EQ(std::tuple(together.lanes, together.sectors, together.lines), std::tuple(32, 4, 1));
    EXPECT_EQ(std::tuple(apart.sectors, apart.lines), std::tuple(32, 32));
    EXPECT_FLOAT_EQ(whole.store_slots, 2);
    EXPECT_FLOAT_EQ(parts.store_slots, 32);
    EXPECT_EQ(shared.passes, 2);
    EXPECT_EQ(nobody.lanes, 0);
    EXPECT_EQ(std::tuple(atomic.passes, atomic.sectors), std::tuple(32, 1));
}

// Four multiply-adds of four cycles each, one after the other; what counts the iterations has time beside them.
// A thread's own words lie beside those of its warp: one word of all is a line, and lanes at different ones have a sector
// of each line.
TEST(TracedLaunch, LocalMemoryIsInterleaved) {
    const auto traced = trace(R"(
    .local .align 16 .b8 own[256];
    mov.u32 %r5, own;
    st.local.f32 [%r5+64], %f1;           // a word each: a line, two segments
    ld.local.v4.f32 {%f1, %f2, %f3, %f4}, [%r5];  // four lines
    and.b32 %r6, %r2, 7;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r5, %r6;
    ld.local.f32 %f5, [%r6];              // eight words in turn: each line whole
    shr.u32 %r7, %r2, 3;
    shl.b32 %r7, %r7, 2;
    add.u32 %r7, %r5, %r7;
    ld.local.f32 %f6, [%r7];              // eight lanes a word: a sector of four lines
    st.global.f32 [%rd1], %f6;
)",
                              1);
    ASSERT_TRUE(traced) << traced.error().text();
    const auto all = requests(*traced);
    ASSERT_EQ(all.size(), 5);
    const auto& lines = traced->launch.trace.blocks.front().lines;
    EXPECT_EQ(std::tuple(all[0].lanes, all[0].sectors, all[0].lines), std::tuple(32, 4, 1));
    EXPECT_FLOAT_EQ(all[0].store_slots, 2);
    EXPECT_EQ(std::tuple(all[1].sectors, all[1].lines), std::tuple(16, 4));
    EXPECT_EQ(std::tuple(all[2].sectors, all[2].lines), std::tuple(32, 8));
    EXPECT_EQ(std::tuple(all[3].sectors, all[3].lines), std::tuple(4, 4));
    EXPECT_EQ(lines[all[0].first_line].number, lines[all[1].first_line].number + 16);
}

// An array that all resident threads' L1 holds costs less than one that it does not hold.
TEST(Estimate, LocalMemoryIsHeldAsFarAsItFits) {
    const auto cycles = [](unsigned words) {
        const auto traced = trace(fmt::format(R"(
    .local .align 16 .b8 own[1024];
    mov.u32 %r5, own;
    mov.u32 %r4, 0;
LOOP:
    and.b32 %r6, %r4, {};
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r5, %r6;
    ld.local.f32 %f2, [%r6];
    add.f32 %f1, %f1, %f2;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 4096;
    @%p1 bra LOOP;
    st.global.f32 [%rd1], %f1;
)",
                                              words - 1),
                                  1, {36, 1, 1}, {1024, 1, 1}, "rtx2070super");
        EXPECT_TRUE(traced) << traced.error().text();
        return estimate(traced->launch).time_ns;
    };
    // 1024 threads: 8 words are 32 KiB, 256 are a megabyte.
    EXPECT_GT(cycles(256), 2 * cycles(8));
}

TEST(Estimate, ALoopOfTenThousandIterationsCostsAsMuchAsSomeTens) {
    std::map<std::uint32_t, Estimate> estimates;
    for (const std::uint32_t iterations : {100u, 10'000u}) {
        const auto traced = trace(fma_loop, iterations);
        ASSERT_TRUE(traced) << traced.error().text();
        EXPECT_EQ(traced->launch.trace.blocks.front().warps.front().iterations,
                  std::vector<std::uint64_t>{iterations});
        EXPECT_LE(traced->launch.trace.blocks.front().warps.front().steps.size(), kept_iterations + 2);
        estimates[iterations] = estimate(traced->launch);
    }
    EXPECT_NEAR(estimates[10'000].cycles - estimates[100].cycles, 9900 * 16, 1e-6);
    EXPECT_EQ(estimates[10'000].emulated_warp_instructions, estimates[100].emulated_warp_instructions);
    EXPECT_NEAR(estimates[10'000].warp_instructions - estimates[100].warp_instructions, 9900 * 7, 1e-6);
}

TEST(Estimate, NestedLoopsAddUp) {
    const std::string nested = R"(
    mov.u32 %r5, 0;
$O:
    mul.rn.f32 %f1, %f1, %f1;
)" + fma_loop + R"(
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, %r1;
    @%p2 bra $O;
)";
    const auto traced = trace(nested, 200);
    ASSERT_TRUE(traced) << traced.error().text();
    const Estimate out = estimate(traced->launch);
    // 200 times 200 iterations of 16 cycles, and 200 times 4 for the product; little at the loops' ends.
    EXPECT_NEAR(out.cycles, 200 * (200 * 16 + 4), 0.003 * 200 * 200 * 16);
}

TEST(Estimate, WavesAndTheTailAreCounted) {
    // 40 SMs, two blocks at once: 5 blocks on each SM and one block less on none.
    std::vector<double> cycles;
    for (const std::uint32_t blocks : {40u, 80u, 120u, 40u * 20, 40u * 21}) {
        const auto traced = trace(fma_loop, 2000, {blocks, 1, 1}, {32, 1, 1}, "rtx2070super", 2);
        ASSERT_TRUE(traced) << traced.error().text();
        cycles.push_back(estimate(traced->launch).cycles);
    }
    const double one = 2000 * 16;
    EXPECT_NEAR(cycles[0], one, 0.02 * one);
    EXPECT_NEAR(cycles[1], one, 0.02 * one);      // both at once
    EXPECT_NEAR(cycles[2], 2 * one, 0.02 * one);  // a wave more for the third
    EXPECT_NEAR(cycles[3], 10 * one, 0.2 * one);
    EXPECT_NEAR(cycles[4], 11 * one, 0.2 * one);  // the tail takes as long as a wave
}

TEST(Sensitivity, NamesWhatLimits) {
    const auto bottleneck = [](const std::string& body, std::uint32_t count, trimtab_dim3 grid,
                               trimtab_dim3 block, std::uint32_t resident) {
        const auto traced = trace(body, count, grid, block, "rtx2070super", resident);
        EXPECT_TRUE(traced) << traced.error().text();
        const Estimate base = estimate(traced->launch);
        const Bottleneck found = sensitivities(traced->launch, base, 2);
        for (const Sensitivity& one : found.regions)
            EXPECT_LT(one.region, traced->launch.trace.code.regions.size());
        EXPECT_GT(found.all.front().value, 0.5);
        return std::pair(found.all.front().resource, found.all.front().is_gap);
    };
    // One warp that waits for its own products; then enough warps to fill the unit.
    EXPECT_EQ(bottleneck(fma_loop, 500, {1, 1, 1}, {32, 1, 1}, 1), std::pair(Resource::fp32, false));
    EXPECT_EQ(bottleneck(fma_loop, 500, {40, 1, 1}, {1024, 1, 1}, 1), std::pair(Resource::fp32, true));
    // One double in a loop of floats, on a GPU with two lanes for them.
    const std::string with_double = R"(
    mov.u32 %r4, 0;
$L:
    fma.rn.f32 %f1, %f1, %f1, %f1;
    cvt.f64.f32 %d1, %f1;
    mul.rn.f64 %d1, %d1, 0d3FF0000000000001;
    cvt.rn.f32.f64 %f1, %d1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r1;
    @%p1 bra $L;
)";
    EXPECT_EQ(bottleneck(with_double, 300, {40, 1, 1}, {1024, 1, 1}, 1), std::pair(Resource::fp64, true));
    // Sines.
    const std::string sines = R"(
    mov.u32 %r4, 0;
$L:
    sin.approx.f32 %f1, %f1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r1;
    @%p1 bra $L;
)";
    EXPECT_EQ(bottleneck(sines, 300, {40, 1, 1}, {1024, 1, 1}, 1),
              std::pair(Resource::special_function, true));
    // Quotients, each of the one before: most of the chain is of the special function unit.
    const std::string quotients = R"(
    mov.u32 %r4, 0;
    mov.u32 %r5, 4000000000;
$L:
    div.u32 %r5, %r5, %r1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r1;
    @%p1 bra $L;
)";
    EXPECT_EQ(bottleneck(quotients, 300, {1, 1, 1}, {32, 1, 1}, 1),
              std::pair(Resource::special_function, false));
    // A row a thread: each lane a line of its own.
    const std::string rows = R"(
    mad.lo.u32 %r5, %r3, 256, %r2;
    mul.wide.u32 %rd4, %r5, 65536;
    add.s64 %rd4, %rd1, %rd4;
    mov.u32 %r4, 0;
$L:
    ld.global.cg.f32 %f2, [%rd4];
    add.f32 %f1, %f1, %f2;
    add.s64 %rd4, %rd4, 4;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r1;
    @%p1 bra $L;
)";
    const auto memory = bottleneck(rows, 300, {160, 1, 1}, {256, 1, 1}, 4);
    EXPECT_TRUE(memory == std::pair(Resource::l2, true) || memory == std::pair(Resource::dram, true))
        << name(memory.first);
}

// Against a run of every iteration. Blocks of a wave are traced, others counted; lane 5 of block 3 has other bounds
// than its neighbours wherever %r2 or %r3 comes into them.
TEST(TracedLaunch, IterationsThatAreLeftOutChangeNothing) {
    struct Case {
        const char* name;
        std::string body;
        bool is_left_out;
    };
    const auto loop = [](const std::string& before, const std::string& iteration,
                         const std::string& behind = "") {
        return before + "$L:\n" + iteration + "    @%p1 bra $L;\n" + behind;
    };
    const std::string from_0 = "    mov.u32 %r4, 0;\n    mov.u64 %rd4, %rd1;\n    mov.u32 %r6, 0;\n",
                      load = "    ld.global.f32 %f1, [%rd4];\n    add.s64 %rd4, %rd4, 4;\n",
                      up = "    add.u32 %r4, %r4, 1;\n    setp.lt.u32 %p1, %r4, %r1;\n",
                      use_r4 =
                          "    mul.wide.u32 %rd5, %r4, 64;\n    add.s64 %rd5, %rd1, %rd5;\n"
                          "    ld.global.f32 %f2, [%rd5];\n    ld.global.f32 %f3, [%rd4];\n",
                      use_r6 =
                          "    mul.wide.u32 %rd5, %r6, 64;\n    add.s64 %rd5, %rd1, %rd5;\n"
                          "    ld.global.f32 %f2, [%rd5];\n";
    const std::vector<Case> cases{
        {"upwards", loop(from_0, load + up, use_r4), true},
        {"compared before it moves",
         loop(from_0, load + "    setp.lt.u32 %p1, %r4, %r1;\n    add.u32 %r4, %r4, 1;\n", use_r4), true},
        {"down to nought",
         loop(from_0 + "    mov.u32 %r4, %r1;\n",
              load + "    add.s32 %r4, %r4, -1;\n    setp.ne.s32 %p1, %r4, 0;\n", use_r4),
         true},
        {"down below nought, by subtraction",
         loop(from_0 + "    mov.u32 %r4, %r1;\n",
              load + "    sub.s32 %r4, %r4, 7;\n    setp.ge.s32 %p1, %r4, 0;\n"),
         true},
        {"left where it holds",
         from_0 + "$L:\n" + load +
             "    add.u32 %r4, %r4, 3;\n    setp.ge.u32 %p1, %r4, %r1;\n    @!%p1 bra $L;\n" + use_r4,
         true},
        {"left in its midst, and a branch back",
         from_0 + "$L:\n" + load +
             "    add.u32 %r4, %r4, 1;\n    setp.eq.u32 %p1, %r4, %r1;\n    @%p1 bra $E;\n    bra.uni "
             "$L;\n$E:\n" +
             use_r4,
         true},
        {"a branch back that does more",
         from_0 + "$L:\n" + load +
             "    setp.eq.u32 %p1, %r4, %r1;\n    @%p1 bra $E;\n    add.u32 %r4, %r4, 1;\n    bra.uni "
             "$L;\n$E:\n" +
             use_r4,
         false},
        {"by an amount of each lane's own",
         loop(from_0 + "    add.u32 %r5, %r2, 1;\n",
              load + "    add.u32 %r4, %r4, %r5;\n    setp.le.u32 %p1, %r4, %r1;\n", use_r4),
         true},
        {"triangle", loop(from_0 + "    mad.lo.u32 %r4, %r3, 2, %r2;\n", load + up, use_r4), true},
        {"both sides move",
         loop(from_0 + "    mov.u32 %r5, %r1;\n",
              load + "    add.u32 %r4, %r4, 2;\n    sub.u32 %r5, %r5, 1;\n    setp.lt.u32 %p1, %r4, %r5;\n"),
         true},
        {"64 bits",
         loop(from_0 +
                  "    mov.u64 %rd5, %rd1;\n    mul.wide.u32 %rd6, %r1, 8;\n    add.s64 %rd6, %rd1, %rd6;\n",
              "    ld.global.f32 %f1, [%rd5];\n    add.s64 %rd5, %rd5, 8;\n    setp.ne.s64 %p1, %rd5, "
              "%rd6;\n"),
         true},
        {"around zero",
         loop(from_0 + "    mov.u32 %r4, -500;\n",
              load + "    add.u32 %r4, %r4, 1;\n    setp.ne.u32 %p1, %r4, %r1;\n", use_r4),
         true},
        {"a sum is stored",
         loop(from_0, load + "    add.f32 %f4, %f4, %f1;\n" + up, "    st.global.f32 [%rd1], %f4;\n"), true},
        {"in a loop",
         from_0 + "    mov.u32 %r7, 0;\n$O:\n    mov.u32 %r4, 0;\n" +
             loop("", load + up,
                  "    add.u32 %r7, %r7, 1;\n    setp.lt.u32 %p2, %r7, 90;\n"
                  "    @%p2 bra $O;\n"),
         true},
        {"past the end, and around",
         loop(from_0 + "    mov.u32 %r4, 1;\n",
              load + "    add.u32 %r4, %r4, 2097152;\n    setp.ne.u32 %p1, %r4, 0;\n"
                     "    and.b32 %r5, %r4, 2147483648;\n    setp.eq.u32 %p1, %r5, 0;\n"),
         false},
        {"a sum is an address",
         loop(from_0, load + "    add.u32 %r5, %r4, %r6;\n    xor.b32 %r6, %r5, %r4;\n" + up,
              "    and.b32 %r6, %r6, 1023;\n" + use_r6),
         false},
        {"a sum decides",
         loop(from_0, load + "    xor.b32 %r6, %r6, %r4;\n" + up,
              "    setp.eq.u32 %p2, %r6, 0;\n    @%p2 bra $E;\n" + use_r4 + "$E:\n"),
         false},
        {"a sum goes by memory to an address",
         loop(
             from_0, load + "    xor.b32 %r6, %r6, %r4;\n" + up,
             "    st.global.u32 [%rd1], %r6;\n    ld.global.u32 %r6, [%rd1];\n    and.b32 %r6, %r6, 1023;\n" +
                 use_r6),
         false},
        {"what is stored is an address",
         loop(from_0, load + "    st.global.u32 [%rd1], %r4;\n" + up,
              "    ld.global.u32 %r6, [%rd1];\n    and.b32 %r6, %r6, 1023;\n" + use_r6),
         false},
        {"the value of the iteration before is an address",
         loop(from_0, load + "    mov.u32 %r6, %r5;\n    xor.b32 %r5, %r6, %r4;\n" + up,
              "    and.b32 %r6, %r6, 1023;\n" + use_r6),
         false},
        {"memory ends it",
         loop(from_0,
              "    ld.global.u32 %r5, [%rd4];\n    add.s64 %rd4, %rd4, 4;\n    add.u32 %r4, %r4, 1;\n"
              "    and.b32 %r5, %r5, 0;\n    add.u32 %r5, %r5, %r4;\n    setp.lt.u32 %p1, %r5, %r1;\n"),
         false},
        {"a carry in an iteration",
         loop(from_0, load + "    add.cc.u32 %r5, %r4, %r4;\n    addc.u32 %r6, %r6, 0;\n" + up), false},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.name);
        std::array<std::expected<Traced, Error>, 2> traced{
            trace(one.body, 1000, {400, 1, 1}, {64, 1, 1}, "rtx2070super", 2, false),
            trace(one.body, 1000, {400, 1, 1}, {64, 1, 1}, "rtx2070super", 2, true)};
        ASSERT_TRUE(traced[0] && traced[1]) << traced[traced[0] ? 1 : 0].error().text();
        EXPECT_EQ(told_by(traced[0]->launch), told_by(traced[1]->launch));
        if (one.is_left_out)
            EXPECT_LT(traced[0]->launch.warp_instructions, traced[1]->launch.warp_instructions);
        else
            EXPECT_EQ(traced[0]->launch.warp_instructions, traced[1]->launch.warp_instructions);
    }
}

TEST(TracedLaunch, LoopsWithoutAnEndStillMeetTheLimit) {
    // It is known not to end: neither side comes nearer to the other.
    const auto endless = trace(R"(
    mov.u32 %r4, 0;
    mov.u32 %r5, 1;
$L:
    add.u32 %r4, %r4, 2;
    add.u32 %r5, %r5, 2;
    setp.ne.u32 %p1, %r4, %r5;
    @%p1 bra $L;
)",
                               1);
    ASSERT_FALSE(endless);
    EXPECT_THAT(endless.error().message, HasSubstr("instructions"));
    const auto still = trace(R"(
    mov.u32 %r4, 0;
$L:
    add.u32 %r4, %r4, 0;
    setp.lt.u32 %p1, %r4, %r1;
    @%p1 bra $L;
)",
                             1);
    ASSERT_FALSE(still);
    EXPECT_THAT(still.error().message, HasSubstr("instructions"));
}

// What a launch asks of DRAM where block i of `blocks` reads 64 floats from `address` on, of all blocks' first.
std::expected<Access, Error> read_by_blocks(const std::string& address, std::uint32_t blocks) {
    const auto traced = trace("    shl.b32 %r4, %r2, 2;\n" + address + R"(
    cvt.u64.u32 %rd4, %r4;
    add.s64 %rd4, %rd1, %rd4;
    ld.global.f32 %f1, [%rd4];
)",
                              1, {blocks, 1, 1}, {64, 1, 1}, "rtx2070super", 10);
    if (!traced) return std::unexpected(traced.error());
    return traced->launch.trace.accesses.front();
}

constexpr std::string_view own_data = "    mad.lo.u32 %r4, %r3, 256, %r4;";

// Blocks that read the same cost DRAM once; those that read each their own cost it each. 400 000 blocks read more than
// twenty times what L2 holds.
TEST(TracedLaunch, WhatBlocksShareComesFromDramOnce) {
    const auto own = read_by_blocks(std::string(own_data), 400'000),
               half =
                   read_by_blocks("    mad.lo.u32 %r4, %r3, 128, %r4;", 400'000);  // half is the next one's
    ASSERT_TRUE(own && half);
    EXPECT_NEAR(own->dram_sectors, 1, 1e-4);
    EXPECT_NEAR(half->dram_sectors, 0.5, 0.01);
    // Who asks for the same at once waits for it as long.
    EXPECT_NEAR(own->dram_waits, 1, 1e-4);
    EXPECT_NEAR(half->dram_waits, 0.5, 0.01);
}

// A copy from the host, or who made it, has left it there.
TEST(TracedLaunch, WhatFitsL2IsThereBefore) {
    const auto own = read_by_blocks(std::string(own_data), 400), all = read_by_blocks("", 400'000);
    ASSERT_TRUE(own && all);
    EXPECT_NEAR(own->dram_sectors, 0, 1e-4);
    EXPECT_NEAR(own->dram_waits, 0, 1e-4);
    EXPECT_NEAR(all->dram_sectors, 0, 1e-4);
}

// Bodies that all threads read in turn, and each thread one before: the first block's first iterations find theirs
// there, of the thousands that follow none would.
TEST(Estimate, WhatWasReadBeforeALoopDoesNotStandForItsIterations) {
    const auto cycles = [](const std::string& own) {
        const auto traced = trace("    shl.b32 %r5, %r2, 4;\n" + own + R"(
    cvt.u64.u32 %rd4, %r5;
    add.s64 %rd4, %rd1, %rd4;
    ld.global.f32 %f2, [%rd4];
    mov.u32 %r4, 0;
$L:
    ld.global.f32 %f1, [%rd1];
    add.f32 %f2, %f2, %f1;
    add.s64 %rd1, %rd1, 16;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r1;
    @%p1 bra $L;
    st.global.f32 [%rd4], %f2;
)",
                                  4096, {1, 1, 1}, {64, 1, 1});
        EXPECT_TRUE(traced) << traced.error().text();
        return estimate(traced->launch).cycles;
    };
    const double elsewhere = cycles("    add.u32 %r5, %r5, 1048576;");
    EXPECT_NEAR(cycles(""), elsewhere, 0.03 * elsewhere);
}

TEST(TracedLaunch, FaultsAndLimitsAreErrors) {
    const auto endless = trace("$L:\n    setp.eq.u32 %p1, %r1, 1;\n    @%p1 bra $L;\n", 1);
    ASSERT_FALSE(endless);
    EXPECT_THAT(endless.error().message, HasSubstr("instructions"));
    EXPECT_FALSE(trace("    trap;", 1));
}

TEST(Machine, EveryNumberHasASource) {
    for (const model::Device& device : model::devices()) {
        const Machine machine = machine_of(device, device.values.sm_count);
        for (std::size_t r = 0; r < resource_count; ++r) {
            SCOPED_TRACE(device.slug + " " + std::string(name(static_cast<Resource>(r))));
            EXPECT_GT(machine.pipes[r].gap_cycles, 0);
            EXPECT_GE(machine.pipes[r].latency_cycles, 0);
            EXPECT_FALSE(machine.pipes[r].latency_source.empty());
            EXPECT_FALSE(machine.pipes[r].gap_source.empty());
        }
    }
    // By hand: 64 lanes for floats are 16 a scheduler, 448 GB/s at 90 % are 5.62 cycles a sector for one of 40 SMs.
    const Machine turing = machine_of(*model::find_device("rtx2070super"), 40);
    EXPECT_DOUBLE_EQ(turing.of(Resource::fp32).gap_cycles, 2);
    EXPECT_NEAR(turing.of(Resource::dram).gap_cycles, 32 * 40 * 1.77e9 / (0.9 * 448.064e9), 1e-9);
    EXPECT_NEAR(turing.of(Resource::l2).gap_cycles, 64 * 40 / (1024 * 0.78), 1e-9);
    EXPECT_DOUBLE_EQ(turing.of(Resource::fp64).gap_cycles, 16);
}

}  // namespace
}  // namespace trimtab::schedule
