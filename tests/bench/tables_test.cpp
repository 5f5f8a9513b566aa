// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measured tables as they come: shuffled columns, several readings, and what is no table.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "bench/selection_quality/csv.h"
#include "bench/selection_quality/measured_table.h"
#include "bench/tuned_quality/results_file.h"
#include "bench/tuned_quality/slice_scores.h"
#include "bench/tuned_quality/tuned_table.h"
#include "core/base/temporary_folder.h"

namespace trimtab::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Tables : public testing::Test {
  protected:
    std::string write(const std::string& text) {
        const std::string path = folder_.file("bench_table.csv");
        std::ofstream(path) << text;
        return path;
    }
    const base::TemporaryFolder folder_ = base::TemporaryFolder::make().value();
};

TEST_F(Tables, ReadsCasesWithColumnsInAnyOrder) {
    const auto cases = read_measured_table(write(
        "n,gpu,kernel,app,time_ms,by,bx,remark\r\n512,k20c,k,A,2.5,1,32,x\r\n512,k20c,k,A,1.5,2,16,y\r\n"
        "64,k20c,k,A,1,1,32,\r\n"));
    ASSERT_TRUE(cases) << cases.error().text();
    ASSERT_EQ(cases->size(), 2u);
    EXPECT_EQ(cases->front().n, 512u);
    EXPECT_EQ(cases->front().app, "A");
    ASSERT_NE(cases->front().find({16, 2}), nullptr);
    EXPECT_DOUBLE_EQ(cases->front().find({16, 2})->ms, 1.5);
    EXPECT_EQ(cases->front().find({2, 16}), nullptr);
}

TEST_F(Tables, SeveralReadingsCountByTheirMedian) {
    const auto cases = read_measured_table(
        write("gpu,app,kernel,n,bx,by,time_ms\ng,a,k,1,32,1,9\ng,a,k,1,32,1,1\ng,a,k,1,32,1,2\n"
              "g,a,k,1,64,1,1\ng,a,k,1,64,1,2\n"));
    ASSERT_TRUE(cases) << cases.error().text();
    EXPECT_DOUBLE_EQ(cases->front().find({32, 1})->ms, 2);
    EXPECT_DOUBLE_EQ(cases->front().find({64, 1})->ms, 1.5);
}

TEST_F(Tables, ErrorsNameTheLine) {
    const auto expect = [&](const std::string& text, const std::string& message) {
        const auto cases = read_measured_table(write(text));
        ASSERT_FALSE(cases) << text;
        EXPECT_THAT(cases.error().text(), HasSubstr(message));
    };
    expect("gpu,app,kernel,n,bx,by\n", ":1: has no column \"time_ms\"");
    expect("gpu,app,kernel,n,bx,by,time_ms\ng,a,k,64,32,1,fast\n", ":2: \"fast\" is no number");
    expect("gpu,app,kernel,n,bx,by,time_ms\n\ng,a,k,64,32\n", ":3: has 5 values of 7");
    expect("gpu,app,kernel,n,bx,by,time_ms\ng,a,k,64,32,1,0\n", ":2: 0 is out of range");
    expect("", "cannot read a table");
}

TEST_F(Tables, TunedConfigurationsFallIntoSlices) {
    const TunedKernel kernel{.path = "k.json",
                             .source = {},
                             .kernel = {},
                             .time_column = "t",
                             .columns = {"bx", "tile"},
                             .slice = {"tile"},
                             .grid = {"ceil_div(100, bx * tile)", "tile + 1"},
                             .block = {"bx"},
                             .flags = {},
                             .defines = {{"TILE", "tile"}},
                             .arguments = {{"n", "(bx - tile) / 2"}}};
    const auto slices = read_tuned_table(write("tile,bx,t\n2,32,3.5\n2,64,2.5\n1,32,1.5\n"), kernel);
    ASSERT_TRUE(slices) << slices.error().text();
    ASSERT_EQ(slices->size(), 2u);
    EXPECT_THAT((*slices)[0].values, ElementsAre(1));
    ASSERT_EQ((*slices)[1].configurations.size(), 2u);
    EXPECT_THAT((*slices)[1].configurations[1].values, ElementsAre(64, 2));
    EXPECT_DOUBLE_EQ((*slices)[1].configurations[1].ms, 2.5);
    for (const auto& [text, message] : {std::pair("tile,bx,t\n2,32,0\n", ":2: 0 is out of range"),
                                        std::pair("tile,bx,t\n2,1.5,1\n", ":2: 1.5 is out of range"),
                                        std::pair("tile,t\n2,1\n", "\"bx\"")}) {
        const auto bad = read_tuned_table(write(text), kernel);
        ASSERT_FALSE(bad) << text;
        EXPECT_THAT(bad.error().text(), HasSubstr(message));
    }
    const auto launch = configured_launch(kernel, {32, 2});
    ASSERT_TRUE(launch) << launch.error().text();
    EXPECT_EQ(launch->grid.x, 2u);  // 100 / 64, rounded up
    EXPECT_EQ(launch->grid.y, 3u);
    EXPECT_EQ(launch->block.x, 32u);
    EXPECT_THAT(launch->defines, ElementsAre("-DTILE=2"));
    EXPECT_THAT(launch->arguments, ElementsAre("n=15"));
}

TEST_F(Tables, ExpressionsOfColumnsAreArithmetic) {
    const Lookup lookup = [](std::string_view name) {
        return name == "bx" ? std::optional<std::int64_t>(7) : std::nullopt;
    };
    const auto value = [&](std::string_view text) { return evaluate_expression(text, lookup); };
    EXPECT_EQ(value("2 + 3 * bx - 1").value(), 22);
    EXPECT_EQ(value("ceil_div(25000, bx*2)").value(), 1786);
    EXPECT_EQ(value("(1 + 2) * (bx / 2)").value(), 9);
    for (const char* bad : {"", "2 +", "tile", "1 / 0", "ceil_div(1)", "(1", "1)", "9223372036854775807 + 1",
                            "99999999999999999999", "0 - bx / (0 - 1)"})
        EXPECT_FALSE(value(bad)) << bad;
    EXPECT_FALSE(value(std::string(10000, '(') + "1"));
}

TEST_F(Tables, DescriptionsOfKernelsSayWhatIsWrong) {
    const auto bad = [&](const std::string& text, const std::string& message) {
        const auto kernel = read_tuned_kernel(write(text));
        ASSERT_FALSE(kernel) << text;
        EXPECT_THAT(kernel.error().text(), HasSubstr(message));
    };
    const auto with = [](const std::string& slice, const std::string& grid) {
        return R"({"source": "k.cu", "kernel": "k", "time_ms": "t", "columns": ["bx"], "slice": [)" + slice +
               R"(], "defines": {}, "grid": [")" + grid + R"("], "block": ["bx"], "arguments": {}})";
    };
    EXPECT_TRUE(read_tuned_kernel(write(with("", "8 / bx"))));
    bad("[]", "is not a JSON object");
    bad("{}", "source");
    bad(with("\"by\"", "1"), "which is no column");
    bad(with("", "n"), "names n");
    bad(with("", "0"), "no size");
}

// Two slices' worth of numbers, worked out by hand.
TEST_F(Tables, SlicesAreScoredForEachPredictor) {
    const Slice slice{
        .values = {},
        .configurations = {{.values = {1}, .ms = 1}, {.values = {2}, .ms = 2}, {.values = {3}, .ms = 4}}};
    const SliceScore score = score_slice(slice, std::vector<Prediction>{{2, 1}, {1, 2}, {4, std::nan("")}});
    ASSERT_EQ(score.configurations, 2u);  // the third lacks a prediction
    EXPECT_DOUBLE_EQ(score.of[0].efficiency, 0.5);
    EXPECT_DOUBLE_EQ(score.of[0].rank_correlation, -1);
    EXPECT_DOUBLE_EQ(score.of[1].efficiency, 1);
    EXPECT_THAT(score.of[1].errors, ElementsAre(0, 0));
    const TableScore table = score_table(std::vector{score, score}, Predictor::closed_form);
    EXPECT_EQ(table.efficiency.n, 2u);
    EXPECT_DOUBLE_EQ(table.efficiency.geomean, 0.5);
    EXPECT_EQ(table.timed, 4u);
    EXPECT_DOUBLE_EQ(table.mean_error, 0.75);  // +100 % and -50 %
}

TEST_F(Tables, PredictionsAreTakenUpWhereARunStopped) {
    TunedKernel kernel;
    kernel.columns = {"bx", "tile"};
    const std::string path = folder_.file("bench_results.csv");
    {
        auto results = ResultsFile::open(path, kernel);
        ASSERT_TRUE(results) << results.error().text();
        results->add({32, 1}, {.closed_form_ms = 1.25, .emulation_ms = 2.5});
    }
    const auto results = ResultsFile::open(path, kernel);
    ASSERT_TRUE(results) << results.error().text();
    ASSERT_NE(results->find({32, 1}), nullptr);
    EXPECT_DOUBLE_EQ(results->find({32, 1})->emulation_ms, 2.5);
    EXPECT_EQ(results->find({1, 32}), nullptr);
    kernel.columns = {"by"};
    EXPECT_FALSE(ResultsFile::open(path, kernel));
    EXPECT_FALSE(ResultsFile::open(folder_.file("no/such/folder.csv"), kernel));
}

}  // namespace
}  // namespace trimtab::bench
