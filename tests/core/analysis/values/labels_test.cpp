// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What values depend on, by hand-written PTX: each label is worked out by hand. A store to [%rd9] names the value that
// is asked about, by its place among the stores.
#include "core/analysis/values/labels.h"

#include <gtest/gtest.h>

#include <list>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {
namespace {

constexpr Dimension x = Dimension::x;

// A kernel whose total in x is taken to stride loops; %r2 is the global index, %r3 the total, %r1 an argument.
class Labelled {
  public:
    explicit Labelled(const std::string& body, Assumed assumed = Assumed::nothing) {
        auto module = ptx::parse(
            ".version 8.0\n.target sm_75\n.address_size 64\n"
            ".visible .entry k(.param .u64 k_o, .param .u32 k_n)\n{\n"
            ".local .align 4 .b8 frame[64];\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n"
            "ld.param.u64 %rd9, [k_o];\nld.param.u32 %r1, [k_n];\n"
            "mov.u32 %r4, %tid.x;\nmov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %ntid.x;\nmov.u32 %r7, %nctaid.x;\n" +
                std::string(assumed == Assumed::grid_stays
                                ? "mov.u32 %r2, %r4;\nmov.u32 %r3, %r6;\n"
                                : "mad.lo.s32 %r2, %r5, %r6, %r4;\nmul.lo.s32 %r3, %r6, %r7;\n") +
                body + "\n}\n",
            "k.ptx");
        EXPECT_TRUE(module) << (module ? "" : module.error().text());
        if (!module) return;
        module_ = std::move(*module);
        LaunchAssumption assumption;
        assumption.of[0] = assumed;
        const ptx::Function& kernel = module_.functions.front();
        auto values = FunctionValues::make(table_, kernel, 0, launch_reads({&kernel}, assumption));
        EXPECT_TRUE(values) << (values ? "" : values.error().text());
        if (!values) return;
        values_.push_back(std::move(*values));
        indices_.emplace(table_, values_.front(), std::array{true, false, false});
        control_.emplace(kernel, values_.front().flow());
        labels_.emplace(table_, values_.front(), *indices_, *control_);
    }

    // Of what the n-th store stores.
    [[nodiscard]] Label stored(unsigned n) const {
        const auto& body = values_.front().function().body;
        for (std::uint32_t i = 0; i < body.size(); i++)
            if (body[i].opcode == ptx::Opcode::st && body[i].modifiers.space == ptx::Space::global &&
                n-- == 0)
                return labels_->at(values_.front().ssa().use(i, 1), values_.front().flow().block_of[i]);
        ADD_FAILURE() << "there are fewer stores";
        return {};
    }

  private:
    ptx::Module module_;
    SymbolTable table_;
    std::list<FunctionValues> values_;
    std::optional<LoopIndices> indices_;
    std::optional<ptx::ControlDependence> control_;
    std::optional<Labels> labels_;
};

constexpr Label constant, own = Label::of(Label::index, x), shape = Label::of(Label::shape, x),
                          iteration = Label::of(Label::iteration, x),
                          block = Label::of(Label::thread_block, x);

TEST(Labels, OfStraightCode) {
    const Labelled of(R"(
        add.s32 %r10, %r1, 7;
        st.global.u32 [%rd9], %r10;
        shr.u32 %r11, %r2, 5;
        st.global.u32 [%rd9], %r11;
        add.s32 %r12, %r3, %r1;
        st.global.u32 [%rd9], %r12;
        xor.b32 %r13, %r12, %r11;
        st.global.u32 [%rd9], %r13;
        sub.s32 %r14, %r12, %r3;
        st.global.u32 [%rd9], %r14;
        ret;)");
    EXPECT_EQ(of.stored(0), constant);
    EXPECT_EQ(of.stored(1), own);
    EXPECT_EQ(of.stored(2), shape);
    EXPECT_EQ(of.stored(3), own | shape);
    EXPECT_EQ(of.stored(4), constant) << "what the total does to a register it may undo";
}

// for (i = g; i < n; i += total) { o = i + 1 } ; last = i ; for (j = g; j < n; j += total) { o = last ^ j }
constexpr const char* two_loops = R"(
        mov.u32 %r10, %r2;
        again: add.s32 %r11, %r10, 1;
        st.global.u32 [%rd9], %r11;
        mov.u32 %r20, %r10;
        add.s32 %r10, %r10, %r3;
        setp.lt.s32 %p1, %r10, %r1;
        @%p1 bra again;
        mul.lo.s32 %r21, %r20, 77;
        mov.u32 %r12, %r2;
        once_more: xor.b32 %r22, %r21, %r12;
        st.global.u32 [%rd9], %r22;
        st.global.u32 [%rd9], %r12;
        add.s32 %r12, %r12, %r3;
        setp.lt.s32 %p2, %r12, %r1;
        @%p2 bra once_more;
        st.global.u32 [%rd9], %r21;
        ret;)";

TEST(Labels, TheIndexOfALoopIsTheLaunchsShapeBehindIt) {
    const Labelled of(two_loops);
    EXPECT_EQ(of.stored(0), iteration);
    EXPECT_EQ(of.stored(1), iteration | shape)
        << "the last index of one loop is no function of another one's";
    EXPECT_EQ(of.stored(2), iteration);
    EXPECT_EQ(of.stored(3), shape);
}

TEST(Labels, ControlDependenceIsDependence) {
    const Labelled of(R"(
        setp.gt.s32 %p1, %r3, %r1;
        mov.u32 %r10, 1;
        @%p1 bra more;
        mov.u32 %r10, 2;
        more: st.global.u32 [%rd9], %r10;
        setp.gt.s32 %p2, %r2, 5;
        mov.u32 %r11, 1;
        @%p2 mov.u32 %r11, 2;
        st.global.u32 [%rd9], %r11;
        mov.u32 %r12, 0;
        count: add.s32 %r12, %r12, 7;
        setp.lt.s32 %p3, %r12, %r3;
        @%p3 bra count;
        st.global.u32 [%rd9], %r12;
        ret;)");
    EXPECT_EQ(of.stored(0), shape) << "a branch on the total";
    EXPECT_EQ(of.stored(1), own) << "a guard on the index";
    EXPECT_EQ(of.stored(2), shape) << "how often a loop was gone round";
}

TEST(Labels, WhatALoopCarriesOtherwiseIsOfTheIterationsBefore) {
    const Labelled of(R"(
        mov.u32 %r10, %r2;
        mov.u32 %r11, 0;
        again: add.s32 %r11, %r11, %r10;
        st.global.u32 [%rd9], %r11;
        add.s32 %r10, %r10, %r3;
        setp.lt.s32 %p1, %r10, %r1;
        @%p1 bra again;
        ret;)");
    EXPECT_EQ(of.stored(0), iteration | shape);
}

// t[k] = k * blockIdx.x, as compilers write it: a register that goes up by blockDim * blockIdx.
TEST(Labels, AFunctionOfTheIndexMayBeOfTheBlockToo) {
    const Labelled of(R"(
        mov.u32 %r10, %r2;
        mul.lo.s32 %r11, %r4, %r5;
        mul.lo.s32 %r12, %r6, %r5;
        again: st.global.u32 [%rd9], %r11;
        st.global.u32 [%rd9], %r10;
        add.s32 %r10, %r10, %r3;
        add.s32 %r11, %r11, %r12;
        setp.lt.s32 %p1, %r10, 64;
        @%p1 bra again;
        st.global.u32 [%rd9], %r5;
        ret;)",
                      Assumed::grid_stays);
    EXPECT_EQ(of.stored(0), iteration | block);
    EXPECT_EQ(of.stored(1), iteration);
    EXPECT_EQ(of.stored(2), block);
}

// The frame lies at one address in all threads.
TEST(Labels, AThreadsStackIsItsOwnByWhateverAddress) {
    const Labelled of(R"(
        mov.u64 %rd1, frame;
        cvta.local.u64 %rd2, %rd1;
        st.local.u32 [%rd1], %r2;
        ld.local.u32 %r10, [%rd1];
        st.global.u32 [%rd9], %r10;
        ld.u32 %r11, [%rd2];
        st.global.u32 [%rd9], %r11;
        ret;)");
    EXPECT_TRUE(of.stored(0).has(Label::index, x));
    EXPECT_TRUE(of.stored(1).has(Label::index, x));
}

TEST(Label, JoinsAreUnionsAndDimensionsStayApart) {
    const Label y_index = Label::of(Label::index, Dimension::y);
    const Label both = iteration | y_index | Label::rounding();
    EXPECT_EQ(both.in(x), iteration | Label::rounding());
    EXPECT_EQ(both.in(Dimension::y), y_index | Label::rounding());
    EXPECT_TRUE(both.in(x).is_same() == false && both.in(Dimension::z).is_same());
    EXPECT_FALSE(both.in(Dimension::z).is_exactly_same()) << "it is rounded";
    EXPECT_EQ(both.without(Label::iteration, x), y_index | Label::rounding());
    EXPECT_EQ(both | both, both);
    EXPECT_TRUE(block.is_exactly_same()) << "in all threads of the block";
}

}  // namespace
}  // namespace trimtab::analysis
