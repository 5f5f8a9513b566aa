// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptions with planted faults, as a proof with a hole would make them, and such as are right.
#include "profiler/evidence/evidence.h"

#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/coarsened.h"
#include "made_up_kernels.h"
#include "profiler/emulator_backend.h"
#include "profiler/observed_profile.h"
#include "profiler/profile_kernel.h"
#include "ptx_kernel.h"
#include "trimtab/body_name.h"

namespace trimtab::profiler {
namespace {

using namespace testing;
using analysis::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Outcome = Evidence::Outcome;

// k(o, a, n), `covering` by its guard.
KernelBuilder claim(const char* out = "int", const char* in = "int") {
    return KernelBuilder("k", {true, false, false})
        .pointer("o", out)
        .pointer("a", in)
        .integer("n")
        .guard(Dimension::x, argument(2));
}

struct Checked {
    Evidence evidence;
    std::shared_ptr<emulator::Program> program;
};

Checked check(const std::string& ptx, KernelDescription description, const EvidenceOptions& options = {}) {
    Checked out{.evidence = {}, .program = program_of(ptx)};
    if (!out.program) return out;
    for (analysis::DataParameter& data : description.data)
        if (data.name == "n") data.bounds = Dimension::x;
    const auto backend = make_emulator_backend(out.program);
    const auto profile = profile_kernel(description, *backend, {});
    EXPECT_TRUE(profile) << (profile ? "" : profile.error().text());
    if (profile) out.evidence = gather_evidence(description, *out.program, *profile, options);
    return out;
}
Evidence evidence_of(const std::string& body, const KernelDescription& description) {
    return check(ptx_kernel(body), description).evidence;
}

TEST(Evidence, ARightVerdictStands) {
    const Evidence evidence = evidence_of(
        "mul.lo.s32 %r1, %i, %i; ld.global.u32 %r2, [%a]; add.s32 %r3, %r1, %r2; st.global.u32 [%o], %r3;",
        claim().build());
    EXPECT_EQ(evidence.outcome, Outcome::agrees) << evidence.text;
    EXPECT_GT(evidence.launches, 40U);
    EXPECT_EQ(evidence.assumed_races, 0U);
    EXPECT_EQ(evidence.text, "");
}

TEST(Evidence, ThePlaceInTheBlockIsSeen) {
    const Evidence evidence = evidence_of("st.global.u32 [%o], %t;", claim().build());
    EXPECT_EQ(evidence.outcome, Outcome::differs);
    EXPECT_THAT(evidence.text,
                AllOf(HasSubstr("the 4 blocks of 64 threads as written: "), HasSubstr("element "),
                      HasSubstr(" of 'o' is "), HasSubstr("n = "), HasSubstr("arrays of ")));
}

// Only where a value is above a bound that sums of small numbers never reach.
TEST(Evidence, LargeAndNegativeValuesAreAmongTheContents) {
    for (const char* test : {"setp.gt.s32 %p2, %r1, 100000;", "setp.lt.s32 %p2, %r1, -1000;",
                             "setp.eq.s32 %p2, %r1, 2147483647;"}) {
        const Evidence evidence =
            evidence_of(std::string("ld.global.u32 %r1, [%a]; ") + test + " @%p2 st.global.u32 [%o], %d;",
                        claim().build());
        EXPECT_EQ(evidence.outcome, Outcome::differs) << test << evidence.text;
    }
    for (const char* test : {"setp.gt.f32 %p2, %f1, 0f47C35000;", "setp.lt.f32 %p2, %f1, 0fBF800000;"}) {
        const Evidence evidence =
            evidence_of(std::string("ld.global.f32 %f1, [%a]; ") + test + " @%p2 st.global.u32 [%o], %d;",
                        claim("int", "float").build());
        EXPECT_EQ(evidence.outcome, Outcome::differs) << test << evidence.text;
    }
}

// What only launches with less, or more, work than threads do.
TEST(Evidence, TheEdgesOfAnArgumentAreMet) {
    const std::string total = "mov.u32 %r1, %nctaid.x; mul.lo.s32 %r2, %r1, %d; ";
    for (const char* test :
         {"setp.gt.s32 %p2, %n, %r2;", "setp.eq.s32 %p2, %n, %r2;", "setp.eq.s32 %p2, %n, 1;"}) {
        const Evidence evidence = evidence_of(
            total + test + " st.global.u32 [%o], %i; @%p2 st.global.u32 [%o], %d;", claim().build());
        EXPECT_EQ(evidence.outcome, Outcome::differs) << test << evidence.text;
    }
    // Past the guard nothing should be done; here a negative n has something done before it.
    const Checked negative = check(
        ptx_kernel(
            "setp.lt.s32 %p2, %n, 0; @%p2 st.global.u32 [%rd3], %d; setp.ge.s32 %p3, %i, %n; @%p3 bra DONE; "
            "st.global.u32 [%o], %i;",
            /*guarded=*/false),
        claim().build());
    EXPECT_EQ(negative.evidence.outcome, Outcome::differs) << negative.evidence.text;
    EXPECT_THAT(negative.evidence.text, HasSubstr("n = -1"));
}

// o[a[i]] = i: which thread is last is the program's own affair.
TEST(Evidence, ARaceAsWrittenIsNoDifference) {
    const std::string scatter =
        "ld.global.u32 %r1, [%a]; mul.wide.s32 %rd6, %r1, 4; add.s64 %rd7, %rd3, %rd6; st.global.u32 [%rd7], "
        "%i;";
    const Evidence evidence = evidence_of(scatter, claim().build());
    EXPECT_NE(evidence.outcome, Outcome::differs) << evidence.text;
    EXPECT_GT(evidence.assumed_races, 0U);
    // Two threads that store the same are no race, and excuse nothing.
    const Evidence flag = evidence_of("st.global.u32 [%rd3], %d;", claim().build());
    EXPECT_EQ(flag.outcome, Outcome::differs);
}

TEST(Evidence, SumsByAtomicsRoundAndNothingElseDoes) {
    KernelDescription sums = claim("float", "float").build();
    sums.uses_float_atomics = true;
    const std::string add = "ld.global.f32 %f1, [%a]; red.global.add.f32 [%rd3], %f1;";
    const Evidence right = evidence_of(add, sums);
    EXPECT_EQ(right.outcome, Outcome::agrees) << right.text;
    EXPECT_EQ(right.assumed_races, 0U);
    // One term more in each block.
    const Evidence wrong = evidence_of(
        add + " setp.eq.s32 %p2, %t, 0; @!%p2 bra DONE; red.global.add.f32 [%rd3], 0f3F800000;", sums);
    EXPECT_EQ(wrong.outcome, Outcome::differs) << wrong.text;
    // Whole numbers that look like near floats, where no atomic has been.
    KernelDescription beside = claim("int", "float").build();
    beside.uses_float_atomics = true;
    const Evidence near = evidence_of(
        "ld.global.f32 %f1, [%a]; add.s64 %rd6, %rd4, -4096; red.global.add.f32 [%rd6], %f1; "
        "add.s32 %r1, %t, 1000000000; st.global.u32 [%o], %r1;",
        beside);
    EXPECT_EQ(near.outcome, Outcome::differs) << near.text;
}

TEST(Evidence, SumsThatMayBeGroupedOtherwiseRound) {
    KernelDescription grouped = claim("float", "float").build();
    grouped.may_reassociate = true;
    // Less than 1e-5 of it, by the place in the block.
    const Evidence near = evidence_of(
        "ld.global.f32 %f1, [%a]; cvt.rn.f32.u32 %f2, %t; mul.f32 %f3, %f2, 0f2E000000; "
        "fma.rn.f32 %f4, %f1, %f3, %f1; st.global.f32 [%o], %f4;",
        grouped);
    EXPECT_EQ(near.outcome, Outcome::agrees) << near.text;
    const Evidence far = evidence_of(
        "ld.global.f32 %f1, [%a]; cvt.rn.f32.u32 %f2, %t; add.f32 %f3, %f1, %f2; st.global.f32 [%o], %f3;",
        grouped);
    EXPECT_EQ(far.outcome, Outcome::differs) << far.text;
    // Bits that an integer instruction made are no number that rounds.
    const Evidence bits = evidence_of(
        "ld.global.u32 %r1, [%a]; shr.u32 %r2, %t, 5; xor.b32 %r3, %r1, %r2; st.global.u32 [%o], %r3;",
        grouped);
    EXPECT_EQ(bits.outcome, Outcome::differs) << bits.text;
}

// As planned for n alone, the smallest size.
Profile profile_by_hand() {
    Profile profile;
    profile.backend_name = "emulator";
    profile.levels = {{.data = {256, 256}, .held_out = false, .why = {}}};
    profile.ranges.end[0] = {.constant = 0, .terms = {{0, 1}}};
    return profile;
}

TEST(Evidence, AFaultOfTheOtherBlockAloneIsADifference) {
    const auto faults =
        program_of(ptx_kernel("setp.ge.u32 %p2, %t, 100; mov.u64 %rd6, 0; @%p2 ld.global.u32 %r1, [%rd6]; "
                              "st.global.u32 [%o], %i;"));
    ASSERT_TRUE(faults);
    const Evidence other = gather_evidence(claim().build(), *faults, profile_by_hand());
    EXPECT_EQ(other.outcome, Outcome::differs) << other.text;
    EXPECT_THAT(other.text, AllOf(HasSubstr("it faults: "), HasSubstr("illegal address 0x0")));
    // That another one takes long says nothing.
    const auto hangs =
        program_of(ptx_kernel("setp.lt.u32 %p2, %d, 100; @%p2 st.global.u32 [%o], %i; @%p2 bra DONE; "
                              "AGAIN: add.s32 %r1, %r1, 1; bra AGAIN;"));
    ASSERT_TRUE(hangs);
    const Evidence hang = gather_evidence(claim().build(), *hangs, profile_by_hand());
    EXPECT_EQ(hang.outcome, Outcome::agrees) << hang.text;
}

TEST(Evidence, WhatCannotRunIsNone) {
    // Profiled with the right data, but at no edge, and not with these contents.
    const auto program = program_of(ptx_kernel("trap;"));
    ASSERT_TRUE(program);
    const KernelDescription description = claim().build();
    Profile profile = profile_by_hand();
    const Evidence trapped = gather_evidence(description, *program, profile);
    EXPECT_EQ(trapped.outcome, Outcome::none);
    EXPECT_THAT(trapped.text, HasSubstr("trap"));
    EXPECT_EQ(trapped.launches, 0U);

    const auto sound = program_of(ptx_kernel("st.global.u32 [%o], %i;"));
    EXPECT_EQ(gather_evidence(description, *sound, profile).outcome, Outcome::agrees);
    KernelDescription annotated = description;
    annotated.verdict = Verdict::annotated;
    EXPECT_EQ(gather_evidence(annotated, *sound, profile).outcome, Outcome::none);
    EXPECT_FALSE(wants_evidence(annotated));
    KernelDescription one = description;
    one.dimensions[0].block = analysis::BlockWidth::one;
    EXPECT_EQ(gather_evidence(one, *sound, profile).outcome, Outcome::none);
    profile.backend_name = observed_backend;
    EXPECT_EQ(gather_evidence(description, *sound, profile).outcome, Outcome::none);
}

TEST(Evidence, VariablesOfTheModuleAreMemoryToo) {
    const Checked checked =
        check(ptx_kernel("mov.u64 %rd6, counter; st.global.u32 [%rd6], %d; st.global.u32 [%o], %i;"),
              claim().build());
    EXPECT_EQ(checked.evidence.outcome, Outcome::differs);
    EXPECT_THAT(checked.evidence.text, HasSubstr("byte 0 of variable 'counter' is "));
    // As the profile left it.
    const Checked kept = check(ptx_kernel("mov.u64 %rd6, counter; ld.global.u32 %r1, [%rd6]; st.global.u32 "
                                          "[%o], %r1; red.global.add.u32 [%rd6+0], 1;"),
                               claim().build(), {.instruction_budget = 200'000});
    auto storage = emulator::variable_storage(*kept.program, "counter");
    ASSERT_TRUE(storage);
    std::uint32_t before = 0, after = 0;
    std::memcpy(&before, storage->host, sizeof before);
    (void)gather_evidence(claim().build(), *kept.program, profile_by_hand());
    std::memcpy(&after, storage->host, sizeof after);
    EXPECT_EQ(before, after);
}

// The body's launches as written are the kernel's, which here does something else with its very block.
TEST(Evidence, ABodyStandsForTheKernelWithTheBuiltInBlock) {
    std::string both = ptx_kernel("st.global.u32 [%o], %i;");
    const auto body = [](std::string text) {
        for (std::size_t at = 0; (at = text.find("entry k(", at)) != std::string::npos; ++at)
            text.replace(at, 8, "entry k$64x0x0$64(");
        return text.substr(text.find(".visible"));
    };
    KernelDescription description = claim().build();
    description.name = "k$64x0x0$64";
    description.variant = {.of = built_in_block_of("k"), .value = 64};
    const auto right = program_of(both + body(both));
    ASSERT_TRUE(right);
    EXPECT_EQ(gather_evidence(description, *right, profile_by_hand()).outcome, Outcome::agrees);
    const auto wrong = program_of(both + body(ptx_kernel("add.s32 %r1, %i, 1; st.global.u32 [%o], %r1;")));
    ASSERT_TRUE(wrong);
    EXPECT_EQ(gather_evidence(description, *wrong, profile_by_hand()).outcome, Outcome::differs);
}

// One of its threads does the work of two of the kernel's, 32 apart; or that of the second one wrongly.
TEST(Evidence, ABodyStandsForTheKernelWhoseWorkItDoes) {
    const auto body = [](const std::string& second) {
        std::string text = ptx_kernel(
            "shr.u32 %r1, %i, 5; shl.b32 %r1, %r1, 6; and.b32 %r2, %i, 31; or.b32 %r1, %r1, %r2; "
            "mul.wide.s32 %rd6, %r1, 4; add.s64 %rd6, %rd3, %rd6; setp.lt.s32 %p2, %r1, %n; "
            "@%p2 st.global.u32 [%rd6], %r1; add.s32 %r1, %r1, 32; setp.lt.s32 %p2, %r1, %n; " +
                second + "@%p2 st.global.u32 [%rd6+128], %r1;",
            /*guarded=*/false);
        text.replace(text.find("entry k("), 8, "entry k$2x$2(");
        return text.substr(text.find(".visible"));
    };
    const std::string kernel = ptx_kernel("st.global.u32 [%o], %i;");
    std::vector<KernelDescription> kernels{claim().build(), claim().build()};
    kernels[1].name = "k$2x$2";
    kernels[1].variant = {.of = threads_of("k"), .value = 2};
    analysis::complete_coarsened(kernels);
    ASSERT_EQ(kernels.size(), 2U);
    const auto right = program_of(kernel + body(""));
    ASSERT_TRUE(right);
    const Evidence agrees = gather_evidence(kernels[1], *right, profile_by_hand());
    EXPECT_EQ(agrees.outcome, Outcome::agrees) << agrees.text;
    EXPECT_GT(agrees.launches, 40U);
    for (const char* mistake : {"add.s32 %r1, %r1, 1; ", "setp.le.s32 %p2, %r1, %n; ",
                                "setp.ne.s32 %p2, %r1, 37; ", "mov.u32 %r1, %d; "}) {
        const auto wrong = program_of(kernel + body(mistake));
        ASSERT_TRUE(wrong);
        EXPECT_EQ(gather_evidence(kernels[1], *wrong, profile_by_hand()).outcome, Outcome::differs)
            << mistake;
    }
}

TEST(Evidence, ABudgetIsKept) {
    const std::string body =
        "ld.global.u32 %r1, [%a]; mov.u32 %r2, 0; AGAIN: add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, 100; "
        "@%p2 bra "
        "AGAIN; st.global.u32 [%o], %r2;";
    const Checked few = check(ptx_kernel(body), claim().build(), {.instruction_budget = 20'000});
    const Checked many = check(ptx_kernel(body), claim().build());
    EXPECT_EQ(few.evidence.outcome, Outcome::agrees) << few.evidence.text;
    EXPECT_LT(few.evidence.launches, many.evidence.launches / 2);
}

TEST(Evidence, RefutedKernelsAreFixedAndSayWhy) {
    KernelDescription description = claim().build();
    refute(description, {.outcome = Outcome::differs, .text = "on the emulator it differs", .launches = 1});
    EXPECT_EQ(description.verdict, Verdict::fixed);
    ASSERT_EQ(description.reasons.size(), 1U);
    EXPECT_EQ(description.reasons[0].rule, 7U);
    EXPECT_THAT(description.reasons[0].text,
                AllOf(HasSubstr("on the emulator it differs"), HasSubstr("a bug in Trimtab's proof"),
                      HasSubstr("please report this line")));
    EXPECT_FALSE(description.guards.empty());
    EXPECT_FALSE(wants_evidence(description));
}

TEST(Evidence, IsKeptAsJsonUnderAKeyOfItsVerdict) {
    const Evidence evidence{
        .outcome = Outcome::differs, .text = "it \"differs\"", .launches = 7, .assumed_races = 2};
    EXPECT_EQ(evidence_from_json(to_json(evidence), "test").value(), evidence);
    nlohmann::json bad = to_json(evidence);
    bad["outcome"] = "perhaps";
    EXPECT_FALSE(evidence_from_json(bad, "test"));

    const KernelDescription description = claim().build();
    KernelDescription renamed = description;
    renamed.name = renamed.demangled = "other";
    renamed.source = "other.cu:3";
    EXPECT_EQ(evidence_key(renamed), evidence_key(description));
    KernelDescription dividing = description;
    dividing.verdict = Verdict::dividing;
    EXPECT_NE(evidence_key(dividing), evidence_key(description));
    KernelDescription unguarded = description;
    unguarded.guards.clear();
    EXPECT_NE(evidence_key(unguarded), evidence_key(description));
    EXPECT_NE(evidence_key(description, {.instruction_budget = 5}), evidence_key(description));
}

}  // namespace
}  // namespace trimtab::profiler
