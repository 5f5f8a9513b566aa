// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/number_kinds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/ptx/opcodes.h"
#include "fixtures.h"

namespace trimtab::ptx {
namespace {

// What the stores of the module's functions write, in order: the kind, and behind it the loads that it may also be
// of, by their number among the module's instructions.
std::vector<std::string> stored(const Module& module) {
    std::vector<const Function*> functions;
    for (const Function& function : module.functions) functions.push_back(&function);
    const NumberKinds kinds(functions);
    std::vector<std::string> found;
    for (std::size_t at = 0; at < functions.size(); ++at) {
        for (const Instruction& instruction : functions[at]->body) {
            if (instruction.opcode != Opcode::st || instruction.modifiers.space != Space::global) continue;
            const Operand& value = instruction.operands[1];
            const auto add = [&](const Operand& one) {
                constexpr const char* names[] = {"moved", "f16", "bf16", "f32", "f64", "other"};
                const NumberKinds::Origin& origin = kinds.of(at, one);
                std::string text = names[static_cast<std::size_t>(origin.kind)];
                for (const std::uint32_t load : origin.loads) text += " " + std::to_string(load);
                found.push_back(text);
            };
            if (value.elements.empty()) add(value);
            for (const Operand& element : value.elements) add(element);
        }
    }
    return found;
}

using Texts = std::vector<std::string>;

TEST(NumberKinds, AreToldByWhatMadeTheValueAndNotByItsRegister) {
    const Module module = kernel_module(R"(
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        mad.lo.s32 %r2, %r1, 3, 1;
        st.global.b32 [%rd1], %r2;
        cvt.rn.f32.s32 %r3, %r2;
        st.global.b32 [%rd1], %r3;
        add.rn.f32 %r4, %r3, 0f3F800000;
        st.global.b32 [%rd1], %r4;
        cvt.f64.f32 %rd2, %r4;
        st.global.b64 [%rd1], %rd2;
        cvt.rzi.s32.f32 %r5, %r4;
        st.global.b32 [%rd1], %r5;
        mov.b32 %r6, 0f00000000;
        st.global.b32 [%rd1], %r6;
        st.global.b32 [%rd1], 7;
        and.b32 %r7, %r4, 1;
        st.global.b32 [%rd1], %r7;
        ret;)");
    EXPECT_EQ(stored(module), (Texts{"other", "moved", "f32", "f64", "other", "moved", "moved", "other"}));
}

TEST(NumberKinds, GoThroughMovesChoicesShufflesAndVectors) {
    const Module module = kernel_module(R"(
        ld.param.u64 %rd1, [out];
        mov.b32 %r1, 0f00000000;
        add.rn.f32 %r1, %r1, 0f3F800000;
        st.global.b32 [%rd1], %r1;
        shfl.sync.down.b32 %r2, %r1, 1, 31, -1;
        max.f32 %r3, %r1, %r2;
        setp.gt.f32 %p1, %r3, 0f00000000;
        selp.b32 %r4, %r3, %r1, %p1;
        mov.b64 %rd2, {%r4, %r1};
        st.global.b64 [%rd1], %rd2;
        mov.b64 {%r5, %r6}, %rd2;
        st.global.v2.b32 [%rd1], {%r5, %r6};
        mov.u32 %r7, %tid.x;
        selp.b32 %r8, %r4, %r7, %p1;
        st.global.b32 [%rd1], %r8;
        add.rn.f16x2 %r9, %r1, %r2;
        mov.b32 {%rs1, %rs2}, %r9;
        st.global.b16 [%rd1], %rs2;
        ret;)");
    EXPECT_EQ(stored(module), (Texts{"f32", "f32", "f32", "f32", "other", "f16"}));
}

TEST(NumberKinds, OfWhatIsMovedFromMemoryNameTheLoads) {
    const Module module = kernel_module(R"(
        ld.param.u64 %rd1, [out];
        ld.shared.b32 %r1, [staging];
        st.global.b32 [%rd1], %r1;
        ld.global.b32 %r2, [%rd1+8];
        setp.gt.s32 %p1, %r2, 0;
        selp.b32 %r3, %r1, %r2, %p1;
        st.global.b32 [%rd1], %r3;
        fma.rn.f32 %r4, %r1, %r2, %r3;
        @%p1 mov.b32 %r4, %r1;
        st.global.b32 [%rd1], %r4;
        atom.global.exch.b32 %r5, [%rd1], %r2;
        st.global.b32 [%rd1], %r5;
        atom.global.add.f32 %r6, [%rd1], %r4;
        st.global.b32 [%rd1], %r6;
        ld.param.u32 %r7, [n];
        st.global.b32 [%rd1], %r7;
        ret;)");
    EXPECT_EQ(stored(module), (Texts{"moved 1", "moved 1 3", "f32 1", "moved 10", "f32", "moved"}));
}

TEST(NumberKinds, GoIntoFunctionsAndOut) {
    const Module module = parse_ok(R"(.version 8.0
.target sm_75
.address_size 64
.func (.param .b32 result) scaled(.param .b32 x, .param .b32 y) {
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [x];
    ld.param.b32 %r2, [y];
    mul.lo.s32 %r3, %r2, 5;
    st.param.b32 [result], %r1;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    add.rn.f32 %r1, 0f3F800000, 0f3F800000;
    {
        .param .b32 x0;
        .param .b32 y0;
        .param .b32 r0;
        st.param.b32 [x0], %r1;
        st.param.b32 [y0], 3;
        call.uni (r0), scaled, (x0, y0);
        ld.param.b32 %r2, [r0];
    }
    st.global.b32 [%rd1], %r2;
    ret;
})");
    EXPECT_EQ(stored(module), (Texts{"f32"}));
}

TEST(NumberKinds, KnowWhichResultsAreRead) {
    const Module module = kernel_module(R"(
        ld.param.u64 %rd1, [out];
        atom.global.add.f32 %f1, [%rd1], 0f3F800000;
        atom.global.add.f32 %f2, [%rd1], 0f3F800000;
        st.global.f32 [%rd1+4], %f2;
        ret;)");
    const Function* kernel = module.kernels().front();
    const NumberKinds kinds({&kernel, 1});
    EXPECT_FALSE(kinds.is_read(0, kernel->body[1].operands[0].reg));
    EXPECT_TRUE(kinds.is_read(0, kernel->body[2].operands[0].reg));
}

}  // namespace
}  // namespace trimtab::ptx
