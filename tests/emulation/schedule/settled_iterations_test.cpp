// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/settled_iterations.h"

#include <gtest/gtest.h>

#include "tests/emulation/schedule/made_up_trace.h"

namespace trimtab::schedule {
namespace {

// A loop of 64 iterations that walks an array by so many bytes an iteration, a warp's lanes all at one place.
KernelTrace walk(std::uint64_t bytes, std::size_t instructions = 8, bool is_cut = true) {
    MadeUpTrace made;
    made.add(Resource::load_store, {}, {}).has_request = true;
    for (std::size_t i = 1; i < instructions; ++i) made.add(Resource::fp32, {0}, {0});
    KernelTrace& trace = made.looped(1, 2, kept_iterations);
    trace.code.stretches.front().requests = 1;
    trace.code.loops.front().is_cut = is_cut;
    BlockTrace& block = trace.blocks.front();
    for (WarpTrace& warp : block.warps)
        for (std::uint16_t t = 0; t < kept_iterations; ++t) {
            warp.steps[t].first_request = t;
            const std::uint64_t sector = t * bytes / 32;
            warp.requests.push_back({.lanes = 32,
                                     .sectors = 1,
                                     .lines = 1,
                                     .first_line = static_cast<std::uint32_t>(block.lines.size())});
            block.lines.push_back(
                {.number = sector / 4, .sectors = static_cast<std::uint8_t>(1u << (sector % 4))});
        }
    return trace;
}

TEST(SettledIterations, IterationsThatRepeatEarlierAreHalved) {
    for (const std::uint64_t bytes :
         {4, 8, 16, 64}) {  // 8 iterations a sector, 4, 2, and two sectors an iteration
        SCOPED_TRACE(bytes);
        KernelTrace trace = walk(bytes);
        settle_iterations(trace);
        EXPECT_EQ(trace.code.loops.front().kept_iterations, kept_iterations / 2);
    }
}

// What a quarter of the iterations do must be enough for warps to fall into step.
TEST(SettledIterations, LongIterationsAreHalvedTwiceAndShortOnesNot) {
    KernelTrace longer = walk(16, 30), shorter = walk(16, 3);
    settle_iterations(longer);
    settle_iterations(shorter);
    EXPECT_EQ(longer.code.loops.front().kept_iterations, kept_iterations / 4);
    EXPECT_EQ(shorter.code.loops.front().kept_iterations, kept_iterations);
}

TEST(SettledIterations, IterationsThatTakeLongerToRepeatAreKept) {
    KernelTrace bytes = walk(1);  // 32 iterations a sector
    settle_iterations(bytes);
    EXPECT_EQ(bytes.code.loops.front().kept_iterations, kept_iterations);
    KernelTrace changing = walk(4);
    for (std::size_t t = 40; t < kept_iterations; ++t)
        for (WarpTrace& warp : changing.blocks.front().warps) warp.requests[t].lanes = 16;
    settle_iterations(changing);
    EXPECT_EQ(changing.code.loops.front().kept_iterations, kept_iterations);
    KernelTrace whole = walk(4, 8, false);  // nothing is to be extrapolated
    settle_iterations(whole);
    EXPECT_EQ(whole.code.loops.front().kept_iterations, kept_iterations);
}

}  // namespace
}  // namespace trimtab::schedule
