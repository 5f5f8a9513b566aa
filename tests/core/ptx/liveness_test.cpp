// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/liveness.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/ptx/names.h"
#include "random_function.h"

namespace trimtab::ptx {
namespace {

// Instruction by instruction: a register is live before one that reads it, and before one that leaves it as
// it was where it is live behind that.
std::vector<std::vector<bool>> live_before(const Function& f, const ControlFlow& flow) {
    std::vector<std::vector<bool>> live(f.body.size() + 1, std::vector<bool>(f.registers.size()));
    const auto first_of = [&](BlockIndex block) { return flow.blocks[block].first; };
    for (bool changed = true; changed;) {
        changed = false;
        for (const BlockIndex b : flow.reverse_post_order) {
            for (std::uint32_t i = flow.blocks[b].first; i < flow.blocks[b].last; ++i) {
                const Instruction& made = f.body[i];
                std::vector<std::uint32_t> behind = {i + 1};
                if (i + 1 == flow.blocks[b].last) {
                    behind.clear();
                    for (const BlockIndex next : flow.blocks[b].successors) behind.push_back(first_of(next));
                }
                for (RegisterIndex r = 0; r < f.registers.size(); ++r) {
                    bool is_read = made.guard == r, is_written = false;
                    for (const Operand& operand : made.sources()) is_read = is_read || operand.reg == r;
                    for (const Operand& operand : made.destinations()) is_written = operand.reg == r;
                    bool is_live = is_read;
                    for (const std::uint32_t next : behind)
                        is_live = is_live || (live[next][r] && !(is_written && made.guard == no_index));
                    // A guard that does not hold keeps what was there, whoever needs it.
                    is_live = is_live || (is_written && made.guard != no_index);
                    changed = changed || is_live != live[i][r];
                    live[i][r] = is_live;
                }
            }
        }
    }
    return live;
}

TEST(Liveness, AgreesWithEachInstructionOfRandomFunctions) {
    std::mt19937 random(5);  // NOLINT(bugprone-random-generator-seed): the same cases each time
    std::size_t alive = 0, dead = 0;
    for (unsigned round = 0; round < 200; ++round) {
        const Function f = random_function(random, 3 + round % 10, 3);
        const ControlFlow flow = *control_flow(f);
        const Liveness liveness(f, flow);
        const auto expected = live_before(f, flow);
        for (const BlockIndex b : flow.reverse_post_order) {
            for (std::uint32_t i = flow.blocks[b].first; i < flow.blocks[b].last; ++i) {
                const RegisterSet live = liveness.before(i);
                for (RegisterIndex r = 0; r < f.registers.size(); ++r) {
                    ASSERT_EQ(live.contains(r), expected[i][r]) << "round " << round << " at " << i;
                    ++(expected[i][r] ? alive : dead);
                }
            }
        }
    }
    EXPECT_GT(alive, 2000u);
    EXPECT_GT(dead, 1000u);
}

TEST(Opcodes, AreFoundByTheirNamesAndAreOneThing) {
    for (unsigned i = 0; i <= static_cast<unsigned>(Opcode::xor_); ++i) {
        const OpcodeInfo& known = info(static_cast<Opcode>(i));
        EXPECT_EQ(find_opcode(known.name), known.opcode) << known.name;
        EXPECT_FALSE(known.has(no_result) && known.has(result_by_form)) << known.name;
        EXPECT_FALSE(is_pure(known.opcode) && known.has(jumps | leaves | suspends)) << known.name;
        EXPECT_FALSE(known.has(is_video) && !is_pure(known.opcode)) << known.name;
    }
    EXPECT_EQ(find_opcode("frobnicate"), Opcode::unknown);
}

}  // namespace
}  // namespace trimtab::ptx
