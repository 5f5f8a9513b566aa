// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/fits.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trimtab::driver_gen {
namespace {

using model::Metric;

// load_sectors = NK (lanes_x / 8 + warp_rows), or NK warp_rows + 3 where x < 8; active_lanes = 32 N / (N +
// 2), at most 31.
KernelFits sample_fits() {
    KernelFits fits;
    fits.data_names = {"NK", "extent.x", "mode"};
    fits.profiled = {{64, 256, true}, {64, 256, true}, {2, 2, false}};
    fits.ranges.end[0].terms = {{1, 1}};
    fits.ranges.end[1].constant = fits.ranges.end[2].constant = 1;
    fits.ranges.extent[0] = 1;
    fits.variables = {{.kind = VariableKind::data, .data = 0},
                      {.kind = VariableKind::lanes_x},
                      {.kind = VariableKind::warp_rows},
                      {.kind = VariableKind::box_x},
                      {.kind = VariableKind::alignment, .data = 1, .unit = 8, .offset = -1}};
    FittedMetric sectors;
    sectors.metric = Metric::load_sectors;
    sectors.form = Form::polynomial;
    sectors.pieces = {{.when = Condition{.variable = 3, .below = 8},
                       .numerator = {{.coefficient = 1, .exponents = {{0, 1}, {2, 1}}},
                                     {.coefficient = 3, .exponents = {}}},
                       .denominator = {}},
                      {.when = {},
                       .numerator = {{.coefficient = 0.125, .exponents = {{0, 1}, {1, 1}}},
                                     {.coefficient = 1, .exponents = {{0, 1}, {2, 1}}}},
                       .denominator = {}}};
    sectors.quality.points = 100;
    FittedMetric lanes;
    lanes.metric = Metric::active_lanes;
    lanes.form = Form::rational;
    lanes.pieces = {
        {.when = {},
         .numerator = {{.coefficient = 32, .exponents = {{0, 1}}}},
         .denominator = {{.coefficient = 1, .exponents = {{0, 1}}}, {.coefficient = 2, .exponents = {}}}}};
    lanes.most = 31;
    fits.metrics = {sectors, lanes};
    return fits;
}

TEST(Fits, EvaluateTakesThePieceAndClamps) {
    const KernelFits fits = sample_fits();
    const std::vector<double> data{512, 512, 2};
    EXPECT_EQ(fits.evaluate(Metric::load_sectors, data, 32, 8, 1), 512 * 5);
    EXPECT_EQ(fits.evaluate(Metric::load_sectors, data, 4, 8, 1), 512 * 8 + 3);
    EXPECT_EQ(fits.evaluate(Metric::active_lanes, data, 32, 1, 1), 31);
    EXPECT_EQ(fits.evaluate(Metric::active_lanes, std::vector<double>{30, 30, 2}, 32, 1, 1), 30);
    EXPECT_EQ(fits.evaluate(Metric::barriers, data, 32, 8, 1), 0);
    EXPECT_EQ(metric_function(fits, data)(Metric::load_sectors, 32, 8, 1), 512 * 5);
}

TEST(Fits, UncertainWhereTheProfileCannotSpeak) {
    const KernelFits fits = sample_fits();
    EXPECT_FALSE(fits.uncertain(std::vector<double>{4096, 4096, 2}));
    EXPECT_TRUE(fits.uncertain(std::vector<double>{4096, 4096, 3}));
    EXPECT_TRUE(fits.uncertain(std::vector<double>{4096, 0, 2}));
    // A number's other values are for the other blocks to say.
    KernelFits of_number = fits;
    of_number.profiled[2].is_number = true;
    EXPECT_FALSE(of_number.uncertain(std::vector<double>{4096, 4096, 3}));
    EXPECT_TRUE(of_number.has_other_numbers(std::vector<double>{4096, 4096, 3}));
    EXPECT_FALSE(of_number.has_other_numbers(std::vector<double>{4096, 4096, 2}));
    const auto read = fits_from_json(to_json(of_number), "here");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, of_number);
}

TEST(Fits, JsonKeepsEverything) {
    const KernelFits fits = sample_fits();
    const auto read = fits_from_json(nlohmann::json::parse(to_json(fits).dump()), "here");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, fits);
}

TEST(Fits, MalformedJsonIsNamed) {
    const nlohmann::json good = to_json(sample_fits());
    const auto message = [&](const char* pointer, const nlohmann::json& value) {
        nlohmann::json bad = good;
        bad[nlohmann::json::json_pointer(pointer)] = value;
        const auto read = fits_from_json(bad, "gemm");
        return read ? std::string() : read.error().text();
    };
    EXPECT_EQ(message("/abi", 7), "gemm: fits.abi is not 1");
    EXPECT_EQ(message("/metrics/0/metric", "sectors"),
              "gemm: fits.metrics[0].metric names no metric: \"sectors\"");
    EXPECT_EQ(message("/metrics/0/pieces/0/numerator/0/exponents/0/0", 99),
              "gemm: fits.metrics[0].pieces[0].numerator[0].exponents[0][0] is not an index below 5");
    EXPECT_EQ(
        message("/metrics/0/pieces/0/numerator/0/exponents/0/1", 1e9),
        "gemm: fits.metrics[0].pieces[0].numerator[0].exponents[0][1] is not a whole number from -64 to 64");
    EXPECT_EQ(message("/metrics/1/pieces", nlohmann::json::array()),
              "gemm: fits.metrics[1].pieces has no piece for everywhere else");
    EXPECT_EQ(message("/variables/0", {{"kind", "data"}}), "gemm: fits.variables[0] names no data parameter");
    EXPECT_EQ(message("/ranges/y", 3), "gemm: fits.ranges.y is not an object");
    EXPECT_EQ(message("/profiled", nlohmann::json::array()), "gemm: fits.profiled is not a list of 3");
    EXPECT_FALSE(fits_from_json(nlohmann::json::parse("[1, 2]"), "x"));
}

TEST(Fits, TextReadsLikeAFormula) {
    const KernelFits fits = sample_fits();
    const std::string text = to_text(fits, Metric::load_sectors);
    EXPECT_NE(text.find("load_sectors = NK warp_rows + 3    where x < 8"), std::string::npos) << text;
    EXPECT_NE(text.find("0.125 NK lanes_x + NK warp_rows    elsewhere"), std::string::npos) << text;
    EXPECT_NE(to_text(fits, Metric::active_lanes).find("(32 NK) / (NK + 2)"), std::string::npos);
    const std::vector<Monomial> sum{{.coefficient = -2, .exponents = {{0, -1}, {3, 2}}},
                                    {.coefficient = -1, .exponents = {}}};
    EXPECT_EQ(to_text(sum, fits), "-2 x^2 / NK - 1");
    EXPECT_NE(to_text(fits).find("mode profiled at 2 only"), std::string::npos);
}

}  // namespace
}  // namespace trimtab::driver_gen
