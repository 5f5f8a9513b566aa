// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/control_flow.h"

#include <algorithm>
#include <random>
#include <set>

#include "fixtures.h"
#include "random_function.h"

namespace trimtab::ptx {
namespace {

ControlFlow flow_of(const Function& function) {
    auto flow = control_flow(function);
    EXPECT_TRUE(flow) << (flow ? "" : flow.error().text());
    return flow ? std::move(*flow) : ControlFlow{};
}

ControlFlow flow_of(std::string_view statements) {
    return flow_of(kernel_module(statements).functions.at(0));
}

using Blocks = std::vector<BlockIndex>;

TEST(ControlFlow, ADiamond) {
    // 0: setp, bra -> 2 | 1;  1: mov, bra -> 3;  2: mov;  3: ret
    const ControlFlow flow = flow_of(R"(setp.eq.s32 %p1, %r1, 0; @%p1 bra ELSE; mov.u32 %r2, 1; bra END;
        ELSE: mov.u32 %r2, 2; END: ret;)");
    ASSERT_EQ(flow.blocks.size(), 4u);
    EXPECT_EQ(flow.blocks[0].successors, (Blocks{2, 1}));  // taken first
    EXPECT_EQ(flow.blocks[1].successors, (Blocks{3}));
    EXPECT_EQ(flow.blocks[2].successors, (Blocks{3}));
    EXPECT_TRUE(flow.blocks[3].successors.empty());
    EXPECT_EQ(flow.blocks[3].predecessors, (Blocks{1, 2}));
    EXPECT_EQ(flow.block_of, (Blocks{0, 0, 1, 1, 2, 3}));
    EXPECT_EQ(flow.immediate_dominator, (Blocks{no_index, 0, 0, 0}));
    EXPECT_EQ(flow.immediate_post_dominator, (Blocks{3, 3, 3, no_index}));
    EXPECT_TRUE(flow.loops.empty() && flow.reducible);
    EXPECT_TRUE(flow.dominates(0, 3) && flow.dominates(3, 3) && !flow.dominates(1, 3));
    EXPECT_TRUE(flow.post_dominates(3, 0) && !flow.post_dominates(2, 0));
}

TEST(ControlFlow, NestedLoops) {
    // 0 entry; 1 outer header; 2 inner loop of one block; 3 outer latch; 4 exit
    const ControlFlow flow = flow_of(R"(mov.u32 %r1, 0; OUTER: mov.u32 %r2, 0; INNER: add.s32 %r2, %r2, 1;
        setp.lt.s32 %p1, %r2, 8; @%p1 bra INNER; add.s32 %r1, %r1, 1; setp.lt.s32 %p2, %r1, 8; @%p2 bra OUTER; ret;)");
    ASSERT_EQ(flow.blocks.size(), 5u);
    ASSERT_EQ(flow.loops.size(), 2u);
    EXPECT_EQ(flow.loops[0].header, 1u);
    EXPECT_EQ(flow.loops[0].blocks, (Blocks{1, 2, 3}));
    EXPECT_EQ(flow.loops[0].latches, (Blocks{3}));
    EXPECT_EQ(flow.loops[0].parent, no_index);
    EXPECT_EQ(flow.loops[1].blocks, (Blocks{2}));
    EXPECT_EQ(flow.loops[1].parent, 0u);
    EXPECT_EQ(flow.loops[1].depth, 2u);
    EXPECT_EQ(flow.innermost_loop, (std::vector<std::uint32_t>{no_index, 0, 1, 0, no_index}));
    EXPECT_EQ(flow.immediate_post_dominator, (Blocks{1, 2, 3, 4, no_index}));
    EXPECT_EQ(flow.reverse_post_order, (Blocks{0, 1, 2, 3, 4}));
}

TEST(ControlFlow, GuardedReturnsLeaveByTheVirtualExit) {
    // The guarded ret ends block 0; nothing but the exit post-dominates it.
    const ControlFlow flow = flow_of("@%p1 ret; mov.u32 %r1, 1; @%p2 exit; ret;");
    ASSERT_EQ(flow.blocks.size(), 3u);
    EXPECT_EQ(flow.blocks[0].successors, (Blocks{1}));
    EXPECT_EQ(flow.immediate_post_dominator, (Blocks{no_index, no_index, no_index}));
    EXPECT_TRUE(flow.dominates(0, 2));
}

TEST(ControlFlow, InfiniteLoopsHavePostDominatorsToo) {
    // 0: branch; 1: spin; 2 and 3: round and round; nobody leaves.
    const ControlFlow flow =
        flow_of("@%p1 bra B; A: bra A; B: mov.u32 %r1, 1; @%p2 bra B; C: add.s32 %r1, %r1, 1; bra B;");
    ASSERT_EQ(flow.blocks.size(), 4u);
    EXPECT_EQ(flow.immediate_post_dominator[2], 3u);
    EXPECT_EQ(flow.immediate_post_dominator[0], no_index);
    ASSERT_EQ(flow.loops.size(), 2u);
    EXPECT_EQ(flow.loops[flow.innermost_loop[2]].latches.size(), 2u);
}

TEST(ControlFlow, AnIrreducibleLoopIsSaidToBeOne) {
    const ControlFlow flow = flow_of("@%p1 bra B; A: mov.u32 %r1, 1; B: mov.u32 %r2, 1; @%p2 bra A; ret;");
    EXPECT_FALSE(flow.reducible);
    EXPECT_TRUE(flow.loops.empty());
}

TEST(ControlFlow, TablesUnreachableCodeAndEnds) {
    const ControlFlow flow =
        flow_of(R"(t: .branchtargets A, B, A, END; brx.idx %r1, t; mov.u32 %r9, 9; bra END;
        A: mov.u32 %r2, 1; bra END; B: trap; END:)");
    // 0 brx; 1 unreachable; 2 A; 3 B; 4 an empty block at the end
    ASSERT_EQ(flow.blocks.size(), 5u);
    EXPECT_EQ(flow.blocks[0].successors, (Blocks{2, 3, 4}));
    EXPECT_EQ(flow.blocks[4].first, flow.blocks[4].last);
    EXPECT_EQ(flow.immediate_dominator[1], no_index);
    EXPECT_FALSE(flow.dominates(0, 1));
    EXPECT_EQ(flow.reverse_post_order.size(), 4u);
    EXPECT_TRUE(flow.blocks[3].successors.empty());
}

TEST(ControlFlow, NothingPrecedesTheEntry) {
    const ControlFlow flow = flow_of("TOP: add.s32 %r1, %r1, 1; @%p1 bra TOP; ret;");
    ASSERT_EQ(flow.blocks.size(), 3u);
    EXPECT_TRUE(flow.blocks[0].predecessors.empty());
    EXPECT_EQ(flow.blocks[0].first, flow.blocks[0].last);
    EXPECT_EQ(flow.blocks[1].predecessors, (Blocks{0, 1}));
    EXPECT_EQ(flow.block_of, (Blocks{1, 1, 2}));
    ASSERT_EQ(flow.loops.size(), 1u);
    EXPECT_EQ(flow.loops[0].header, 1u);
}

TEST(ControlFlow, BranchesThatGoNowhereAreErrors) {
    Module module = kernel_module("bra L; L: ret;");
    Function f = module.functions.at(0);
    f.body[0].operands[0].target = 7;
    const auto out = control_flow(f);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().message, "function 'k': a branch out of the function");
    EXPECT_EQ(out.error().line, f.body[0].line);
    f.body[0].opcode = Opcode::brx;
    EXPECT_FALSE(control_flow(f));
}

// Blocks that `from` reaches without passing `removed`.
std::set<BlockIndex> reach(const std::vector<Blocks>& edges, BlockIndex from, BlockIndex removed) {
    std::set<BlockIndex> seen;
    Blocks work = {from};
    while (!work.empty()) {
        const BlockIndex b = work.back();
        work.pop_back();
        if (b == removed || !seen.insert(b).second) continue;
        work.insert(work.end(), edges[b].begin(), edges[b].end());
    }
    return seen;
}

// a dominates b exactly if b cannot be reached once a is gone; the same backwards from the exit.
TEST(ControlFlow, DominatorsAgreeWithTheirDefinitionOnRandomGraphs) {
    std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same cases each time
    unsigned irreducible = 0, endless = 0;
    for (unsigned round = 0; round < 400; ++round) {
        const Function f = random_function(random, 3 + round % 12, 2);
        const ControlFlow flow = flow_of(f);
        const auto count = static_cast<BlockIndex>(flow.blocks.size());
        std::vector<Blocks> forward(count + 1), backward(count + 1);
        for (BlockIndex b = 0; b < count; ++b) {
            Blocks successors = flow.blocks[b].successors;
            const Instruction& last = f.body[flow.blocks[b].last - 1];
            const bool ends = last.opcode == Opcode::bra && last.guard == no_index;
            if (last.opcode == Opcode::ret || (b + 1 == count && !ends)) successors.push_back(count);
            forward[b] = successors;
            for (const BlockIndex s : successors) backward[s].push_back(b);
        }
        const std::set<BlockIndex> reachable = reach(forward, 0, no_index),
                                   leaving = reach(backward, count, no_index);
        for (BlockIndex a = 0; a < count; ++a) {
            const std::set<BlockIndex> without = reach(forward, 0, a),
                                       back_without = reach(backward, count, a);
            for (BlockIndex b = 0; b < count; ++b) {
                if (reachable.contains(b)) {
                    ASSERT_EQ(flow.dominates(a, b), a == b || !without.contains(b)) << a << " " << b;
                }
                // Where a block may never leave, the exit edges that close its loop are ours to choose.
                if (leaving.size() == count + 1) {
                    ASSERT_EQ(flow.post_dominates(a, b), a == b || !back_without.contains(b))
                        << a << " " << b;
                }
            }
        }
        ASSERT_EQ(flow.reverse_post_order.size(),
                  reachable.size() - reachable.count(count));  // without the exit
        // A loop by its definition: the header, and what reaches a latch without the header.
        for (const Loop& loop : flow.loops) {
            std::set<BlockIndex> body = {loop.header};
            for (const BlockIndex latch : loop.latches) {
                for (const BlockIndex b : reach(backward, latch, loop.header)) {
                    if (reachable.contains(b)) body.insert(b);
                }
            }
            ASSERT_EQ(std::set<BlockIndex>(loop.blocks.begin(), loop.blocks.end()), body);
            if (loop.parent != no_index) {
                const Loop& parent = flow.loops[loop.parent];
                ASSERT_TRUE(std::includes(parent.blocks.begin() + 1, parent.blocks.end(),
                                          loop.blocks.begin() + 1, loop.blocks.end()));
                ASSERT_EQ(loop.depth, parent.depth + 1);
            }
        }
        // Reducible exactly if no cycle is left once edges into dominators are gone.
        std::vector<Blocks> acyclic(count);
        for (const BlockIndex b : reachable) {
            if (b == count) continue;
            for (const BlockIndex s : flow.blocks[b].successors) {
                if (!flow.dominates(s, b)) acyclic[b].push_back(s);
            }
        }
        bool cycle = false;
        for (BlockIndex b = 0; b < count; ++b) {
            for (const BlockIndex s : acyclic[b]) cycle = cycle || reach(acyclic, s, no_index).contains(b);
        }
        ASSERT_EQ(flow.reducible, !cycle);
        irreducible += cycle;
        endless += leaving.size() != count + 1;
    }
    EXPECT_GT(irreducible, 20u);
    EXPECT_GT(endless, 20u);
}

}  // namespace
}  // namespace trimtab::ptx
