// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole kernels, compiled when the test runs, against the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

constexpr const char* source = R"(
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int ni, int nj, int nk) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        c[i * nj + j] *= 0.75f;
        for (int k = 0; k < nk; k++) c[i * nj + j] += 1.25f * a[i * nk + k] * b[k * nj + j];
    }
}

extern "C" __global__ void block_sums(const float* in, float* out, int n) {
    __shared__ float partial[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
    extern __shared__ unsigned local_bins[];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local_bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local_bins[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local_bins[i]);
}

extern "C" __global__ void collatz(const unsigned* in, unsigned* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long value = in[i];
    unsigned count = 0;
    while (value != 1) {
        if (value & 1) value = 3 * value + 1;
        else value /= 2;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void warp_sum(const int* in, int* out) {
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
}
)";

class Kernels : public testing::Test {
  protected:
    static void SetUpTestSuite() { program_ = load(compile_cuda(source)); }
    static void TearDownTestSuite() { program_.reset(); }
    void SetUp() override { ASSERT_NE(program_, nullptr); }

    static std::shared_ptr<Program> program_;
    HostMemory memory_;
};
std::shared_ptr<Program> Kernels::program_;

TEST_F(Kernels, Gemm) {
    const int ni = 37, nj = 41, nk = 29;
    std::vector<float> a(ni * nk), b(nk * nj), c(ni * nj);
    for (std::size_t i = 0; i < a.size(); i++) a[i] = 0.25f * static_cast<float>(i % 13) - 1;
    for (std::size_t i = 0; i < b.size(); i++) b[i] = 0.5f * static_cast<float>(i % 7) - 1;
    for (std::size_t i = 0; i < c.size(); i++) c[i] = static_cast<float>(i % 5);
    std::vector<float> expected = c;
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) {
            float sum = c[i * nj + j] * 0.75f;
            for (int k = 0; k < nk; k++) sum = std::fma(1.25f * a[i * nk + k], b[k * nj + j], sum);
            expected[i * nj + j] = sum;
        }
    }
    for (const unsigned threads : {1u, 4u}) {
        std::vector<float> result = c;
        memory_.clear();
        run(*program_, memory_, "gemm", {{2, 5, 1}, {32, 8, 1}, 0, threads},
            Parameters(memory_.add(a), memory_.add(b), memory_.add(result), ni, nj, nk));
        EXPECT_EQ(result, expected);
    }
}

TEST_F(Kernels, BlockSums) {
    std::vector<float> in(1000), out(4);
    std::iota(in.begin(), in.end(), 1.0f);
    run(*program_, memory_, "block_sums", {{4, 1, 1}, {256, 1, 1}},
        Parameters(memory_.add(in), memory_.add(out), 1000));
    EXPECT_EQ(out, (std::vector<float>{32896, 98432, 163968, 205204}));
}

TEST_F(Kernels, HistogramOfManyBlocksAndThreads) {
    std::vector<unsigned char> in(100000);
    for (std::size_t i = 0; i < in.size(); i++) in[i] = static_cast<unsigned char>(i * i >> 3);
    std::vector<unsigned> bins(256), expected(256);
    for (const unsigned char value : in) expected[value]++;
    run(*program_, memory_, "histogram", {{16, 1, 1}, {128, 1, 1}, 1024, 4},
        Parameters(memory_.add(in), memory_.add(bins), 100000));
    EXPECT_EQ(bins, expected);
}

TEST_F(Kernels, DivergentLoops) {
    std::vector<unsigned> in(333), steps(333), expected(333);
    for (unsigned i = 0; i < in.size(); i++) {
        in[i] = i + 1;
        for (std::uint64_t value = i + 1; value != 1; expected[i]++)
            value = value & 1 ? 3 * value + 1 : value / 2;
    }
    run(*program_, memory_, "collatz", {{3, 1, 1}, {128, 1, 1}},
        Parameters(memory_.add(in), memory_.add(steps), 333));
    EXPECT_EQ(steps, expected);
}

TEST_F(Kernels, WarpSums) {
    std::vector<int> in(256), out(8);
    std::iota(in.begin(), in.end(), 0);
    run(*program_, memory_, "warp_sum", {{2, 1, 1}, {128, 1, 1}},
        Parameters(memory_.add(in), memory_.add(out)));
    for (int i = 0; i < 8; i++) EXPECT_EQ(out[i], 1024 * i + 496);
}

}  // namespace
}  // namespace trimtab::emulator::test
