// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a run that are not whole: what can be read is advised on, and what cannot is said.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/temporary_folder.h"
#include "tools/advice/report.h"
#include "tools/trimtab/advised_records.h"

namespace trimtab::tools {
namespace {

emulator::LaunchProfile profile_of(const std::string& kernel) {
    emulator::LaunchProfile profile;
    profile.kernel = kernel;
    profile.device = "rtx2070super";
    profile.grid = {.x = 64, .y = 1, .z = 1};
    profile.block = {.x = 256, .y = 1, .z = 1};
    profile.image.registers_per_thread = 32;
    profile.time_ns = profile.total_ns = 5000;
    for (const model::Metric metric : {model::Metric::warp_instructions, model::Metric::active_warps,
                                       model::Metric::active_blocks, model::Metric::active_lanes})
        profile.values[static_cast<std::size_t>(metric)] = 8;
    return profile;
}

class Records : public testing::Test {
  protected:
    // CTest runs each test in a process of its own, several at once.
    const base::TemporaryFolder folder_ = base::TemporaryFolder::make().value();
    const std::string file_ = folder_.file("records.jsonl");
    const std::string first_ = emulator::to_json(profile_of("first")).dump(),
                      second_ = emulator::to_json(profile_of("second")).dump();

    std::expected<AdvisedRun, Error> advice_on(const std::string& text) const {
        std::ofstream(file_, std::ios::binary) << text;
        return advice_of(file_, "program");
    }
};

TEST_F(Records, ThatAreWholeAreAllAdvisedOn) {
    const auto run = advice_on(first_ + "\n" + second_ + "\n");
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(run->advice.kernels.size(), 2);
    EXPECT_TRUE(run->advice.notes.empty());
}

TEST_F(Records, ThatAreCutLeaveTheOthers) {
    const auto run = advice_on(first_ + "\n" + second_.substr(0, second_.size() / 2));
    ASSERT_TRUE(run) << run.error().text();
    ASSERT_EQ(run->advice.kernels.size(), 1);
    EXPECT_EQ(run->advice.kernels[0].kernel, "first");
    ASSERT_EQ(run->advice.notes.size(), 1);
    EXPECT_TRUE(run->advice.notes[0].starts_with("1 of the run's 2 records cannot be read"))
        << run->advice.notes[0];
    EXPECT_NE(run->advice.notes[0].find("program: record 2 of its run"), std::string::npos)
        << run->advice.notes[0];
    EXPECT_NE(advice::to_text(run->advice).find("note: 1 of the run's 2 records"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(advice::to_json(run->advice))["notes"].size(), 1);
}

// Wherever a line is cut, the whole one is advised on.
TEST_F(Records, ThatAreCutAnywhereLeaveTheOthers) {
    for (std::size_t length = 1; length < second_.size(); length += 97) {
        const auto run = advice_on(second_.substr(0, length) + "\n" + first_ + "\n");
        ASSERT_TRUE(run) << length << ": " << run.error().text();
        EXPECT_EQ(run->advice.kernels.size(), 1) << length;
    }
}

TEST_F(Records, OfAnotherVersionAreNamed) {
    nlohmann::json other = emulator::to_json(profile_of("other"));
    other["version"] = 99;
    const auto both = advice_on(other.dump() + "\n" + first_ + "\n");
    ASSERT_TRUE(both) << both.error().text();
    ASSERT_EQ(both->advice.notes.size(), 1);
    EXPECT_NE(both->advice.notes[0].find("another version"), std::string::npos) << both->advice.notes[0];
    const auto alone = advice_on(other.dump() + "\n");
    ASSERT_FALSE(alone);
    EXPECT_NE(alone.error().text().find("another version"), std::string::npos) << alone.error().text();
}

TEST_F(Records, OfNothingAreAnError) {
    const auto cut = advice_on(first_.substr(0, 40));
    ASSERT_FALSE(cut);
    EXPECT_NE(cut.error().text().find("record 1 of its run"), std::string::npos) << cut.error().text();
    const auto none = advice_on("");
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().text().find("launched no kernel"), std::string::npos);
}

}  // namespace
}  // namespace trimtab::tools
