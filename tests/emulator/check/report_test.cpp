#include "emulator/check/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/check/checks.h"

namespace trimtab::emulator::check {
namespace {

using testing::HasSubstr;

TEST(Checks, Words) {
    const auto some = parse_checks("memory,sync");
    ASSERT_TRUE(some);
    EXPECT_TRUE(some->memory && some->sync && !some->race && !some->init);
    EXPECT_EQ(text_of(*parse_checks("all")), "memory,race,init,sync");
    EXPECT_THAT(parse_checks("memory,rac").error().text(), HasSubstr("'rac'"));
    EXPECT_FALSE(parse_checks(""));
    EXPECT_FALSE(parse_checks("memory,"));
}

TEST(Reports, OneASiteWithACount) {
    Reports reports;
    ASSERT_NE(reports.add({"k", 1, 0, "out of bounds"}), nullptr);
    EXPECT_EQ(reports.add({"k", 1, 0, "out of bounds"}), nullptr);
    EXPECT_NE(reports.add({"k", 2, 0, "out of bounds"}), nullptr);
    ASSERT_EQ(reports.all().size(), 2u);
    EXPECT_EQ(reports.all()[0].count, 2u);
}

TEST(Reports, ComeBackFromJson) {
    Report report;
    report.check = "race";
    report.kind = "two writes";
    report.kernel = "_Z1kPf";
    report.text = "no \"order\"\n\xff";
    report.count = 12;
    report.access = {.source = "a.cu:3",
                     .instruction = "st.global.f32 [%rd1], %f1",
                     .ptx_line = 9,
                     .thread = {1, 2, 3},
                     .block = {4, 5, 6}};
    report.other.push_back(report.access);
    report.allocation_bytes = 64;
    report.allocated = {{.module = "./a.out", .offset = 0x1234, .symbol = "main", .place = ""}};
    const auto back = reports_of_json(to_json("race", {report}));
    ASSERT_TRUE(back) << back.error().text();
    ASSERT_EQ(back->size(), 1u);
    EXPECT_EQ(back->front().access.block, report.access.block);
    EXPECT_EQ(back->front().other.size(), 1u);
    EXPECT_EQ(back->front().count, 12u);
    EXPECT_EQ(back->front().allocated.front().offset, 0x1234u);
    EXPECT_THAT(text_of(back->front()), HasSubstr("k(float*)"));
    EXPECT_THAT(text_of(back->front()), HasSubstr("thread (1,2,3) of block (4,5,6) at a.cu:3"));
}

TEST(Reports, WhatIsNoReportIsAnError) {
    EXPECT_FALSE(reports_of_json(""));
    EXPECT_FALSE(reports_of_json("[]"));
    EXPECT_FALSE(reports_of_json(R"({"reports": [{"check": 1}]})"));
}

}  // namespace
}  // namespace trimtab::emulator::check
