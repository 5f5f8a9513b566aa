// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of one warp that give different masks to an instruction that exchanges data among them.
#include <gtest/gtest.h>

#include <bit>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using u32 = std::uint32_t;

constexpr const char* collectives_source = R"(
#define KERNEL extern "C" __global__ void
typedef unsigned u32;

__device__ u32 lanes_below() { u32 mask; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask)); return mask; }
__device__ u32 lanes_up_to() { u32 mask; asm("mov.u32 %0, %%lanemask_le;" : "=r"(mask)); return mask; }

KERNEL scan_masks(u32* out, int n) {
    u32 below = 0, up_to = 0;
    if ((int)threadIdx.x < n) {
        below = __ballot_sync(lanes_below(), threadIdx.x % 3 == 0);
        up_to = __ballot_sync(lanes_up_to(), threadIdx.x % 5 == 0);
    }
    out[2 * threadIdx.x] = below;
    out[2 * threadIdx.x + 1] = up_to;
}

// Groups of `width` lanes, each with its own mask; those of some groups come by different ways.
KERNEL groups(u32* out, u32 width, int apart) {
    u32* o = out + 7 * threadIdx.x;
    u32 mask = (width == 32 ? ~0u : (1u << width) - 1) << (threadIdx.x / width * width);
    u32 x = (threadIdx.x * 2654435761u) >> 28;
    if (apart && threadIdx.x % 7 < 3) x += 16;
    else if (apart && threadIdx.x % 7 == 5) x ^= 5;
    __syncwarp(mask);
    o[0] = __ballot_sync(mask, x & 1);
    o[1] = __any_sync(mask, x == 9);
    o[2] = __all_sync(mask, x != 9);
    o[3] = __match_any_sync(mask, x & 3);
    int all = 0;
    o[4] = __match_all_sync(mask, x & 8, &all) + all;
    asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(o[5]) : "r"(x), "r"(mask));
    asm volatile("{.reg .pred %%p; elect.sync %0|%%p, %1; @%%p add.u32 %0, %0, 100;}" : "=r"(o[6]) : "r"(mask));
}

// The lanes of a group meet at one instruction while other groups are elsewhere, or long gone.
KERNEL groups_in_turn(u32* out) {
    u32 group = threadIdx.x / 8, mask = 0xffu << (group * 8), sum = 0;
    for (u32 i = 0; i <= group; i++) {
        if ((threadIdx.x + i) % 2) sum += 1;
        else sum += 100;
        sum += __popc(__ballot_sync(mask, (threadIdx.x + i) % 2));
    }
    out[threadIdx.x] = sum;
}

// Lanes 0 to 3 have all of their group there and wait for nobody else; lanes 4 to 7 need those who wait for them.
KERNEL whole_and_part(u32* out, volatile u32* flag) {
    u32 mask = threadIdx.x < 4 ? 0xfu : 0xf0u;
    if (threadIdx.x < 6) {
        out[threadIdx.x] = __ballot_sync(mask, 1);
        if (threadIdx.x == 0) *flag = 1;
    } else {
        while (*flag == 0) {}
        out[threadIdx.x] = __ballot_sync(mask, 1);
    }
}
)";

class Collectives : public ::testing::Test {
  protected:
    void SetUp() override {
        program_ =
            load(compile_cuda(collectives_source, "-O1 --no-cuda-gpu-arch=sm_75 --cuda-gpu-arch=sm_90"));
        ASSERT_NE(program_, nullptr);
    }
    template <class... T>
    std::vector<u32> output(std::string_view kernel, std::size_t words, unsigned threads,
                            const T&... arguments) {
        std::vector<u32> out(words);
        HostMemory memory;
        run(*program_, memory, kernel, {{1, 1, 1}, {threads, 1, 1}},
            Parameters(memory.add(out), arguments...));
        return out;
    }
    std::shared_ptr<Program> program_;
};

TEST_F(Collectives, MasksThatLeaveTheLaneOutAnswerForThoseThatAreThere) {
    for (const int n : {32, 20, 1}) {
        u32 thirds = 0, fifths = 0;
        for (int i = 0; i < n; i++) {
            if (i % 3 == 0) thirds |= 1u << i;
            if (i % 5 == 0) fifths |= 1u << i;
        }
        const auto out = output("scan_masks", 64, 32, n);
        for (int lane = 0; lane < 32; lane++) {
            EXPECT_EQ(out[2 * lane], lane < n ? thirds : 0) << lane << " of " << n;
            EXPECT_EQ(out[2 * lane + 1], lane < n ? fifths : 0) << lane << " of " << n;
        }
    }
}

TEST_F(Collectives, GroupsActEachForItself) {
    for (const u32 width : {1u, 2u, 4u, 8u, 16u, 32u}) {
        for (const int apart : {0, 1}) {
            const auto out = output("groups", 7 * 32, 32, width, apart);
            u32 x[32];
            for (u32 i = 0; i < 32; i++) {
                x[i] = (i * 2654435761u) >> 28;
                if (apart && i % 7 < 3)
                    x[i] += 16;
                else if (apart && i % 7 == 5)
                    x[i] ^= 5;
            }
            for (u32 lane = 0; lane < 32; lane++) {
                const u32 first = lane / width * width;
                u32 mask = 0, odd = 0, same = 0, eights = 0, sum = 0;
                bool any = false;
                for (u32 i = first; i < first + width; i++) {
                    mask |= 1u << i;
                    odd |= (x[i] & 1) << i;
                    any = any || x[i] == 9;
                    if ((x[i] & 3) == (x[lane] & 3)) same |= 1u << i;
                    if ((x[i] & 8) == (x[lane] & 8)) eights |= 1u << i;
                    sum += x[i];
                }
                const u32* o = out.data() + std::size_t{7} * lane;
                EXPECT_EQ(o[0], odd) << lane << " of " << width;
                EXPECT_EQ(o[1], any) << lane << " of " << width;
                EXPECT_EQ(o[2], !any) << lane << " of " << width;
                EXPECT_EQ(o[3], same) << lane << " of " << width;
                EXPECT_EQ(o[4], eights == mask ? mask + 1 : 0) << lane << " of " << width;
                EXPECT_EQ(o[5], sum) << lane << " of " << width;
                EXPECT_EQ(o[6], lane == first ? first + 100 : first) << lane << " of " << width;
            }
        }
    }
}

TEST_F(Collectives, GroupsThatGoOnWithoutOthers) {
    const auto out = output("groups_in_turn", 32, 32);
    for (u32 lane = 0; lane < 32; lane++) {
        u32 sum = 0;
        for (u32 i = 0; i <= lane / 8; i++) sum += ((lane + i) % 2 != 0 ? 1 : 100) + 4;
        EXPECT_EQ(out[lane], sum) << lane;
    }
}

TEST_F(Collectives, AGroupThatIsWholeDoesNotWaitForAnother) {
    std::vector<u32> flag(1);
    std::vector<u32> out(8);
    HostMemory memory;
    run(*program_, memory, "whole_and_part", {{1, 1, 1}, {8, 1, 1}},
        Parameters(memory.add(out), memory.add(flag)));
    for (u32 lane = 0; lane < 8; lane++) {
        // Lanes 4 and 5 stand at another instruction than 6 and 7: each pair is done without the other.
        const u32 there = lane < 4 ? 0xfu : (lane < 6 ? 0x30u : 0xc0u);
        EXPECT_EQ(out[lane], there) << lane;
    }
}

}  // namespace
}  // namespace trimtab::emulator::test
