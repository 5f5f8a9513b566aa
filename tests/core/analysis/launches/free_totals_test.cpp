// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grid-stride loops at the launch: when may the number of threads be another?
#include "core/analysis/launches/free_totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/analysis/annotations/annotated_launch.h"
#include "tests/core/analysis/cuda_compiler.h"
#include "tests/core/analysis/judged_launch.h"

namespace trimtab::analysis::test {
namespace {

constexpr std::uint64_t pointer = 0x7f0000000000, other_pointer = 0x7f0040000000;

constexpr std::string_view source = R"(
    __device__ int gx() { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ int gy() { return blockIdx.y * blockDim.y + threadIdx.y; }
    __device__ int tx() { return gridDim.x * blockDim.x; }
    __device__ int ty() { return gridDim.y * blockDim.y; }
    __global__ void fill(float* o, int n) { for (int i = gx(); i < n; i += tx()) o[i] = 1; }
    __global__ void fill_unsigned(char* o, unsigned n) { for (unsigned i = gx(); i < n; i += tx()) o[i] = 1; }
    __global__ void fill_wide(char* o, unsigned long n) {
        for (unsigned long i = gx(); i < n; i += gridDim.x * (unsigned long)blockDim.x) o[i] = 1;
    }
    __global__ void copy(float* o, const float* a, int n) { for (int i = gx(); i < n; i += tx()) o[i] = a[i]; }
    __global__ void rest(float* o, int first, int n) { for (int i = first + gx(); i < n; i += tx()) o[i] = 1; }
    __global__ void moved(float* o, int by, int n) { for (int i = gx(); i < n; i += tx()) o[by + i] = 1; }
    __global__ void rest_down(float* o, int last) { for (int i = last - gx(); i >= 0; i -= tx()) o[i] = 1; }
    __global__ void unsigned_rest(char* o, unsigned first, unsigned n) {
        for (unsigned i = first + gx(); i < n; i += tx()) o[i] = 1;
    }
    __global__ void by_fours(char* o, int n) { for (int i = 4 * gx(); i < n; i += 4 * tx()) o[(unsigned)i] = i; }
    __global__ void by_threes(char* o, unsigned n) { for (unsigned i = 3 * gx(); i < n; i += 3 * tx()) o[i] = i; }
    __global__ void by_threes_to(int* o, int n) { for (int i = 3 * gx(); i != n; i += 3 * tx()) o[i] = i; }
    __global__ void next(float* o, int n) { for (int i = gx(); i < n; i += tx()) o[i + 1] = o[i]; }
    __global__ void both(float* o, int n) { for (int i = gx(); i < n; i += tx()) o[2 * i + 1] = o[2 * i]; }
    __global__ void two_bounds(float* o, int n, int m) {
        int i = gx();
        if (i >= m) return;
        for (; i < n; i += tx()) o[i] = 1;
    }
    __global__ void plane(float* o, int w, int h, int pitch) {
        for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y)
            for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += gridDim.x * blockDim.x)
                o[y * pitch + x] += 1;
    }
    __global__ void rows(float* o, int w, int h) {
        int x = gx();
        if (x < w) for (int y = gy(); y < h; y += ty()) o[y * w + x] += 1;
    }
    __global__ void row(float* o, const float* a, int d) {
        for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = a[blockIdx.x * d + k];
    }
    __global__ void int_row(float* o, const float* a, int d) {
        const int r = blockIdx.x, x = threadIdx.x, threads = blockDim.x;
        const float w = a[r];
        _Pragma("unroll 1") for (int k = x; k < d; k += threads) o[r * d + k] *= w;
    }
    __global__ void int_line(float* o, int w, int h) {
        const int y = gy();
        if (y < h)
            for (int x = gx(); x < w; x += tx()) o[y * w + x] = 1;
    }
    __global__ void row_and_bias(float* o, const float* bias, int d, int pitch) {
        for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * pitch + k] += bias[k];
    }
    __global__ void rows_of_threads(float* o, int d, int rows) {
        int y = gy();
        if (y < rows) for (int k = threadIdx.x; k < d; k += blockDim.x) o[y * d + k] = 1;
    }
    __global__ void after_a_barrier(float* __restrict__ o, const float* __restrict__ a, int n) {
        int i = gx();
        if (i < n) o[i] = 1;
        __syncthreads();
        if (i < n) o[i] += a[i + 1];
    }
    __global__ void row_after_a_barrier(float* __restrict__ o, const float* __restrict__ a, int d) {
        for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = 1;
        __syncthreads();
        for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] += a[k];
    }
    __global__ void turned_row(float* o, float* b, int d, int step) {
        for (int k = threadIdx.x; k < d; k += blockDim.x) b[blockIdx.x * d + k] = k;
        __syncthreads();
        for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = b[blockIdx.x * d + d - 1 - k * step];
    }
    __global__ void turned_row_at_once(float* o, float* b, int d, int step) {
        for (int k = threadIdx.x; k < d; k += blockDim.x) b[blockIdx.x * d + k] = k;
        for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = b[blockIdx.x * d + d - 1 - k * step];
    }
    __global__ void row_to_and_fro(float* o, float* b, int d, int times) {
        for (int t = 0; t < times; t++) {
            for (int k = threadIdx.x; k < d; k += blockDim.x) b[blockIdx.x * d + k] = o[blockIdx.x * d + d - 1 - k];
            __syncthreads();
            for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = b[blockIdx.x * d + d - 1 - k];
            __syncthreads();
        }
    }
    __global__ void row_to_and_once_fro(float* o, float* b, int d, int times) {
        for (int t = 0; t < times; t++) {
            for (int k = threadIdx.x; k < d; k += blockDim.x) b[blockIdx.x * d + k] = o[blockIdx.x * d + d - 1 - k];
            __syncthreads();
            for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = b[blockIdx.x * d + d - 1 - k];
        }
    }
    __global__ void row_in_two_parts(float* o, int d, int first, int last) {
        for (int k = threadIdx.x; k < last; k += blockDim.x) o[blockIdx.x * d + k] = 1;
        for (int k = first + threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = 2;
    }
    struct alignas(16) Four { float x, y, z, w; };
    __global__ void row_of_vectors(float* o, const float* a, int d) {
        float* to = o + blockIdx.x * d;
        const float* from = a + blockIdx.x * d;
        int whole = d / 4;
        for (int k = threadIdx.x; k < whole; k += blockDim.x) ((Four*)to)[k] = ((const Four*)from)[k];
        for (int k = 4 * whole + threadIdx.x; k < d; k += blockDim.x) to[k] = from[k];
    }
    __global__ void gather(float* o, const float* a, const int* at, int n) {
        for (int i = gx(); i < n; i += tx()) o[i] = a[at[i]];
    }
    __global__ void gather_twice(float* o, const float* a, const int* at, int n, int m) {
        for (int i = gx(); i < n; i += tx()) o[i] = a[at[i]];
        for (int i = gx(); i < m; i += tx()) o[i] += a[at[i] + 1];
    }
    __global__ void gather_plane(float* o, const float* a, const int* at, int w, int h) {
        for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y)
            for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += gridDim.x * blockDim.x)
                o[y * w + x] = a[at[y * w + x]];
    }
    __global__ void gather_row(float* o, const float* a, const int* at, int d) {
        for (int k = threadIdx.x; k < d; k += blockDim.x) o[blockIdx.x * d + k] = a[at[k]];
    }
    __global__ void gather_beside_next(float* o, const float* a, const int* at, int n) {
        for (int i = gx(); i < n; i += tx()) o[i + 1] = o[i] + a[at[i]];
    }
    __global__ void row_of_a_warp(float* o, int rows) {
        int row = gx() / 32;
        if (row < rows) o[gx()] = row + threadIdx.x % 32;
    }
)";

class FreeTotals : public testing::Test {
  protected:
    static const KernelDescription& kernel(const std::string& name) {
        static const std::vector<KernelDescription> kernels = describe_ptx(compile_cuda(source, "-O1"));
        return kernel_named(kernels, name);
    }
    // "x", "y", "xy" or "": the dimensions whose number of threads may be another.
    template <typename... Values>
    static std::string free(const std::string& name, std::array<std::uint64_t, 3> extent,
                            std::array<std::uint64_t, 3> most, Values... values) {
        const KernelDescription& description = kernel(name);
        const auto found = free_totals(description, arguments(description, values...), extent, most, extent);
        std::string text;
        for (std::size_t d = 0; d < 3; d++)
            if (found[d]) text += "xyz"[d];
        return text;
    }
    template <typename... Values>
    static std::string free(const std::string& name, Values... values) {
        return free(name, {1024, 1, 1}, {4096, 4096, 1}, values...);
    }
};

TEST_F(FreeTotals, ElementByElement) {
    EXPECT_EQ(free("fill", pointer, 100000), "x");
    EXPECT_EQ(free("fill", pointer, 5), "x");
    EXPECT_EQ(free("fill", pointer, 0), "x");
    EXPECT_EQ(free("fill", pointer, -5), "x") << "no turn is made";
    EXPECT_EQ(blocks(kernel("fill"), arguments(kernel("fill"), pointer, 100000), {7, 1, 1}, {100, 1, 1}),
              "cover");
}

TEST_F(FreeTotals, IndicesThatWouldWrap) {
    const int most = 0x7fffffff;
    // The last turn's i + total must stay below 2^31.
    EXPECT_EQ(free("fill", {1024, 1, 1}, {1024, 1, 1}, pointer, most - 1023), "x");
    EXPECT_EQ(free("fill", {1024, 1, 1}, {1025, 1, 1}, pointer, most - 1023), "");
    EXPECT_EQ(free("fill", {1024, 1, 1}, {1024, 1, 1}, pointer, most), "");
    EXPECT_EQ(free("fill_unsigned", {1024, 1, 1}, {1024, 1, 1}, pointer, 0xffffffffu), "");
    EXPECT_EQ(free("fill_unsigned", {1024, 1, 1}, {1024, 1, 1}, pointer, 0x7ffff000u), "x");
    EXPECT_EQ(free("fill_wide", {1024, 1, 1}, {1024, 1, 1}, pointer, 0x100000000ul), "");
    EXPECT_EQ(free("fill_wide", {1024, 1, 1}, {1024, 1, 1}, pointer, 0x70000000ul), "x");
    EXPECT_EQ(blocks(kernel("fill"), arguments(kernel("fill"), pointer, most), {10, 1, 1}, {100, 1, 1}),
              "divide x");
}

// The pointer goes on where the sum in 32 bits would wrap.
TEST_F(FreeTotals, SumsThatWouldWrap) {
    const int most = 0x7fffffff;
    EXPECT_EQ(free("rest", pointer, 1000, 5000), "x");
    EXPECT_EQ(free("rest", pointer, 5000, 1000), "x") << "no turn is made";
    EXPECT_EQ(free("rest", pointer, -3000, 5000), "x");
    const int half = 0x3fffff00;
    EXPECT_EQ(free("rest", {1024, 1, 1}, {0x40000000, 1, 1}, pointer, half, half + 100), "x");
    EXPECT_EQ(free("rest", {1024, 1, 1}, {0x40000100, 1, 1}, pointer, half, half + 100), "");
    EXPECT_EQ(free("rest", {1024, 1, 1}, {1024, 1, 1}, pointer, most - 500, most - 400), "");
    EXPECT_EQ(free("moved", pointer, 1000, 5000), "x");
    EXPECT_EQ(free("moved", pointer, -1000, 5000), "x");
    EXPECT_EQ(free("moved", {1024, 1, 1}, {1024, 1, 1}, pointer, most - 2000, 500), "x");
    EXPECT_EQ(free("moved", {1024, 1, 1}, {1024, 1, 1}, pointer, most - 200, 500), "");
    EXPECT_EQ(free("rest_down", pointer, 5000), "x");
    EXPECT_EQ(free("rest_down", pointer, -1), "x") << "no turn is made";
    EXPECT_EQ(free("rest_down", {1024, 1, 1}, {1024, 1, 1}, pointer, -most), "") << "it would come round";
    EXPECT_EQ(free("unsigned_rest", pointer, 1000u, 5000u), "x");
    EXPECT_EQ(free("unsigned_rest", pointer, 0x70000000u, 0x70001000u), "x");
    EXPECT_EQ(free("unsigned_rest", {1024, 1, 1}, {1024, 1, 1}, pointer, 0xfffff000u, 0xffffff00u), "");
}

// 4 * i wraps long before i does.
TEST_F(FreeTotals, IndicesOfSeveralElements) {
    EXPECT_EQ(free("by_fours", pointer, 4000), "x");
    EXPECT_EQ(free("by_fours", pointer, 4001), "x");
    EXPECT_EQ(free("by_fours", pointer, 0), "x");
    EXPECT_EQ(free("by_fours", pointer, -3), "x") << "no turn is made";
    EXPECT_EQ(free("by_threes", pointer, 5000u), "x");
    EXPECT_EQ(free("by_threes_to", pointer, 3000), "") << "threads that begin past it go on";
    // The last turn's 4 * (i + total) must stay below 2^31.
    const int most = 0x7fffffff;
    EXPECT_EQ(free("by_fours", {1024, 1, 1}, {0x10000000, 1, 1}, pointer, 0x40000000), "x");
    EXPECT_EQ(free("by_fours", {1024, 1, 1}, {0x10000001, 1, 1}, pointer, 0x40000000), "");
    EXPECT_EQ(free("by_fours", {1024, 1, 1}, {1024, 1, 1}, pointer, most), "");
    EXPECT_EQ(free("by_threes", {1024, 1, 1}, {1024, 1, 1}, pointer, 0xffffff00u), "");
}

TEST_F(FreeTotals, ArraysThatOverlap) {
    EXPECT_EQ(free("copy", pointer, other_pointer, 1000), "x");
    EXPECT_EQ(free("copy", pointer, pointer, 1000), "x") << "each turn reads what it writes";
    EXPECT_EQ(free("copy", pointer, pointer + 4 * 1000, 1000), "x") << "one after the other";
    EXPECT_EQ(free("copy", pointer, pointer + 4 * 999, 1000), "") << "one element of both";
    EXPECT_EQ(free("copy", pointer + 4 * 1024, pointer, 4096), "") << "what the turn before wrote";
    EXPECT_EQ(free("copy", pointer, pointer + 2, 1000), "");
}

TEST_F(FreeTotals, TurnsThatMeet) {
    EXPECT_EQ(free("next", pointer, 1000), "");
    EXPECT_EQ(free("next", pointer, 1), "x") << "there is one turn";
    EXPECT_EQ(free("both", pointer, 1000), "x");
    EXPECT_EQ(blocks(kernel("next"), arguments(kernel("next"), pointer, 1000), {10, 1, 1}, {100, 1, 1}),
              "divide x");
}

// What const and __restrict__ promise is not enough where a barrier stood between a store and a load.
TEST_F(FreeTotals, BarriersThatAreTakenForNothing) {
    const auto judge = [](const std::string& name, std::uint64_t from) {
        const KernelDescription& of = kernel(name);
        return blocks(of, arguments(of, pointer, from, 1000), {10, 1, 1}, {100, 1, 1});
    };
    EXPECT_EQ(judge("after_a_barrier", other_pointer), "cover");
    EXPECT_EQ(judge("after_a_barrier", pointer + 4 * 1000), "cover") << "one after the other";
    EXPECT_EQ(judge("after_a_barrier", pointer - 4), "cover") << "each reads what it writes";
    EXPECT_THAT(judge("after_a_barrier", pointer), testing::HasSubstr("may touch the same memory"));
    EXPECT_EQ(judge("row_after_a_barrier", other_pointer), "cover");
    EXPECT_THAT(judge("row_after_a_barrier", pointer + 4), testing::HasSubstr("loops over threadIdx.x"));
}

// What a barrier parts of a block's row need not lie apart.
TEST_F(FreeTotals, RowsInPhases) {
    const auto judge = [](const std::string& name, std::uint64_t from, int last) {
        const KernelDescription& of = kernel(name);
        return blocks(of, arguments(of, pointer, from, 1000, last), {10, 1, 1}, {100, 1, 1});
    };
    EXPECT_EQ(judge("turned_row", other_pointer, 1), "cover");
    EXPECT_THAT(judge("turned_row", pointer, 1), testing::HasSubstr("loops over threadIdx.x"))
        << "and write there";
    EXPECT_THAT(judge("turned_row_at_once", other_pointer, 1), testing::HasSubstr("loops over threadIdx.x"));
    EXPECT_EQ(judge("row_to_and_fro", other_pointer, 3), "cover");
    EXPECT_THAT(judge("row_to_and_once_fro", other_pointer, 3), testing::HasSubstr("loops over threadIdx.x"));
}

TEST_F(FreeTotals, BlocksOfWholeWarps) {
    const KernelDescription& of = kernel("row_of_a_warp");
    EXPECT_EQ(of.dimensions[0].block, BlockWidth::warps);
    const auto bytes = arguments(of, pointer, 20);
    EXPECT_EQ(blocks(of, bytes, {5, 1, 1}, {128, 1, 1}), "cover");
    EXPECT_EQ(blocks(of, bytes, {4, 1, 1}, {128, 1, 1}), "divide x") << "four rows would be done more";
    EXPECT_THAT(blocks(of, bytes, {20, 1, 1}, {48, 1, 1}), testing::HasSubstr("covers only whole warps"));
    const auto limits = legal(of, bytes, {5, 1, 1}, {128, 1, 1});
    ASSERT_TRUE(limits.has_value());
    const LaunchConfiguration written{.grid = {5, 1, 1}, .block = {128, 1, 1}};
    EXPECT_TRUE(launch_with_block(of, bytes, *limits, written, {96, 1, 1}).has_value());
    trimtab_limits any = *limits;
    any.thread_multiple = 1;
    EXPECT_FALSE(launch_with_block(of, bytes, any, written, {48, 1, 1}).has_value());
}

TEST_F(FreeTotals, BoundsThatDiffer) {
    EXPECT_EQ(free("two_bounds", pointer, 1000, 1000), "x");
    EXPECT_EQ(free("two_bounds", pointer, 1000, 999), "");
}

TEST_F(FreeTotals, TwoDimensions) {
    EXPECT_EQ(free("plane", pointer, 100, 50, 100), "xy");
    EXPECT_EQ(free("plane", pointer, 100, 50, 128), "xy");
    EXPECT_EQ(free("plane", pointer, 100, 50, 99), "") << "rows overlap";
    EXPECT_EQ(free("plane", pointer, 100, 1, 0), "xy") << "there is one row";
    EXPECT_EQ(free("plane", pointer, 100, 50, 0), "");
    EXPECT_EQ(free("plane", pointer, 60000, 60000, 60000), "") << "32 bits do not hold the index";
    EXPECT_EQ(free("rows", {128, 64, 1}, {1152, 1000, 1}, pointer, 100, 50), "y");
    // With rows of threads: of those there may be 1000 of any launch.
    EXPECT_EQ(free("int_line", {128, 64, 1}, {1152, 1000, 1}, pointer, 100, 50), "x");
    EXPECT_EQ(free("int_line", {128, 64, 1}, {1152, 1000, 1}, pointer, 0x7fffffff / 1000, 50), "");
    const KernelDescription& rows = kernel("rows");
    EXPECT_EQ(blocks(rows, arguments(rows, pointer, 100, 500), {4, 8, 1}, {32, 8, 1}), "cover");
    EXPECT_EQ(blocks(rows, arguments(rows, pointer, 200, 500), {4, 8, 1}, {32, 8, 1}), "divide x");
}

TEST_F(FreeTotals, BlocksWhoseGridStays) {
    const auto judge = [](const std::string& name, trimtab_dim3 grid, trimtab_dim3 block, auto... values) {
        const KernelDescription& of = kernel(name);
        return blocks(of, arguments(of, values...), grid, block);
    };
    const auto is_kept = testing::HasSubstr("are not proved to give the same results");
    EXPECT_EQ(judge("row", {50, 1, 1}, {256, 1, 1}, pointer, other_pointer, 1000), "cover");
    EXPECT_EQ(judge("row", {50, 1, 1}, {256, 1, 1}, pointer, pointer, 1000), "cover") << "in place";
    // A block's row of 1000, after all that 50 blocks write; one element less far; a row off.
    EXPECT_EQ(judge("row", {50, 1, 1}, {256, 1, 1}, pointer, pointer + 4 * 50000, 1000), "cover");
    EXPECT_THAT(judge("row", {50, 1, 1}, {256, 1, 1}, pointer, pointer + 4 * 999, 1000), is_kept);
    EXPECT_EQ(judge("row", {1, 1, 1}, {256, 1, 1}, pointer, pointer + 4 * 1000, 1000), "cover");
    EXPECT_EQ(judge("row_and_bias", {50, 1, 1}, {64, 1, 1}, pointer, other_pointer, 1000, 1000), "cover");
    EXPECT_THAT(judge("row_and_bias", {50, 1, 1}, {64, 1, 1}, pointer, pointer + 4 * 49999, 1000, 1000),
                is_kept);
    // Rows that overlap are other blocks' business, as they were.
    EXPECT_EQ(judge("row_and_bias", {50, 1, 1}, {64, 1, 1}, pointer, other_pointer, 1000, 10), "cover");
    // The last turn's k + blockDim must not wrap, whatever block the device allows.
    EXPECT_THAT(judge("row", {2, 1, 1}, {64, 1, 1}, pointer, other_pointer, 0x7fffffff), is_kept);
    EXPECT_EQ(judge("row", {1, 1, 1}, {64, 1, 1}, pointer, other_pointer, -3), "cover") << "no turn is made";
    EXPECT_EQ(judge("rows_of_threads", {1, 10, 1}, {32, 8, 1}, pointer, 100, 77), "cover");
    // A sum of ints that the compiler keeps in 64 bits: with so many rows none of them wraps.
    constexpr std::uint64_t far = pointer + (std::uint64_t{1} << 36);
    EXPECT_EQ(judge("int_row", {50, 1, 1}, {256, 1, 1}, pointer, far, 1000), "cover");
    EXPECT_EQ(judge("int_row", {50, 1, 1}, {256, 1, 1}, pointer, far, 0x7fffffff / 50 - 1023), "cover");
    EXPECT_THAT(judge("int_row", {50, 1, 1}, {256, 1, 1}, pointer, far, 0x7fffffff / 50 + 1), is_kept);
    EXPECT_EQ(judge("rows_of_threads", {1, 10, 1}, {32, 8, 1}, pointer, 100, 81), "divide y");

    const KernelDescription& row = kernel("row");
    const auto bytes = arguments(row, pointer, other_pointer, 1000);
    const auto limits = legal(row, bytes, {50, 1, 1}, {48, 1, 1});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    const auto launch =
        launch_with_block(row, bytes, *limits, {.grid = {50, 1, 1}, .block = {48, 1, 1}}, {512, 1, 1});
    ASSERT_TRUE(launch.has_value());
    EXPECT_EQ(launch->grid.x, 50u);
    EXPECT_FALSE(
        launch_with_block(row, bytes, *limits, {.grid = {50, 1, 1}, .block = {48, 1, 1}}, {32, 2, 1}));
    EXPECT_FALSE(legal_blocks_of_total(row, bytes, {50, 1, 1}, {48, 1, 1}, device(),
                                       to_driver_image(image_for(row, 75)), {4800, 1, 1}));
}

// What one loop leaves over another one does: each of them touches what its own indices reach.
TEST_F(FreeTotals, RowsInSeveralLoops) {
    const auto judge = [](const std::string& name, auto... values) {
        const KernelDescription& of = kernel(name);
        return blocks(of, arguments(of, values...), {50, 1, 1}, {64, 1, 1});
    };
    const auto is_kept = testing::HasSubstr("are not proved to give the same results");
    EXPECT_EQ(judge("row_in_two_parts", pointer, 1000, 512, 512), "cover");
    EXPECT_EQ(judge("row_in_two_parts", pointer, 1000, 513, 512), "cover") << "one element is left out";
    EXPECT_THAT(judge("row_in_two_parts", pointer, 1000, 511, 512), is_kept) << "one is written by both";
    EXPECT_EQ(judge("row_in_two_parts", pointer, 1000, 0, 1000), "cover") << "each thread its own twice";
    EXPECT_EQ(judge("row_in_two_parts", pointer, 1000, 1000, 1000), "cover") << "the second one does nothing";
    for (const int width : {1, 3, 4, 1000, 1001, 1002, 1003})
        EXPECT_EQ(judge("row_of_vectors", pointer, other_pointer, width), "cover") << width;
    EXPECT_EQ(judge("row_of_vectors", pointer, pointer, 1003), "cover") << "in place";
    EXPECT_THAT(judge("row_of_vectors", pointer, pointer + 16, 1003), is_kept) << "reads what others write";
}

TEST_F(FreeTotals, AnotherImageWhoseGridMayNotStay) {
    constexpr std::string_view by_block = R"(
        __global__ void k(float* o, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = 1; })";
    constexpr std::string_view by_grid = R"(
        __global__ void k(float* o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = 1; })";
    for (const bool swapped : {false, true}) {
        auto first = ptx::parse(compile_cuda(swapped ? by_grid : by_block, "-O3"), "a.ptx"),
             second = ptx::parse(compile_cuda(swapped ? by_block : by_grid, "-O3"), "b.ptx");
        const std::array<Image, 2> both{Image{&*first, "sm_75", {}, ""}, Image{&*second, "sm_80", {}, ""}};
        const KernelDescription kernel = describe(both, {})->front();
        EXPECT_EQ(kernel.verdict, Verdict::fixed);
        EXPECT_FALSE(kernel.keeps_grid() || kernel.annotated_grid[0]);
        ASSERT_FALSE(kernel.reasons.empty());
    }
}

TEST_F(FreeTotals, AnotherImageThatTiesTheTotal) {
    const auto images = [](std::string_view a, std::string_view b) {
        auto first = ptx::parse(compile_cuda(a, "-O3"), "a.ptx"),
             second = ptx::parse(compile_cuda(b, "-O3"), "b.ptx");
        const std::array<Image, 2> both{Image{&*first, "sm_75", {}, ""}, Image{&*second, "sm_80", {}, ""}};
        return describe(both, {})->front();
    };
    constexpr std::string_view free_one = R"(
        __global__ void k(float* o, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) o[i] = 1;
        })";
    constexpr std::string_view tied = R"(
        __global__ void k(float* o, int n) {
            int t = gridDim.x * blockDim.x;
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += t) o[i] = t;
        })";
    const auto judge = [](const KernelDescription& kernel) {
        return blocks(kernel, arguments(kernel, pointer, 5000), {10, 1, 1}, {100, 1, 1});
    };
    EXPECT_EQ(judge(images(free_one, free_one)), "cover");
    EXPECT_EQ(judge(images(free_one, tied)), "divide x");
    EXPECT_EQ(judge(images(tied, free_one)), "divide x");
}

// Two turns that meet there were two threads', if each thread made one.
TEST_F(FreeTotals, PlacesThatAreNotKnown) {
    const std::uint64_t at = pointer + 0x20000000;
    EXPECT_EQ(free("gather", pointer, other_pointer, at, 1024), "x");
    EXPECT_EQ(free("gather", pointer, other_pointer, at, 5), "x");
    EXPECT_EQ(free("gather", pointer, other_pointer, at, -5), "x") << "no turn is made";
    EXPECT_EQ(free("gather", pointer, other_pointer, at, 1025), "") << "one thread makes two turns";
    EXPECT_EQ(free("gather", pointer, other_pointer, pointer + 4, 1000), "") << "known ones meet";
    EXPECT_EQ(free("gather_beside_next", pointer, other_pointer, at, 1000), "") << "known ones meet";
    EXPECT_EQ(free("gather_twice", pointer, other_pointer, at, 1024, 1000), "x");
    EXPECT_EQ(free("gather_twice", pointer, other_pointer, at, 1025, 1000), "");
    EXPECT_EQ(free("gather_twice", pointer, other_pointer, at, 1000, 1025), "");
    const auto plane = [&](int w, int h) {
        return free("gather_plane", {64, 32, 1}, {1024, 1024, 1}, pointer, other_pointer, at, w, h);
    };
    EXPECT_EQ(plane(64, 32), "xy");
    EXPECT_EQ(plane(65, 32), "");
    EXPECT_EQ(plane(64, 33), "");

    const KernelDescription& gather = kernel("gather");
    EXPECT_TRUE(gather.needs_one_iteration_a_thread);
    EXPECT_FALSE(kernel("copy").needs_one_iteration_a_thread);
    const auto thousand = arguments(gather, pointer, other_pointer, at, 1000);
    EXPECT_EQ(blocks(gather, thousand, {10, 1, 1}, {100, 1, 1}), "cover");
    EXPECT_EQ(blocks(gather, thousand, {9, 1, 1}, {100, 1, 1}), "divide x");
    // A launch with other threads is judged by those of the one written.
    const trimtab_image image = to_driver_image(image_for(gather, 75));
    EXPECT_TRUE(legal_blocks_of_total(gather, thousand, {10, 1, 1}, {100, 1, 1}, device(), image, {32, 1, 1})
                    .has_value());
    EXPECT_FALSE(
        legal_blocks_of_total(gather, thousand, {9, 1, 1}, {100, 1, 1}, device(), image, {2048, 1, 1})
            .has_value());
    // What another body's threads were says nothing.
    const auto of_body = legal_blocks_of_body(gather, thousand, {10, 1, 1}, {100, 1, 1}, device(), image);
    ASSERT_TRUE(of_body.has_value());
    EXPECT_EQ(of_body->dividing, 1u);

    const KernelDescription& row = kernel("gather_row");
    const auto hundred = arguments(row, pointer, other_pointer, at, 100);
    EXPECT_EQ(blocks(row, hundred, {10, 1, 1}, {128, 1, 1}), "cover");
    EXPECT_EQ(blocks(row, hundred, {10, 1, 1}, {64, 1, 1}),
              "with these arguments, its loops over threadIdx.x are not proved to give the same results in "
              "other blocks")
        << "the grid's threads do not count";
}

TEST_F(FreeTotals, DescriptionsKeepThemInJson) {
    const KernelDescription& written = kernel("copy");
    const auto read = description_from_json(to_json(written), "test");
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(read->stride_accesses, written.stride_accesses);
    ASSERT_EQ(read->strides.size(), 1u);
    EXPECT_EQ(read->strides[0].exits, written.strides[0].exits);
    EXPECT_FALSE(read->needs_one_iteration_a_thread);
    const auto read_gather = description_from_json(to_json(kernel("gather")), "test");
    ASSERT_TRUE(read_gather.has_value()) << read_gather.error().text();
    EXPECT_TRUE(read_gather->needs_one_iteration_a_thread);
    const KernelDescription& row = kernel("row");
    const auto read_row = description_from_json(to_json(row), "test");
    ASSERT_TRUE(read_row.has_value()) << read_row.error().text();
    EXPECT_EQ(read_row->dimensions, row.dimensions);
    EXPECT_EQ(read_row->stride_accesses, row.stride_accesses);
    const KernelDescription& parts = kernel("row_in_two_parts");
    const auto read_parts = description_from_json(to_json(parts), "test");
    ASSERT_TRUE(read_parts.has_value()) << read_parts.error().text();
    EXPECT_EQ(read_parts->stride_accesses, parts.stride_accesses);
    ASSERT_EQ(parts.stride_accesses.size(), 2u);
    EXPECT_EQ(parts.stride_accesses[0].loops | parts.stride_accesses[1].loops, 3u);
    EXPECT_EQ(parts.stride_accesses[0].loops & parts.stride_accesses[1].loops, 0u);
    nlohmann::json without = to_json(row);
    without.erase("grid");
    EXPECT_THAT(description_from_json(without, "test").error().message,
                testing::HasSubstr("there is no grid"));
}

}  // namespace
}  // namespace trimtab::analysis::test
