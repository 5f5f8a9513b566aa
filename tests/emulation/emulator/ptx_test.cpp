// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX by hand: what compilers write rarely, and addresses that no kernel should use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

constexpr const char* source = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry table_branch(.param .u64 out) {
    .reg .b32 %r<5>; .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    rem.u32 %r2, %r1, 3;
    ts: .branchtargets A, B, C;
    brx.idx %r2, ts;
A:  mov.u32 %r3, 100; bra DONE;
B:  add.u32 %r3, %r1, 200; bra DONE;
C:  mul.lo.u32 %r3, %r1, 3;
DONE:
    activemask.b32 %r4;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r1, 8, %rd1;
    st.global.v2.u32 [%rd2], {%r3, %r4};
    ret;
}
.visible .entry past_table(.param .u64 out) {
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    ts: .branchtargets A, B;
    brx.idx %r1, ts;
A:  ret;
B:  ret;
}
.visible .entry async_copy(.param .u64 in, .param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<6>; .shared .align 16 .b8 s[512];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
    mad.wide.u32 %rd3, %r1, 16, %rd1;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 16, %r2;
    and.b32 %r4, %r1, 1;
    mul.lo.u32 %r4, %r4, 8;
    add.u32 %r4, %r4, 8;
    cp.async.cg.shared.global [%r3], [%rd3], 16, %r4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
    mad.wide.u32 %rd4, %r1, 16, %rd2;
    st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};
    ret;
}
.visible .entry packing(.param .u64 out) {
    .reg .b16 %h<6>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
    mov.b32 {%h1, %h2}, 0x00070003;
    mov.b64 %rd1, {%h2, %h1, %h2, %h1};
    mov.b64 {%r2, _}, %rd1;
    mov.b64 {_, %r3}, %rd1;
    mov.b64 %rd2, {%r3, %r1};
    redux.sync.add.u32 %r4, %r1, 0xffffffff;
    redux.sync.max.s32 %r5, %r1, 0xffffffff;
    elect.sync %r6|%p1, 0xffffffff;
    selp.b32 %r7, 1, 0, %p1;
    ld.param.u64 %rd3, [out];
    mad.wide.u32 %rd4, %r1, 32, %rd3;
    st.global.v2.b32 [%rd4], {%r2, %r3};
    st.global.b64 [%rd4+8], %rd2;
    st.global.v4.b32 [%rd4+16], {%r4, %r5, %r6, %r7};
    ret;
}
.visible .entry guarded(.param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 16;
    mov.u32 %r2, 7;
    @%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffff;
    @!%p1 bar.sync 1, 32;
    @%p1 bar.sync 1, 32;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    @%p1 st.global.u32 [%rd2], %r2;
    setp.eq.u32 %p2, %r1, 20;
    @%p2 st.global.u32 [%rd2], 55;
    @%p1 exit;
    setp.eq.u32 %p2, %r1, 21;
    @%p2 st.global.u32 [%rd2], 66;
    ret;
}
.visible .entry half_atomics(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .b16 %h<3>;
    ld.param.u64 %rd1, [out];
    mov.b32 %r1, 0x40003c00;
    red.global.add.noftz.f16x2 [%rd1], %r1;
    mov.b16 %h1, 0;
    mov.b16 %h2, 9;
    atom.global.cas.b16 %h1, [%rd1+4], %h1, %h2;
    ret;
}
// Any address, in any space.
.visible .entry wild(.param .u64 addresses, .param .u32 kind) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p; .shared .b8 s[64]; .local .b8 l[64];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [addresses]; ld.param.u32 %r2, [kind];
    mad.wide.u32 %rd2, %r1, 8, %rd1;
    ld.global.u64 %rd3, [%rd2];
    ts: .branchtargets K0, K1, K2, K3, K4, K5, K6, K7;
    brx.idx %r2, ts;
K0: ld.u32 %r3, [%rd3]; ret;
K1: st.u32 [%rd3], %r1; ret;
K2: ld.shared.u32 %r3, [%rd3]; ret;
K3: st.local.u32 [%rd3], %r1; ret;
K4: ld.const.u32 %r3, [%rd3]; ret;
K5: atom.add.u32 %r3, [%rd3], 1; ret;
K6: ld.param.u32 %r3, [%rd3]; ret;
K7: ld.global.v4.u32 {%r3, _, _, _}, [%rd3+2147483647]; ret;
}
)";

class HandWritten : public testing::Test {
  protected:
    void SetUp() override {
        program_ = load(source);
        ASSERT_NE(program_, nullptr);
    }
    std::shared_ptr<Program> program_;
    HostMemory memory_;
};

TEST_F(HandWritten, BranchTables) {
    std::vector<unsigned> out(64);
    run(*program_, memory_, "table_branch", {}, Parameters(memory_.add(out)));
    for (unsigned i = 0; i < 32; i++) {
        const unsigned expected[] = {100, i + 200, 3 * i};
        EXPECT_EQ(out[2 * i], expected[i % 3]);
        EXPECT_EQ(out[2 * i + 1], ~0u);  // the lanes are together again
    }
    const auto past = try_run(*program_, memory_, "past_table", {}, Parameters(out.data()));
    ASSERT_FALSE(past);
    EXPECT_THAT(past.error().message,
                testing::HasSubstr("branch table index 2 is past its 2 targets by thread (2,0,0)"));
}

TEST_F(HandWritten, AsynchronousCopiesFillUpWithZeros) {
    std::vector<unsigned> in(128), out(128);
    std::iota(in.begin(), in.end(), 1u);
    run(*program_, memory_, "async_copy", {}, Parameters(memory_.add(in), memory_.add(out)));
    for (unsigned i = 0; i < 128; i++) EXPECT_EQ(out[i], i / 4 % 2 == 1 || i % 4 < 2 ? i + 1 : 0) << i;
}

TEST_F(HandWritten, PacksReductionsAndElections) {
    std::vector<unsigned> out(256);
    run(*program_, memory_, "packing", {}, Parameters(memory_.add(out)));
    for (unsigned i = 0; i < 32; i++) {
        const std::vector<unsigned> own(out.begin() + 8 * i, out.begin() + 8 * i + 8);
        EXPECT_EQ(own, (std::vector<unsigned>{0x00030007, 0x00030007, 0x00030007, i, 496, 31, 0, i == 0}));
    }
}

TEST_F(HandWritten, GuardsOnWhatWaits) {
    std::vector<unsigned> out(32);
    run(*program_, memory_, "guarded", {}, Parameters(memory_.add(out)));
    for (unsigned i = 0; i < 32; i++)
        EXPECT_EQ(out[i], i < 16 ? i ^ 1 : (i == 20 ? 55 : (i == 21 ? 66 : 0))) << i;
}

TEST_F(HandWritten, AtomicsOnHalves) {
    std::vector<unsigned> out(2);
    run(*program_, memory_, "half_atomics", {}, Parameters(memory_.add(out)));
    EXPECT_EQ(out[0], 0x54005000u);  // 32 times 1 and 32 times 2: 32 and 64
    EXPECT_EQ(out[1], 9u);
}

// Whatever the address, the launch succeeds or faults; it reads and writes nothing else (a sanitizer sees
// it).
TEST_F(HandWritten, WildAddressesAreFaultsOrMemory) {
    std::mt19937_64 random(7);
    std::vector<std::uint64_t> addresses(32), data(64);
    std::uint64_t* place = memory_.add(addresses);
    const auto allocation = reinterpret_cast<std::uint64_t>(memory_.add(data));
    unsigned faults = 0, finished = 0;
    for (int i = 0; i < 4000; i++) {
        const std::uint64_t bases[] = {0,
                                       allocation,
                                       allocation + 512,
                                       std::uint64_t{1} << 47,
                                       (std::uint64_t{1} << 47) + (std::uint64_t{1} << 32),
                                       (std::uint64_t{1} << 47) + (std::uint64_t{2} << 32),
                                       (std::uint64_t{1} << 47) + (std::uint64_t{3} << 32),
                                       ~std::uint64_t{0} - 40,
                                       random()};
        const std::uint64_t base = bases[random() % 9], spread = random() % 3;
        for (std::uint32_t lane = 0; lane < 32; lane++) {
            addresses[lane] = base + (spread == 0 ? 0 : spread == 1 ? 4 * lane : random() % 80);
            if (random() % 4 != 0) addresses[lane] &= ~std::uint64_t{3};
            if (random() % 64 == 0) addresses[lane] = bases[random() % 9];
        }
        const CountingPlan plan{i % 2 == 0, i % 4 == 0, {}};
        const auto result = try_run(*program_, memory_, "wild",
                                    {{1, 1, 1}, {static_cast<std::uint32_t>(1 + random() % 32), 1, 1}},
                                    Parameters(place, static_cast<std::uint32_t>(random() % 8)), plan);
        if (result) {
            finished++;
            continue;
        }
        faults++;
        EXPECT_TRUE(result.error().kind == Fault::Kind::illegal_address ||
                    result.error().kind == Fault::Kind::misaligned_address)
            << result.error().message;
    }
    EXPECT_GT(faults, 1000u);
    EXPECT_GT(finished, 100u);
}

// The first warp's value is not the next one's.
TEST(Interpreted, RegistersAreZeroUntilCodeWritesThem) {
    const auto program = load(R"(.version 8.6
.target sm_75
.address_size 64
.visible .entry keep(.param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 mov.u32 %r2, 7;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r2;
    ret;
})");
    ASSERT_NE(program, nullptr);
    std::vector<std::uint32_t> out(96, 1);
    HostMemory memory;
    const Parameters parameters(memory.add(out));
    LaunchRequest request;
    request.kernel = "keep";
    request.block = {96, 1, 1};
    request.parameters = parameters.bytes();
    request.threads = 1;
    request.is_interpreted = true;
    ASSERT_TRUE(launch(*program, memory, request));
    for (std::size_t i = 0; i < out.size(); i++) EXPECT_EQ(out[i], i < 32 ? 7u : 0u) << i;
}

}  // namespace
}  // namespace trimtab::emulator::test
