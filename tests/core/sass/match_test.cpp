// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Against what the code does, worked out by hand: gather's loop does four iterations at a time while more than three
// are left, then two, then one.
#include "core/sass/match.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/sass/execution.h"
#include "core/sass/flow_counts.h"
#include "tests/core/sass/fixtures.h"

namespace trimtab::sass {
namespace {

struct Gather {
    ptx::Module module;
    Disassembly code;
    ControlFlow flow;
    explicit Gather(unsigned architecture) : code(gather(architecture)) {
        auto parsed = ptx::parse(data_text("gather.ptx"), "gather.ptx");
        EXPECT_TRUE(parsed);
        if (parsed) module = std::move(*parsed);
        flow = control_flow(code.functions.at(0));
    }
    // Warps that each do so many iterations of the loop; it begins on line 18 and ends on line 30.
    [[nodiscard]] Match matched(double warps, double iterations) const {
        const ptx::Function& kernel = *module.function("gather");
        PtxCounts counts{.function = &kernel, .executions = {}};
        for (const ptx::Instruction& i : kernel.body)
            counts.executions.push_back(i.line >= 18 && i.line <= 30 ? warps * iterations : warps);
        return match(code.functions.at(0), flow, std::span(&counts, 1), warps);
    }
};

TEST(SassMatch, IterationsOfAnUnrolledLoop) {
    const Gather kernel(75);
    constexpr double warps = 6;
    for (int iterations = 1; iterations < 40; ++iterations) {
        const Match found = kernel.matched(warps, iterations);
        // Blocks as in control_flow_test: 3 the loop, 5 the pair, 7 the single iteration.
        EXPECT_DOUBLE_EQ(found.executions[3], warps * (iterations / 4)) << iterations;
        EXPECT_DOUBLE_EQ(found.executions[5], warps * (iterations % 4 / 2)) << iterations;
        EXPECT_DOUBLE_EQ(found.executions[7], warps * (iterations % 2)) << iterations;
        EXPECT_DOUBLE_EQ(found.executions[0], warps);
        EXPECT_DOUBLE_EQ(found.executions[8], warps);
        EXPECT_DOUBLE_EQ(found.executions[9], 0) << "padding";
        EXPECT_NEAR(found.sass_bytes, found.ptx_bytes, 1e-6) << iterations;
        EXPECT_DOUBLE_EQ(found.ptx_bytes, 4 * warps * (3 * iterations + 1));
    }
    const Match found = kernel.matched(warps, 11);
    EXPECT_EQ(found.by[3], CountedBy::lines);
    EXPECT_DOUBLE_EQ(found.executions[4], warps);
    EXPECT_GT(found.counted_share, 0.85);
    ASSERT_EQ(found.loops.size(), 1u);
    EXPECT_EQ(found.loops[0].copies, 4);
    EXPECT_EQ(found.loops[0].line, 18u);
    EXPECT_DOUBLE_EQ(found.loops[0].iterations, 2 * warps);
    EXPECT_DOUBLE_EQ(found.loops[0].entries, warps);
}

// A mean of iterations: none is lost.
TEST(SassMatch, IterationsOnTheMean) {
    const Gather kernel(90);
    for (const double iterations : {0.5, 3.75, 17.3, 1536.0}) {
        const Match found = kernel.matched(10, iterations);
        EXPECT_NEAR(found.sass_bytes, 40 * (3 * iterations + 1), 1e-6) << iterations;
        EXPECT_GT(found.counted_share, iterations < 4 ? 0.5 : 0.85);
    }
}

TEST(SassMatch, LoopThatNeverRuns) {
    const Match found = Gather(75).matched(4, 0);
    EXPECT_DOUBLE_EQ(found.executions[3], 0);
    EXPECT_DOUBLE_EQ(found.executions[8], 4);
}

// guarded's iterations load, compute and store where the thread is one of the first `rest`. ptxas unrolls it four
// times, and keeps the branch there; in the pair and the single iteration behind it the guard is each
// instruction's. How often a block runs is a matter of iterations, also where no warp, or one of several, has a
// thread that does anything.
TEST(SassMatch, IterationsWhoseAnchorsAllStandBehindABranch) {
    const auto module = ptx::parse(data_text("guarded.ptx"), "guarded.ptx");
    ASSERT_TRUE(module);
    const Disassembly code = disassembly("guarded.sm_75.sass");
    const ControlFlow flow = control_flow(code.functions.at(0));
    const auto block_at = [&](std::uint32_t address) {
        for (BlockIndex b = 0; b < flow.blocks.size(); ++b)
            if (flow.blocks[b].first == code.functions.at(0).index_at(address)) return b;
        ADD_FAILURE() << "no block begins at " << address;
        return BlockIndex{0};
    };
    constexpr double warps = 6;
    for (const int iterations : {4, 11, 40, 43})
        for (const double doing : {0.0, 1.0, warps}) {
            PtxCounts counts{.function = module->function("guarded"), .executions = {}};
            for (const ptx::Instruction& i : counts.function->body)
                counts.executions.push_back(i.line < 18 || i.line > 27     ? warps
                                            : i.line >= 19 && i.line <= 21 ? doing * iterations
                                                                           : warps * iterations);
            const Match found = match(code.functions.at(0), flow, std::span(&counts, 1), warps);
            const std::string what = fmt::format("{} iterations, {} warps do something", iterations, doing);
            const int fours = iterations / 4;
            EXPECT_DOUBLE_EQ(found.executions[block_at(0x110)], warps * fours) << what;
            EXPECT_DOUBLE_EQ(found.executions[block_at(0x180)], doing * fours)
                << what << ", two of four iterations";
            EXPECT_DOUBLE_EQ(found.executions[block_at(0x330)], warps * (iterations % 4 / 2))
                << what << ", the pair";
            EXPECT_DOUBLE_EQ(found.executions[block_at(0x4c0)], warps * (iterations % 2))
                << what << ", the single iteration";
        }
}

TEST(SassMatch, LinesOfAnotherTextMatchNothing) {
    const Gather kernel(75);
    auto parsed =
        ptx::parse("\n\n.version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n", "k");
    ASSERT_TRUE(parsed);
    const PtxCounts counts{.function = parsed->function("k"), .executions = {3}};
    const Match found = match(kernel.code.functions.at(0), kernel.flow, std::span(&counts, 1), 3);
    EXPECT_EQ(found.sass_bytes, 0);
    EXPECT_EQ(found.loops.at(0).line, 0u);
    EXPECT_EQ(found.by[3], CountedBy::nothing);
    for (const double executions : found.executions) EXPECT_TRUE(std::isfinite(executions));
}

// One pass of the loop: the four indices and the weight that follows them are asked for, then the first index is
// waited for; the values behind it are the second wait.
TEST(SassExecution, WaitsAndMixOfGather) {
    const Gather kernel(75);
    const Function& code = kernel.code.functions.at(0);
    const Match found = kernel.matched(1, 400);
    const Execution executed = execution(code, kernel.flow, found.executions, 1);
    EXPECT_DOUBLE_EQ(executed.global_loads, 1200);
    EXPECT_DOUBLE_EQ(executed.global_stores, 1);
    EXPECT_DOUBLE_EQ(executed.pipe(Pipe::fp32), 400);
    EXPECT_DOUBLE_EQ(executed.local_loads + executed.local_stores + executed.shared_accesses, 0);
    EXPECT_NEAR(executed.memory_waits, 200, 2);
    EXPECT_NEAR(executed.loads_in_flight(), 6, 0.1);
    // 39 instructions an iteration of the unrolled loop, which issues no more than one a cycle.
    EXPECT_NEAR(executed.instructions, 3900, 60);
    EXPECT_GT(executed.issue_cycles, executed.instructions);
    double sum = 0;
    for (const double one : executed.by_pipe) sum += one;
    EXPECT_DOUBLE_EQ(sum, executed.instructions);
}

TEST(FlowCounts, FollowsWhatIsKnown) {
    // 0 -> 1 | 2, 1 -> 1 | 3, 2 -> 3; 3 ends. The loop ran 50 times.
    const FlowCounts solved = conserve_flow({{1, 2}, {1, 3}, {3}, {}}, {false, false, false, false}, 10,
                                            {0, 50, 4, 0}, {false, true, true, false});
    EXPECT_EQ(solved.blocks, (std::vector<double>{10, 50, 4, 10}));
    EXPECT_EQ(solved.known, std::vector<bool>(4, true));
    EXPECT_EQ(solved.edges[1], (std::vector<double>{44, 6}));
    // A way that is known settles the rest: of ten, four skip the loop.
    const KnownEdge entry{.from = 0, .to = 1, .executions = 6};
    const FlowCounts told = conserve_flow({{1, 2}, {1, 2}, {}}, {false, false, false}, 10, {0, 50, 0},
                                          {false, true, false}, std::span(&entry, 1));
    EXPECT_EQ(told.blocks, (std::vector<double>{10, 50, 10}));
    EXPECT_EQ(told.edges[0], (std::vector<double>{6, 4}));
    EXPECT_EQ(told.edges[1], (std::vector<double>{44, 6}));
    // What leaves from block 0 is not known: nor is what goes on.
    const FlowCounts leaking = conserve_flow({{1}, {}}, {true, false}, 10, {0, 0}, {false, false});
    EXPECT_TRUE(leaking.known[0]);
    EXPECT_FALSE(leaking.known[1]);
}

}  // namespace
}  // namespace trimtab::sass
