// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels compiled by clang, profiled by the emulator at small sizes, fitted, and asked about large ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiled_kernels.h"
#include "core/analysis/describe.h"
#include "driver_gen/doubts.h"
#include "driver_gen/fit_kernel.h"
#include "profiler/emulator_backend.h"
#include "profiler/profile_kernel.h"
#include "profiler/sampled_launch.h"
#include "trimtab/driver.h"

namespace trimtab::driver_gen {
namespace {

using model::Metric;

constexpr const char* source = R"(
#define GLOBAL extern "C" __global__
GLOBAL void product(const float* a, const float* b, float* c, int n, int m, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= m) return;
    float s = 0;
    for (int i = 0; i < k; i++) s += a[y * k + i] * b[i * n + x];
    c[y * n + x] = s;
}
GLOBAL void trailing(double* a, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > k && x < n && y > k && y < n) a[y * n + x] -= a[y * n + k] * a[k * n + x];
}
GLOBAL void powers(const int* a, int* b, int log_n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (1 << log_n)) b[i] = a[i] + 1;
}
GLOBAL void rows(const int* first, const float* v, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int k = first[i]; k < first[i + 1]; k++) s += v[k];
    y[i] = s;
}
GLOBAL void brightness(float* o, unsigned long long image, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float r, g, b, a;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(r), "=f"(g), "=f"(b), "=f"(a)
        : "l"(image), "f"(x + 0.5f), "f"(y + 0.5f));
    o[y * w + x] = r + g + b;
}
GLOBAL void odd_even(int* a, int n, int phase) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < n) {
        int x = a[i], y = a[i + 1];
        if (x > y) a[i] = y, a[i + 1] = x;
    }
}
GLOBAL void scan_step(const int* a, int* b, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = i >= d ? a[i] + a[i - d] : a[i];
}
GLOBAL void pairs(float* out, const float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 8 * n * n) return;
    int from = i % n, to = i / n % n;
    if (from > to) return;
    float s = 0;
    for (int k = 0; k < 16; k++) s += a[to * 64 + k] * a[from * 64 + k];
    out[i] = s;
}
GLOBAL void normalise(float* o, const float* a, const float* mean, int n, int c, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * c * h * w) return;
    int y = i / w % h;
    o[i] = a[i] - mean[i / w / h % c] + (y > 0 ? a[i - w] : 0);
}
GLOBAL void scale_rows(float* o, const float* a, const float* weight, int width, int batch) {
    int row = blockIdx.x;
    if (row >= batch) return;
    for (int i = threadIdx.x; i < width; i += blockDim.x) o[row * width + i] = weight[i] * a[row * width + i];
}
struct Settings { float* to; const float* from; int steps, bound; float scale; };
__attribute__((constant)) Settings settings;
__attribute__((constant)) float weights[16];
GLOBAL void by_settings(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = settings.from[i];
    for (int k = 0; k < settings.steps; k++) s = s * settings.scale + weights[k];
    settings.to[i] = s;
}
GLOBAL void bounded_by_settings(float* o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < settings.bound) o[i] *= 2;
}
GLOBAL void strided(float* o, const float* a, int n, int every, int of_a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i * every] = a[i * of_a] + 1;
}
GLOBAL void by_mode(const float* x, float* y, int n, int mode, float beta) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (mode == 0)
        v += x[n - 1 - i];
    else if (mode == 2)
        v = expf(v) * sqrtf(v);
    if (beta != 0) v += beta * y[i];
    y[i] = v;
}
GLOBAL void of_two_modes(const float* x, float* y, int n, int mode) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (mode == 5)
        y[i] = x[i];
    else if (mode == 8)
        y[i] = expf(x[i]) * sqrtf(x[n - 1 - i]);
}
GLOBAL void flagged(const float* x, float* y, int n, bool back, bool negative) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = back ? x[n - 1 - i] + x[i] : x[i];
    if (negative) v += y[i];
    y[i] = v;
}
GLOBAL void of_points(float* o, const float* a, int n, int dimensions, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i * dimensions + d] + 1;
}
GLOBAL void of_channels(float* o, const float* a, const float* weight, int n, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int c = 0; c < channels; c++) o[i * channels + c] = weight[c] * a[i * channels + c];
}
GLOBAL void sum_of_all(int* sum, const int* a, int n) {
    int own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += a[i];
    atomicAdd(sum, own);
}
GLOBAL void mean_of_four(double* out, const double* in, long long h, long long w, long long out_row,
                         long long out_col, long long in_row, long long in_col) {
    long long y = 1 + blockIdx.y * (long long)blockDim.y + threadIdx.y;
    long long x = 1 + blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (y >= h - 1 || x >= w - 1) return;
    out[y * out_row + x * out_col] =
        .25 * (in[(y + 1) * in_row + x * in_col] + in[(y - 1) * in_row + x * in_col] +
               in[y * in_row + (x + 1) * in_col] + in[y * in_row + (x - 1) * in_col]);
}
)";

class ProfileToDriver : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto module = testing::compiled_kernels(source);
        ASSERT_NE(module, nullptr);
        const analysis::Image image{
            .module = module.get(), .architecture = "sm_75", .resources = {}, .resources_from = {}};
        auto described = analysis::describe({&image, 1}, {});
        ASSERT_TRUE(described) << described.error().text();
        kernels_ = std::move(*described);
        auto program = emulator::load_program(*module);
        ASSERT_TRUE(program) << program.error().text();
        backend_ = profiler::make_emulator_backend(*program);
    }
    static void TearDownTestSuite() { backend_.reset(); }

    static const analysis::KernelDescription& kernel(std::string_view name) {
        return *std::ranges::find(kernels_, name, &analysis::KernelDescription::name);
    }
    // Relative errors of `bounds`' metrics at D, against running the emulator there.
    static void expect_near(const analysis::KernelDescription& description, const profiler::Profile& profile,
                            const KernelFits& fits, const std::vector<double>& data, trimtab_dim3 extent,
                            const std::vector<trimtab_dim3>& blocks,
                            const std::vector<std::pair<Metric, double>>& bounds) {
        for (const trimtab_dim3 block : blocks) {
            profiler::SampledLaunch launch(description, profile.ranges, data, extent, block, 32);
            const auto measured = backend_->measure(launch.launch());
            ASSERT_TRUE(measured) << measured.error().message;
            for (const auto& [metric, bound] : bounds) {
                const double truth = measured->values[static_cast<std::size_t>(metric)];
                EXPECT_NEAR(fits.evaluate(metric, data, block.x, block.y, block.z) / truth, 1, bound)
                    << model::name(metric) << " block " << block.x << "," << block.y;
            }
        }
    }

    static inline std::vector<analysis::KernelDescription> kernels_;
    static inline std::unique_ptr<profiler::Backend> backend_;
};

TEST_F(ProfileToDriver, AMatrixProductAtEightTimesTheSize) {
    const analysis::KernelDescription& product = kernel("product");
    const auto profile = profiler::profile_kernel(product, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    // D: n, m, k, extent.x, extent.y.
    expect_near(product, *profile, *fits, {1024, 2048, 512, 1024, 2048}, {1024, 2048, 1},
                {{32, 8, 1}, {16, 16, 1}, {128, 1, 1}, {8, 32, 1}},
                {{Metric::warp_instructions, 0.01},
                 {Metric::fp32_instructions, 1e-9},
                 {Metric::load_requests, 1e-9},
                 {Metric::load_sectors, 0.05},
                 {Metric::store_sectors, 0.05},
                 {Metric::active_warps, 1e-9},
                 {Metric::active_blocks, 1e-9},
                 {Metric::footprint_sectors, 0.05}});
    // The same kernel has the same profile every time.
    EXPECT_EQ(*profiler::profile_kernel(product, *backend_, {}), *profile);
}

TEST_F(ProfileToDriver, IndicesThatBeginAfterAParameter) {
    const analysis::KernelDescription& trailing = kernel("trailing");
    const auto profile = profiler::profile_kernel(trailing, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    for (const std::size_t d : {0, 1}) {
        EXPECT_EQ(profile->ranges.first[d], (profiler::LinearForm{.constant = 1, .terms = {{1, 1}}}));
        EXPECT_EQ(profile->ranges.end[d], (profiler::LinearForm{.constant = 0, .terms = {{0, 1}}}));
    }
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    expect_near(trailing, *profile, *fits, {1000, 300, 1000, 1000}, {1000, 1000, 1},
                {{32, 8, 1}, {64, 4, 1}, {16, 16, 1}},
                {{Metric::active_blocks, 1e-9}, {Metric::active_warps, 0.02}, {Metric::load_requests, 1e-9}});
    EXPECT_TRUE(fits->uncertain(std::vector<double>{1000, 1000, 1000, 1000}));  // nothing is left to do
}

TEST_F(ProfileToDriver, AnExponentDoesNotRunForEver) {
    const auto profile = profiler::profile_kernel(kernel("powers"), *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_LT(profile->warp_instructions, 5'000'000u);
    for (const profiler::ProfilePoint& point : profile->points) EXPECT_LE(point.data[0], 10);
}

TEST_F(ProfileToDriver, AnyHandleIsOneOfATexture) {
    const auto profile = profiler::profile_kernel(kernel("brightness"), *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_GT(profile->points.size(), 50u);
    EXPECT_TRUE(profile->data_dependent.empty());
}

TEST_F(ProfileToDriver, WorkThatTheArraysDecideIsSaidToBe) {
    const auto profile = profiler::profile_kernel(kernel("rows"), *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    EXPECT_TRUE(fits->find(Metric::load_requests)->data_dependent);
    EXPECT_FALSE(fits->find(Metric::store_requests)->data_dependent);
}

// Is what some metric may be, besides what its fit says, less or more than this many times that?
bool is_doubtful(const KernelFits& fits, const std::vector<double>& data, double times) {
    return std::ranges::any_of(fits.metrics, [&](const FittedMetric& fit) {
        if (fit.metric == Metric::divergent_branches || fit.metric == Metric::store_partial_sectors)
            return false;
        const auto others = other_values(fits, fit, data, 256, 1, 1);
        return !others || others->most > times || others->least < 1 / times;
    });
}

TEST_F(ProfileToDriver, ALaunchThatTheProfileDoesNotHoldForIsSaidToBe) {
    const auto fits_of = [&](const char* name) {
        const auto profile = profiler::profile_kernel(kernel(name), *backend_, {});
        return fit_kernel(profile.value()).value();
    };
    // D: n, phase, extent.x: none of it was profiled with a phase of 0, where 1 / phase has a pole.
    EXPECT_TRUE(is_doubtful(fits_of("odd_even"), {600, 0, 384}, 3));
    // D: n, d, extent.x: how much is loaded goes with d / n, and as well with powers of both.
    EXPECT_TRUE(is_doubtful(fits_of("scan_step"), {100000, 32768, 100096}, 3));
    EXPECT_FALSE(is_doubtful(fits_of("scan_step"), {512, 128, 512}, 3));
    // D: n, m, k, extent.x, extent.y: sixteen times the size changes nothing.
    EXPECT_FALSE(is_doubtful(fits_of("product"), {4096, 4096, 4096, 4096, 4096}, 3));
}

// A thread for each of eight times n^2 pairs, of which half do something: blocks of less than a row may be idle.
TEST_F(ProfileToDriver, PairsOfFewAreAsWellKnownAsPairsOfMany) {
    const auto profile = profiler::profile_kernel(kernel("pairs"), *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    for (const int n : {16, 32, 64, 100, 128, 256, 512}) {
        const int threads = 8 * n * n;
        for (const int block : {32, 64, 128, 256, 512}) {
            int active = 0;
            for (int first = 0; first < threads; first += block) {
                bool any = false;
                for (int i = first; i < std::min(first + block, threads); ++i) any |= i % n <= i / n % n;
                active += any;
            }
            const double rounded = std::ceil(double(threads) / block) * block;
            const std::vector<double> data{double(n), rounded};
            const double fitted = fits->evaluate(Metric::active_blocks, data, block, 1, 1);
            EXPECT_NEAR(fitted / active, 1, 0.35)
                << n << ", block " << block << ": " << fitted << " of " << active;
        }
        EXPECT_FALSE(is_doubtful(*fits, {double(n), double(threads)}, 2)) << n;
    }
}

// The guard is a product of four sizes: they are planned so that it bounds indices all the same.
TEST_F(ProfileToDriver, AProductOfManySizesBoundsTheIndices) {
    const analysis::KernelDescription& normalise = kernel("normalise");
    const auto profile = profiler::profile_kernel(normalise, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    for (const profiler::ProfilePoint& point : profile->points)
        EXPECT_EQ(point.data[4], point.data[0] * point.data[1] * point.data[2] * point.data[3]);
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    const std::vector<double> data{32, 64, 56, 56, 32 * 64 * 56 * 56};
    EXPECT_FALSE(fits->uncertain(data));
    expect_near(
        normalise, *profile, *fits, data, {32 * 64 * 56 * 56, 1, 1}, {{64, 1, 1}, {256, 1, 1}, {1024, 1, 1}},
        {{Metric::warp_instructions, 0.05}, {Metric::load_requests, 0.05}, {Metric::store_sectors, 0.01}});
}

// A block for each row, and a guard that programs never reach: what blocks touch together is known at any number of rows.
TEST_F(ProfileToDriver, ThereAreAsManyBlocksAsRows) {
    const analysis::KernelDescription& scale_rows = kernel("scale_rows");
    ASSERT_TRUE(scale_rows.grid_stays(0));
    const auto profile = profiler::profile_kernel(scale_rows, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    constexpr std::size_t width = 0, batch = 1, extent = 2;
    for (const profiler::ProfilePoint& point : profile->points)
        if (point.metrics[static_cast<std::size_t>(Metric::warp_instructions)])
            EXPECT_EQ(point.data[extent], point.data[batch] * point.box[0]);
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    for (const double block : {128.0, 256.0})
        for (const double blocks : {1.0, 2.0, 24.0}) {
            std::vector<double> data(3);
            data[width] = 1024, data[batch] = 24, data[extent] = 24 * block;
            EXPECT_FALSE(fits->uncertain(data));
            // Sectors of eight floats: rows read, rows written, the weights for all.
            const double sectors = 1024 / 8 * (2 * blocks + 1);
            EXPECT_NEAR(fits->evaluate(Metric::footprint_sectors, data, block * blocks, 1, 1), sectors,
                        0.01 * sectors);
        }
}

TEST_F(ProfileToDriver, OnlyModesThatAreTestedForAreKnown) {
    const analysis::KernelDescription& of_two_modes = kernel("of_two_modes");
    EXPECT_EQ(of_two_modes.data[1].compared, (std::vector<std::uint32_t>{5, 8}));
    const auto profile = profiler::profile_kernel(of_two_modes, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    const auto at = [](double mode) { return std::vector<double>{1 << 20, mode, 1 << 20}; };
    for (const double mode : {5.0, 8.0}) EXPECT_EQ(fits->outside(at(mode)), 0u) << mode;
    for (const double mode : {0.0, 4.0, 7.0, 9.0})
        EXPECT_EQ(fits->outside(at(mode)), TRIMTAB_DOUBT(TRIMTAB_DOUBT_OTHER_VALUE, 1)) << mode;
    EXPECT_GT(fits->evaluate(Metric::warp_instructions, at(8), 256, 1, 1),
              fits->evaluate(Metric::warp_instructions, at(5), 256, 1, 1) + 5);
}

// Constant memory is written by programs: what a build makes up for it enters loops, and is said to be made up.
TEST_F(ProfileToDriver, LoopsAndPointersOfConstantMemory) {
    const auto profile = profiler::profile_kernel(kernel("by_settings"), *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    const std::vector<double> data{1 << 20, 1 << 20};
    EXPECT_NEAR(fits->evaluate(Metric::store_sectors, data, 256, 1, 1), 4, 0.01);
    EXPECT_GT(fits->evaluate(Metric::fp32_instructions, data, 256, 1, 1), 0);
    EXPECT_TRUE(fits->find(Metric::fp32_instructions)->data_dependent);
    EXPECT_FALSE(fits->find(Metric::store_sectors)->data_dependent);

    const auto bounded = profiler::profile_kernel(kernel("bounded_by_settings"), *backend_, {});
    ASSERT_FALSE(bounded);
    EXPECT_NE(bounded.error().message.find("a bound of theirs is in constant memory"), std::string::npos)
        << bounded.error().message;
}

// Loops that are never entered, launches of nothing.
TEST_F(ProfileToDriver, NothingToDoIsAnswered) {
    const auto fits = fit_kernel(profiler::profile_kernel(kernel("product"), *backend_, {}).value()).value();
    const std::vector<double> none{1024, 1024, 0, 1024, 1024}, some{1024, 1024, 16, 1024, 1024};
    for (const FittedMetric& fit : fits.metrics)
        if (fit.metric != Metric::divergent_branches)  // which no model reads
            EXPECT_TRUE(std::isfinite(fits.evaluate(fit.metric, none, 32, 8, 1))) << model::name(fit.metric);
    EXPECT_LT(fits.evaluate(Metric::warp_instructions, none, 32, 8, 1),
              fits.evaluate(Metric::warp_instructions, some, 32, 8, 1));
    EXPECT_EQ(fits.outside(std::vector<double>{0, 1024, 64, 32, 1024}), TRIMTAB_DOUBT_IDLE);
}

TEST_F(ProfileToDriver, StridesBelowTheProfileAreNotKnown) {
    const auto profile = profiler::profile_kernel(kernel("strided"), *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->strides, (std::vector<std::uint32_t>{1, 2}));
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    // D: n, every, of_a, extent.x. Neighbours that lie side by side share their sectors.
    EXPECT_FALSE(fits->uncertain(std::vector<double>{4096, 1000, 500, 4096}));
    EXPECT_TRUE(fits->uncertain(std::vector<double>{4096, 3, 500, 4096}));
    EXPECT_TRUE(fits->uncertain(std::vector<double>{4096, 1000, 2, 4096}));
    EXPECT_EQ(fits_from_json(to_json(*fits), "strided").value(), *fits);
    // A row's length is no stride: what a thread does goes with it.
    EXPECT_TRUE(profiler::profile_kernel(kernel("product"), *backend_, {})->strides.empty());
}

// Coordinates of points in a plane or in space, and colours, share sectors with their neighbours'.
TEST_F(ProfileToDriver, StridesOfAFewAreProfiledToo) {
    const analysis::KernelDescription& points = kernel("of_points");
    const auto profile = profiler::profile_kernel(points, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    // D: n, dimensions, d, extent.x.
    for (const double dimensions : {1, 2, 3, 4, 1000}) {
        SCOPED_TRACE(dimensions);
        const std::vector<double> data{100'000, dimensions, 0, 100'000};
        EXPECT_FALSE(fits->uncertain(data));
        expect_near(
            points, *profile, *fits, data, {100'000, 1, 1}, {{64, 1, 1}, {256, 1, 1}},
            {{Metric::load_requests, 1e-9}, {Metric::load_sectors, 0.02}, {Metric::store_sectors, 0.02}});
    }
    EXPECT_TRUE(fits->uncertain(std::vector<double>{100'000, 5, 0, 100'000}));
    EXPECT_EQ(fits_from_json(to_json(*fits), "points").value(), *fits);
}

// Neighbours lie side by side in each array, in the one that is read, in the one that is written, or in none.
// A loop's bound that is how far apart the threads' rows lie, too: a few elements of all rows share sectors.
TEST_F(ProfileToDriver, WidthsOfAFewAreProfiledToo) {
    const analysis::KernelDescription& of_channels = kernel("of_channels");
    const auto profile = profiler::profile_kernel(of_channels, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->strides, (std::vector<std::uint32_t>{1}));
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    constexpr double n = 100000;
    for (const double channels : {1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 100.0}) {
        const std::vector<double> data{n, channels, n};
        EXPECT_EQ(fits->outside(data), 0u) << channels;
        expect_near(of_channels, *profile, *fits, data, {std::uint32_t(n), 1, 1}, {{64, 1, 1}, {256, 1, 1}},
                    {{Metric::warp_instructions, 0.02},
                     {Metric::load_requests, 0.02},
                     {Metric::load_sectors, 0.02},
                     {Metric::store_sectors, 0.02}});
    }
    for (const double channels : {5.0, 7.0})
        EXPECT_EQ(fits->outside(std::vector<double>{n, channels, n}),
                  TRIMTAB_DOUBT(TRIMTAB_DOUBT_TOO_SMALL, 1));
}

// One element is one request, and so are two: that is a bound of all threads.
TEST_F(ProfileToDriver, ABoundIsNoWidth) {
    const auto profile = profiler::profile_kernel(kernel("sum_of_all"), *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_TRUE(profile->strides.empty());
    EXPECT_TRUE(profile->special.empty());
}

TEST_F(ProfileToDriver, StridesOfOneAreProfiledToo) {
    const analysis::KernelDescription& mean = kernel("mean_of_four");
    const auto profile = profiler::profile_kernel(mean, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    const auto fits = fit_kernel(*profile);
    ASSERT_TRUE(fits);
    // D: h, w, out_row, out_col, in_row, in_col, extent.x, extent.y.
    const auto layout = [](double out_row, double out_col, double in_row, double in_col) {
        return std::vector<double>{512, 500, out_row, out_col, in_row, in_col, 500, 512};
    };
    struct Case {
        std::vector<double> data;
        double bound;
    };
    // Rows are as long as the array, padded to whole lines, or odd; then each array is the other one transposed.
    const std::vector<Case> cases{{layout(500, 1, 500, 1), 0.12}, {layout(512, 1, 512, 1), 0.12},
                                  {layout(501, 1, 512, 1), 0.12}, {layout(1, 500, 500, 1), 0.25},
                                  {layout(500, 1, 1, 500), 0.25}, {layout(1, 500, 1, 500), 0.25}};
    for (const auto& [data, bound] : cases) {
        SCOPED_TRACE(::testing::PrintToString(data));
        EXPECT_FALSE(fits->uncertain(data));
        expect_near(
            mean, *profile, *fits, data, {500, 512, 1},
            {{32, 8, 1}, {16, 16, 1}, {4, 32, 1}, {128, 2, 1}, {8, 24, 1}},
            {{Metric::load_requests, 1e-9}, {Metric::load_sectors, bound}, {Metric::store_sectors, bound}});
    }
    EXPECT_TRUE(fits->uncertain(layout(1000, 2, 500, 1)));
    EXPECT_EQ(fits_from_json(to_json(*fits), "mean").value(), *fits);
    EXPECT_EQ(profiler::profile_from_json(profiler::to_json(*profile), "mean").value(), *profile);
}

// What a mode or a flag decides is counted at each of its values, and at each two of them.
TEST_F(ProfileToDriver, ModesAndFlagsAreProfiledEach) {
    const std::vector<std::pair<Metric, double>> exact{
        {Metric::warp_instructions, 1e-9}, {Metric::load_requests, 1e-9}, {Metric::store_requests, 1e-9}};
    const analysis::KernelDescription& modes = kernel("by_mode");
    const auto profile = profiler::profile_kernel(modes, *backend_, {});
    ASSERT_TRUE(profile) << profile.error().text();
    // D: n, mode, beta, extent.x.
    EXPECT_EQ(profile->special, (std::vector<profiler::SpecialValue>{{1, 0}, {1, 2}, {2, 0}}));
    const auto fits = fit_kernel(*profile, modes);
    ASSERT_TRUE(fits);
    EXPECT_EQ(fits->layouts.size(), 5U);
    for (const double mode : {0, 1, 2, 3, 70})
        for (const double beta : {0., 1., .25}) {
            SCOPED_TRACE(::testing::PrintToString(std::pair(mode, beta)));
            const std::vector<double> data{100'000, mode, beta, 100'000};
            EXPECT_FALSE(fits->uncertain(data));
            EXPECT_FALSE(fits->has_other_numbers(data));
            expect_near(modes, *profile, *fits, data, {100'000, 1, 1}, {{64, 1, 1}, {256, 1, 1}}, exact);
        }
    EXPECT_EQ(fits_from_json(to_json(*fits), "modes").value(), *fits);
    EXPECT_EQ(profiler::profile_from_json(profiler::to_json(*profile), "modes").value(), *profile);

    const analysis::KernelDescription& flagged = kernel("flagged");
    const auto of_flags = profiler::profile_kernel(flagged, *backend_, {});
    ASSERT_TRUE(of_flags) << of_flags.error().text();
    auto fitted = fit_kernel(*of_flags, flagged);
    ASSERT_TRUE(fitted);
    ASSERT_EQ(fitted->layouts.size(), 3U);
    for (const double back : {0, 1})
        for (const double negative : {0, 1}) {
            const std::vector<double> data{100'000, back, negative, 100'000};
            EXPECT_FALSE(fitted->uncertain(data));
            expect_near(flagged, *of_flags, *fitted, data, {100'000, 1, 1}, {{96, 1, 1}, {512, 1, 1}}, exact);
        }
    // What was not profiled together is not known.
    std::erase_if(fitted->layouts, [](const Layout& layout) { return layout.values.size() == 2; });
    EXPECT_EQ(fitted->outside(std::vector<double>{100'000, 0, 0, 100'000}),
              TRIMTAB_DOUBT(TRIMTAB_DOUBT_OTHER_VALUE, 1));
    EXPECT_FALSE(fitted->uncertain(std::vector<double>{100'000, 0, 1, 100'000}));
    EXPECT_THAT(to_text(*fitted, Metric::load_requests), ::testing::HasSubstr("if param_3 = 0:"));
}

}  // namespace
}  // namespace trimtab::driver_gen
