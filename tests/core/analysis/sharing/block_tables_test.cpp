// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bins of a block in the machine's words: what compilers do not write, or what only a mutated kernel shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/core/analysis/cuda_compiler.h"
#include "tests/core/analysis/judged_launch.h"

namespace trimtab::analysis::test {
namespace {

// 16 bins; each part may be replaced.
KernelDescription histogram(const std::map<std::string, std::string>& parts = {}) {
    std::map<std::string, std::string> text{{"fill", R"(
        mov.u32 %r10, %tid.x;
        mul.wide.u32 %rd10, %r10, 4;
        add.s64 %rd10, %rd9, %rd10;
        mul.wide.u32 %rd11, %r1, 4;
FILL:   setp.gt.u32 %p1, %r10, 15;
        @%p1 bra FILLED;
        st.shared.u32 [%rd10], 0;
        add.s32 %r10, %r10, %r1;
        add.s64 %rd10, %rd10, %rd11;
        bra FILL;
FILLED: bar.sync 0;)"},
                                            {"count", R"(
        mad.lo.s32 %r11, %ctaid.x, %r1, %tid.x;
        setp.ge.s32 %p2, %r11, %r3;
        @%p2 bra COUNTED;
        mul.wide.s32 %rd12, %r11, 4;
        add.s64 %rd12, %rd2, %rd12;
        ld.global.u32 %r12, [%rd12];
        and.b32 %r12, %r12, 15;
        mul.wide.u32 %rd13, %r12, 4;
        add.s64 %rd13, %rd9, %rd13;
        atom.shared.add.u32 %r13, [%rd13], 1;
COUNTED: bar.sync 0;)"},
                                            {"begin", R"(
        mov.u32 %r14, %tid.x;
        setp.gt.u32 %p3, %r14, 15;
        mul.wide.u32 %rd14, %r14, 4;
        add.s64 %rd15, %rd9, %rd14;
        add.s64 %rd16, %rd1, %rd14;
        @%p3 bra FLUSHED;)"},
                                            {"flush", R"(
FLUSH:  ld.shared.u32 %r15, [%rd15];
        atom.global.add.u32 %r16, [%rd16], %r15;
        add.s32 %r14, %r14, %r1;
        add.s64 %rd15, %rd15, %rd17;
        add.s64 %rd16, %rd16, %rd17;
        setp.lt.u32 %p4, %r14, 16;
        @%p4 bra FLUSH;)"},
                                            {"end", R"(
FLUSHED: ret;)"}};
    for (const auto& [name, part] : parts) text.at(name) = part;
    const auto kernels =
        describe_ptx(R"(
        .version 8.0
        .target sm_75
        .address_size 64
        .visible .entry k(.param .u64 o, .param .u64 a, .param .u32 n) {
        .reg .pred %p<9>;
        .reg .b32 %r<20>;
        .reg .b64 %rd<20>;
        .shared .align 4 .b8 s[64];
        ld.param.u64 %rd1, [o];
        ld.param.u64 %rd2, [a];
        ld.param.u32 %r3, [n];
        cvta.to.global.u64 %rd1, %rd1;
        cvta.to.global.u64 %rd2, %rd2;
        mov.u64 %rd9, s;
        mov.u32 %r1, %ntid.x;
        mul.wide.u32 %rd17, %r1, 4;)" +
                     text["fill"] + text["count"] + text["begin"] + text["flush"] + text["end"] + "\n}\n");
    EXPECT_EQ(kernels.size(), 1u);
    return kernels.empty() ? KernelDescription{} : kernels.front();
}

const std::uint64_t bins = 0x10000, elements = 0x20000;

TEST(BlockTables, BinsGoWhereTheyAreFlushedTo) {
    const KernelDescription kernel = histogram();
    ASSERT_EQ(kernel.verdict, Verdict::covering) << kernel.reasons.front();
    EXPECT_EQ(kernel.least_threads, 0u);
    EXPECT_EQ(blocks(kernel, arguments(kernel, bins, elements, 1000), {8, 1, 1}, {128, 1, 1}), "cover");
    // A thread for each element, and no more: the next one would count.
    EXPECT_EQ(blocks(kernel, arguments(kernel, bins, elements, 1025), {8, 1, 1}, {128, 1, 1}), "divide x");
    // The bins end where the elements begin; one word more, and they are counted while they are read.
    EXPECT_EQ(blocks(kernel, arguments(kernel, bins, bins + 64, 1000), {8, 1, 1}, {128, 1, 1}), "cover");
    EXPECT_THAT(blocks(kernel, arguments(kernel, bins, bins + 60, 1000), {8, 1, 1}, {128, 1, 1}),
                testing::HasSubstr("touch the same memory"));
    // The elements end where the bins begin: threads that the guard sends away read none.
    EXPECT_EQ(blocks(kernel, arguments(kernel, bins, bins - 4000, 1000), {8, 1, 1}, {128, 1, 1}), "cover");
    EXPECT_EQ(blocks(kernel, arguments(kernel, bins, bins - 400, 100), {8, 1, 1}, {128, 1, 1}), "cover");
    EXPECT_THAT(blocks(kernel, arguments(kernel, bins, bins - 3996, 1000), {8, 1, 1}, {128, 1, 1}),
                testing::HasSubstr("touch the same memory"));
    EXPECT_THAT(blocks(kernel, arguments(kernel, bins, bins - 4000, 1001), {8, 1, 1}, {128, 1, 1}),
                testing::HasSubstr("touch the same memory"));
    EXPECT_THAT(blocks(kernel, arguments(kernel, bins, elements, 1000), {8, 2, 1}, {128, 1, 1}),
                testing::HasSubstr("no index in y"));
    EXPECT_THAT(blocks(kernel, arguments(kernel, bins, elements, 1000), {8, 1, 1}, {128, 2, 1}),
                testing::HasSubstr("no index in y"));
}

TEST(BlockTables, TheFirstThreadsDoIt) {
    const KernelDescription kernel = histogram({{"flush", R"(
        ld.shared.u32 %r15, [%rd15];
        atom.global.add.u32 %r16, [%rd16], %r15;)"}});
    ASSERT_EQ(kernel.verdict, Verdict::covering) << kernel.reasons.front();
    EXPECT_EQ(kernel.least_threads, 16u);
}

TEST(BlockTables, WhatIsLeftOutDoesNothingElse) {
    // A load that faults in one block may not be come to in another.
    EXPECT_EQ(histogram({{"flush", R"(
FLUSH:  ld.shared.u32 %r15, [%rd15];
        atom.global.add.u32 %r16, [%rd16], %r15;
        ld.global.u32 %r17, [%rd12];
        add.s32 %r14, %r14, %r1;
        add.s64 %rd15, %rd15, %rd17;
        add.s64 %rd16, %rd16, %rd17;
        setp.lt.u32 %p4, %r14, 16;
        @%p4 bra FLUSH;)"}})
                  .verdict,
              Verdict::fixed);
    // Nor is what it counts up to used again.
    EXPECT_EQ(histogram({{"end", R"(
FLUSHED: mul.wide.u32 %rd18, %r14, 4;
        add.s64 %rd18, %rd18, %rd1;
        st.global.u32 [%rd18+256], %r3;
        ret;)"}})
                  .verdict,
              Verdict::fixed);
}

TEST(BlockTables, EveryPlaceIsComeToOnce) {
    // The next turn is tested before this one's work: the last one's is left out.
    EXPECT_EQ(histogram({{"flush", R"(
FLUSH:  add.s32 %r14, %r14, %r1;
        setp.gt.u32 %p4, %r14, 15;
        @%p4 bra FLUSHED;
        ld.shared.u32 %r15, [%rd15];
        atom.global.add.u32 %r16, [%rd16], %r15;
        add.s64 %rd15, %rd15, %rd17;
        add.s64 %rd16, %rd16, %rd17;
        bra FLUSH;)"}})
                  .verdict,
              Verdict::fixed);
    // Each turn reads where its thread began.
    EXPECT_EQ(histogram({{"flush", R"(
FLUSH:  ld.shared.u32 %r15, [%rd15];
        atom.global.add.u32 %r16, [%rd16], %r15;
        add.s32 %r14, %r14, %r1;
        add.s64 %rd16, %rd16, %rd17;
        setp.lt.u32 %p4, %r14, 16;
        @%p4 bra FLUSH;)"}})
                  .verdict,
              Verdict::fixed);
    // The first turn is made without a test.
    EXPECT_EQ(histogram({{"begin", R"(
        mov.u32 %r14, %tid.x;
        mul.wide.u32 %rd14, %r14, 4;
        add.s64 %rd15, %rd9, %rd14;
        add.s64 %rd16, %rd1, %rd14;)"}})
                  .verdict,
              Verdict::fixed);
}

TEST(BlockTables, BarriersAreMetByAll) {
    EXPECT_EQ(histogram({{"count", R"(
        mad.lo.s32 %r11, %ctaid.x, %r1, %tid.x;
        setp.ge.s32 %p2, %r11, %r3;
        @%p2 ret;
        mul.wide.s32 %rd12, %r11, 4;
        add.s64 %rd12, %rd2, %rd12;
        ld.global.u32 %r12, [%rd12];
        and.b32 %r12, %r12, 15;
        mul.wide.u32 %rd13, %r12, 4;
        add.s64 %rd13, %rd9, %rd13;
        atom.shared.add.u32 %r13, [%rd13], 1;
        bar.sync 0;)"}})
                  .verdict,
              Verdict::fixed);
}

}  // namespace
}  // namespace trimtab::analysis::test
