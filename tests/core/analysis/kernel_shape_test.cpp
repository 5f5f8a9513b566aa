// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The re-blocking rule on compiled kernels: the shapes that kernels have, which blocks a launch with these
// very arguments may have, and what is refused.
#include "verdicts.h"

namespace trimtab::analysis::test {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Clang, Verdicts, testing::Values("-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

// --- what must be recognised ---
constexpr std::string_view plane_header = R"(
    __device__ __forceinline__ int gx() { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ __forceinline__ int gy() { return blockIdx.y * blockDim.y + threadIdx.y; }
    __device__ __forceinline__ int gz() { return blockIdx.z * blockDim.z + threadIdx.z; }
)";

TEST_P(Verdicts, TwoDimensionsWithOneBound) {
    // clang makes max(i, j) >= n of this.
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int n) {
            int i = gy(), j = gx();
            if (i < n && j < n) o[i * n + j] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_THAT(kernel.reasons, IsEmpty());
    const auto bytes = arguments(kernel, pointer, 100);
    EXPECT_EQ(blocks(kernel, bytes, {4, 13, 1}, {32, 8, 1}), "cover");
    // Fewer threads than n: the indices past the extent would work.
    EXPECT_EQ(blocks(kernel, bytes, {2, 13, 1}, {32, 8, 1}), "divide x");
    EXPECT_EQ(blocks(kernel, bytes, {2, 2, 1}, {32, 8, 1}), "divide xy");
}

TEST_P(Verdicts, StencilGuards) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(const float* a, float* b, int n) {
            int i = gy(), j = gx();
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) b[i * n + j] = a[(i - 1) * n + j] + a[i * n + j + 1];
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, pointer, 100), {4, 13, 1}, {32, 8, 1}), "cover");
    // n = INT_MIN: n - 1 wraps to the largest number, so that the guard admits everything.
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, pointer, static_cast<int>(0x80000000)), {4, 13, 1},
                     {32, 8, 1}),
              "divide xy");
}

TEST_P(Verdicts, ReturnsOneAfterTheOther) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, unsigned w, long h, unsigned short d) {
            if (gx() >= w) return;
            if (gy() >= h) return;
            if (gz() >= d) return;
            o[(gz() * h + gy()) * w + gx()] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    const auto bytes = arguments(kernel, pointer, 64u, 60l, static_cast<unsigned short>(9));
    EXPECT_EQ(blocks(kernel, bytes, {2, 15, 9}, {32, 4, 1}), "cover");
    EXPECT_EQ(blocks(kernel, bytes, {2, 14, 8}, {32, 4, 1}), "divide yz");
    ASSERT_EQ(kernel.data.size(), 6u);
    EXPECT_EQ(kernel.data[0].bounds, Dimension::x);
    EXPECT_EQ(kernel.data[1].bounds, Dimension::y);
    EXPECT_EQ(kernel.data[1].type, "s64");
    EXPECT_EQ(kernel.data[2].bounds, Dimension::z);
    EXPECT_EQ(kernel.data[2].type, "u16");
}

// The first thread has more to do: the compiler makes one guard of both tests.
TEST_P(Verdicts, ABoundIsOneBesideATestOfTheIndex) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, unsigned long n) {
            unsigned long i = gx();
            if (i < n) o[i] = 0;
            if (i == 0) o[i] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    ASSERT_EQ(kernel.guards.size(), 1u);
    ASSERT_EQ(kernel.data.size(), 2u);
    EXPECT_EQ(kernel.data[0].bounds, Dimension::x);
    EXPECT_FALSE(kernel.data[0].coarse_in_memo);
}

TEST_P(Verdicts, WorkBetweenGuardsIsNotCovered) {
    // The write before the second test happens for every y.
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int n, int m) {
            if (gx() >= n) return;
            o[gx()] = 1;
            if (gy() >= m) return;
            o[gx() + gy() * n] = 2;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 64, 64), {2, 16, 1}, {32, 4, 1}), "divide y");
}

TEST_P(Verdicts, WideIndices) {
    const auto& kernel = describe(R"(
        __global__ void k(double* o, size_t n) {
            size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            o[i] *= 2;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_TRUE(kernel.race_free_proved);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000l), {4, 1, 1}, {256, 1, 1}), "cover");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1l << 40), {4, 1, 1}, {256, 1, 1}), "divide x");
}

TEST_P(Verdicts, FlattenedIndexCoversTheOuterDimensionOnly) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int width, int n) {
            int i = gy() * width + gx();
            if (i < n) o[i] = 1;
        })",
                                  "k");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 64, 64 * 48), {2, 12, 1}, {32, 4, 1}), "divide x");
    // A negative width: rows past the end come before the start, and are not turned away.
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, -64, 64 * 48), {2, 12, 1}, {32, 4, 1}), "divide xy");
}

TEST_P(Verdicts, BlockIndexAloneStaysOne) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n, int stride) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) o[blockIdx.y * stride + i] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_EQ(kernel.dimensions[1].block, BlockWidth::one);
    const auto bytes = arguments(kernel, pointer, 1000, 1024);
    EXPECT_EQ(blocks(kernel, bytes, {4, 7, 1}, {256, 1, 1}), "cover");
    EXPECT_THAT(blocks(kernel, bytes, {4, 7, 1}, {128, 2, 1}), HasSubstr("blockIdx.y without threadIdx.y"));
    const auto limits = legal(kernel, bytes, {4, 7, 1}, {256, 1, 1});
    ASSERT_TRUE(limits.has_value());
    EXPECT_EQ(limits->max_block.y, 1u);
    EXPECT_EQ(limits->extent.y, 7u);
    EXPECT_TRUE(is_legal(*limits, {64, 1, 1}));
    EXPECT_FALSE(is_legal(*limits, {32, 2, 1}));
}

TEST_P(Verdicts, BlockSizeWithoutThreadIndexIsOne) {
    // blockDim.y counts in the index, threadIdx.y does not: right where the block is 1 in y.
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n) {
            unsigned block = gridDim.x * blockIdx.y + blockIdx.x;
            unsigned i = block * blockDim.x * blockDim.y + threadIdx.x;
            if (i < n) o[i] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_EQ(kernel.dimensions[1].block, BlockWidth::one);
    const auto bytes = arguments(kernel, pointer, 4000);
    EXPECT_EQ(blocks(kernel, bytes, {4, 4, 1}, {256, 1, 1}), "divide x");
    EXPECT_THAT(blocks(kernel, bytes, {4, 4, 1}, {128, 2, 1}), HasSubstr("without threadIdx.y"));
}

TEST_P(Verdicts, DimensionsNeverReadMustBeOne) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int n) { if (gx() < n) o[gx()] = 1; })",
                                  "k");
    const auto bytes = arguments(kernel, pointer, 1000);
    EXPECT_EQ(blocks(kernel, bytes, {4, 1, 1}, {256, 1, 1}), "cover");
    EXPECT_THAT(blocks(kernel, bytes, {4, 2, 1}, {256, 1, 1}), HasSubstr("no index in y"));
    EXPECT_THAT(blocks(kernel, bytes, {4, 1, 1}, {128, 1, 2}), HasSubstr("no index in z"));
}

TEST_P(Verdicts, ConstantBlockSizeRefusesAndSaysWhich) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n) {
            int i = blockIdx.x * 256 + threadIdx.x;
            if (i < n) o[i] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("256"))));
}

TEST_P(Verdicts, FirstThreadOnly) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o) { if (blockIdx.x * blockDim.x + threadIdx.x == 0) o[0] = 1; })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer), {1, 1, 1}, {32, 1, 1}), "cover");
}

TEST_P(Verdicts, SharedMemoryAndBarriersRefuse) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n) {
            __shared__ float tile[256];
            tile[threadIdx.x] = o[threadIdx.x];
            __syncthreads();
            o[blockIdx.x * blockDim.x + threadIdx.x] = tile[255 - threadIdx.x];
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("shared memory"))));
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("waits for the other threads"))));
}

TEST_P(Verdicts, AtomicsByWhatBecomesOfTheirResult) {
    describe(R"(
        __global__ void unused(int* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_add_gen_i(c, g);
        }
        __global__ void used(int* c, int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = __nvvm_atom_add_gen_i(c, 1);
        }
        __global__ void exchanged(int* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_xchg_gen_i(c, g);
        }
        __global__ void within_block(int* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_cta_add_gen_i(c, g);
        }
        __global__ void floating(float* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_add_gen_f(c, 1.0f);
        })",
             "unused");
    EXPECT_EQ(kernel_named(kernels, "unused").verdict, Verdict::covering);
    EXPECT_FALSE(kernel_named(kernels, "unused").uses_float_atomics);
    EXPECT_EQ(kernel_named(kernels, "used").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "exchanged").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "within_block").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "floating").verdict, Verdict::covering);
    EXPECT_TRUE(kernel_named(kernels, "floating").uses_float_atomics);
}

TEST_P(Verdicts, CallsAreFollowed) {
    describe(R"(
        __device__ __attribute__((noinline)) float half(const float* x, int i) { return x[i] * 0.5f; }
        __device__ __attribute__((noinline)) int lane() { return threadIdx.x % 24; }
        extern "C" __device__ int printf(const char*, ...);
        __global__ void plain(float* o, const float* x, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = half(x, g);
        }
        __global__ void by_lane(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = lane();
        }
        __global__ void prints(int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) printf("%d", g);
        }
        __global__ void through_pointer(int (*f)(int), int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = f(g);
        })",
             "plain");
    EXPECT_EQ(kernel_named(kernels, "plain").verdict, Verdict::covering);
    EXPECT_EQ(kernel_named(kernels, "by_lane").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "prints").verdict, Verdict::fixed);
    EXPECT_THAT(kernel_named(kernels, "prints").reasons, Contains(Field(&Reason::text, HasSubstr("print"))));
    EXPECT_THAT(kernel_named(kernels, "through_pointer").reasons,
                Contains(Field(&Reason::text, HasSubstr("through a pointer"))));
}

TEST_P(Verdicts, LaunchBoundsLimitTheBlock) {
    const auto& kernel = describe(R"(
        __global__ void __launch_bounds__(128) k(float* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = 1;
        })",
                                  "k");
    const auto limits = legal(kernel, arguments(kernel, pointer, 1000), {8, 1, 1}, {128, 1, 1});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    EXPECT_EQ(limits->max_threads, 128u);
    EXPECT_FALSE(is_legal(*limits, {256, 1, 1}));
    EXPECT_THAT(blocks(kernel, arguments(kernel, pointer, 1000), {4, 1, 1}, {256, 1, 1}),
                HasSubstr("above the kernel's limit of 128"));
}

}  // namespace
}  // namespace trimtab::analysis::test
