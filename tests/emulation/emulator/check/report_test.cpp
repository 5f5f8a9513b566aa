// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulation/emulator/check/checks.h"

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
    const auto back = reports_of_json(to_json("race", {report}), "r.json");
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
    const auto error = [](std::string_view text) { return reports_of_json(text, "r.json").error().text(); };
    EXPECT_EQ(error("{\n 5"), "r.json:2:2: not valid JSON");
    EXPECT_EQ(error("[]"), "r.json: report of checks is not an object");
    EXPECT_EQ(error(R"({"reports": [{"check": 1}]})"),
              "r.json: report of checks.reports[0].check is not a text");
    std::string text = to_json("race", {Report{}});
    text.replace(text.find("\"thread\""), 8, "\"treads\"");
    EXPECT_EQ(error(text), "r.json: report of checks.reports[0] has no member \"thread\"");
}

}  // namespace
}  // namespace trimtab::emulator::check
