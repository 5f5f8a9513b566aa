// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/control_flow.h"

#include <gtest/gtest.h>

#include "tests/core/sass/fixtures.h"

namespace trimtab::sass {
namespace {

// By hand from the text: blocks begin at 0x0, 0x60, 0xb0, 0xd0 (the loop), 0x340, 0x370, 0x4b0, 0x4d0, 0x560,
// and 0x5a0, 0x5b0 (padding).
TEST(SassControlFlow, BlocksAndLoopOfGather) {
    const Disassembly read = gather(75);
    const ControlFlow flow = control_flow(read.functions.at(0));
    std::vector<std::uint32_t> begins;
    for (const Block& block : flow.blocks) begins.push_back(block.first * 16);
    EXPECT_EQ(begins, (std::vector<std::uint32_t>{0, 0x60, 0xb0, 0xd0, 0x340, 0x370, 0x4b0, 0x4d0, 0x560,
                                                  0x5a0, 0x5b0}));
    ASSERT_EQ(flow.loops.size(), 1u);
    EXPECT_EQ(flow.loops[0].header, 3u);
    EXPECT_EQ(flow.loops[0].blocks, std::vector<BlockIndex>{3});
    EXPECT_EQ(flow.loops[0].depth, 1u);
    EXPECT_EQ(flow.innermost_loop[3], 0u);
    EXPECT_EQ(flow.innermost_loop[4], no_index);
    EXPECT_EQ(flow.blocks[3].successors, (std::vector<BlockIndex>{3, 4}));
    EXPECT_EQ(flow.blocks[8].predecessors, (std::vector<BlockIndex>{0, 6, 7}));
    EXPECT_TRUE(flow.blocks[8].successors.empty());
    EXPECT_TRUE(flow.reachable[8]);
    EXPECT_FALSE(flow.reachable[9]);  // a branch to itself, which nothing reaches
    EXPECT_TRUE(flow.complete);
}

Function of(const std::vector<std::pair<const char*, std::uint32_t>>& code) {
    Function function{.name = "f", .instructions = {}, .labels = {}, .subroutines = {}};
    for (const auto& [text, target] : code) {
        function.instructions.push_back(read_instruction(text).value());
        function.instructions.back().address =
            static_cast<std::uint32_t>(function.instructions.size() - 1) * 16;
        function.instructions.back().target = target;
    }
    return function;
}
constexpr std::uint32_t none = Instruction::no_target;

TEST(SassControlFlow, NestedLoops) {
    // 0 | 1 (outer) | 2 (inner) | 3 (outer's end) | 4
    const ControlFlow flow = control_flow(of({{"MOV R0, RZ", none},
                                              {"MOV R1, RZ", none},
                                              {"@P0 BRA `(a)", 0x20},
                                              {"@P1 BRA `(b)", 0x10},
                                              {"EXIT", none}}));
    ASSERT_EQ(flow.loops.size(), 2u);
    EXPECT_EQ(flow.loops[0].blocks, (std::vector<BlockIndex>{1, 2, 3}));
    EXPECT_EQ(flow.loops[1].blocks, (std::vector<BlockIndex>{2}));
    EXPECT_EQ(flow.loops[1].parent, 0u);
    EXPECT_EQ(flow.loops[1].depth, 2u);
    EXPECT_EQ(flow.innermost_loop, (std::vector<std::uint32_t>{no_index, 0, 1, 0, no_index}));
}

TEST(SassControlFlow, ConditionsOfTheirOwnFallThrough) {
    const ControlFlow flow =
        control_flow(of({{"BRA P1, `(a)", 0x20}, {"BRA.DIV UR4, `(a)", 0x20}, {"EXIT", none}}));
    EXPECT_EQ(flow.blocks.at(0).successors, (std::vector<BlockIndex>{2, 1}));
    EXPECT_EQ(flow.blocks.at(1).successors, (std::vector<BlockIndex>{2}));
    EXPECT_TRUE(flow.reachable[2]);
}

// By hand: blocks begin at 0x8, 0x48, 0x78, 0x90 (the loop), 0x348, 0x368, 0x4b0, 0x4c8, 0x558, and 0x598, 0x5a8 (padding).
TEST(SassControlFlow, BlocksAndLoopOfGatherInGroups) {
    const Disassembly read = gather(61);
    const Function& function = read.functions.at(0);
    const ControlFlow flow = control_flow(function);
    std::vector<std::uint32_t> begins;
    for (const Block& block : flow.blocks) begins.push_back(function.address_of(block.first));
    EXPECT_EQ(begins, (std::vector<std::uint32_t>{0x8, 0x48, 0x78, 0x90, 0x348, 0x368, 0x4b0, 0x4c8, 0x558,
                                                  0x598, 0x5a8}));
    ASSERT_EQ(flow.loops.size(), 1u);
    EXPECT_EQ(flow.loops[0].blocks, std::vector<BlockIndex>{3});
    EXPECT_EQ(flow.blocks[8].predecessors, (std::vector<BlockIndex>{0, 6, 7}));
    EXPECT_TRUE(flow.complete);
}

// Maxwell's way to join and to leave a loop: an address is pushed, and what pops it goes there.
TEST(SassControlFlow, PoppedAddressesAreTargets) {
    const ControlFlow flow = control_flow(of({{"PBK `(out)", 0x60},
                                              {"SSY `(join)", 0x40},  // the loop
                                              {"@P0 SYNC", 0x40},
                                              {"SYNC", 0x40},
                                              {"@P1 BRK", 0x60},  // join
                                              {"BRA `(loop)", 0x10},
                                              {"EXIT", none}}));  // out
    ASSERT_EQ(flow.blocks.size(), 6u);
    EXPECT_EQ(flow.blocks[1].successors, (std::vector<BlockIndex>{3, 2}));
    EXPECT_EQ(flow.blocks[2].successors, std::vector<BlockIndex>{3});
    EXPECT_EQ(flow.blocks[3].successors, (std::vector<BlockIndex>{5, 4}));
    ASSERT_EQ(flow.loops.size(), 1u);
    EXPECT_EQ(flow.loops[0].blocks, (std::vector<BlockIndex>{1, 2, 3, 4}));
    EXPECT_TRUE(flow.complete);
    EXPECT_FALSE(control_flow(of({{"SYNC", none}, {"EXIT", none}})).complete);
}

TEST(SassControlFlow, BranchesThroughRegistersAreNotFollowed) {
    EXPECT_FALSE(control_flow(of({{"BRX R4 -0x50", none}, {"EXIT", none}})).complete);
    EXPECT_TRUE(control_flow(Function{}).blocks.empty());
}

}  // namespace
}  // namespace trimtab::sass
