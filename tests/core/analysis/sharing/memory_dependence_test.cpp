// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels do the same whatever memory holds, by hand-written PTX: the ways in which a loaded value can come
// to decide a branch or an address, and those in which it cannot.
#include "core/analysis/sharing/memory_dependence.h"

#include <gmock/gmock.h>

namespace trimtab::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string judged(const std::string& body, const std::string& functions = {}) {
    const auto module =
        ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n" + functions +
                       ".visible .entry k(.param .u64 k_a, .param .u32 k_n)\n{\n"
                       ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<9>;\n.reg .b64 "
                       "%rd<20>;\nld.param.u64 %rd1, [k_a];\nld.param.u32 %r1, [k_n];\n"
                       "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, "
                       "%rd2;\n" +
                       body + "\n}\n",
                   "k.ptx");
    EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().text());
    return module ? memory_dependence(*module, "k") : "";
}

TEST(MemoryDependence, LoadedNumbersThatAreOnlyStored) {
    EXPECT_THAT(judged(R"(
        setp.ge.s32 %p1, %r2, %r1;
        @%p1 bra end;
        ld.global.f32 %f1, [%rd3];
        setp.gt.f32 %p2, %f1, 0f00000000;
        selp.f32 %f2, %f1, 0f00000000, %p2;
        @%p2 add.f32 %f2, %f2, %f1;
        st.global.f32 [%rd3], %f2;
        end: ret;)"),
                IsEmpty());
}

TEST(MemoryDependence, ALoopUpToAParameter) {
    EXPECT_THAT(judged(R"(
        mov.u32 %r3, 0;
        mov.f32 %f1, 0f00000000;
        again: ld.global.f32 %f2, [%rd3];
        add.f32 %f1, %f1, %f2;
        add.s32 %r3, %r3, 1;
        setp.lt.s32 %p1, %r3, %r1;
        @%p1 bra again;
        st.global.f32 [%rd3], %f1;
        ret;)"),
                IsEmpty());
}

TEST(MemoryDependence, ABranchOnALoadedNumber) {
    EXPECT_THAT(judged(R"(
        ld.global.u32 %r3, [%rd3];
        setp.eq.s32 %p1, %r3, 0;
        @%p1 bra end;
        st.global.u32 [%rd3], %r1;
        end: ret;)"),
                HasSubstr("whether the branch at line 18 of its PTX is taken depends on memory"));
}

// The bound of a loop comes round through a phi.
TEST(MemoryDependence, ALoopUpToALoadedNumber) {
    EXPECT_THAT(judged(R"(
        ld.global.u32 %r3, [%rd3];
        again: sub.s32 %r3, %r3, 1;
        setp.gt.s32 %p1, %r3, 0;
        @%p1 bra again;
        ret;)"),
                HasSubstr("depends on memory"));
}

TEST(MemoryDependence, AnAddressFromALoadedIndex) {
    EXPECT_THAT(judged(R"(
        ld.global.u32 %r3, [%rd3];
        mul.wide.u32 %rd4, %r3, 4;
        add.s64 %rd5, %rd1, %rd4;
        ld.global.f32 %f1, [%rd5];
        st.global.f32 [%rd3], %f1;
        ret;)"),
                HasSubstr("the address at line 19 of its PTX depends on memory"));
}

// The register keeps what it held where the guard does not hold: either way what it holds then is memory's.
TEST(MemoryDependence, AnIndexUnderAGuardFromMemory) {
    EXPECT_THAT(judged(R"(
        ld.global.u32 %r3, [%rd3];
        setp.eq.s32 %p1, %r3, 0;
        mov.u64 %rd4, %rd3;
        @%p1 add.s64 %rd4, %rd1, 64;
        ld.global.f32 %f1, [%rd4];
        st.global.f32 [%rd3], %f1;
        ret;)"),
                HasSubstr("the address at"));
}

TEST(MemoryDependence, AStoreUnderAGuardFromMemory) {
    EXPECT_THAT(judged(R"(
        ld.global.u32 %r3, [%rd3];
        setp.eq.s32 %p1, %r3, 0;
        @%p1 st.global.u32 [%rd3], %r1;
        ret;)"),
                HasSubstr("whether the instruction at"));
}

TEST(MemoryDependence, WhatAnAtomicGivesIsMemorys) {
    EXPECT_THAT(judged(R"(
        atom.global.add.u32 %r3, [%rd3], 1;
        setp.eq.s32 %p1, %r3, 0;
        @%p1 bra end;
        st.global.u32 [%rd3], %r1;
        end: ret;)"),
                HasSubstr("the branch at"));
}

// What a function is called with may be loaded; nothing follows it there, so that a branch of it counts.
TEST(MemoryDependence, ACalledFunctionThatBranches) {
    const std::string branches = R"(
        .func (.param .b32 out) f(.param .b32 x) {
        .reg .b32 %r<3>; .reg .pred %p<2>;
        ld.param.u32 %r1, [x];
        setp.eq.s32 %p1, %r1, 0;
        @%p1 bra end;
        add.s32 %r1, %r1, 1;
        end: st.param.b32 [out], %r1;
        ret; }
    )";
    EXPECT_THAT(judged(R"(
        { .param .b32 p0; .param .b32 r0;
        st.param.b32 [p0], %r1;
        call (r0), f, (p0);
        ld.param.b32 %r4, [r0]; }
        st.global.u32 [%rd3], %r4;
        ret;)",
                       branches),
                HasSubstr("the branch at"));
}

TEST(MemoryDependence, AKernelThatIsNotThere) {
    const auto module = ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n", "none.ptx");
    ASSERT_TRUE(module.has_value());
    EXPECT_EQ(memory_dependence(*module, "k"), "there is no kernel k");
}

}  // namespace
}  // namespace trimtab::analysis
