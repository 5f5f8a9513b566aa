// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spaces of launches from macros, and auto-tuners' files.
#include "tools/trimtab/tuner_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/temporary_folder.h"

namespace trimtab::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class TunerFiles : public testing::Test {
  protected:
    std::string written(const std::string& text) {
        const std::string path = folder_->file("file.json");
        std::ofstream(path) << text;
        return path;
    }
    template <class T>
    static std::string message(const std::expected<T, Error>& result) {
        return result ? "none" : result.error().text();
    }
    std::expected<base::TemporaryFolder, Error> folder_ = base::TemporaryFolder::make();
};

std::expected<CandidateSpace, Error> space(const std::vector<std::string>& variants,
                                           const LaunchTexts& texts) {
    const auto parameters = parse_variants(variants);
    if (!parameters) return std::unexpected(parameters.error());
    return variant_launches(*parameters, texts);
}

TEST_F(TunerFiles, VariantsStateTheirLaunches) {
    const auto some = space({"BX=64,16,32", "TILE=1,3"}, {.grid = "ceil(1000 / (BX * TILE)), 7",
                                                          .block = "BX, 256 / BX",
                                                          .dynamic_shared = "4 * bx * TILE",
                                                          .conditions = {"BX * TILE <= 100", "by > 4"}});
    ASSERT_TRUE(some) << some.error().text();
    std::vector<std::string> launches;
    for (const LaunchCandidate& one : some->candidates)
        launches.push_back(fmt::format("{} {} {}x{} {}", some->variants[one.variant][0],
                                       some->variants[one.variant][1], one.grid.x, one.block.y,
                                       one.dynamic_shared_bytes));
    // 64 wide has four rows, which the second condition rules out.
    EXPECT_THAT(launches, ElementsAre("-DBX=16 -DTILE=1 63x16 64", "-DBX=16 -DTILE=3 21x16 192",
                                      "-DBX=32 -DTILE=1 32x8 128", "-DBX=32 -DTILE=3 11x8 384"));
}

TEST_F(TunerFiles, WhatIsWrongWithASpaceIsOneLine) {
    const LaunchTexts texts{.grid = "8", .block = "B", .dynamic_shared = {}, .conditions = {}};
    EXPECT_THAT(message(space({"B=32,x"}, texts)), HasSubstr("--variants B=32,x: 'x' is no whole number"));
    EXPECT_THAT(message(space({"B=32,32"}, texts)), HasSubstr("32 stands twice"));
    EXPECT_THAT(message(space({"B=32", "B=64"}, texts)), HasSubstr("the name stands twice"));
    EXPECT_THAT(message(space({"=32"}, texts)), HasSubstr("give NAME=VALUE"));
    LaunchTexts other = texts;
    other.grid = "8 / C";
    EXPECT_THAT(message(space({"B=32"}, other)),
                AllOf(HasSubstr("--grid 8 / C"), HasSubstr("'C'"), Not(HasSubstr("\n"))));
    other.grid = "8) sizes(B";
    EXPECT_THAT(message(space({"B=32"}, other)), HasSubstr("the brackets do not match"));
    other.grid = "8 -";
    EXPECT_THAT(message(space({"B=32"}, other)), HasSubstr("--grid 8 -: "));
    other.grid = "8";
    other.conditions = {"B > 64"};
    EXPECT_THAT(message(space({"B=32"}, other)), HasSubstr("no combination"));
    std::string many = "B=0";
    for (int i = 1; i < 1000; ++i) many += fmt::format(",{}", i);
    EXPECT_THAT(message(space({many, "C" + many.substr(1)}, texts)),
                HasSubstr("1000000 combinations, more than"));
}

constexpr const char* t1 = R"json({"ConfigurationSpace": {
    "TuningParameters": [{"Name": "B", "Type": "int", "Values": "[64, 32, 128]"},
                         {"Name": "PAD", "Type": "bool", "Values": "[false, true]"}],
    "Conditions": [{"Parameters": ["B", "PAD"], "Expression": "B // 2 >= 32 and not (PAD == 1 or B > 64)"}]},
    "KernelSpecification": {}})json";

TEST_F(TunerFiles, AT1FileIsASpace) {
    const auto read = read_t1(written(t1));
    ASSERT_TRUE(read) << read.error().text();
    const auto launches = variant_launches(
        read->parameters, {.grid = "8", .block = "B", .dynamic_shared = {}, .conditions = read->conditions});
    ASSERT_TRUE(launches) << launches.error().text();
    ASSERT_EQ(launches->candidates.size(), 1);
    EXPECT_THAT(launches->candidates[0].values, ElementsAre(64, 0));
}

TunedResults results() {
    return {
        .kernel = "kernel",
        .device = "rtx3090",
        .parameters = {"B", "T"},
        .configurations = {
            {.values = {64, 1}, .ns = 1e6}, {.values = {32, 2}, .ns = 2e6}, {.values = {32, 1}, .ns = 3e6}}};
}

TEST_F(TunerFiles, T4GoesOutAndComesBack) {
    const auto read = read_t4(written(t4_text(results())), {"T", "B"});
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(read->size(), 3);
    EXPECT_EQ(read->at(1).values.at("B"), 32);
    EXPECT_EQ(read->at(1).values.at("T"), 2);
    EXPECT_DOUBLE_EQ(read->at(1).ms, 2);
}

TEST_F(TunerFiles, SpoiltFilesAreOneLineThatNamesThePlace) {
    const std::string good = t4_text(results());
    const auto spoilt = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        return message(read_t4(written(text), {"B", "T"}));
    };
    EXPECT_THAT(message(read_t4(written(good.substr(0, good.size() / 2)), {"B", "T"})),
                HasSubstr("file.json:"));
    EXPECT_THAT(spoilt("1.0.0", "2.1.0"), AllOf(HasSubstr("schema_version"), HasSubstr("2.1.0")));
    EXPECT_THAT(spoilt("\"T\"", "\"TX\""), HasSubstr("has a parameter TX, but the search has B, T"));
    EXPECT_THAT(spoilt("\"configuration\"", "\"configurations\""), HasSubstr("results[0]"));
    EXPECT_THAT(spoilt("\"name\": \"time\"", "\"name\": \"power\""), HasSubstr("holds no time"));
    EXPECT_THAT(spoilt("\"correct\"", "\"compile\""), "none");
    EXPECT_THAT(message(read_t4("/nowhere.json", {"B"})), HasSubstr("cannot read the file"));
    EXPECT_THAT(message(read_t1(written("{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"B\", "
                                        "\"Type\": \"int\", \"Values\": \"[x for x in range(4)]\"}]}}"))),
                HasSubstr("TuningParameters[0].Values is no list of numbers"));
}

TEST_F(TunerFiles, PredictionsAreScoredAgainstMeasurements) {
    // Measured: the second of the model's is the best, its first is third, and one more was never emulated.
    const std::vector<MeasuredConfiguration> measured{{.values = {{"B", 64}, {"T", 1}}, .ms = 1.5},
                                                      {.values = {{"B", 32}, {"T", 2}}, .ms = 1.2},
                                                      {.values = {{"B", 32}, {"T", 1}}, .ms = 9},
                                                      {.values = {{"B", 16}, {"T", 1}}, .ms = 1.3}};
    const auto found = score(results(), measured);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->compared, 3);
    EXPECT_EQ(found->measured, 4);
    EXPECT_EQ(found->place, 3);
    EXPECT_DOUBLE_EQ(found->regret, 1.5 / 1.2 - 1);
    EXPECT_DOUBLE_EQ(found->rank_correlation, 0.5);  // 1 - 6 (1 + 1 + 0) / (3 (9 - 1))
    EXPECT_FALSE(score(results(), {}));
}

TEST_F(TunerFiles, KernelTunersCacheHoldsTheLeaders) {
    const auto json = nlohmann::json::parse(kernel_tuner_text(results()));
    EXPECT_EQ(json["tune_params_keys"], nlohmann::json({"B", "T"}));
    EXPECT_EQ(json["tune_params"]["B"], nlohmann::json({32, 64}));
    EXPECT_EQ(json["cache"]["32,2"]["time"], 2.0);
    EXPECT_EQ(json["x0"], nlohmann::json({64, 1}));
    EXPECT_EQ(json["restrictions"][0],
              "(B == 64 and T == 1) or (B == 32 and T == 2) or (B == 32 and T == 1)");
}

}  // namespace
}  // namespace trimtab::tools
