// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Certificates that are written by hand: right ones stand, wrong ones do not.
#include "kernel.h"

namespace trimtab::checker::test {
namespace {

using ptx::Comparison;

Kernel with_scheme(Scheme scheme, const std::string& body) {
    Kernel kernel(index_total_and_arguments + body);
    kernel.certificate.dimensions[0].scheme = scheme;
    return kernel;
}

// --- the global index ---

const std::string guarded_store = R"(
    setp.ge.s32 %p1, %r1, %r3;
    @%p1 bra end;
    mul.wide.s32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r1;
end:
    ret;
)";

TEST(Certificate, OfAKernelThatUsesTheGlobalIndexAlone) {
    Kernel kernel = with_scheme(Scheme::index, guarded_store);
    kernel.guards(Comparison::ge);
    EXPECT_EQ(kernel.objection(), "");
}

TEST(Certificate, NoEffectMayDependOnTheBlock) {
    for (const char* value : {"%r50", "%r51", "%r52", "%r53", "%r2"}) {
        Kernel kernel = with_scheme(Scheme::index, std::string("st.global.u32 [%rd1], ") + value + "; ret;");
        EXPECT_EQ(kernel.objection(), "an effect depends on the block") << value;
    }
    Kernel total = with_scheme(Scheme::fixed_total, "st.global.u32 [%rd1], %r2; ret;");
    EXPECT_EQ(total.objection(), "");
    const std::string square = "mul.lo.s32 %r10, %r2, %r2; st.global.u32 [%rd1], %r10; ret;";
    EXPECT_EQ(with_scheme(Scheme::fixed_total, square).objection(), "");
    EXPECT_EQ(with_scheme(Scheme::index, square).objection(), "an effect depends on the block");
    const std::string more = "mul.lo.s32 %r10, %r2, %r53; st.global.u32 [%rd1], %r10; ret;";
    EXPECT_EQ(with_scheme(Scheme::fixed_total, more).objection(), "an effect depends on the block");
}

TEST(Certificate, NothingThatDecidesAboutAnEffectMayDependOnTheBlock) {
    Kernel kernel = with_scheme(Scheme::index, R"(
    setp.eq.u32 %p1, %r52, 0;
    @!%p1 bra end;
    st.global.u32 [%rd1], %r3;
end:
    ret;)");
    EXPECT_EQ(kernel.objection(), "whether there is an effect depends on the block");
}

TEST(Certificate, WhichValueARegisterHasIsDecidedByBranches) {
    Kernel kernel = with_scheme(Scheme::index, R"(
    mov.u32 %r10, 1;
    setp.eq.u32 %p1, %r52, 0;
    @%p1 bra join;
    mov.u32 %r10, 2;
join:
    st.global.u32 [%rd1], %r10;
    ret;)");
    EXPECT_EQ(kernel.objection(), "an effect depends on the block");
}

TEST(Certificate, AGuardedInstructionDependsOnItsGuard) {
    Kernel kernel = with_scheme(Scheme::index, R"(
    mov.u32 %r10, 1;
    setp.eq.u32 %p1, %r52, 0;
    @%p1 mov.u32 %r10, 2;
    st.global.u32 [%rd1], %r10;
    ret;)");
    EXPECT_EQ(kernel.objection(), "an effect depends on the block");
}

TEST(Certificate, WhatAConstantGuardSkipsIsNotSet) {
    const auto with_test = [](const std::string& test) {
        return with_scheme(Scheme::index, "mov.u32 %r10, 1; " + test +
                                              " @%p1 mov.u32 %r10, %r52; st.global.u32 [%rd1], %r10; ret;");
    };
    EXPECT_EQ(with_test("setp.ne.u32 %p1, 3, 3;").objection(), "");
    EXPECT_EQ(with_test("setp.eq.u32 %p1, 3, 3;").objection(), "an effect depends on the block");
    EXPECT_EQ(with_test("setp.ne.u32 %p1, %r3, 3;").objection(), "an effect depends on the block");
}

TEST(Certificate, TheCarryIsFollowed) {
    Kernel kernel = with_scheme(Scheme::index, R"(
    add.cc.u32 %r10, %r52, -1;
    addc.u32 %r11, %r3, 0;
    st.global.u32 [%rd1], %r11;
    ret;)");
    EXPECT_EQ(kernel.objection(), "an effect depends on the block");
}

TEST(Certificate, TheIndexIsFoundInPieces) {
    Kernel kernel = with_scheme(Scheme::index, R"(
    mul.wide.u32 %rd5, %r52, 4;
    add.s64 %rd6, %rd1, %rd5;
    mul.lo.s32 %r10, %r50, %r51;
    mul.wide.u32 %rd7, %r10, 4;
    add.s64 %rd8, %rd6, %rd7;
    st.global.u32 [%rd8], 1;
    ret;)");
    EXPECT_EQ(kernel.objection(), "");
}

TEST(Certificate, AnIndexThatIsCutIsStillAFunctionOfIt) {
    Kernel kernel = with_scheme(Scheme::index, R"(
    cvt.u16.u32 %r10, %r1;
    and.b32 %r11, %r1, 7;
    add.u32 %r12, %r10, %r11;
    st.global.u32 [%rd1], %r12;
    ret;)");
    EXPECT_EQ(kernel.objection(), "");
    // The pieces of it are not.
    Kernel piece = with_scheme(Scheme::index, "and.b32 %r11, %r52, 7; st.global.u32 [%rd1], %r11; ret;");
    EXPECT_EQ(piece.objection(), "an effect depends on the block");
}

TEST(Certificate, OfWholeWarps) {
    const std::string body = R"(
    shr.u32 %r10, %r51, 5;
    shr.u32 %r11, %r52, 5;
    mad.lo.s32 %r12, %r50, %r10, %r11;
    and.b32 %r13, %r52, 31;
    add.u32 %r14, %r12, %r13;
    st.global.u32 [%rd1], %r14;
    ret;)";
    Kernel kernel = with_scheme(Scheme::index, body);
    kernel.certificate.dimensions[0].has_whole_warps = true;
    EXPECT_EQ(kernel.objection(), "");
    Kernel threads = with_scheme(Scheme::index, body);
    EXPECT_EQ(threads.objection(), "an effect depends on the block");
}

TEST(Certificate, WhatAnAtomicFindsIsTheOrderOfThreads) {
    Kernel kernel = with_scheme(Scheme::index, R"(
    atom.global.add.u32 %r10, [%rd1], 1;
    st.global.u32 [%rd2], %r10;
    ret;)");
    EXPECT_EQ(kernel.objection(), "an effect depends on the block");
    Kernel unused = with_scheme(Scheme::index, "atom.global.add.u32 %r10, [%rd1], 1; ret;");
    EXPECT_EQ(unused.objection(), "");
}

TEST(Certificate, WhatRulesDoNotAllowIsRefused) {
    for (const char* text : {"bar.sync 0;", "membar.gl;", "trap;", "atom.global.exch.b32 %r10, [%rd1], 1;",
                             "st.volatile.global.u32 [%rd1], 1;", "ld.volatile.global.u32 %r10, [%rd1];",
                             "shfl.sync.down.b32 %r10, %r1, 1, 31, -1;"}) {
        Kernel kernel = with_scheme(Scheme::index, std::string(text) + " ret;");
        EXPECT_NE(kernel.objection(), "") << text;
    }
    for (const char* special : {"%laneid", "%warpid", "%smid", "%clock"}) {
        Kernel kernel = with_scheme(
            Scheme::index, std::string("mov.u32 %r10, ") + special + "; st.global.u32 [%rd1], %r10; ret;");
        EXPECT_EQ(kernel.objection(), "an effect depends on the block") << special;
    }
}

TEST(Certificate, WhatIsOnTheStackDependsOnWhatWasStoredThere) {
    for (const char* load : {"ld.local.u32 %r10, [a];", "cvta.local.u64 %rd6, %rd5; ld.u32 %r10, [%rd6];",
                             "ld.global.u64 %rd7, [%rd2]; ld.u32 %r10, [%rd7];"}) {
        Kernel kernel = with_scheme(Scheme::index, std::string(R"(
    .local .b8 a[16];
    mov.u64 %rd5, a;
    st.local.u32 [a], %r52;
    )") + load + "st.global.u32 [%rd1], %r10; ret;");
        EXPECT_EQ(kernel.objection(), "an effect depends on the block") << load;
    }
}

// --- guards ---

TEST(Certificate, AGuardSendsThreadsToTheirEnd) {
    // Index n has an effect.
    Kernel late = with_scheme(Scheme::index, R"(
    setp.gt.s32 %p1, %r1, %r3;
    @%p1 bra end;
    st.global.u32 [%rd1], 1;
end:
    ret;)");
    late.guards(Comparison::ge);
    EXPECT_EQ(late.objection(), "a guard does not send threads to their end");
    // An effect before it.
    Kernel before = with_scheme(Scheme::index, "st.global.u32 [%rd2], 1;" + guarded_store);
    before.guards(Comparison::ge);
    EXPECT_EQ(before.objection(), "a guard does not send threads to their end");
    // The other way round.
    Kernel other = with_scheme(Scheme::index, guarded_store);
    other.guards(Comparison::lt);
    EXPECT_EQ(other.objection(), "a guard does not send threads to their end");
    // In another width.
    Kernel cut = with_scheme(Scheme::index, R"(
    and.b32 %r10, %r1, 3;
    setp.ge.s32 %p1, %r10, %r3;
    @%p1 bra end;
    st.global.u32 [%rd1], 1;
end:
    ret;)");
    cut.guards(Comparison::ge);
    EXPECT_EQ(cut.objection(), "a guard does not send threads to their end");
}

TEST(Certificate, ALoadThatAllThreadsMakeMayStandBeforeAGuard) {
    Kernel same = with_scheme(Scheme::index, "ld.global.u32 %r20, [%rd2];" + guarded_store);
    same.guards(Comparison::ge);
    EXPECT_EQ(same.objection(), "");
    Kernel own = with_scheme(
        Scheme::index,
        "mul.wide.s32 %rd6, %r1, 4; add.s64 %rd7, %rd2, %rd6; ld.global.u32 %r20, [%rd7];" + guarded_store);
    own.guards(Comparison::ge);
    EXPECT_EQ(own.objection(), "a guard does not send threads to their end");
}

// --- loops over threads ---

// A loop that stores `value` and goes on by `step`, behind `before` and with `after` behind it.
Kernel strided(const std::string& value, const std::string& before = "", const std::string& after = "",
               const std::string& step = "") {
    Kernel kernel = with_scheme(Scheme::free_total, before + R"(
    mov.u32 %r10, %r1;
    setp.ge.s32 %p1, %r10, %r3;
    @%p1 bra end;
head:
    mul.wide.s32 %rd3, %r10, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], )" + value + "; " + step + R"(
    add.s32 %r10, %r10, %r2;
    setp.lt.s32 %p2, %r10, %r3;
    @%p2 bra head;
end:
)" + after + "ret;");
    kernel.strides("head");
    return kernel;
}

TEST(Certificate, OfAGridStrideLoop) {
    EXPECT_EQ(strided("%r10").objection(), "");
    EXPECT_EQ(strided("%r3").objection(), "");
    for (const char* value : {"%r1", "%r2", "%r52"})
        EXPECT_EQ(strided(value).objection(), "an effect depends on the block") << value;
}

// nvcc begins 2 * i + 1 as (g << 1) | 1.
TEST(Certificate, AnOrOfDisjointBitsIsASum) {
    const auto begun = [](const std::string& bits) {
        return strided("%r21", "shl.b32 %r20, %r1, 1; or.b32 %r21, %r20, " + bits + "; shl.b32 %r22, %r2, 1;",
                       "", "add.s32 %r21, %r21, %r22;");
    };
    EXPECT_EQ(begun("1").objection(), "");
    EXPECT_EQ(begun("0").objection(), "");
    for (const char* shared : {"2", "3", "-1", "0x80000000"})
        EXPECT_NE(begun(shared).objection(), "") << shared;
}

TEST(Certificate, TheLoopEndsWhereTheLaunchLooks) {
    Kernel kernel = strided("%r10");
    kernel.certificate.loops[0].exits[0].operation.modifiers.comparison = Comparison::gt;
    EXPECT_EQ(kernel.objection(), "a loop is left otherwise than where the launch looks");
}

TEST(Certificate, AnEffectIsOneOfEachIteration) {
    EXPECT_EQ(strided("%r10", "", "st.global.u32 [%rd2], 1;").objection(),
              "an effect is not one of each iteration");
    EXPECT_EQ(strided("%r10", "st.global.u32 [%rd2], 1;").objection(),
              "an effect is not one of each iteration");
}

TEST(Certificate, AnIndexInMoreBitsIsOneIterationAhead) {
    const auto ahead = [](const std::string& step) {
        return strided(
            "%r10; shl.b64 %rd21, %rd20, 2; add.s64 %rd21, %rd2, %rd21; st.global.u32 [%rd21], 1; "
            "cvt.s64.s32 %rd20, %r22; add.s32 %r22, %r22, " +
                step,
            "add.s32 %r23, %r1, 1; cvt.s64.s32 %rd20, %r23; add.s32 %r22, %r23, %r2;");
    };
    EXPECT_EQ(ahead("%r2").objection(), "");
    EXPECT_EQ(ahead("%r3").objection(), "an effect depends on the block");
}

TEST(Certificate, WhatAnIterationLeavesToTheNextIsNoIndex) {
    EXPECT_EQ(strided("%r20; add.u32 %r20, %r20, 1", "mov.u32 %r20, 0;").objection(),
              "an effect depends on the block");
}

TEST(Certificate, TheThreadOfIndex0MayDoMore) {
    const std::string first = "setp.ne.s32 %p5, %r1, 0; @%p5 bra last; st.global.u32 [%rd2], %r3; last:";
    EXPECT_EQ(strided("%r10", "", first).objection(), "");
    // `g == 1` is another thread's, and `g < n` is many threads'.
    EXPECT_EQ(strided("%r10", "", "setp.ne.s32 %p5, %r1, 1; @%p5 bra last; st.global.u32 [%rd2], %r3; last:")
                  .objection(),
              "whether there is an effect depends on the block");
    EXPECT_EQ(
        strided("%r10", "", "setp.ge.s32 %p5, %r1, %r3; @%p5 bra last; st.global.u32 [%rd2], %r3; last:")
            .objection(),
        "whether there is an effect depends on the block");
}

TEST(Certificate, TheThreadOfIndex0MayNotAskHowManyThereAre) {
    // if (g == 0 && n > total)
    for (const char* both : {"or.pred %p7, %p5, %p6; @%p7 bra last;", "@%p5 bra last; @%p6 bra last;"}) {
        Kernel kernel = strided("%r10", "",
                                std::string("setp.ne.s32 %p5, %r1, 0; setp.le.s32 %p6, %r3, %r2;") + both +
                                    "st.global.u32 [%rd2], 1; last:");
        EXPECT_EQ(kernel.objection(), "whether there is an effect depends on the block") << both;
    }
    // if ((g | total) == 0)
    EXPECT_EQ(
        strided(
            "%r10", "",
            "or.b32 %r30, %r1, %r2; setp.ne.s32 %p5, %r30, 0; @%p5 bra last; st.global.u32 [%rd2], 1; last:")
            .objection(),
        "whether there is an effect depends on the block");
}

TEST(Certificate, WhereALoopEndedIsNoIndexOfAnother) {
    const std::string second = R"(
    mov.u32 %r40, %r1;
    setp.ge.s32 %p8, %r40, %r3;
    @%p8 bra last;
again:
    mul.wide.s32 %rd13, %r40, 4;
    add.s64 %rd14, %rd2, %rd13;
    st.global.u32 [%rd14], VALUE;
    add.s32 %r40, %r40, %r2;
    setp.lt.s32 %p9, %r40, %r3;
    @%p9 bra again;
last:
)";
    for (const auto& [value, says] :
         {std::pair("%r40", ""), std::pair("%r20", "an effect depends on the block"),
          std::pair("%r10", "an effect depends on the block")}) {
        std::string text = second;
        text.replace(text.find("VALUE"), 5, value);
        Kernel kernel = strided("%r10; mov.u32 %r20, %r10", "mov.u32 %r20, 0;", text);
        kernel.strides("again");
        EXPECT_EQ(kernel.objection(), says) << value;
    }
}

TEST(Certificate, SumsOfIterations) {
    const auto sum = [](const std::string& adds, const std::string& begins, const std::string& atomic) {
        return strided("%r10; " + adds, "mov.u32 %r20, " + begins + ";", atomic + " [%rd2], %r20;")
            .objection();
    };
    EXPECT_EQ(sum("add.u32 %r20, %r20, %r10", "0", "red.global.add.u32"), "");
    EXPECT_EQ(sum("max.u32 %r20, %r20, %r10", "0", "red.global.max.u32"), "");
    // It begins with something; each iteration adds how many threads there are; another operation; another sign.
    EXPECT_NE(sum("add.u32 %r20, %r20, %r10", "1", "red.global.add.u32"), "");
    EXPECT_NE(sum("add.u32 %r20, %r20, %r2", "0", "red.global.add.u32"), "");
    EXPECT_NE(sum("add.u32 %r20, %r20, %r1", "0", "red.global.add.u32"), "");
    EXPECT_NE(sum("xor.b32 %r20, %r20, %r10", "0", "red.global.add.u32"), "");
    EXPECT_NE(sum("max.s32 %r20, %r20, %r10", "0", "red.global.max.u32"), "");
}

// --- tables ---

TEST(Certificate, ATableIsFilledAsEveryBlockFillsIt) {
    const auto filled = [](const std::string& value) {
        Kernel kernel = with_scheme(Scheme::in_block, R"(
    mov.u64 %rd5, s;
    mov.u32 %r10, %r52;
    mul.lo.s32 %r20, %r52, %r50;
    mul.lo.s32 %r21, %r51, %r50;
    setp.gt.u32 %p1, %r10, 31;
    @%p1 bra end;
head:
    mul.wide.u32 %rd6, %r10, 4;
    add.s64 %rd7, %rd5, %rd6;
    st.shared.u32 [%rd7], )" + value + R"(;
    add.s32 %r10, %r10, %r51;
    add.s32 %r20, %r20, %r21;
    setp.lt.u32 %p2, %r10, 32;
    @%p2 bra head;
end:
    ret;)");
        kernel.strides("head");
        for (std::uint32_t i = 0; i < kernel.certificate.function->body.size(); i++)
            if (kernel.certificate.function->body[i].opcode == ptx::Opcode::st)
                kernel.certificate.fills.push_back(i);
        return kernel.objection();
    };
    EXPECT_EQ(filled("%r10"), "");
    EXPECT_EQ(filled("%r3"), "");
    // k * blockIdx.x, as a register that goes up by blockDim.x * blockIdx.x; a thread's own number; the block's size.
    for (const char* value : {"%r20", "%r50", "%r52", "%r51"})
        EXPECT_EQ(filled(value), "a table's contents depend on the block that fills it") << value;
}

// --- exchanges ---

class TwoExchanges : public testing::Test {
  protected:
    Kernel kernel = with_scheme(Scheme::in_block, R"(
    mul.wide.u32 %rd5, %r50, 4;
    add.s64 %rd6, %rd1, %rd5;
    bra first;
first:
    st.shared.u32 [s], %r52;
    bar.sync 0;
    ld.shared.u32 %r20, [s];
    bar.sync 0;
    bra between;
between:
    bra second;
second:
    st.shared.u32 [s], %r51;
    bar.sync 0;
    ld.shared.u32 %r21, [s];
    bar.sync 0;
    bra behind;
behind:
    setp.ne.u32 %p1, %r52, 0;
    @%p1 bra end;
    st.global.u32 [%rd6], %r21;
end:
    ret;)");
    void SetUp() override {
        kernel.certificate.blocks_are_units = true;
        for (std::uint32_t i = 0; i < kernel.certificate.function->body.size(); i++)
            if (kernel.certificate.function->body[i].modifiers.space == ptx::Space::shared)
                kernel.certificate.exchanging.push_back(i);
        for (const char* label : {"first", "second"})
            kernel.certificate.exchanges.push_back({kernel.block(label), kernel.block(label), {}});
    }
    void agree(std::size_t exchange, const char* value) {
        kernel.certificate.exchanges[exchange].agreed.push_back({.value = kernel.value(value)});
    }
};

TEST_F(TwoExchanges, WhatIsNotAgreedOnDependsOnTheBlock) {
    EXPECT_EQ(kernel.objection(), "an effect depends on the block");
}
TEST_F(TwoExchanges, EachAgreesOnWhatItLeaves) {
    agree(0, "%r20");
    agree(1, "%r21");
    EXPECT_EQ(kernel.objection(), "");
}
TEST_F(TwoExchanges, TheFirstSaysNothingOfWhatTheSecondHasOverwritten) {
    agree(0, "%r21");
    EXPECT_EQ(kernel.objection(), "a load behind an exchange of values may find what a later one wrote");
}
TEST_F(TwoExchanges, IsOnePieceOfCode) {
    agree(1, "%r21");
    kernel.certificate.exchanges[1].to = kernel.block("behind");
    EXPECT_EQ(kernel.objection(), "");
    kernel.certificate.exchanges[1].from = kernel.block("end");
    kernel.certificate.labels.clear();
    EXPECT_EQ(kernel.objection(), "an exchange of values is not one piece of code");
}

}  // namespace
}  // namespace trimtab::checker::test
