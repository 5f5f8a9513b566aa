// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/written_numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::check::test {
namespace {

using ptx::NumberKind;

class Written : public testing::Test {
  protected:
    template <class... T>
    void run(std::string_view source, const emulator::test::Grid& grid, const T&... arguments) {
        program_ = emulator::test::load(emulator::test::compile_cuda(source, "-O2"));
        ASSERT_NE(program_, nullptr);
        const emulator::test::Parameters parameters(arguments...);
        LaunchRequest request;
        request.kernel = "k";
        request.grid = grid.grid;
        request.block = grid.block;
        request.parameters = parameters.bytes();
        request.observer = &numbers_;
        const auto done = emulator::launch(*program_, memory_, request);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    [[nodiscard]] NumberKind kind_at(const void* place) const {
        return numbers_.kind_at(reinterpret_cast<std::uint64_t>(place));
    }
    [[nodiscard]] const AtomicSum* sum_at(const void* place) const {
        return numbers_.sum_at(reinterpret_cast<std::uint64_t>(place));
    }

    emulator::test::HostMemory memory_;
    std::shared_ptr<Program> program_;
    WrittenNumbers numbers_;
};

TEST_F(Written, IntegersBesideFloatsAreToldApart) {
    std::vector<float> floats(64);
    std::vector<int> whole(64);
    std::vector<double> doubles(64);
    run(R"(extern "C" __global__ void k(float* f, int* i, double* d) {
        int g = blockIdx.x * blockDim.x + threadIdx.x;
        f[g] = g * 0.5f;
        i[g] = g + 1000000;
        d[g] = f[g];
    })",
        {.grid = {2, 1, 1}, .block = {32, 1, 1}}, memory_.add(floats), memory_.add(whole),
        memory_.add(doubles));
    EXPECT_EQ(kind_at(&floats[7]), NumberKind::f32);
    EXPECT_EQ(kind_at(&whole[7]), NumberKind::other);
    EXPECT_EQ(kind_at(&doubles[7]), NumberKind::f64);
    EXPECT_EQ(sum_at(&floats[7]), nullptr);
    EXPECT_FALSE(numbers_.are_sums_read());
}

TEST_F(Written, ValuesThatPassThroughSharedMemoryKeepTheirKind) {
    std::vector<float> floats(2), copies(2);
    std::vector<int> whole(2);
    std::vector<float> in(64, 1.5f);
    run(R"(extern "C" __global__ void k(float* f, int* i, float* copy, const float* in) {
        __shared__ float s[32];
        __shared__ int t[32];
        s[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x] + 1;
        t[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            f[blockIdx.x] = s[31];
            i[blockIdx.x] = t[31];
            copy[blockIdx.x] = in[blockIdx.x];
        }
    })",
        {.grid = {2, 1, 1}, .block = {32, 1, 1}}, memory_.add(floats), memory_.add(whole),
        memory_.add(copies), memory_.add(in));
    EXPECT_EQ(kind_at(&floats[1]), NumberKind::f32);
    EXPECT_EQ(kind_at(&whole[1]), NumberKind::other);
    // What nobody computed is the same in any order.
    EXPECT_EQ(kind_at(&copies[1]), NumberKind::moved);
}

TEST_F(Written, SumsOfAtomicsKnowTheirTerms) {
    std::vector<float> sums(4, 0.25f);
    std::vector<double> doubles(2);
    std::vector<int> whole(2);
    run(R"(extern "C" __global__ void k(float* f, double* d, int* i) {
        atomicAdd(&f[1], threadIdx.x & 1 ? -2.0f : 2.0f);
        atomicAdd(&d[1], 0.1);
        atomicAdd(&i[1], 1);
    })",
        {.grid = {2, 1, 1}, .block = {32, 1, 1}}, memory_.add(sums), memory_.add(doubles),
        memory_.add(whole));
    const AtomicSum* sum = sum_at(&sums[1]);
    ASSERT_NE(sum, nullptr);
    EXPECT_EQ(sum->kind, NumberKind::f32);
    EXPECT_EQ(sum->count, 64u);
    EXPECT_EQ(sum->magnitude, 128.25);
    EXPECT_EQ(sum->finest_exponent, -2);
    EXPECT_EQ(sum_at(&sums[0]), nullptr);
    ASSERT_NE(sum_at(&doubles[1]), nullptr);
    EXPECT_EQ(sum_at(&doubles[1])->kind, NumberKind::f64);
    EXPECT_EQ(sum_at(&whole[1]), nullptr);
    EXPECT_EQ(kind_at(&whole[1]), NumberKind::other);
    EXPECT_FALSE(numbers_.are_sums_read());
}

TEST_F(Written, HalvesOfAPairAreSumsOfTheirOwn) {
    std::vector<std::uint32_t> pairs(2);
    run(R"(#include <cuda_fp16.h>
    extern "C" __global__ void k(__half2* h) { atomicAdd(&h[1], __floats2half2_rn(1.0f, 0.5f)); })",
        {.grid = {1, 1, 1}, .block = {32, 1, 1}}, memory_.add(pairs));
    const auto* second = reinterpret_cast<const std::uint16_t*>(&pairs[1]);
    ASSERT_NE(sum_at(second), nullptr);
    ASSERT_NE(sum_at(second + 1), nullptr);
    EXPECT_EQ(sum_at(second)->kind, NumberKind::f16);
    EXPECT_EQ(sum_at(second)->magnitude, 32);
    EXPECT_EQ(sum_at(second + 1)->magnitude, 16);
}

TEST_F(Written, SumsThatTheKernelReadsAreNoted) {
    std::vector<float> out(2), in(64, 0.1f);
    run(R"(extern "C" __global__ void k(float* out, const float* in) {
        __shared__ float s;
        if (threadIdx.x == 0) s = 0;
        __syncthreads();
        atomicAdd(&s, in[blockIdx.x * 32 + threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0) out[blockIdx.x] = s;
    })",
        {.grid = {2, 1, 1}, .block = {32, 1, 1}}, memory_.add(out), memory_.add(in));
    EXPECT_TRUE(numbers_.are_sums_read());
    EXPECT_EQ(kind_at(&out[1]), NumberKind::f32);
    EXPECT_EQ(sum_at(&out[1]), nullptr);
}

TEST_F(Written, AResultOfAnAtomicThatIsReadCountsAsRead) {
    std::vector<float> out(64), sum(1);
    run(R"(extern "C" __global__ void k(float* out, float* sum) { out[threadIdx.x] = atomicAdd(sum, 0.5f); })",
        {.grid = {1, 1, 1}, .block = {32, 1, 1}}, memory_.add(out), memory_.add(sum));
    EXPECT_TRUE(numbers_.are_sums_read());
}

TEST_F(Written, TheLastWriteSaysWhatAPlaceHolds) {
    std::vector<float> sum(2);
    run(R"(extern "C" __global__ void k(float* sum, int whole) {
        atomicAdd(&sum[0], 0.5f);
        atomicAdd(&sum[1], 0.5f);
        __syncthreads();
        if (threadIdx.x == 0) ((int*)sum)[1] = whole * 3;
    })",
        {.grid = {1, 1, 1}, .block = {32, 1, 1}}, memory_.add(sum), 7);
    EXPECT_NE(sum_at(&sum[0]), nullptr);
    EXPECT_EQ(sum_at(&sum[1]), nullptr);
    EXPECT_EQ(kind_at(&sum[1]), NumberKind::other);
}

}  // namespace
}  // namespace trimtab::emulator::check::test
