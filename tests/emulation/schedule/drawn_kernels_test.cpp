// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels drawn at random, on devices of 1 to 160 SMs: each answer lies between the bounds that the product counts from
// the trace, and between those that follow from what the kernel was put together of.
#include "tests/emulation/schedule/drawn_kernels.h"

namespace trimtab::schedule {
namespace {

constexpr std::uint32_t kernels = 2000, kernels_a_test = 100;

void keeps_within(const DrawnKernel& kernel) {
    const std::uint32_t resident = resident_blocks(kernel.device, kernel.threads);
    const auto traced = trace(kernel.body, kernel.iterations, {kernel.grid(), 1, 1}, {kernel.threads, 1, 1},
                              kernel.device, resident);
    ASSERT_TRUE(traced) << traced.error().text();
    const Bounds counted = bounds(traced->launch);
    const KnownBounds known = known_bounds(kernel, resident);
    const Estimate answer = estimate(traced->launch);
    const double cycles = emulated_cycles(answer);
    EXPECT_GE(cycles, (1 - bound_tolerance) * counted.least_cycles) << counted.least_by;
    EXPECT_LE(cycles, counted.most_cycles);
    EXPECT_GE(cycles, (1 - bound_tolerance) * known.least_cycles) << known.least_by;
    EXPECT_LE(cycles, known.most_cycles);
    EXPECT_GE(answer.cycles, counted.least_cycles);
    // One of the two that said nothing would let everything pass.
    EXPECT_GT(known.least_cycles, 0.05 * counted.least_cycles) << counted.least_by;
    EXPECT_LT(counted.most_cycles, known.most_cycles);
    for (std::size_t r = 0; r < resource_count; ++r)
        EXPECT_LE(answer.utilisation[r], 1 + bound_tolerance) << name(static_cast<Resource>(r));
}

class DrawnKernels : public testing::TestWithParam<std::uint32_t> {};

TEST_P(DrawnKernels, KeepWithinTheirBounds) {
    for (std::uint32_t i = 0; i < kernels_a_test; ++i) {
        const std::uint32_t seed = GetParam() * kernels_a_test + i;
        const DrawnKernel kernel = drawn_kernel(seed);
        SCOPED_TRACE(
            fmt::format("kernel {}, {}: {} iterations on {} of {} SMs, {} blocks of {} threads on each\n{}",
                        seed, kernel.what, kernel.iterations, kernel.device.slug,
                        kernel.device.values.sm_count, kernel.blocks_an_sm, kernel.threads, kernel.body));
        keeps_within(kernel);
    }
}

INSTANTIATE_TEST_SUITE_P(Bounds, DrawnKernels, testing::Range(0u, kernels / kernels_a_test));

}  // namespace
}  // namespace trimtab::schedule
