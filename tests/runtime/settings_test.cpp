#include "runtime/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trimtab::runtime {
namespace {

using ::testing::HasSubstr;

ReadSettings read(const std::map<std::string, std::string>& environment) {
    return read_settings([&](const char* name) -> const char* {
        const auto place = environment.find(name);
        return place == environment.end() ? nullptr : place->second.c_str();
    });
}

TEST(Settings, DefaultsWithoutEnvironment) {
    const ReadSettings out = read({});
    EXPECT_EQ(out.settings.mode, Mode::on);
    EXPECT_EQ(out.settings.log, LogLevel::warn);
    EXPECT_TRUE(out.settings.report_path.empty());
    EXPECT_TRUE(out.settings.device.empty());
    EXPECT_TRUE(out.warnings.empty());
    EXPECT_TRUE(read({{"TRIMTAB", ""}, {"TRIMTAB_LOG", ""}}).warnings.empty());
}

TEST(Settings, ReadsEveryValue) {
    EXPECT_EQ(read({{"TRIMTAB", "off"}}).settings.mode, Mode::off);
    EXPECT_EQ(read({{"TRIMTAB", "observe"}}).settings.mode, Mode::observe);
    EXPECT_EQ(read({{"TRIMTAB_LOG", "off"}}).settings.log, LogLevel::off);
    EXPECT_EQ(read({{"TRIMTAB_LOG", "debug"}}).settings.log, LogLevel::debug);
    EXPECT_EQ(read({{"TRIMTAB_REPORT", "a.jsonl"}}).settings.report_path, "a.jsonl");
    EXPECT_EQ(read({{"TRIMTAB_DEVICE", "k20c,h100"}}).settings.device, "k20c,h100");
}

TEST(Settings, WhatIsNotThereYetIsSaid) {
    const ReadSettings out =
        read({{"TRIMTAB_CROSSCHECK", "top:3"}, {"TRIMTAB_LEARN", "1"}, {"TRIMTAB_CAPTURE", "gemm:2"}});
    ASSERT_EQ(out.warnings.size(), 3u);
    for (const std::string& warning : out.warnings)
        EXPECT_THAT(warning, HasSubstr("this version of Trimtab does not have it"));
    EXPECT_TRUE(read({{"TRIMTAB_CROSSCHECK", "off"}, {"TRIMTAB_LEARN", "0"}, {"TRIMTAB_CAPTURE", ""}})
                    .warnings.empty());
}

TEST(Settings, ABadValueGivesOneLineAndTheDefault) {
    const ReadSettings out = read({{"TRIMTAB", "ON "}, {"TRIMTAB_LOG", "verbose"}});
    EXPECT_EQ(out.settings.mode, Mode::on);
    EXPECT_EQ(out.settings.log, LogLevel::warn);
    ASSERT_EQ(out.warnings.size(), 2u);
    EXPECT_THAT(out.warnings[0], HasSubstr("TRIMTAB=ON  is not understood"));
    EXPECT_THAT(out.warnings[1], HasSubstr("TRIMTAB_LOG=verbose is not understood"));
    EXPECT_THAT(out.warnings[1], HasSubstr("off, warn, info or debug"));
}

}  // namespace
}  // namespace trimtab::runtime
