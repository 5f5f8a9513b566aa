// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads work together, with annotations: profiled, fitted and searched by what these state.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "compiled_driver.h"
#include "compiled_kernels.h"
#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/device.h"
#include "core/model/occupancy.h"
#include "core/model/performance_model.h"
#include "driver_gen/fit_kernel.h"
#include "profiler/emulator_backend.h"
#include "profiler/profile_kernel.h"
#include "profiler/sampled_launch.h"

namespace trimtab::driver_gen {
namespace {

using model::Metric;

constexpr const char* annotated_source = R"(
#define GLOBAL extern "C" __global__
extern __shared__ float shared[];
GLOBAL void block_sum(const float* in, float* out, int n) {
    int i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    shared[threadIdx.x] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, shared[0]);
}
GLOBAL void tiled(const float* a, const float* b, float* c, int n) {
    int t = blockDim.x, x = blockIdx.x * t + threadIdx.x, y = blockIdx.y * t + threadIdx.y;
    float *at = shared, *bt = shared + t * t, s = 0;
    for (int k0 = 0; k0 < n; k0 += t) {
        at[threadIdx.y * t + threadIdx.x] = y < n && k0 + threadIdx.x < n ? a[y * n + k0 + threadIdx.x] : 0;
        bt[threadIdx.y * t + threadIdx.x] = k0 + threadIdx.y < n && x < n ? b[(k0 + threadIdx.y) * n + x] : 0;
        __syncthreads();
        for (int k = 0; k < t; k++) s += at[threadIdx.y * t + k] * bt[k * t + threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = s;
}
GLOBAL void row_sum(const float* in, float* out, int rows, int cols) {
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) s += in[blockIdx.x * cols + c];
    shared[threadIdx.x] = s;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}
GLOBAL void strides(const float* in, float* out, int n) {
    shared[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        shared[threadIdx.x] += in[i];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}
)";

class AnnotatedKernels : public ::testing::Test {
  protected:
    struct Fitted {
        analysis::KernelDescription kernel;
        profiler::Profile profile;
        KernelFits fits;
    };
    static void SetUpTestSuite() {
        module_ = testing::compiled_kernels(annotated_source);
        ASSERT_NE(module_, nullptr);
        auto program = emulator::load_program(*module_);
        ASSERT_TRUE(program) << program.error().text();
        backend_ = profiler::make_emulator_backend(*program);
    }
    static void TearDownTestSuite() {
        backend_.reset();
        module_.reset();
    }

    static analysis::KernelDescription described(const std::string& name, const std::string& annotation) {
        analysis::KernelSources sources;
        auto& parameters = sources[name].parameters;
        parameters = {{"in", ""}, {"out", ""}, {"n", ""}};
        if (name == "tiled") parameters = {{"a", ""}, {"b", ""}, {"c", ""}, {"n", ""}};
        if (name == "row_sum") parameters = {{"in", ""}, {"out", ""}, {"rows", ""}, {"n", ""}};
        sources[name].annotations = {{annotation, "k.cu", 1}};
        const analysis::Image image{
            .module = module_.get(), .architecture = "sm_75", .resources = {}, .resources_from = {}};
        const auto kernels = analysis::describe({&image, 1}, sources);
        EXPECT_TRUE(kernels) << kernels.error().text();
        return *std::ranges::find(*kernels, name, &analysis::KernelDescription::name);
    }
    static std::optional<Fitted> fitted(const std::string& name, const std::string& annotation) {
        Fitted out{.kernel = described(name, annotation), .profile = {}, .fits = {}};
        auto profile = profiler::profile_kernel(out.kernel, *backend_, {});
        EXPECT_TRUE(profile) << profile.error().text();
        if (!profile) return std::nullopt;
        auto fits = fit_kernel(*profile);
        EXPECT_TRUE(fits);
        if (!fits) return std::nullopt;
        out.profile = std::move(*profile);
        out.fits = std::move(*fits);
        return out;
    }
    static std::vector<std::byte> arguments(const analysis::KernelDescription& kernel, int n) {
        std::vector<std::byte> bytes(kernel.parameters.back().offset + 4);
        std::memcpy(bytes.data() + kernel.parameters.back().offset, &n, 4);
        const int rows = 256;
        if (kernel.name == "row_sum") std::memcpy(bytes.data() + kernel.parameters[2].offset, &rows, 4);
        return bytes;
    }
    // The fits at sizes far beyond the profile's, against running the launch that the annotation states.
    static void expect_near(const Fitted& of, int n, const std::vector<trimtab_dim3>& blocks,
                            const std::vector<std::pair<Metric, double>>& bounds) {
        const auto bytes = arguments(of.kernel, n);
        for (const trimtab_dim3 block : blocks) {
            const auto stated = analysis::stated_launch(of.kernel, bytes, {}, block);
            ASSERT_TRUE(stated);
            const trimtab_dim3 extent{stated->grid.x * block.x, stated->grid.y * block.y,
                                      stated->grid.z * block.z};
            const auto data = analysis::data_values(of.kernel, bytes, {extent.x, extent.y, extent.z});
            profiler::SampledLaunch launch(of.kernel, of.profile.ranges, data, extent, block, 64,
                                           static_cast<std::uint32_t>(stated->dynamic_shared_bytes));
            const auto measured = backend_->measure(launch.launch());
            ASSERT_TRUE(measured) << measured.error().message;
            for (const auto& [metric, bound] : bounds) {
                const double truth = measured->values[static_cast<std::size_t>(metric)];
                EXPECT_NEAR(of.fits.evaluate(metric, data, block.x, block.y, block.z) / truth, 1, bound)
                    << model::name(metric) << ": " << truth << ", block " << block.x << "," << block.y;
            }
        }
    }

    static inline std::unique_ptr<ptx::Module> module_;
    static inline std::unique_ptr<profiler::Backend> backend_;
};

constexpr const char* sum_annotation =
    "block(ispow2(bx), bx >= 64), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx)";
constexpr const char* tile_annotation =
    "block(bx == by, bx % 4 == 0), grid(ceil(n / bx), ceil(n / by)), dynamic_shared(8 * bx * by)";

TEST_F(AnnotatedKernels, AreProfiledWithinTheirAnnotations) {
    for (const auto& [name, annotation] :
         {std::pair("block_sum", sum_annotation), {"tiled", tile_annotation}}) {
        const auto kernel = described(name, annotation);
        const profiler::Planner planner(kernel, {});
        const auto points = planner.points();
        ASSERT_GT(points.size(), 20u) << name;
        for (const profiler::PlannedPoint& point : points) {
            const int n = static_cast<int>(point.data[*kernel.data_index("n")]);
            const auto stated = analysis::stated_launch(kernel, arguments(kernel, n), {}, point.block);
            ASSERT_TRUE(stated) << name << " block " << point.block.x << "," << point.block.y;
            EXPECT_EQ(point.dynamic_shared_bytes, stated->dynamic_shared_bytes);
            EXPECT_EQ(point.extent.x, stated->grid.x * point.block.x);
            EXPECT_EQ(point.extent.y, stated->grid.y * point.block.y);
            EXPECT_EQ(point.data[*kernel.data_index("extent.x")], point.extent.x);
        }
    }
}

TEST_F(AnnotatedKernels, ABlockReductionAtAThousandTimesTheSize) {
    const auto of = fitted("block_sum", sum_annotation);
    ASSERT_TRUE(of);
    expect_near(*of, 10'000'000, {{64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {1024, 1, 1}},
                {{Metric::warp_instructions, 0.03},
                 {Metric::load_requests, 0.01},
                 {Metric::load_sectors, 0.02},
                 {Metric::barriers, 0.01},
                 {Metric::shared_requests, 0.05},
                 {Metric::active_warps, 1e-9},
                 {Metric::active_blocks, 1e-3},
                 {Metric::footprint_sectors, 0.05}});
}

TEST_F(AnnotatedKernels, ATiledProductAtEightTimesTheSize) {
    const auto of = fitted("tiled", tile_annotation);
    ASSERT_TRUE(of);
    expect_near(*of, 2048, {{8, 8, 1}, {16, 16, 1}, {32, 32, 1}},
                {{Metric::warp_instructions, 0.05},
                 {Metric::load_requests, 0.02},
                 {Metric::load_sectors, 0.05},
                 {Metric::barriers, 0.02},
                 {Metric::shared_requests, 0.05},
                 {Metric::active_warps, 1e-9},
                 {Metric::active_blocks, 1e-3},
                 {Metric::footprint_sectors, 0.1}});
}

// Sizes that threads share among them are profiled where each thread has several elements.
TEST_F(AnnotatedKernels, RowsByStridesOfTheBlock) {
    const auto of = fitted("row_sum", "block(ispow2(bx), bx >= 32), grid(rows), dynamic_shared(4 * bx)");
    ASSERT_TRUE(of);
    expect_near(*of, 30000, {{32, 1, 1}, {128, 1, 1}, {256, 1, 1}, {1024, 1, 1}},
                {{Metric::warp_instructions, 0.15},
                 {Metric::load_requests, 0.05},
                 {Metric::load_sectors, 0.1},
                 {Metric::barriers, 0.01},
                 {Metric::active_blocks, 1e-9}});
}

TEST_F(AnnotatedKernels, StridesOfAGridThatTheDataDoNotSet) {
    const auto of = fitted("strides", "block(bx % 32 == 0), grid(80), dynamic_shared(4 * bx)");
    ASSERT_TRUE(of);
    expect_near(*of, 5'000'000, {{32, 1, 1}, {128, 1, 1}, {256, 1, 1}, {1024, 1, 1}},
                {{Metric::warp_instructions, 0.15},
                 {Metric::load_requests, 0.05},
                 {Metric::load_sectors, 0.1},
                 {Metric::active_blocks, 1e-9}});
    // All blocks together touch every element, and write one number a thread.
    for (const double block : {64, 256}) {
        const double n = 5'000'000, threads = 80 * block;
        const std::vector<double> data{n, threads};
        EXPECT_NEAR(of->fits.evaluate(Metric::footprint_sectors, data, threads, 1, 1) / ((n + threads) / 8),
                    1, 0.15);
    }
}

// The driver program's search, in C, against the rule that the runtime checks it by.
TEST_F(AnnotatedKernels, TheirDriverProgramsOfferWhatTheAnnotationsAllow) {
    const auto program = *model::performance_model(model::default_model);
    const auto device = *model::find_device("rtx2070super");
    for (const auto& [name, annotation, n] :
         {std::tuple("block_sum", sum_annotation, 3'000'000), std::tuple("tiled", tile_annotation, 1000)}) {
        const auto of = fitted(name, annotation);
        ASSERT_TRUE(of);
        const auto text = print_driver(of->kernel, of->fits, *program);
        ASSERT_TRUE(text) << text.error().text();
        const testing::CompiledDriver compiled(*text, of->kernel.id, "clang-22");
        ASSERT_NE(compiled.driver(), nullptr);
        const trimtab_image image = analysis::to_driver_image(of->kernel.images[0]);
        const auto bytes = arguments(of->kernel, n);
        const bool is_tile = std::string(name) == "tiled";
        const trimtab_dim3 block = is_tile ? trimtab_dim3{16, 16, 1} : trimtab_dim3{256, 1, 1};
        const auto written = analysis::stated_launch(of->kernel, bytes, {}, block);
        ASSERT_TRUE(written);
        const auto limits =
            analysis::legal_blocks(of->kernel, bytes, written->grid, block, device.values, image);
        ASSERT_TRUE(limits) << limits.error();
        const auto data = analysis::data_values(
            of->kernel, bytes,
            {std::uint64_t{written->grid.x} * block.x, std::uint64_t{written->grid.y} * block.y, 1});
        std::array<trimtab_choice, 64> choices{};
        const int found = compiled.driver()->select(&device.values, &image, data.data(), &*limits, 0,
                                                    choices.size(), choices.data());
        EXPECT_EQ(found, is_tile ? 4 : 5) << name;  // tiles of 8, 16, 24 and 32; 64 to 1024 threads
        for (int i = 0; i < found; ++i) {
            const trimtab_choice& choice = choices[static_cast<std::size_t>(i)];
            const auto stated =
                analysis::launch_with_block(of->kernel, bytes, *limits, *written, choice.block);
            ASSERT_TRUE(stated) << choice.block.x << "," << choice.block.y;
            EXPECT_EQ(choice.grid.x, stated->grid.x);
            EXPECT_EQ(choice.grid.y, stated->grid.y);
            EXPECT_EQ(choice.uncertain, 0u)
                << name << " " << choice.block.x << ", error " << choice.relative_error;
            // As the model says for that launch's own D, and its shared memory.
            const model::Launch launch{
                .extent = {stated->grid.x * stated->block.x, stated->grid.y * stated->block.y, 1},
                .block = stated->block,
                .dynamic_shared_bytes = static_cast<double>(stated->dynamic_shared_bytes)};
            const auto at = analysis::data_of_launch(of->kernel, data, *stated);
            const auto result = program->evaluate(model::input_values(*program, device.values, image, launch),
                                                  metric_function(of->fits, at));
            EXPECT_EQ(choice.predicted_ns, result.time_ns);
        }
        // Blocks that the annotation rules out are no launches.
        trimtab_prediction prediction{};
        EXPECT_LT(compiled.driver()->evaluate(&device.values, &image, data.data(),
                                              is_tile ? trimtab_dim3{32, 8, 1} : trimtab_dim3{96, 1, 1}, 0,
                                              &prediction),
                  0);
    }
}

TEST_F(AnnotatedKernels, SharedMemoryLimitsTheSearch) {
    const auto of =
        fitted("block_sum", "block(bx % 32 == 0), grid(ceil(n / (2 * bx))), dynamic_shared(256 * bx)");
    ASSERT_TRUE(of);
    const auto device = *model::find_device("rtx2070super");
    const auto text = print_driver(of->kernel, of->fits, **model::performance_model(model::default_model));
    ASSERT_TRUE(text) << text.error().text();
    const testing::CompiledDriver compiled(*text, of->kernel.id, "clang-22");
    ASSERT_NE(compiled.driver(), nullptr);
    const trimtab_image image = analysis::to_driver_image(of->kernel.images[0]);
    const auto bytes = arguments(of->kernel, 100000);
    auto limits = analysis::legal_blocks(of->kernel, bytes, {1563, 1, 1}, {32, 1, 1}, device.values, image);
    ASSERT_TRUE(limits) << limits.error();
    EXPECT_EQ(limits->max_dynamic_shared_bytes, 49152u);
    const auto largest = [&] {
        std::array<trimtab_choice, 64> choices{};
        const auto data = analysis::data_values(of->kernel, bytes, {1563 * 32, 1, 1});
        const int found = compiled.driver()->select(&device.values, &image, data.data(), &*limits, 0,
                                                    choices.size(), choices.data());
        std::uint32_t most = 0;
        for (int i = 0; i < found; ++i) most = std::max(most, choices[static_cast<std::size_t>(i)].block.x);
        return most;
    };
    EXPECT_EQ(largest(), 192u);
    limits->max_dynamic_shared_bytes = 65536;
    EXPECT_EQ(largest(), 256u);
}

}  // namespace
}  // namespace trimtab::driver_gen
