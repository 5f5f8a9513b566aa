// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules and reports on a table made by hand.
#include "bench/selection_quality/study.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/selection_quality/reports.h"
#include "core/base/temporary_folder.h"

namespace trimtab::bench {
namespace {

using testing::HasSubstr;

StudiedCase made_case(const std::string& kernel, bool two_dimensional, std::vector<MeasuredBlock> blocks) {
    StudiedCase one;
    one.measured = {.gpu = "gtx1080ti", .app = "A", .kernel = kernel, .n = 512, .blocks = blocks};
    one.device = *model::find_device("gtx1080ti");
    one.launches.two_dimensional = two_dimensional;
    one.launches.image.registers_per_thread = 32;
    one.legal = std::move(blocks);
    one.best = one.legal.front();
    for (const MeasuredBlock& block : one.legal)
        if (block.ms < one.best.ms) one.best = block;
    return one;
}

class Rules : public testing::Test {
  protected:
    void SetUp() override {
        study_.cases.push_back(made_case(
            "two", true, {{{16, 16}, 2}, {{32, 8}, 1}, {{32, 32}, 4}, {{1, 1024}, 8}, {{8, 4}, 16}}));
        study_.cases.push_back(made_case("one", false, {{{32, 1}, 1}, {{256, 1}, 5}, {{1024, 1}, 2}}));
    }
    Study study_;
};

TEST_F(Rules, GuessesOccupancyAndTheBestOfAll) {
    add_plain_rules(study_);
    EXPECT_DOUBLE_EQ(*study_.cases[0].efficiency("oracle"), 1);
    EXPECT_DOUBLE_EQ(*study_.cases[0].efficiency("guess_256_16x16"), 0.5);
    EXPECT_DOUBLE_EQ(*study_.cases[0].efficiency("guess_256_32x8"), 1);
    EXPECT_DOUBLE_EQ(*study_.cases[1].efficiency("guess_256_32x8"), 0.2);
    // Blocks of 256 and of 1024 threads both fill the SM: the largest, a warp wide.
    EXPECT_EQ(study_.cases[0].choices.at("max_occupancy"), (Block{32, 32}));
    EXPECT_EQ(study_.cases[1].choices.at("max_occupancy"), (Block{1024, 1}));
    EXPECT_EQ(study_.cases[1].choices.at("best_fixed"), (Block{32, 1}));
}

TEST_F(Rules, TheBestFixedBlockIsBestOverAllCases) {
    // (16, 16) is never best, and best of all over both.
    study_.cases.push_back(made_case("other", true, {{{16, 16}, 2}, {{32, 8}, 9}, {{8, 4}, 1}}));
    add_plain_rules(study_);
    EXPECT_EQ(study_.cases[0].choices.at("best_fixed"), (Block{16, 16}));
    const Summary two = summarise(study_, "best_fixed", Dimensions::two);
    EXPECT_EQ(two.n, 2u);
    EXPECT_DOUBLE_EQ(two.geomean, 0.5);
    EXPECT_EQ(summarise(study_, "best_fixed", Dimensions::all).n, 3u);
    EXPECT_EQ(summarise(study_, "best_fixed", Dimensions::all, "k20c").n, 0u);
}

TEST_F(Rules, AnotherDaysBestIsTheOracle) {
    add_other_day(study_, {{.gpu = "gtx1080ti",
                            .app = "A",
                            .kernel = "two",
                            .n = 512,
                            .blocks = {{{16, 16}, 1}, {{32, 8}, 2}, {{64, 16}, 0.5}}}});
    add_plain_rules(study_);
    EXPECT_DOUBLE_EQ(*study_.cases[0].efficiency("oracle"), 0.5);  // (64, 16) was not timed here
    EXPECT_DOUBLE_EQ(*study_.cases[1].efficiency("oracle"), 1);
}

TEST_F(Rules, ChoicesOfAFile) {
    const auto folder = base::TemporaryFolder::make().value();
    const std::string path = folder.file("choices.csv");
    std::ofstream(path) << "gpu,app,kernel,n,bx,by\ngtx1080ti,A,two,512,32,32\ngtx1080ti,A,one,512,7,1\n";
    ASSERT_TRUE(add_choices(study_, "published", path));
    EXPECT_DOUBLE_EQ(*study_.cases[0].efficiency("published"), 0.25);
    EXPECT_FALSE(study_.cases[1].efficiency("published"));  // was not timed
    EXPECT_EQ(summarise(study_, "published", Dimensions::all).n, 1u);
}

TEST_F(Rules, ReportsSayTheSame) {
    StudiedCase& one = study_.cases[0];
    one.predicted = {{{16, 16}, 1e6}, {{32, 8}, 2e6}, {{32, 32}, 4e6}, {{1, 1024}, 8e6}, {{8, 4}, 16e6}};
    study_.choose(one, "trimtab", {16, 16});
    study_.choose(study_.cases[1], "trimtab", {32, 1});
    add_plain_rules(study_);
    EXPECT_DOUBLE_EQ(one.rank_correlation(), 0.9);
    EXPECT_DOUBLE_EQ(one.mean_absolute_error(), (0.5 + 1) / 5);
    const auto json = nlohmann::json::parse(json_report(study_));
    EXPECT_EQ(json["summary"]["trimtab"]["all"]["n"], 2);
    EXPECT_DOUBLE_EQ(json["summary"]["trimtab"]["2d"]["geomean"], 0.5);
    EXPECT_DOUBLE_EQ(json["summary"]["trimtab"]["1d"]["min"], 1);
    EXPECT_DOUBLE_EQ(json["summary"]["oracle"]["all"]["share95"], 1);
    EXPECT_EQ(json["cases"][0]["choices"]["trimtab"]["bx"], 16);
    EXPECT_THAT(csv_report(study_), HasSubstr("gtx1080ti,A,two,512,16,16,2,1,0.5000,0,1\n"));
    EXPECT_THAT(csv_report(study_), HasSubstr("gtx1080ti,A,two,512,32,8,1,2,1.0000,1,0\n"));
    EXPECT_THAT(text_report(study_),
                HasSubstr("0.500 gtx1080ti A two 512: chose (16, 16), best (32, 8), 1 ms"));
    EXPECT_THAT(html_report(study_), HasSubstr("gtx1080ti A two N = 512"));
}

}  // namespace
}  // namespace trimtab::bench
