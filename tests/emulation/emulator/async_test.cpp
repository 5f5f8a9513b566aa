// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers in shared memory, copies that run by themselves, stacks that grow, and atomics on more than a
// word.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::shared_ptr<Program> kernel(const std::string& body, const std::string& declarations = "") {
    return load(R"(.version 8.6
.target sm_90
.address_size 64
)" + declarations +
                R"(
.visible .entry test(.param .u64 in, .param .u64 out) {
.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<24>; .reg .b128 %q<6>;
.shared .align 16 .b8 data[4096]; .shared .align 8 .b64 bar;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r3, data; mov.u32 %r15, %ntid.x;
mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
)" + body + "\nret;\n}");
}

constexpr const char* make_barrier =
    "setp.eq.u32 %p0, %r1, 0;\n@%p0 mbarrier.init.shared.b64 [%r2], %r15;\nbar.sync 0;\n";

// Each thread hands a word to one of another warp, over and over.
TEST(Mbarrier, WarpsWaitForOneAnother) {
    for (const std::string wait : {"mbarrier.test_wait.shared.b64 %p1, [%r2], %rd6;",
                                   "mbarrier.try_wait.shared.b64 %p1, [%r2], %rd6, 100;",
                                   "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], %r10;"}) {
        const auto program = kernel(std::string(make_barrier) + R"(
mov.u32 %r4, 0; mov.u32 %r5, %r1; mov.u32 %r10, 0;
shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r3;
add.u32 %r7, %r1, 40; rem.u32 %r7, %r7, %r15; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r3;
again:
st.shared.u32 [%r6], %r5;
mbarrier.arrive.shared.b64 %rd6, [%r2];
wait: )" + wait + R"(
@!%p1 bra wait;
xor.b32 %r10, %r10, 1;
ld.shared.u32 %r5, [%r7]; add.u32 %r5, %r5, 1;
bar.sync 0;
add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 6; @%p2 bra again;
st.global.u32 [%rd5], %r5;)");
        ASSERT_NE(program, nullptr);
        HostMemory memory;
        std::vector<u32> out(96), in(96);
        run(*program, memory, "test", {{1, 1, 1}, {96, 1, 1}}, Parameters(memory.add(in), memory.add(out)));
        for (u32 i = 0; i < 96; i++) EXPECT_EQ(out[i], (i + 6 * 40) % 96 + 6) << wait;
    }
}

TEST(Mbarrier, CountsDropAndPhasesTurn) {
    const auto program = kernel(R"(
mov.u32 %r4, 3;
mbarrier.init.shared.b64 [%r2], %r4;
mbarrier.arrive.shared.b64 %rd6, [%r2];
mbarrier.pending_count.b64 %r5, %rd6; st.global.u32 [%rd2], %r5;
mbarrier.arrive_drop.shared.b64 %rd6, [%r2];
mbarrier.pending_count.b64 %r5, %rd6; st.global.u32 [%rd2+4], %r5;
mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd2+8], %r5;
mbarrier.arrive.shared.b64 _, [%r2], 1;
mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd2+12], %r5;
mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 1; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd2+16], %r5;
mbarrier.arrive.shared.b64 %rd6, [%r2];
mbarrier.pending_count.b64 %r5, %rd6; st.global.u32 [%rd2+20], %r5;
mbarrier.inval.shared.b64 [%r2];)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<u32> out(6, 99), in(1);
    run(*program, memory, "test", {{1, 1, 1}, {1, 1, 1}}, Parameters(memory.add(in), memory.add(out)));
    EXPECT_EQ(out, (std::vector<u32>{3, 2, 0, 1, 0, 2}));
}

TEST(CopyAsync, ABulkCopyEndsTheWaitForItsBytes) {
    const auto program = kernel(std::string(make_barrier) + R"(
@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 256;
@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 256, [%r2];
mbarrier.arrive.shared.b64 _, [%r2];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
@!%p1 bra wait;
shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r3; ld.shared.u32 %r5, [%r6]; add.u32 %r5, %r5, 1; st.shared.u32 [%r6], %r5;
bar.sync 0;
@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 256;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<u32> in(64), out(64);
    for (u32 i = 0; i < 64; i++) in[i] = 7 * i;
    // cp.async.bulk wants 16 bytes' alignment, which std::allocator gives.
    run(*program, memory, "test", {{1, 1, 1}, {64, 1, 1}}, Parameters(memory.add(in), memory.add(out)));
    for (u32 i = 0; i < 64; i++) EXPECT_EQ(out[i], 7 * i + 1);
    // Past the end of what there is: an error that names the address.
    in.resize(32);
    memory.clear();
    const auto result = try_run(*program, memory, "test", {{1, 1, 1}, {64, 1, 1}},
                                Parameters(memory.add(in), memory.add(out)));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Fault::Kind::illegal_address);
    EXPECT_NE(result.error().message.find("cp.async.bulk"), std::string::npos) << result.error().message;
}

// Made-up memory is in pages: a copy may reach over several.
TEST(CopyAsync, ABulkCopyReachesOverPages) {
    const auto program = kernel(std::string(make_barrier) + R"(
@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 4096;
@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 4096, [%r2];
mbarrier.arrive.shared.b64 _, [%r2];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
@!%p1 bra wait;
@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 4096;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)");
    ASSERT_NE(program, nullptr);
    SparseMemory memory;
    memory.set_fill(1, SparseMemory::Fill::integer);
    const u64 in = SparseMemory::region_base(1) + 1040, out = SparseMemory::region_base(2) + 2000;
    run(*program, memory, "test", {{1, 1, 1}, {32, 1, 1}}, Parameters(in, out));
    const auto word = [&](u64 address) {
        const auto range = memory.range_of(address, Access::read);
        u32 value = 0;
        std::memcpy(&value, range.host + (address - range.first), sizeof value);
        return value;
    };
    for (u64 at = 0; at < 4096; at += 4) ASSERT_EQ(word(out + at), word(in + at)) << at;
}

TEST(CopyAsync, SourcesAreCutShortOrIgnored) {
    const auto program = kernel(std::string(make_barrier) + R"(
mul.wide.u32 %rd6, %r1, 16; add.u64 %rd7, %rd1, %rd6; add.u64 %rd8, %rd2, %rd6;
shl.b32 %r6, %r1, 4; add.u32 %r6, %r6, %r3; and.b32 %r7, %r1, 15;
and.b32 %r8, %r1, 1; setp.ne.u32 %p1, %r8, 0;
cp.async.cg.shared.global [%r6], [%rd7], 16, %r7;
@%p1 cp.async.cg.shared.global [%r6], [%rd7], 16, %p1;
cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];
cp.async.commit_group; cp.async.wait_group 0;
wait: mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;
@!%p2 bra wait;
ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r6]; st.global.v4.u32 [%rd8], {%r8, %r9, %r10, %r11};)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<unsigned char> in(512), out(512, 9);
    for (std::size_t i = 0; i < in.size(); i++) in[i] = static_cast<unsigned char>(i % 250 + 1);
    run(*program, memory, "test", {}, Parameters(memory.add(in), memory.add(out)));
    for (std::size_t i = 0; i < in.size(); i++) {
        const std::size_t lane = i / 16;
        EXPECT_EQ(out[i], lane % 2 == 0 && i % 16 < lane % 16 ? in[i] : 0) << i;
    }
}

TEST(Stack, GrowsByAsMuchAsALaneWants) {
    const auto program = kernel(R"(
mov.u32 %r4, 0; mov.u32 %r5, 0;
again:
stacksave.u64 %rd6;
add.u32 %r6, %r1, %r4; add.u32 %r6, %r6, 1;
mul.wide.u32 %rd7, %r6, 4;
alloca.u64 %rd8, %rd7, 16;
cvta.local.u64 %rd9, %rd8;
mov.u32 %r7, 0;
fill: mul.wide.u32 %rd10, %r7, 4; add.u64 %rd10, %rd10, %rd8; st.local.u32 [%rd10], %r7;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r6; @%p1 bra fill;
mov.u32 %r7, 0;
sum: mul.wide.u32 %rd10, %r7, 4; add.u64 %rd10, %rd10, %rd9; ld.u32 %r8, [%rd10]; add.u32 %r5, %r5, %r8;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r6; @%p1 bra sum;
stackrestore.u64 %rd6;
add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 2000; @%p1 bra again;
st.global.u32 [%rd5], %r5;)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<u32> in(32), out(32);
    // 2000 times up to 8 KiB a thread fit only because the stack is given back.
    run(*program, memory, "test", {}, Parameters(memory.add(in), memory.add(out)));
    for (u32 i = 0; i < 32; i++) {
        u32 expected = 0;
        for (u32 turn = 0; turn < 2000; turn++) expected += (i + turn + 1) * (i + turn) / 2;
        EXPECT_EQ(out[i], expected);
    }
}

TEST(Stack, EndsSomewhere) {
    const auto program =
        kernel("mov.u64 %rd6, 0x7fffffffffff; alloca.u64 %rd8, %rd6; st.local.u32 [%rd8], %r1;");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<u32> in(32), out(32);
    const auto result = try_run(*program, memory, "test", {}, Parameters(memory.add(in), memory.add(out)));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Fault::Kind::stack);
}

TEST(VectorAtomics, AddElementAfterElement) {
    const auto program = kernel(R"(
cvt.rn.f32.u32 %f0, %r1; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f00000000;
atom.global.add.v4.f32 {%f4, _, %f6, _}, [%rd2], {%f0, %f1, %f2, %f3};
mov.b32 %r4, 0x40003c00; mov.b32 %r5, 0xbc004400;
red.global.v2.f16x2.max.noftz [%rd2+16], {%r4, %r5};
add.f32 %f4, %f4, %f6; st.global.f32 [%rd4], %f4;)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<float> in(32);
    std::vector<u32> out(8);
    run(*program, memory, "test", {}, Parameters(memory.add(in), memory.add(out)));
    EXPECT_EQ(std::bit_cast<float>(out[0]), 31.0f * 16);
    EXPECT_EQ(std::bit_cast<float>(out[1]), 32.0f);
    EXPECT_EQ(std::bit_cast<float>(out[2]), 64.0f);
    EXPECT_EQ(std::bit_cast<float>(out[3]), 0.0f);
    EXPECT_EQ(out[4], 0x40003c00u);  // 1 and 2 against 0
    EXPECT_EQ(out[5], 0x00004400u);  // 4 and -1 against 0
    float before = 0;
    for (u32 i = 0; i < 32; i++) {
        EXPECT_EQ(in[i], before + 2.0f * static_cast<float>(i));
        before += static_cast<float>(i);
    }
}

TEST(Wide, SixteenBytesMoveAndAreExchangedAsOne) {
    const auto program = kernel(R"(
mul.wide.u32 %rd6, %r1, 16; add.u64 %rd7, %rd1, %rd6; add.u64 %rd8, %rd2, %rd6;
ld.global.b128 %q0, [%rd7];
mov.b128 {%rd9, %rd10}, %q0;
mov.b128 %q1, {%rd10, %rd9};
mov.b128 %q2, %q1;
atom.global.cas.b128 %q3, [%rd7], %q0, %q2;
atom.global.exch.b128 %q4, [%rd7], %q0;
mov.b128 {%rd11, %rd12}, %q4; mov.b128 {%rd13, _}, %q3;
sub.u64 %rd13, %rd13, %rd9;  add.u64 %rd11, %rd11, %rd13;
mov.b128 %q5, {%rd11, %rd12};
st.global.b128 [%rd8], %q5;)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<u64> in(64), out(64);
    for (u64 i = 0; i < 64; i++) in[i] = i * 0x0101010101010101u;
    const auto before = in;
    run(*program, memory, "test", {}, Parameters(memory.add(in), memory.add(out)));
    for (u64 i = 0; i < 64; i++) EXPECT_EQ(out[i], before[i ^ 1]);
    EXPECT_EQ(in, before);
}

TEST(Cluster, OfOneBlockIsTheBlock) {
    const auto program = kernel(R"(
shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r3; st.shared.u32 [%r6], %r1;
barrier.cluster.arrive.release; 
barrier.cluster.wait.acquire;
sub.u32 %r7, 95, %r1; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r3;
mapa.shared::cluster.u32 %r8, %r7, 0; ld.shared::cluster.u32 %r9, [%r8];
mov.u32 %r10, %cluster_nctarank; add.u32 %r9, %r9, %r10; mov.u32 %r10, %cluster_ctarank; add.u32 %r9, %r9, %r10;
barrier.cluster.arrive; barrier.cluster.wait;
st.global.u32 [%rd5], %r9;)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<u32> in(96), out(96);
    run(*program, memory, "test", {{1, 1, 1}, {96, 1, 1}}, Parameters(memory.add(in), memory.add(out)));
    for (u32 i = 0; i < 96; i++) EXPECT_EQ(out[i], 95 - i + 1);
}

LaunchRequest clustered(const Parameters& parameters, const trimtab_dim3& grid, u32 threads,
                        const trimtab_dim3& cluster) {
    LaunchRequest request;
    request.kernel = "test";
    request.grid = grid;
    request.block = {threads, 1, 1};
    request.cluster = cluster;
    request.parameters = parameters.bytes();
    return request;
}

// Each thread of a 2x2 cluster reads what the thread across the cluster's diagonal has put into its block's
// shared memory, through shared and through generic addresses, and adds to what the next block has.
TEST(Cluster, BlocksReachEachOthersSharedMemory) {
    const auto program = kernel(R"(
shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r3;
mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r7, %nctaid.x; mad.lo.u32 %r4, %r5, %r7, %r4;
mul.lo.u32 %r5, %r4, 1000; add.u32 %r5, %r5, %r1; st.shared.u32 [%r6], %r5;
barrier.cluster.arrive.release;
barrier.cluster.wait.acquire;
mov.u32 %r7, %cluster_ctarank; sub.u32 %r8, 3, %r7;
mapa.shared::cluster.u32 %r9, %r6, %r8; ld.shared::cluster.u32 %r10, [%r9];
getctarank.shared::cluster.u32 %r11, %r9; sub.u32 %r11, %r11, %r8; add.u32 %r10, %r10, %r11;
cvt.u64.u32 %rd6, %r6; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, %r8; ld.u32 %r11, [%rd7];
sub.u32 %r11, %r11, %r10; add.u32 %r10, %r10, %r11;
barrier.cluster.arrive; barrier.cluster.wait;
add.u32 %r8, %r7, 1; and.b32 %r8, %r8, 3; mapa.shared::cluster.u32 %r9, %r6, %r8;
atom.shared::cluster.add.u32 %r11, [%r9], 7;
barrier.cluster.arrive; barrier.cluster.wait;
ld.shared.u32 %r11, [%r6]; sub.u32 %r11, %r11, %r5; mul.lo.u32 %r11, %r11, 1000000; add.u32 %r10, %r10, %r11;
mov.u32 %r12, %cluster_nctarank; mov.u32 %r13, %clusterid.x; mad.lo.u32 %r12, %r13, 10, %r12;
mad.lo.u32 %r10, %r12, 100000000, %r10;
mad.lo.u32 %r4, %r4, %r15, %r1; mul.wide.u32 %rd8, %r4, 4; add.u64 %rd8, %rd2, %rd8;
st.global.u32 [%rd8], %r10;)");
    ASSERT_NE(program, nullptr);
    const u32 columns = 4, rows = 2, threads = 40;
    HostMemory memory;
    std::vector<u32> in(1), out(std::size_t{columns} * rows * threads);
    const Parameters parameters(memory.add(in), memory.add(out));
    const auto done = launch(*program, memory, clustered(parameters, {columns, rows, 1}, threads, {2, 2, 1}));
    ASSERT_TRUE(done) << done.error().message;
    for (u32 y = 0; y < rows; y++) {
        for (u32 x = 0; x < columns; x++) {
            const u32 across = (x / 2 * 2 + 1 - x % 2) + columns * (1 - y);
            for (u32 t = 0; t < threads; t++)
                EXPECT_EQ(out[(y * columns + x) * threads + t],
                          across * 1000 + t + 7000000 + (x / 2 * 10 + 4) * 100000000);
        }
    }
    EXPECT_FALSE(launch(*program, memory, clustered(parameters, {columns, rows, 1}, threads, {3, 1, 1})))
        << "the grid is not whole clusters";
}

TEST(Cluster, ARankThatIsNotThereFaults) {
    const auto program = kernel(R"(
mapa.shared::cluster.u32 %r9, %r3, 2; ld.shared::cluster.u32 %r10, [%r9]; st.global.u32 [%rd5], %r10;)");
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<u32> in(1), out(64);
    const Parameters parameters(memory.add(in), memory.add(out));
    const auto done = launch(*program, memory, clustered(parameters, {2, 1, 1}, 32, {2, 1, 1}));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Fault::Kind::illegal_address);
}

// One block leaves without coming to the barrier: the others do not wait for it. One that waits at a barrier
// of its own that nobody can complete is a deadlock, and said to be.
TEST(Cluster, BlocksThatLeaveAreNotWaitedFor) {
    const auto program = kernel(R"(
mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 1; @%p0 exit;
barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 %r5, 5; st.global.u32 [%rd5], %r5;)");
    const auto stuck = kernel(R"(
mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p0, %r4, 1; @%p0 bra other;
barrier.cluster.arrive; barrier.cluster.wait; ret;
other: barrier.sync 1, 128;)");
    ASSERT_TRUE(program && stuck);
    HostMemory memory;
    std::vector<u32> in(1), out(64);
    const Parameters parameters(memory.add(in), memory.add(out));
    const LaunchRequest request = clustered(parameters, {2, 1, 1}, 64, {2, 1, 1});
    ASSERT_TRUE(launch(*program, memory, request));
    EXPECT_EQ(out[63], 5u);
    const auto done = launch(*stuck, memory, request);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("deadlock"), std::string::npos) << done.error().message;
}

}  // namespace
}  // namespace trimtab::emulator::test
