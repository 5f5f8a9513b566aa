// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that a profile does not hold for: rivals, bounds, poles, and the driver program that says so.
#include "driver_gen/doubts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiled_driver.h"
#include "core/model/device.h"
#include "core/model/performance_model.h"

namespace trimtab::driver_gen {
namespace {

using model::Metric;

Monomial addend(double coefficient, std::vector<std::pair<std::uint32_t, std::int32_t>> exponents = {}) {
    return {.coefficient = coefficient, .exponents = std::move(exponents)};
}
FittedMetric metric_of(Metric metric, std::vector<Monomial> sum, double error = 0) {
    FittedMetric fit;
    fit.metric = metric;
    fit.pieces = {{.when = {}, .numerator = std::move(sum), .denominator = {}}};
    fit.exact = error == 0;
    fit.quality.held_out_max_error = error;
    return fit;
}

// A kernel of one loop: a metric without a fit of its own is what a plain copy has of it. D: phase, extent.x.
KernelFits fits_with(std::vector<FittedMetric> own) {
    KernelFits fits;
    fits.data_names = {"phase", "extent.x"};
    fits.profiled = {{16, 64}, {256, 1024}};
    fits.ranges.end[0].terms = {{1, 1}};
    fits.ranges.end[1].constant = fits.ranges.end[2].constant = 1;
    fits.ranges.extent[0] = 1;
    fits.variables = {{.kind = VariableKind::data, .data = 0},
                      {.kind = VariableKind::boxes},
                      {.kind = VariableKind::covered_warps},
                      {.kind = VariableKind::covered_x}};
    const std::pair<Metric, std::vector<Monomial>> plain[]{
        {Metric::warp_instructions, {addend(40)}},
        {Metric::integer_instructions, {addend(12)}},
        {Metric::load_requests, {addend(2)}},
        {Metric::store_requests, {addend(1)}},
        {Metric::load_sectors, {addend(8)}},
        {Metric::store_sectors, {addend(4)}},
        {Metric::load_lines, {addend(2)}},
        {Metric::store_lines, {addend(1)}},
        {Metric::dependent_rounds, {addend(1)}},
        {Metric::active_lanes, {addend(32)}},
        {Metric::active_blocks, {addend(1, {{1, 1}})}},
        {Metric::active_warps, {addend(1, {{2, 1}})}},
        {Metric::footprint_sectors, {addend(0.375, {{3, 1}})}},
        {Metric::instruction_parallelism, {addend(1.5)}}};
    for (const auto& [metric, sum] : plain) fits.metrics.push_back(metric_of(metric, sum));
    for (FittedMetric& fit : own)
        *std::ranges::find(fits.metrics, fit.metric, &FittedMetric::metric) = std::move(fit);
    return fits;
}

std::expected<OtherValues, std::uint32_t> others(const KernelFits& fits, Metric metric, double phase) {
    return other_values(fits, *fits.find(metric), std::vector<double>{phase, 1024}, 128, 1, 1);
}

TEST(Doubts, AnExactFitHasNone) {
    const auto found = others(fits_with({}), Metric::load_sectors, 1e6);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->least, 1);
    EXPECT_EQ(found->most, 1);
}

TEST(Doubts, WhereRivalsPartEitherMayBeRight) {
    // Met to 1 % from 16 to 64 alike: a part that grows with the square, or one that goes down with it.
    FittedMetric fit = metric_of(Metric::warp_instructions, {addend(40), addend(0.001, {{0, 2}})}, 0.01);
    fit.rivals = {{{.when = {}, .numerator = {addend(41)}, .denominator = {}}},
                  {{.when = {}, .numerator = {addend(30), addend(0.1, {{0, 1}})}, .denominator = {}}}};
    const KernelFits fits = fits_with({fit});
    const auto near = others(fits, Metric::warp_instructions, 32);
    ASSERT_TRUE(near);
    EXPECT_NEAR(near->most, 1.01, 0.01);
    EXPECT_NEAR(near->least, 33.2 / 41.024, 1e-9);
    const auto far = others(fits, Metric::warp_instructions, 32768);
    ASSERT_TRUE(far);
    EXPECT_NEAR(far->least, 41 / (40 + 0.001 * 32768 * 32768), 1e-12);
}

TEST(Doubts, NoLaunchHasMoreThanTheBoundsSay) {
    const KernelFits fits =
        fits_with({metric_of(Metric::load_lines, {addend(4), addend(27, {{0, -1}})}, 0.05)});
    // 31 lines of 8 sectors.
    const auto below = others(fits, Metric::load_lines, 1);
    ASSERT_TRUE(below);
    EXPECT_NEAR(below->least, 8.0 / 31, 1e-12);
    EXPECT_NEAR(below->most, 1.05, 1e-12);
    EXPECT_EQ(others(fits, Metric::load_lines, 64)->least, 1);
    // A pole is as many as a double holds: of such a time no bound says anything.
    const auto pole = others(fits, Metric::load_lines, 0);
    ASSERT_FALSE(pole);
    EXPECT_EQ(pole.error(), TRIMTAB_DOUBT_ERROR);
}

// Whether a store's sectors are whole or partial is not known where their number comes out below 0: half of them are taken
// to be. A mean is between its ends.
TEST(Doubts, PartsAndMeansBelowZeroAreAnythingBetweenTheirEnds) {
    const auto fits = [](double at_zero, double slope) {
        const std::vector<Monomial> sum{addend(at_zero), addend(slope, {{0, 1}})};
        KernelFits of = fits_with({metric_of(Metric::warp_instructions, {addend(100)}),
                                   metric_of(Metric::store_sectors, {addend(8)}),
                                   metric_of(Metric::instruction_parallelism, sum, 0.05)});
        of.metrics.back().least = 1;
        of.metrics.push_back(metric_of(Metric::store_partial_sectors, sum, 0.05));
        return of;
    };
    const KernelFits below = fits(10, -1);
    const std::vector<double> data{64, 0};
    EXPECT_EQ(below.evaluate(Metric::store_partial_sectors, data, 32, 1, 1), 4);
    const auto partial = others(below, Metric::store_partial_sectors, 64);
    ASSERT_TRUE(partial);
    EXPECT_EQ(partial->least, 0);
    EXPECT_EQ(partial->most, 2);
    const auto parallel = others(below, Metric::instruction_parallelism, 64);
    ASSERT_TRUE(parallel);
    EXPECT_EQ(parallel->most, 16);
    // What is about 0 is 0.
    EXPECT_EQ(fits(60, -1).evaluate(Metric::store_partial_sectors, data, 32, 1, 1), 0);
}

TEST(Doubts, OtherContentsOfTheArraysHaveTheirLimits) {
    FittedMetric scattered = metric_of(Metric::load_sectors, {addend(40)});
    scattered.data_dependent = true;
    // Of 2 requests at most 32 sectors each; 2 lines and 4 sectors in each are the kernel's own affair.
    EXPECT_NEAR(
        others(fits_with({scattered, metric_of(Metric::load_lines, {addend(36)})}), Metric::load_sectors, 1)
            ->times,
        64.0 / 40, 1e-12);
    // More requests, more sectors.
    FittedMetric more = metric_of(Metric::load_requests, {addend(2)});
    FittedMetric lines = metric_of(Metric::load_lines, {addend(36)});
    more.data_dependent = lines.data_dependent = true;
    EXPECT_EQ(others(fits_with({scattered, more, lines}), Metric::load_sectors, 1)->times, 8);
}

TEST(Doubts, ACountBelowZeroIsNone) {
    const KernelFits fits =
        fits_with({metric_of(Metric::load_requests, {addend(2), addend(-0.01, {{0, 1}})}, 0.01)});
    EXPECT_TRUE(others(fits, Metric::load_requests, 64));
    EXPECT_TRUE(others(fits, Metric::load_requests, 250));  // -0.5: rounding, at 40 instructions
    EXPECT_FALSE(others(fits, Metric::load_requests, 32768));
    // 0 times 0: no number.
    const KernelFits no_number =
        fits_with({metric_of(Metric::load_requests, {addend(1, {{0, -1}}), addend(-1, {{0, -1}})}, 0.01)});
    EXPECT_FALSE(others(no_number, Metric::load_requests, 0));
}

// Active blocks are at least one, and at most those of the launch: 8 of 128 threads.
TEST(Doubts, BlocksBelowOneAreFromOneToAllOfThem) {
    FittedMetric blocks = metric_of(Metric::active_blocks, {addend(4), addend(-0.1, {{0, 1}})}, 0.01);
    blocks.least = 1;
    const KernelFits fits = fits_with({blocks});
    EXPECT_EQ(others(fits, Metric::active_blocks, 30)->least, 1);
    const auto found = others(fits, Metric::active_blocks, 64);
    ASSERT_TRUE(found);
    EXPECT_EQ(fits.evaluate(Metric::active_blocks, std::vector<double>{64, 1024}, 128, 1, 1), 1);
    EXPECT_EQ(found->least, 1);
    EXPECT_EQ(found->most, 8);
    // A block touches one sector at least, at most what its 4 warps' requests touch: 12 sectors each.
    FittedMetric footprint = metric_of(Metric::footprint_sectors, {addend(40), addend(-1, {{0, 1}})}, 0.01);
    footprint.least = 1;
    const auto touched = others(fits_with({footprint}), Metric::footprint_sectors, 64);
    ASSERT_TRUE(touched);
    EXPECT_EQ(touched->least, 1);
    EXPECT_EQ(touched->most, 48);
    // The profile has none: what is below 0 is no count.
    footprint.least = 0;
    EXPECT_FALSE(others(fits_with({footprint}), Metric::footprint_sectors, 64));
}

// Two requests of a warp touch 2 to 64 sectors, whatever the fit says.
TEST(Doubts, SectorsBelowZeroAreAsManyAsRequestsMayTouch) {
    FittedMetric sectors = metric_of(Metric::load_sectors, {addend(8), addend(-0.01, {{0, 1}})}, 0.01);
    sectors.least = 4;
    const auto found = others(fits_with({sectors}), Metric::load_sectors, 32768);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->least, 2.0 / 4, 1e-12);
    EXPECT_NEAR(found->most, 64.0 / 4, 1e-12);
    // One thread touches one a request.
    const KernelFits fits = fits_with({sectors});
    const auto alone =
        other_values(fits, *fits.find(Metric::load_sectors), std::vector<double>{32768, 1024}, 1, 1, 1);
    ASSERT_TRUE(alone);
    EXPECT_NEAR(alone->least, 2.0 / 4, 1e-12);
    EXPECT_EQ(alone->most, 1.01);
    // A profile with launches that load nothing allows none at all: two requests touch two sectors all the same.
    sectors.least = 0;
    const KernelFits with_none = fits_with({sectors});
    EXPECT_EQ(with_none.evaluate(Metric::load_sectors, std::vector<double>{32768, 1024}, 128, 1, 1), 2);
    EXPECT_EQ(with_none.evaluate(Metric::load_sectors, std::vector<double>{300, 1024}, 128, 1, 1), 5);
    const auto from_two = others(with_none, Metric::load_sectors, 32768);
    ASSERT_TRUE(from_two);
    EXPECT_EQ(from_two->least, 1);
    EXPECT_EQ(from_two->most, 32);
    // Without a request there is no sector.
    const KernelFits nothing = fits_with({sectors, metric_of(Metric::load_requests, {})});
    EXPECT_EQ(nothing.evaluate(Metric::load_sectors, std::vector<double>{32768, 1024}, 128, 1, 1), 0);
    EXPECT_TRUE(others(nothing, Metric::load_sectors, 32768));
}

TEST(Doubts, ARivalOfNothingIsNoShareOfIt) {
    FittedMetric fit = metric_of(Metric::load_requests, {}, 0.01);
    fit.rivals = {{{.when = {}, .numerator = {addend(1, {{0, 1}})}, .denominator = {}}}};
    EXPECT_TRUE(others(fits_with({fit}), Metric::load_requests, 2));
    EXPECT_FALSE(others(fits_with({fit}), Metric::load_requests, 1000));
}

// The printed driver program of the real model.
class DoubtfulDriver {
  public:
    explicit DoubtfulDriver(std::vector<FittedMetric> own) {
        analysis::KernelDescription description;
        description.id = "00000000000000ab";
        description.name = "k";
        description.dimensions[0].index = analysis::Index::global;
        description.data = {{.name = "phase", .type = "s32", .bounds = {}},
                            {.name = "extent.x",
                             .is_extent = true,
                             .dimension = analysis::Dimension::x,
                             .type = "u32",
                             .bounds = {}}};
        const auto text = print_driver(description, fits_with(std::move(own)),
                                       **model::performance_model(model::default_model));
        compiled_.emplace(text.value(), description.id, "clang-22");
    }
    trimtab_prediction at(double phase, double extent = 1024) const {
        const double data[]{phase, extent};
        trimtab_image image{};
        image.registers_per_thread = 16;
        trimtab_prediction out{};
        EXPECT_EQ(compiled_->driver()->evaluate(&device_.values, &image, data, {128, 1, 1}, 0, &out), 0);
        return out;
    }

  private:
    std::optional<testing::CompiledDriver> compiled_;
    model::Device device_ = *model::find_device("rtx2070super");
};

TEST(Doubts, ReachThePrediction) {
    const DoubtfulDriver exact({});
    EXPECT_EQ(exact.at(1e6).uncertain, 0u);
    EXPECT_EQ(exact.at(1e6).relative_error, 0);

    const DoubtfulDriver pole({metric_of(Metric::load_lines, {addend(2), addend(0.1, {{0, -1}})}, 0.01)});
    EXPECT_EQ(pole.at(32).uncertain, 0u);
    EXPECT_NE(pole.at(0).uncertain, 0u);
    EXPECT_GT(pole.at(0).relative_error, 1e3);  // no digit of the time is known

    const DoubtfulDriver negative(
        {metric_of(Metric::load_requests, {addend(2), addend(-0.001, {{0, 1}})}, 0.01)});
    EXPECT_EQ(negative.at(32).uncertain, 0u);
    EXPECT_NE(negative.at(1e5).uncertain, 0u);
    EXPECT_TRUE(std::isinf(negative.at(1e5).relative_error));

    EXPECT_EQ(negative.at(1e5).uncertain, TRIMTAB_DOUBT(TRIMTAB_DOUBT_NO_COUNT, 2));  // load_requests

    // A loop that is never entered, and a launch of nothing.
    const DoubtfulDriver loop({metric_of(Metric::warp_instructions, {addend(6), addend(9, {{0, 1}})})});
    EXPECT_EQ(loop.at(0).uncertain, 0u);
    EXPECT_GT(loop.at(0).predicted_ns, 0);
    EXPECT_LT(loop.at(0).predicted_ns, loop.at(64).predicted_ns);
    EXPECT_EQ(loop.at(16, 0).uncertain, TRIMTAB_DOUBT_IDLE);
    EXPECT_EQ(loop.at(-1).uncertain, TRIMTAB_DOUBT(TRIMTAB_DOUBT_TOO_SMALL, 0));
    // Met exactly by a function that 0 has no part in, whether it has no end there or is no number.
    const DoubtfulDriver quotient({metric_of(Metric::warp_instructions, {addend(6), addend(9, {{0, -1}})})});
    EXPECT_EQ(quotient.at(16).uncertain, 0u);
    EXPECT_EQ(quotient.at(0).uncertain, TRIMTAB_DOUBT(TRIMTAB_DOUBT_ERROR, 0));
    const DoubtfulDriver no_number(
        {metric_of(Metric::warp_instructions, {addend(60, {{0, 1}, {0, -1}}), addend(9, {{0, 1}})})});
    EXPECT_EQ(no_number.at(16).uncertain, 0u);
    EXPECT_NE(no_number.at(0).uncertain, 0u);
    EXPECT_FALSE(std::isnan(no_number.at(0).predicted_ns));

    FittedMetric blocks = metric_of(Metric::active_blocks, {addend(8.01), addend(-0.1, {{0, 1}})}, 0.01);
    blocks.least = 1;
    const DoubtfulDriver few(std::vector{blocks});
    EXPECT_EQ(few.at(0.1).uncertain, 0u);
    EXPECT_LT(few.at(80).relative_error, 10);  // 1 to 8 blocks, not anything

    const DoubtfulDriver sectors(
        {metric_of(Metric::load_sectors, {addend(8), addend(-0.01, {{0, 1}})}, 0.01)});
    EXPECT_EQ(sectors.at(300).metrics[4], 5);
    EXPECT_EQ(sectors.at(32768).metrics[4], 2);  // a request, of two, touches one
    EXPECT_LT(sectors.at(32768).relative_error, 32);

    // A fit of D alone is worked out once a launch, and not where a block changes what it is as few as.
    const FittedMetric requests = metric_of(Metric::load_requests, {addend(0.01, {{3, 1}})});
    const DoubtfulDriver none({requests, metric_of(Metric::load_sectors, {addend(-40)})}),
        same({requests, metric_of(Metric::load_sectors, {addend(0.01, {{3, 1}})})});
    EXPECT_EQ(none.at(16).metrics[4], same.at(16).metrics[4]);
    EXPECT_EQ(none.at(16).predicted_ns, same.at(16).predicted_ns);

    FittedMetric parting = metric_of(Metric::warp_instructions, {addend(40), addend(0.001, {{0, 2}})}, 0.01);
    parting.rivals = {{{.when = {}, .numerator = {addend(41)}, .denominator = {}}}};
    const DoubtfulDriver rivals({parting});
    EXPECT_EQ(rivals.at(32).uncertain, 0u);
    EXPECT_NE(rivals.at(32768).uncertain, 0u);
}

}  // namespace
}  // namespace trimtab::driver_gen
