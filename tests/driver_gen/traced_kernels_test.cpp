// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits of whole kernels, made at small sizes, against counting their addresses at large ones.
#include "traced_kernels.h"

#include <gtest/gtest.h>

#include "driver_gen/fit_kernel.h"

namespace trimtab::driver_gen {
namespace {

using model::Metric;
using testing::Thread;
using testing::trace;
using testing::TracedKernel;
using Data = std::vector<double>;

profiler::IndexRanges ranges(std::vector<std::uint32_t> ends, double first = 0, double less = 0) {
    profiler::IndexRanges out;
    for (std::size_t d = 0; d < 3; ++d) {
        out.end[d].constant = d < ends.size() ? -less : 1;
        if (d >= ends.size()) continue;
        out.end[d].terms = {{ends[d], 1}};
        out.first[d].constant = first;
    }
    return out;
}

struct Bounds {
    double sectors, lines, footprint;
};

void expect_extrapolates(const TracedKernel& kernel, std::uint32_t element_bytes, const Bounds& bounds) {
    const std::size_t sizes = kernel.data_names.size();
    std::vector<Data> plan;
    if (sizes == 1)
        plan = {{64}, {96}, {128}, {92}, {146}, {199}, {256}, {250}};
    else
        plan = {{64, 64},  {128, 128}, {64, 128}, {128, 64},  {92, 64},  {64, 93},
                {146, 96}, {96, 199},  {199, 64}, {256, 256}, {250, 250}};
    const std::vector<std::array<std::uint32_t, 3>> blocks{{32, 8, 1}, {16, 16, 1}, {8, 32, 1},  {4, 8, 1},
                                                           {64, 4, 1}, {1, 32, 1},  {128, 1, 1}, {24, 4, 1},
                                                           {2, 64, 1}, {32, 32, 1}, {16, 4, 1},  {256, 2, 1}};
    profiler::Profile profile;
    profile.data_names = kernel.data_names;
    profile.varied.assign(sizes, true);
    profile.ranges = kernel.ranges;
    profile.element_bytes = {element_bytes};
    for (std::size_t d = 0; d < plan.size(); ++d)
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            if (d > 1 && (b * 5 + d * 3) % blocks.size() > 6) continue;
            profile.points.push_back(trace(kernel, plan[d], blocks[b], 48));
            profile.points.back().held_out = d + 2 >= plan.size() || (b + d) % 6 == 0;
        }
    const auto fits = fit_kernel(profile);
    ASSERT_TRUE(fits) << fits.error().text();
    for (const double n : {512., 500.})
        for (const std::array<std::uint32_t, 3> block : {std::array<std::uint32_t, 3>{32, 8, 1},
                                                         {8, 8, 1},
                                                         {128, 2, 1},
                                                         {16, 32, 1},
                                                         {1, 64, 1},
                                                         {96, 2, 1}}) {
            const Data data(sizes, n);
            const profiler::ProfilePoint expected = trace(kernel, data, block, 32);
            const auto error = [&](Metric metric) {
                const double truth = *expected.metrics[static_cast<std::size_t>(metric)];
                return std::abs(fits->evaluate(metric, data, block[0], block[1], block[2]) / truth - 1);
            };
            SCOPED_TRACE(::testing::Message()
                         << kernel.name << " n = " << n << " block " << block[0] << "," << block[1]);
            EXPECT_LT(error(Metric::load_requests), 1e-9);
            EXPECT_LT(error(Metric::active_warps), 1e-9);
            EXPECT_LT(error(Metric::active_blocks), 1e-9);
            EXPECT_LT(error(Metric::load_sectors), bounds.sectors);
            EXPECT_LT(error(Metric::store_sectors), bounds.sectors);
            EXPECT_LT(error(Metric::load_lines), bounds.lines);
            EXPECT_LT(error(Metric::footprint_sectors), bounds.footprint);
        }
}

TEST(TracedKernels, AMatrixProductExtrapolates) {
    expect_extrapolates({.name = "gemm",
                         .data_names = {"n", "m"},
                         .ranges = ranges({0, 0}),
                         .run =
                             [](Thread& t, const Data& d) {
                                 const auto n = static_cast<std::uint64_t>(d[0]),
                                            m = static_cast<std::uint64_t>(d[1]);
                                 for (std::uint64_t k = 0; k < m; ++k) {
                                     t.load(0, t.j * m + k);
                                     t.load(1, k * n + t.i);
                                 }
                                 t.store(2, t.j * n + t.i);
                             }},
                        4, {.sectors = 0.06, .lines = 0.10, .footprint = 0.08});
}

TEST(TracedKernels, AStencilExtrapolates) {
    expect_extrapolates({.name = "conv2d",
                         .data_names = {"n"},
                         .ranges = ranges({0, 0}, 1, 1),
                         .run =
                             [](Thread& t, const Data& d) {
                                 const auto n = static_cast<std::uint64_t>(d[0]);
                                 for (std::uint64_t a = 0; a < 3; ++a)
                                     for (std::uint64_t b = 0; b < 3; ++b)
                                         t.load(0, (t.j + a - 1) * n + t.i + b - 1);
                                 t.store(1, t.j * n + t.i);
                             }},
                        4, {.sectors = 0.08, .lines = 0.20, .footprint = 0.15});
}

TEST(TracedKernels, OverlappingRowsOfDoublesExtrapolate) {
    expect_extrapolates({.name = "syrk",
                         .data_names = {"n", "m"},
                         .ranges = ranges({0, 0}),
                         .run =
                             [](Thread& t, const Data& d) {
                                 const auto n = static_cast<std::uint64_t>(d[0]),
                                            m = static_cast<std::uint64_t>(d[1]);
                                 for (std::uint64_t k = 0; k < m; ++k) {
                                     t.load(0, t.j * m + k, 8);
                                     t.load(0, t.i * m + k, 8);
                                 }
                                 t.store(1, t.j * n + t.i, 8);
                             }},
                        8, {.sectors = 0.06, .lines = 0.08, .footprint = 0.10});
}

}  // namespace
}  // namespace trimtab::driver_gen
