// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses of shared and local memory have 32 bits (PTX ISA, "Addresses as Operands"): a register of 64 is
// truncated, so that an index below zero may be an unsigned one. Generic addresses keep their 64.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using testing::HasSubstr;
using u32 = std::uint32_t;

// Lane i writes and reads place i of `data`, which is 16 bytes apart from the start of its space, by %rd5:
// 2^34 too large in lane 0, 2^32 too large in odd lanes.
std::shared_ptr<Program> kernel(const std::string& space, const std::string& body) {
    return load(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out) {
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b128 %q<3>;
.)" + space + R"( .align 16 .b8 before[16];
.)" + space + R"( .align 16 .b8 data[1024];
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
sub.u32 %r2, %r1, 1; mul.wide.u32 %rd4, %r2, 16; and.b32 %r3, %r1, 1; cvt.u64.u32 %rd6, %r3;
shl.b64 %rd6, %rd6, 32; mov.u64 %rd5, data; add.u64 %rd5, %rd5, %rd4; add.u64 %rd5, %rd5, %rd6;
add.u32 %r4, %r1, 100;
)" + body + R"(
st.global.u32 [%rd2], %r5;
ret;
})");
}

std::expected<LaunchResult, Fault> try_on(Program& program, std::vector<u32>& out, bool counted) {
    HostMemory memory;
    std::vector<u32> in(64);
    for (u32 i = 0; i < 64; i++) in[i] = i + 100;
    out.assign(64, 0);
    CountingPlan plan;
    plan.count = counted;
    return try_run(program, memory, "test", {{1, 1, 1}, {64, 1, 1}},
                   Parameters(memory.add(in), memory.add(out)), plan);
}

struct NarrowAccess {
    const char* space;
    const char* body;
    std::function<u32(u32)> result = [](u32 i) { return i + 100; };
};

const NarrowAccess accesses[] = {
    {"shared", "st.shared.u32 [%rd5+16], %r4; ld.shared.u32 %r5, [%rd5+16];"},
    {"shared", "st.volatile.shared.u32 [%rd5+16], %r4; ld.volatile.shared.u32 %r5, [%rd5+16];"},
    {"shared", "st.shared.v4.u32 [%rd5+16], {%r1, %r4, %r1, %r1}; ld.shared.v2.u32 {%r6, %r5}, [%rd5+16];"},
    {"shared",
     "mov.b64 %rd7, {%r1, %r1}; mov.b64 %rd8, {%r4, %r1}; mov.b128 %q1, {%rd7, %rd8};"
     "st.shared.b128 [%rd5+16], %q1; ld.shared.b128 %q2, [%rd5+16]; mov.b128 {%rd7, %rd8}, %q2; cvt.u32.u64 "
     "%r5, %rd8;"},
    {"shared",
     "@%p1 st.shared.u32 [%rd5+16], %r1; st.shared.u32 [%rd5+16], %r4; setp.gt.u32 %p1, %r1, 3; mov.u32 %r5, "
     "7;"
     "@%p1 ld.shared.u32 %r5, [%rd5+16];",
     [](u32 i) { return i > 3 ? i + 100 : 7; }},
    {"shared",
     "st.shared.u32 [%rd5+16], %r4; atom.shared.add.u32 %r6, [%rd5+16], 7; ld.shared.u32 %r5, [%rd5+16];",
     [](u32 i) { return i + 107; }},
    {"shared",
     "st.shared.u32 [%rd5+16], %r4; red.shared.max.u32 [%rd5+16], 120; ld.shared.u32 %r5, [%rd5+16];",
     [](u32 i) { return std::max(i + 100, 120u); }},
    {"shared", "st.shared.u32 [%rd5+16], %r4; atom.shared.cas.b32 %r5, [%rd5+16], %r4, 1;"},
    {"shared",
     "cp.async.ca.shared.global [%rd5+16], [%rd1], 4; cp.async.wait_all; ld.shared.u32 %r5, [%rd5+16];"},
    {"shared",
     "mbarrier.init.shared.b64 [%rd5+16], 1; mbarrier.arrive.shared.b64 %rd7, [%rd5+16];"
     "mbarrier.test_wait.shared.b64 %p1, [%rd5+16], %rd7; selp.b32 %r5, %r4, 0, %p1;"},
    {"shared",
     "mov.u64 %rd8, before; add.u64 %rd8, %rd8, 8589934592; setp.eq.u32 %p1, %r1, 0;"
     "@%p1 mbarrier.init.shared.b64 [%rd8], 1; bar.sync 0; and.b64 %rd1, %rd1, -16;"
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%rd8], 16;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd5+16], [%rd1], 16, [%rd8];"
     "and.b32 %r3, %r1, 3; mul.wide.u32 %rd4, %r3, 4; add.u64 %rd5, %rd5, %rd4; ld.shared.u32 %r5, "
     "[%rd5+16];"},
    {"local", "st.local.u32 [%rd5+16], %r4; ld.local.u32 %r5, [%rd5+16];"},
    {"local", "st.local.v2.u32 [%rd5+16], {%r1, %r4}; ld.local.v4.u32 {%r6, %r5, %r7, %r8}, [%rd5+16];"},
};

TEST(AddressWidth, WhatARegisterHasAbove32BitsDoesNotCount) {
    for (const NarrowAccess& access : accesses) {
        const auto program = kernel(access.space, access.body);
        ASSERT_NE(program, nullptr) << access.body;
        for (const bool counted : {false, true}) {
            std::vector<u32> out;
            const auto result = try_on(*program, out, counted);
            ASSERT_TRUE(result) << access.body << ": " << result.error().message;
            for (u32 i = 0; i < 64; i++) EXPECT_EQ(out[i], access.result(i)) << access.body << " by " << i;
        }
    }
}

TEST(AddressWidth, RequestsAreCountedWhereTheyGo) {
    const auto requests = [](const std::string& body) {
        const auto program = kernel("shared", body);
        std::vector<u32> out;
        const auto result = try_on(*program, out, true);
        EXPECT_TRUE(result) << body;
        std::uint64_t wavefronts = 0;
        if (!result) return wavefronts;
        for (const InstructionCount& one : result->counters.instructions) wavefronts += one.wavefronts;
        return wavefronts;
    };
    const std::uint64_t wide = requests("st.shared.u32 [%rd5+16], %r4; mov.u32 %r5, 1;");
    EXPECT_EQ(
        wide,
        requests("cvt.u32.u64 %r6, %rd5; add.u32 %r6, %r6, 16; st.shared.u32 [%r6], %r4; mov.u32 %r5, 1;"));
    EXPECT_EQ(wide, 2 * 4u) << "sixteen bytes apart: four lanes a bank";
}

TEST(AddressWidth, ANarrowAddressWrapsAround) {
    const auto program = kernel("shared", R"(
cvt.u32.u64 %r6, %rd5; sub.u32 %r6, %r6, 4000; st.shared.u32 [%r6+4016], %r4; ld.shared.u32 %r5, [%r6+4016];)");
    std::vector<u32> out;
    ASSERT_TRUE(try_on(*program, out, false));
    for (u32 i = 0; i < 64; i++) EXPECT_EQ(out[i], i + 100);
}

TEST(AddressWidth, WhatIsOutsideIsAFault) {
    struct Wrong {
        const char *space, *body, *what;
    };
    for (const auto& [space, body, what] :
         {Wrong{"shared", "st.shared.u32 [%rd5-16], %r4;",
                "byte -16 of 1040 bytes of shared memory) by thread (0,0,0)"},
          Wrong{"shared", "st.shared.u32 [%rd5+1024], %r4;",
                "byte 1040 of 1040 bytes of shared memory) by thread (1,0,0)"},
          Wrong{"local", "st.local.u32 [%rd5-16], %r4;", "bytes of local memory here"},
          Wrong{"shared", "cvta.shared.u64 %rd7, %rd5; st.u32 [%rd7+16], %r4;", "illegal address 0x"},
          Wrong{"local",
                "mov.u64 %rd7, data; cvta.local.u64 %rd7, %rd7; add.u64 %rd7, %rd7, %rd4; st.u32 [%rd7+16], "
                "%r4;",
                "illegal address 0x"}}) {
        const auto program = kernel(space, body);
        ASSERT_NE(program, nullptr);
        std::vector<u32> out;
        const auto result = try_on(*program, out, false);
        ASSERT_FALSE(result) << body;
        EXPECT_EQ(result.error().kind, Fault::Kind::illegal_address) << body;
        EXPECT_THAT(result.error().message, HasSubstr(what));
    }
}

// As clang has it, for an index that wraps around in 32 bits and is then extended.
TEST(AddressWidth, AnUnsignedIndexBelowZero) {
    for (const char* flags : {"-O3", "-O1"}) {
        const auto program = load(compile_cuda(R"(
extern "C" __global__ void k(int* out, const int* in, unsigned shift) {
    __shared__ int padded[100];
    int* s = padded + shift;
    s[threadIdx.x - shift] = in[threadIdx.x];
    s[threadIdx.x - shift + 64] = 1000;
    __syncthreads();
    atomicAdd(&s[threadIdx.x - shift], 5);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x - shift] + s[threadIdx.x + 1 - shift];
})",
                                               flags));
        ASSERT_NE(program, nullptr);
        HostMemory memory;
        std::vector<int> out(32), in(32);
        for (int i = 0; i < 32; i++) in[i] = 10 * i;
        run(*program, memory, "k", {}, Parameters(memory.add(out), memory.add(in), u32{3}));
        for (int i = 0; i < 31; i++) EXPECT_EQ(out[i], 10 * i + 5 + 10 * (i + 1) + 5) << flags << ' ' << i;
    }
}

}  // namespace
}  // namespace trimtab::emulator::test
