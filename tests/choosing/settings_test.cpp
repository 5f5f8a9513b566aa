// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace trimtab::choosing {
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
    EXPECT_EQ(read({{"TRIMTAB_LEAST_GAIN", "0.05"}}).settings.least_gain, 0.05);
    EXPECT_EQ(read({{"TRIMTAB_LEAST_GAIN", "0"}}).settings.least_gain, 0);
    // What the build allowed stands unless it is taken back.
    EXPECT_TRUE(read({}).settings.reassociate);
    EXPECT_TRUE(read({{"TRIMTAB_REASSOCIATE", "1"}}).settings.reassociate);
    EXPECT_FALSE(read({{"TRIMTAB_REASSOCIATE", "0"}}).settings.reassociate);
    const ReadSettings unclear = read({{"TRIMTAB_REASSOCIATE", "maybe"}});
    EXPECT_FALSE(unclear.settings.reassociate);
    EXPECT_EQ(unclear.warnings.size(), 1u);
}

TEST(Settings, WhatNothingReadsIsSaid) {
    const char* const environment[] = {
        "HOME=/root",       "TRIMTAB=on", "TRIMTAB_REPROT=x", "TRIMTAB_WISDOM=1", "TRIMTABLE=oak",
        "TRIMTAB_LOG=info", nullptr};
    EXPECT_THAT(unknown_variables(environment),
                ::testing::ElementsAre("unknown variable TRIMTAB_REPROT; did you mean \"TRIMTAB_REPORT\"?",
                                       HasSubstr("unknown variable TRIMTAB_WISDOM")));
    EXPECT_TRUE(unknown_variables(nullptr).empty());
}

std::set<std::string> variables_in(const std::string& text, const std::regex& pattern) {
    std::set<std::string> names;
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
        names.insert((*at)[1]);
    return names;
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Settings, Learn) {
    EXPECT_FALSE(read({}).settings.learn.is_on);
    const ReadSettings set = read({{"TRIMTAB_LEARN", "1"}, {"TRIMTAB_LEARN_SHARE", "0.25"}});
    EXPECT_TRUE(set.settings.learn.is_on);
    EXPECT_EQ(set.settings.learn.share, 0.25);
    EXPECT_THAT(set.warnings, ::testing::IsEmpty());
    const ReadSettings refused = read({{"TRIMTAB_LEARN", "yes"}, {"TRIMTAB_LEARN_SHARE", "2"}});
    EXPECT_FALSE(refused.settings.learn.is_on);
    EXPECT_EQ(refused.settings.learn.share, 0.1);
    EXPECT_THAT(refused.warnings,
                ::testing::ElementsAre(
                    "TRIMTAB_LEARN=yes is not understood: it takes 0 or 1; taken as 0",
                    "TRIMTAB_LEARN_SHARE=2 is not understood: it takes a share from 0 to 1; taken as 0.1"));
}

// What the sources read, what the manual lists and what is not warned of are one and the same.
TEST(Settings, CrossCheck) {
    const ReadSettings unset = read({{"TRIMTAB_CROSSCHECK", "off"}, {"TRIMTAB_CROSSCHECK_LAUNCH", ""}});
    EXPECT_EQ(unset.settings.crosscheck.leaders, 0u);
    EXPECT_EQ(unset.settings.crosscheck.launch, 100u);
    EXPECT_EQ(unset.settings.crosscheck.seconds, 5);
    EXPECT_THAT(unset.warnings, ::testing::IsEmpty());
    const ReadSettings set = read({{"TRIMTAB_CROSSCHECK", "top:8"},
                                   {"TRIMTAB_CROSSCHECK_SECONDS", "0.25"},
                                   {"TRIMTAB_CROSSCHECK_LAUNCH", "0"}});
    EXPECT_EQ(set.settings.crosscheck.leaders, 8u);
    EXPECT_EQ(set.settings.crosscheck.launch, 0u);
    EXPECT_EQ(set.settings.crosscheck.seconds, 0.25);
    EXPECT_THAT(set.warnings, ::testing::IsEmpty());
    for (const char* bad : {"on", "top", "top:", "top:1", "top:17", "top:4x", "top:-4", "8", "TOP:4"}) {
        const ReadSettings refused = read({{"TRIMTAB_CROSSCHECK", bad}});
        EXPECT_EQ(refused.settings.crosscheck.leaders, 0u) << bad;
        EXPECT_THAT(refused.warnings,
                    ::testing::ElementsAre(
                        std::string("TRIMTAB_CROSSCHECK=") + bad +
                        " is not understood: it takes off or top:K, K from 2 to 16; taken as off"));
    }
    for (const char* bad : {"0", "-1", "nan", "inf", "3601", "2s"}) {
        const ReadSettings refused = read({{"TRIMTAB_CROSSCHECK_SECONDS", bad}});
        EXPECT_EQ(refused.settings.crosscheck.seconds, 5) << bad;
        EXPECT_EQ(refused.warnings.size(), 1u) << bad;
    }
    for (const char* bad : {"-1", "1.5", "ten", "5000000000"}) {
        const ReadSettings refused = read({{"TRIMTAB_CROSSCHECK_LAUNCH", bad}});
        EXPECT_EQ(refused.settings.crosscheck.launch, 100u) << bad;
        EXPECT_EQ(refused.warnings.size(), 1u) << bad;
    }
}

TEST(Settings, TheManualListsEveryVariableThatIsRead) {
    namespace fs = std::filesystem;
    const fs::path root = TRIMTAB_SOURCE_DIR;
    const std::regex in_code("(?:getenv|get|named_file|setenv|read_variable)\\(\"(TRIMTAB(?:_[A-Z_]+)?)\""),
        in_table("\"(TRIMTAB(?:_[A-Z_]+)?)\",\\s*\"[a-z0-9]"), in_scripts("\\$\\{(TRIMTAB_[A-Z_]+):-"),
        in_manual("`(TRIMTAB(?:_[A-Z_]+)?)`");
    std::set<std::string> read;
    for (const char* room :
         {"core", "emulation", "profiler", "driver_gen", "pipeline", "choosing", "runtime", "pass", "tools"})
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / room)) {
            if (entry.path().extension() != ".cpp") continue;
            const std::string text = read_file(entry.path());
            read.merge(variables_in(text, in_code));
            read.merge(variables_in(text, in_table));
        }
    for (const fs::directory_entry& entry : fs::directory_iterator(root / "scripts"))
        if (entry.is_regular_file()) read.merge(variables_in(read_file(entry.path()), in_scripts));
    EXPECT_GE(read.size(), 14u);
    EXPECT_EQ(read, variables_in(read_file(root / "docs" / "command-line.md"), in_manual));
    std::vector<std::string> texts;
    std::vector<const char*> environment;
    for (const std::string& name : read) texts.push_back(name + "=x");
    for (const std::string& text : texts) environment.push_back(text.c_str());
    environment.push_back(nullptr);
    EXPECT_THAT(unknown_variables(environment.data()), ::testing::IsEmpty());
}

TEST(Settings, ABadValueGivesOneLineAndTheDefault) {
    const ReadSettings out = read({{"TRIMTAB", "ON "}, {"TRIMTAB_LOG", "verbose"}});
    EXPECT_EQ(out.settings.mode, Mode::on);
    EXPECT_EQ(out.settings.log, LogLevel::warn);
    ASSERT_EQ(out.warnings.size(), 2u);
    EXPECT_THAT(out.warnings[0], HasSubstr("TRIMTAB=ON  is not understood"));
    EXPECT_THAT(out.warnings[1], HasSubstr("TRIMTAB_LOG=verbose is not understood"));
    EXPECT_THAT(out.warnings[1], HasSubstr("off, warn, summary, info or debug"));
    for (const char* share : {"5%", "-0.1", "1.5", "nan", "0.1 ", "x"}) {
        const ReadSettings bad = read({{"TRIMTAB_LEAST_GAIN", share}});
        EXPECT_EQ(bad.settings.least_gain, default_least_gain) << share;
        EXPECT_EQ(bad.warnings.size(), 1u) << share;
    }
}

}  // namespace
}  // namespace trimtab::choosing
