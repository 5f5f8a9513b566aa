// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that synchronize as CUDA asks, each in its own way: nothing may be said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/emulation/emulator/check/fixture.h"

namespace trimtab::emulator::check::test {
namespace {

using testing::ElementsAre;
using testing::Test;

class Clean : public Checked {
  protected:
    void TearDown() override {
        EXPECT_FALSE(faulted_);
        EXPECT_THAT(found(), ElementsAre());
        for (const Report& report : reports_) ADD_FAILURE() << text_of(report);
    }
};

TEST_F(Clean, TreeReductionInSharedMemory) {
    load(R"(extern "C" __global__ void k(const float* in, float* out) {
        extern __shared__ float part[];
        part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
        __syncthreads();
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[blockIdx.x] = part[0];
    })");
    std::vector<float> in(512, 1.0f), out(2);
    launch("k", {.grid = {2, 1, 1}, .block = {256, 1, 1}, .shared_bytes = 1024}, device(in),
           device(out, false));
    EXPECT_EQ(out[1], 256.0f);
}

TEST_F(Clean, TheLastBlockGathersWhatTheOthersFenced) {
    load(R"(__device__ unsigned done;
    extern "C" __global__ void k(int* parts, int* out) {
        __shared__ bool is_last;
        if (threadIdx.x == 0) {
            parts[blockIdx.x] = blockIdx.x + 1;
            __threadfence();
            is_last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (is_last && threadIdx.x == 0) {
            int sum = 0;
            for (unsigned i = 0; i < gridDim.x; i++) sum += parts[i];
            *out = sum;
        }
    })");
    std::vector<int> parts(20), out(1);
    launch("k", {.grid = {20, 1, 1}, .block = {64, 1, 1}}, device(parts, false), device(out, false));
    EXPECT_EQ(out[0], 210);
}

TEST_F(Clean, ALockAroundACounter) {
    load(R"(__device__ int lock;
    extern "C" __global__ void k(int* counter) {
        if (threadIdx.x == 0) {
            while (atomicCAS(&lock, 0, 1) != 0) {}
            __threadfence();
            *counter += 1;
            __threadfence();
            atomicExch(&lock, 0);
        }
    })");
    std::vector<int> counter(1);
    launch("k", {.grid = {16, 1, 1}, .block = {32, 1, 1}}, device(counter));
    EXPECT_EQ(counter[0], 16);
}

TEST_F(Clean, ProducersAndConsumersAtNamedBarriers) {
    load(R"(extern "C" __global__ void k(int* out) {
        __shared__ int data[32];
        int lane = threadIdx.x % 32;
        if (threadIdx.x < 32) {
            data[lane] = lane * 3;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[lane] = data[31 - lane];
        }
    })");
    std::vector<int> out(32);
    launch("k", {.grid = {1, 1, 1}, .block = {64, 1, 1}}, device(out, false));
    EXPECT_EQ(out[0], 93);
}

TEST_F(Clean, AHistogramOfSharedAtomics) {
    load(R"(extern "C" __global__ void k(const unsigned char* in, unsigned* bins, int n) {
        __shared__ unsigned own[16];
        if (threadIdx.x < 16) own[threadIdx.x] = 0;
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            atomicAdd(&own[in[i] % 16], 1u);
        __syncthreads();
        if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
    })");
    std::vector<unsigned char> in(1000);
    std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
    std::vector<unsigned> bins(16);
    launch("k", {.grid = {3, 1, 1}, .block = {96, 1, 1}}, device(in), device(bins), 1000);
    EXPECT_EQ(std::accumulate(bins.begin(), bins.end(), 0u), 1000u);
}

TEST_F(Clean, AnAdditionByCompareAndSwap) {
    load(R"(extern "C" __global__ void k(double* sum) {
        auto* bits = (unsigned long long*)sum;
        unsigned long long old = *bits, seen;
        do {
            seen = old;
            old = atomicCAS(bits, seen, __double_as_longlong(__longlong_as_double(seen) + 1.0));
        } while (old != seen);
    })");
    std::vector<double> sum(1);
    launch("k", {.grid = {3, 1, 1}, .block = {64, 1, 1}}, device(sum));
    EXPECT_EQ(sum[0], 192.0);
}

TEST_F(Clean, LanesThatWaitForALockMeetTheBarrierOneByOne) {
    load(R"(extern "C" __global__ void k(int* lock, int* out) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        out[0]++;
        __threadfence();
        atomicExch(lock, 0);
        __syncthreads();
        out[1 + threadIdx.x] = 1;
    })");
    std::vector<int> lock(1), out(65);
    launch("k", {.grid = {1, 1, 1}, .block = {64, 1, 1}}, device(lock), device(out));
    EXPECT_EQ(out[0], 64);
}

TEST_F(Clean, NeighbouringBytesOfOneWord) {
    load(R"(extern "C" __global__ void k(unsigned char* out) {
        __shared__ unsigned char own[64];
        own[threadIdx.x] = threadIdx.x;
        out[threadIdx.x] = own[threadIdx.x] + 1;
    })");
    std::vector<unsigned char> out(64);
    launch("k", {.grid = {1, 1, 1}, .block = {64, 1, 1}}, device(out, false));
    EXPECT_EQ(out[63], 64);
}

TEST_F(Clean, ThreadsThatLeaveBeforeTheBarrier) {
    load(R"(extern "C" __global__ void k(int* out, int n) {
        __shared__ int part[64];
        if (threadIdx.x >= n) return;
        part[threadIdx.x] = threadIdx.x;
        __syncthreads();
        out[threadIdx.x] = part[n - 1 - threadIdx.x];
    })");
    std::vector<int> out(64);
    launch("k", {.grid = {1, 1, 1}, .block = {64, 1, 1}}, device(out, false), 40);
    EXPECT_EQ(out[0], 39);
}

TEST_F(Clean, HalvesOfAWarpWithMasksOfTheirOwn) {
    load(R"(extern "C" __global__ void k(int* out) {
        unsigned half = threadIdx.x / 16, mask = 0xffffu << (16 * half);
        int v = threadIdx.x;
        for (int step = 8; step > 0; step /= 2) v += __shfl_xor_sync(mask, v, step, 16);
        if (half) v += __popc(__ballot_sync(mask, v > 0));
        out[threadIdx.x] = v;
    })");
    std::vector<int> out(32);
    launch("k", {}, device(out, false));
    EXPECT_EQ(out[0], 120);
}

}  // namespace
}  // namespace trimtab::emulator::check::test
