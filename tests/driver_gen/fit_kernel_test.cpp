// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which points of a profile a kernel's counts are fitted to.
#include "driver_gen/fit_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace trimtab::driver_gen {
namespace {

using model::Metric;

// A loop of `width` iterations in each of n threads, whose warp executes `instructions` of them. Of widths below 5 the
// points tell of counts alone, as the profiler's do.
KernelFits fits_of(const std::function<double(double n, double width)>& instructions) {
    profiler::Profile profile;
    profile.kernel_id = "0000000000000001";
    profile.data_names = {"n", "width", "extent.x"};
    profile.varied = {true, true, true};
    profile.ranges.end[0].terms = {{0, 1}};
    profile.ranges.end[1].constant = profile.ranges.end[2].constant = 1;
    profile.ranges.extent[0] = 2;
    for (const double n : {256.0, 320.0, 512.0, 704.0, 1024.0})
        for (const double width : {3.0, 32.0, 47.0, 64.0, 90.0, 101.0, 128.0})
            for (const double block : {32.0, 128.0, 256.0}) {
                profiler::ProfilePoint& point = profile.points.emplace_back();
                point.data = {n, width, n};
                point.box = {block, 1, 1};
                point.held_out = n == 1024;
                const auto set = [&](Metric metric, double value) {
                    point.metrics[static_cast<std::size_t>(metric)] = value;
                };
                set(Metric::warp_instructions, instructions(n, width));
                if (width >= 5) set(Metric::load_sectors, 4 * width);
            }
    return fit_kernel(profile).value();
}
double fitted(const KernelFits& fits, double width) {
    return fits.evaluate(Metric::warp_instructions, std::vector<double>{512, width, 512}, 128, 1, 1);
}

// What is left over of an unrolled loop takes more; below four it is all there is.
TEST(FitKernel, AnExactFunctionIsNotGivenUpForAFewIterations) {
    const KernelFits fits = fits_of([](double, double width) { return width < 5 ? 25 : 10 + 7 * width; });
    EXPECT_TRUE(fits.find(Metric::warp_instructions)->exact);
    EXPECT_NEAR(fitted(fits, 1000), 7010, 1e-6);
    EXPECT_EQ(fits.profiled[1].least, 3);
}

// Where no function meets the others, those that tell them as well part below them.
TEST(FitKernel, OthersAreHeldByAFewIterations) {
    const auto about = [](double width) { return 12 + 7 * width; };
    const KernelFits fits =
        fits_of([&](double n, double width) { return about(width) * (1 + 0.02 * std::sin(n * width)); });
    EXPECT_FALSE(fits.find(Metric::warp_instructions)->exact);
    EXPECT_NEAR(fitted(fits, 3), about(3), 0.2 * about(3));
    EXPECT_NEAR(fitted(fits, 64), about(64), 0.1 * about(64));
}

}  // namespace
}  // namespace trimtab::driver_gen
