// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One small defect a test: it is found, once, where it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/emulation/emulator/check/fixture.h"

namespace trimtab::emulator::check::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Triple = std::array<std::uint32_t, 3>;

TEST_F(Checked, PastTheEndOfAnAllocation) {
    load(R"(extern "C" __global__ void k(int* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i <= n) out[i] = i;
    })");
    std::vector<int> out(100);
    launch("k", {{4, 1, 1}, {32, 1, 1}}, device(out), 100);
    EXPECT_TRUE(faulted_);
    EXPECT_EQ(only_report().kind, "out of bounds");
    EXPECT_EQ(only_report().access.block, (Triple{3, 0, 0}));
    EXPECT_EQ(only_report().access.thread, (Triple{4, 0, 0}));
    EXPECT_EQ(only_report().allocation_bytes, 400u);
    EXPECT_FALSE(only_report().allocated.empty());
    EXPECT_THAT(found(), ElementsAre("memory: out of bounds at 3"));
}

TEST_F(Checked, UseAfterFree) {
    load(R"(extern "C" __global__ void k(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; })");
    std::vector<int> in(32), out(32);
    const int* const gone = device(in);
    device(out);
    checker_->released(gone);
    memory_.clear();
    memory_.add(out);
    launch("k", {}, gone, out.data());
    EXPECT_EQ(only_report().kind, "use after free");
    EXPECT_EQ(only_report().allocation_bytes, 128u);
    EXPECT_FALSE(only_report().freed.empty());
}

TEST_F(Checked, BetweenTwoVariablesOfAModule) {
    load(R"(__device__ int first[5]; __device__ int second[5];
        extern "C" __global__ void k(int* out, int at) { out[0] = first[at] + second[at]; })");
    std::vector<int> out(1);
    launch("k", {{1, 1, 1}, {1, 1, 1}}, device(out), 4);
    EXPECT_THAT(found(), ElementsAre());
    launch("k", {{1, 1, 1}, {1, 1, 1}}, out.data(), 5);
    EXPECT_TRUE(faulted_);
    EXPECT_THAT(only_report().text, HasSubstr("first"));
}

TEST_F(Checked, WhatTheDeviceHeapHasTakenBack) {
    load(R"(extern "C" __global__ void k(int* out) {
        int* data = (int*)malloc(40);
        data[9] = 7;
        out[0] = data[9];
        free(data);
        out[1] = *(volatile int*)(data + 9);
    })");
    std::vector<int> out(2);
    launch("k", {{1, 1, 1}, {1, 1, 1}}, device(out));
    EXPECT_EQ(out[0], 7);
    EXPECT_THAT(found(), ElementsAre("memory: out of bounds at 6"));
}

TEST_F(Checked, Misaligned) {
    load(R"(extern "C" __global__ void k(char* out) { *(volatile int*)(out + 2) = 1; })");
    std::vector<int> out(2);
    launch("k", {{1, 1, 1}, {1, 1, 1}}, device(out));
    EXPECT_THAT(found(), ElementsAre("memory: misaligned address at 1"));
}

constexpr const char* reverse = R"(
extern "C" __global__ void k(const int* in, int* out, int barrier) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (barrier) __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
})";

TEST_F(Checked, ABarrierThatIsMissing) {
    load(reverse);
    std::vector<int> in(64, 3), out(64);
    launch("k", {{1, 1, 1}, {64, 1, 1}}, device(in), device(out), 1);
    EXPECT_THAT(found(), ElementsAre());
    launch("k", {{1, 1, 1}, {64, 1, 1}}, in.data(), out.data(), 0);
    // Whoever runs first reads what is not yet written, or overwrites what was read.
    bool has_race = false;
    for (const Report& report : reports_) {
        if (report.check != "race") continue;
        has_race = true;
        EXPECT_THAT(report.text, HasSubstr("no barrier between the warps"));
        ASSERT_EQ(report.other.size(), 1u);
        EXPECT_NE(report.other.front().thread[0] / 32, report.access.thread[0] / 32);
    }
    EXPECT_TRUE(has_race);
}

TEST_F(Checked, LanesOfOneWarpWithoutSyncwarp) {
    load(R"(extern "C" __global__ void k(int* out, int sync) {
        __shared__ int tile[32];
        tile[threadIdx.x] = threadIdx.x;
        if (sync) __syncwarp();
        out[threadIdx.x] = tile[31 - threadIdx.x];
    })");
    std::vector<int> out(32);
    launch("k", {}, device(out), 1);
    EXPECT_THAT(found(), ElementsAre());
    launch("k", {}, out.data(), 0);
    EXPECT_THAT(found(), ElementsAre("race: shared-memory race: read after write at 5"));
    EXPECT_THAT(only_report().text, HasSubstr("__syncwarp"));
}

TEST_F(Checked, BlocksThatWriteDifferentValuesToOnePlace) {
    load(R"(extern "C" __global__ void k(int* out, int same) { out[0] = same ? 5 : (int)blockIdx.x + 1; })");
    std::vector<int> out(1);
    launch("k", {{4, 1, 1}, {1, 1, 1}}, device(out), 1);
    EXPECT_THAT(found(), ElementsAre()) << "all write the same";
    launch("k", {{4, 1, 1}, {1, 1, 1}}, out.data(), 0);
    EXPECT_THAT(found(), ElementsAre("race: global-memory race: two writes at 1"));
    EXPECT_EQ(only_report().count, 3u);
}

TEST_F(Checked, ANeighbourOfAnotherBlock) {
    load(R"(extern "C" __global__ void k(int* data, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i + 1 < n) data[i] = data[i + 1] + 1;
    })");
    std::vector<int> data(64);
    launch("k", {{2, 1, 1}, {32, 1, 1}}, device(data), 64);
    ASSERT_FALSE(reports_.empty());
    for (const Report& report : reports_) EXPECT_EQ(report.check, "race");
}

TEST_F(Checked, NeverWritten) {
    load(R"(extern "C" __global__ void k(const int* in, int* out, int n) {
        __shared__ int tile[32];
        if (threadIdx.x < n) tile[threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x];
    })");
    std::vector<int> in(32), out(32);
    const int* const given = device(in, false);
    checker_->filled(given, 120);
    launch("k", {}, given, device(out, false), 32);
    EXPECT_THAT(found(), ElementsAre("init: device memory never written at 3"));
    EXPECT_EQ(only_report().count, 2u) << "the last two of 32";
    EXPECT_EQ(only_report().access.thread[0], 30u);
    EXPECT_THAT(only_report().text, HasSubstr("byte 120 of an allocation of 128 bytes"));
    launch("k", {}, given, out.data(), 20);
    EXPECT_THAT(found(), ElementsAre("init: device memory never written at 3",
                                     "init: shared memory never written at 5"));
}

TEST_F(Checked, ACopyIsAsUndefinedAsItsSource) {
    load(R"(extern "C" __global__ void k(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; })");
    std::vector<int> source(32), copy(32), out(32);
    const int* const given = device(source, false);
    checker_->filled(given, 64);
    const int* const made = device(copy, false);
    checker_->copied(made, given, 128);
    launch("k", {{1, 1, 1}, {16, 1, 1}}, made, device(out));
    EXPECT_THAT(found(), ElementsAre());
    launch("k", {{1, 1, 1}, {32, 1, 1}}, made, out.data());
    EXPECT_EQ(only_report().count, 16u);
}

TEST_F(Checked, ADivergentBarrier) {
    load(R"(extern "C" __global__ void k(int* out) {
        if (threadIdx.x % 2) {
            out[threadIdx.x] = 1;
            __syncthreads();
        } else {
            out[threadIdx.x] = 2;
            __syncthreads();
            out[threadIdx.x]++;
        }
    })",
         "-O0 -gline-tables-only");
    std::vector<int> out(32);
    launch("k", {}, device(out));
    ASSERT_FALSE(reports_.empty());
    EXPECT_EQ(reports_.front().kind, "divergent barrier");
}

TEST_F(Checked, WarpsThatMeetDifferentBarriers) {
    load(R"(extern "C" __global__ void k(int* out) {
        if (threadIdx.x < 32) {
            out[threadIdx.x] = 1;
            __syncthreads();
        } else {
            out[threadIdx.x] = 2;
            __syncthreads();
            out[threadIdx.x]++;
        }
    })",
         "-O0 -gline-tables-only");
    std::vector<int> out(64);
    launch("k", {{1, 1, 1}, {64, 1, 1}}, device(out));
    EXPECT_EQ(only_report().kind, "divergent barrier");
    EXPECT_EQ(only_report().other.size(), 1u);
}

// Half of each warp meets the barrier; the others do something else, or nothing more.
TEST_F(Checked, ABarrierForSomeLanesOfAWarp) {
    load(R"(extern "C" __global__ void goes_on(int* out) {
        __shared__ int tile[64];
        tile[threadIdx.x] = threadIdx.x;
        if (threadIdx.x & 1) __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x];
    }
    extern "C" __global__ void ends(int* out) {
        if (threadIdx.x & 1) {
            __syncthreads();
            out[threadIdx.x] = 1;
        }
    }
    extern "C" __global__ void past_the_end(int* out, int n) {
        if (threadIdx.x < n) __syncthreads();
        else out[threadIdx.x] = 1;
    })");
    std::vector<int> out(64);
    int* const given = device(out);
    launch("goes_on", {{1, 1, 1}, {64, 1, 1}}, given);
    EXPECT_THAT(found(), ElementsAre("sync: divergent barrier at 4"));
    EXPECT_EQ(only_report().text,
              "16 of the warp's lanes end without reaching barrier 0, where 16 others wait");
    EXPECT_EQ(only_report().access.thread, (Triple{1, 0, 0}));
    EXPECT_EQ(only_report().count, 2u) << "in both warps";
    launch("ends", {{1, 1, 1}, {64, 1, 1}}, given);
    EXPECT_THAT(found(), ElementsAre("sync: divergent barrier at 4", "sync: divergent barrier at 9"));
    launch("past_the_end", {{1, 1, 1}, {64, 1, 1}}, given, 40);
    EXPECT_THAT(found(), ElementsAre("sync: divergent barrier at 14", "sync: divergent barrier at 4",
                                     "sync: divergent barrier at 9"));
}

TEST_F(Checked, ThreadsPastTheEndMayReturnBeforeABarrier) {
    load(R"(extern "C" __global__ void k(int* out, int width, int height) {
        __shared__ int sum;
        sum = 0;
        __syncthreads();
        if (threadIdx.x >= width || threadIdx.y >= height) return;
        atomicAdd(&sum, 1);
        __syncthreads();
        out[threadIdx.y * 16 + threadIdx.x] = sum;
    })");
    std::vector<int> out(256);
    launch("k", {{1, 1, 1}, {16, 16, 1}}, device(out), 11, 13);
    EXPECT_THAT(found(), ElementsAre());
    EXPECT_EQ(out[0], 143);
}

TEST_F(Checked, MasksThatDiffer) {
    load(R"(extern "C" __global__ void k(unsigned* out, unsigned width) {
        unsigned below, up_to;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        asm("mov.u32 %0, %%lanemask_le;" : "=r"(up_to));
        unsigned r = __ballot_sync(((1u << width) - 1) << threadIdx.x / width * width, 1);
        if (width == 8) r += __ballot_sync(below, 1);
        if (width == 4) r += __ballot_sync(up_to, 1);
        out[threadIdx.x] = r;
    })");
    std::vector<unsigned> out(32);
    unsigned* const given = device(out);
    launch("k", {}, given, 16u);
    EXPECT_THAT(found(), ElementsAre()) << "groups, each with its own mask";
    launch("k", {}, given, 8u);
    EXPECT_THAT(found(), ElementsAre("sync: lane outside its mask at 6"));
    launch("k", {}, given, 4u);
    EXPECT_THAT(found(),
                ElementsAre("sync: different masks in one warp at 7", "sync: lane outside its mask at 6"));
}

TEST_F(Checked, AnIndexBelowZeroIsOutsideUnlessTheArrayBeginsLater) {
    load(R"(extern "C" __global__ void k(int* out, unsigned shift) {
        __shared__ volatile int tile[33];
        (tile + shift)[threadIdx.x - 1] = 1;
        out[threadIdx.x] = 1;
    })");
    std::vector<int> out(32);
    int* const given = device(out);
    launch("k", {}, given, 1u);
    EXPECT_THAT(found(), ElementsAre());
    launch("k", {}, given, 0u);
    EXPECT_THAT(found(), ElementsAre("memory: out of bounds at 3"));
    EXPECT_THAT(only_report().text, HasSubstr("byte -4 of 132 bytes of shared memory"));
}

TEST_F(Checked, WhatTheCompilersHeadersDoIsTheCallers) {
    load(R"(__device__ void add(int* to) {
        atomicAdd(to, 1);
    }
    extern "C" __global__ void k(int* out) {
        add(out + threadIdx.x + 1);
    })");
    std::vector<int> out(32);
    launch("k", {}, device(out));
    EXPECT_THAT(found(), ElementsAre("memory: out of bounds at 2"));
    EXPECT_THAT(only_report().access.source, testing::EndsWith("kernels.cu:2"));
}

TEST_F(Checked, CollectivesWithTheWrongMask) {
    load(R"(extern "C" __global__ void k(int* out, unsigned mask) {
        int v = threadIdx.x;
        if (v < 16) v = __shfl_xor_sync(mask, v, 1);
        out[threadIdx.x] = v;
    })");
    std::vector<int> out(32);
    launch("k", {}, device(out), 0xffffu);
    EXPECT_THAT(found(), ElementsAre());
    launch("k", {}, out.data(), 0xffu);
    EXPECT_EQ(only_report().kind, "lane outside its mask");
    EXPECT_EQ(only_report().count, 8u);
}

TEST_F(Checked, WhatIsNotAskedForIsNotChecked) {
    checker_ = std::make_unique<Checker>(Checks{.memory = true, .race = false, .init = false, .sync = true});
    load(reverse);
    std::vector<int> in(64), out(64);
    launch("k", {{1, 1, 1}, {64, 1, 1}}, device(in, false), device(out, false), 0);
    EXPECT_THAT(found(), ElementsAre());
}

}  // namespace
}  // namespace trimtab::emulator::check::test
