// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/ssa.h"

#include <algorithm>
#include <random>
#include <set>

#include "fixtures.h"
#include "random_function.h"

namespace trimtab::ptx {
namespace {

struct Analysed {
    explicit Analysed(std::string_view statements)
        : module(kernel_module(statements)),
          f(module.functions.at(0)),
          flow(*control_flow(f)),
          ssa(build_ssa(f, flow)) {}
    [[nodiscard]] const Value& value(ValueIndex index) const { return ssa.values.at(index); }

    Module module;
    const Function& f;
    ControlFlow flow;
    Ssa ssa;
};

TEST(Ssa, StraightLinesAndOperands) {
    const Analysed a(R"(mov.u32 %r1, 1; mov.u32 %r1, 2; add.s32 %r2, %r1, %r1; cvt.u64.u32 %rd1, %r2;
        ld.global.v2.u32 {%r3, %r4}, [%rd1+8]; st.global.v2.u32 [%rd1], {%r4, %r3}; setp.lt.s32 %p1|%p2, %r3, %r4;
        selp.b32 %r5, %r1, 7, %p2; tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f4}];)");
    EXPECT_EQ(a.ssa.use(2, 1), a.ssa.definition(1));
    EXPECT_NE(a.ssa.definition(0), a.ssa.definition(1));
    EXPECT_EQ(a.ssa.use(4, 1), a.ssa.definition(3));  // an address's base
    EXPECT_EQ(a.ssa.use(5, 1, 0), a.ssa.definition(4, 0, 1));
    EXPECT_EQ(a.ssa.use(5, 1, 1), a.ssa.definition(4, 0, 0));
    EXPECT_EQ(a.ssa.use(7, 3), a.ssa.definition(6, 1));
    EXPECT_EQ(a.ssa.use(7, 2), no_index);      // an immediate
    EXPECT_EQ(a.ssa.use(2, 0), no_index);      // a destination
    EXPECT_EQ(a.ssa.definition(5), no_index);  // a store
    EXPECT_EQ(a.value(a.ssa.use(8, 1, 1)).kind, Value::Kind::undefined);
    EXPECT_EQ(a.value(a.ssa.use(8, 1, 2)).kind, Value::Kind::undefined);  // %f4 before this instruction
    EXPECT_EQ(a.value(a.ssa.definition(8, 0, 3)).element, 3u);
}

TEST(Ssa, JoinsGetPhisWhereARegisterIsReadAfter) {
    const Analysed a(
        R"(mov.u32 %r1, 0; mov.u32 %r9, 0; @%p1 bra ELSE; mov.u32 %r1, 1; mov.u32 %r9, 1; bra END;
        ELSE: mov.u32 %r1, 2; END: add.s32 %r2, %r1, 3; ret;)");
    const Value& joined = a.value(a.ssa.use(7, 1));
    ASSERT_EQ(joined.kind, Value::Kind::phi);
    EXPECT_EQ(joined.block, 3u);
    EXPECT_EQ(joined.incoming, (std::vector{a.ssa.definition(3), a.ssa.definition(6)}));
    // %r9 differs at the join as well, but nobody reads it there.
    const auto phis = std::count_if(a.ssa.values.begin(), a.ssa.values.end(),
                                    [](const Value& v) { return v.kind == Value::Kind::phi; });
    EXPECT_EQ(phis, 1);
}

TEST(Ssa, LoopsCarryValues) {
    const Analysed a(
        R"(mov.u32 %r1, 0; TOP: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 10; @%p1 bra TOP; mov.u32 %r2, %r1;)");
    const ValueIndex phi = a.ssa.use(1, 1);
    ASSERT_EQ(a.value(phi).kind, Value::Kind::phi);
    EXPECT_EQ(a.value(phi).incoming, (std::vector{a.ssa.definition(0), a.ssa.definition(1)}));
    EXPECT_EQ(a.ssa.use(4, 1), a.ssa.definition(1));
    EXPECT_EQ(a.ssa.guard(3), a.ssa.definition(2));
    EXPECT_EQ(a.ssa.guard(2), no_index);
}

TEST(Ssa, AGuardedWriteKeepsWhatWasBefore) {
    const Analysed a(
        "mov.u32 %r1, 1; setp.eq.s32 %p1, %r2, 0; @%p1 mov.u32 %r1, 2; @!%p1 mov.u32 %r3, 5; add.s32 %r4, "
        "%r1, %r3;");
    EXPECT_EQ(a.ssa.use(4, 1), a.ssa.definition(2));
    EXPECT_EQ(a.value(a.ssa.definition(2)).previous, a.ssa.definition(0));
    EXPECT_EQ(a.value(a.ssa.definition(0)).previous, no_index);
    EXPECT_EQ(a.value(a.value(a.ssa.definition(3)).previous).kind, Value::Kind::undefined);
}

TEST(Ssa, WhatInstructionsLeaveIsAnOperand) {
    const std::uint16_t carry = state_operand(State::carry), stack = state_operand(State::stack);
    const Analysed a(R"(setp.eq.s32 %p1, %r9, 0; add.cc.u32 %r1, %r2, %r3; @%p1 sub.cc.u32 %r1, %r2, %r3;
        @%p1 bra END; mad.lo.cc.u32 %r4, %r2, %r3, 5; END: addc.cc.u32 %r5, %r2, 0; madc.hi.u32 %r6, %r2, %r3, 0;
        add.u32 %r7, %r2, %r3; subc.u32 %r8, 0, 0;)");
    const auto written = [&](std::uint32_t i) { return a.ssa.definition(i, carry); };
    const auto read = [&](std::uint32_t i) { return a.ssa.use(i, carry); };
    const Value& joined = a.value(read(5));
    ASSERT_EQ(joined.kind, Value::Kind::phi);
    EXPECT_EQ(joined.incoming, (std::vector{written(2), written(4)}));
    EXPECT_EQ(a.value(written(2)).previous, written(1));  // where %p1 is false, the sum's carry is left
    EXPECT_EQ(read(6), written(5));
    EXPECT_EQ(read(8), written(5));  // an add without .cc leaves it alone
    EXPECT_EQ(written(7), no_index);
    EXPECT_EQ(a.value(read(5)).reg, a.f.registers.size());

    const Analysed nobody_reads("add.cc.u32 %r1, %r2, %r3; add.u32 %r4, %r1, 1;");
    EXPECT_EQ(nobody_reads.ssa.definition(0, carry), no_index);
    const Analysed nobody_wrote("addc.u32 %r1, %r2, %r3;");
    EXPECT_EQ(nobody_wrote.value(nobody_wrote.ssa.use(0, carry)).kind, Value::Kind::undefined);
    Module module = kernel_module("add.cc.u32 %r1, %r2, %r3; membar.gl; addc.u32 %r4, 0, 0;");
    Function& calls = module.functions.at(0);
    calls.body[1].opcode = Opcode::call;
    const Ssa behind_a_call = build_ssa(calls, *control_flow(calls));
    EXPECT_EQ(behind_a_call.use(2, carry), behind_a_call.definition(1, carry));

    const Analysed places(
        "stacksave.u64 %rd1; alloca.u64 %rd2, %rd3; stacksave.u64 %rd4; stackrestore.u64 %rd1;"
        "alloca.u64 %rd5, 16;");
    EXPECT_EQ(places.value(places.ssa.use(0, stack)).kind, Value::Kind::undefined);
    EXPECT_EQ(places.ssa.use(1, stack), places.ssa.use(0, stack));
    EXPECT_EQ(places.ssa.use(2, stack), places.ssa.definition(1, stack));
    EXPECT_EQ(places.ssa.use(4, stack), places.ssa.definition(3, stack));
}

TEST(Ssa, WhatIsUnknownReadsAndWrites) {
    const Analysed a("mov.u32 %r1, 1; frobnicate.b32 %r1, %r2; mov.u32 %r3, %r1;");
    EXPECT_EQ(a.ssa.use(1, 0), a.ssa.definition(0));
    EXPECT_EQ(a.ssa.use(2, 1), a.ssa.definition(1));
}

// The instructions whose writes a value may hold (no_index: none, the register's first value), through phis
// and guarded writes.
std::set<std::uint32_t> sources(const Ssa& ssa, const ControlFlow& flow, ValueIndex start) {
    std::set<std::uint32_t> out;
    std::set<ValueIndex> seen;
    std::vector<ValueIndex> work = {start};
    while (!work.empty()) {
        const ValueIndex index = work.back();
        work.pop_back();
        if (!seen.insert(index).second) continue;
        const Value& value = ssa.values.at(index);
        if (value.kind == Value::Kind::undefined) out.insert(no_index);
        if (value.kind == Value::Kind::instruction) out.insert(value.instruction);
        if (value.previous != no_index) work.push_back(value.previous);
        for (std::size_t i = 0; i < value.incoming.size(); ++i) {
            const BlockIndex from = flow.blocks[value.block].predecessors[i];
            if (from == 0 || flow.immediate_dominator[from] != no_index) work.push_back(value.incoming[i]);
        }
    }
    return out;
}

// Reaching definitions by iteration over instructions: for each, what each register, and after them the carry
// flag, may hold before it.
std::vector<std::vector<std::set<std::uint32_t>>> reaching(const Function& f, const ControlFlow& flow) {
    std::vector<std::vector<std::set<std::uint32_t>>> before(
        f.body.size(), std::vector<std::set<std::uint32_t>>(f.registers.size() + 1));
    const auto after = [&](std::uint32_t i) {
        auto state = before[i];
        const auto write = [&](std::size_t r) {
            if (f.body[i].guard == no_index) state[r].clear();
            state[r].insert(i);
        };
        for (const Operand& d : f.body[i].destinations()) write(d.reg);
        if (f.body[i].modifiers.carry_out) write(f.registers.size());
        return state;
    };
    for (auto& entry : before[0]) entry.insert(no_index);
    for (bool changed = true; changed;) {
        changed = false;
        const auto merge = [&](std::uint32_t into, const std::vector<std::set<std::uint32_t>>& state) {
            for (std::size_t r = 0; r < state.size(); ++r) {
                for (const std::uint32_t d : state[r]) changed |= before[into][r].insert(d).second;
            }
        };
        for (const BlockIndex b : flow.reverse_post_order) {
            const BasicBlock& block = flow.blocks[b];
            for (std::uint32_t i = block.first; i + 1 < block.last; ++i) merge(i + 1, after(i));
            for (const BlockIndex s : block.successors) {
                if (flow.blocks[s].first < f.body.size()) merge(flow.blocks[s].first, after(block.last - 1));
            }
        }
    }
    return before;
}

TEST(Ssa, AgreesWithReachingDefinitionsOnRandomFunctions) {
    std::mt19937 random(11);  // NOLINT(bugprone-random-generator-seed): the same cases each time
    std::size_t uses = 0, phis = 0;
    for (unsigned round = 0; round < 300; ++round) {
        const Function f = random_function(random, 3 + round % 10, 3);
        const ControlFlow flow = *control_flow(f);
        const Ssa ssa = build_ssa(f, flow);
        const auto expected = reaching(f, flow);
        ASSERT_EQ(ssa.uses.size(), f.body.size());
        for (const BlockIndex b : flow.reverse_post_order) {
            for (std::uint32_t i = flow.blocks[b].first; i < flow.blocks[b].last; ++i) {
                for (const Ssa::Use& use : ssa.uses[i]) {
                    ASSERT_EQ(ssa.values.at(use.value).reg, use.reg);
                    ASSERT_EQ(sources(ssa, flow, use.value), expected[i][use.reg])
                        << "round " << round << " at " << i;
                    ++uses;
                }
            }
        }
        for (ValueIndex v = 0; v < ssa.values.size(); ++v) {
            const Value& value = ssa.values[v];
            if (value.kind == Value::Kind::phi) {
                ++phis;
                ASSERT_EQ(value.incoming.size(), flow.blocks[value.block].predecessors.size());
                for (const ValueIndex incoming : value.incoming)
                    ASSERT_EQ(ssa.values.at(incoming).reg, value.reg);
            }
            if (value.kind == Value::Kind::instruction) {
                ASSERT_EQ(ssa.definition(value.instruction, value.operand, value.element), v);
            }
        }
    }
    EXPECT_GT(uses, 5000u);
    EXPECT_GT(phis, 500u);
}

}  // namespace
}  // namespace trimtab::ptx
