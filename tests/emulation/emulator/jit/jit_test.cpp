// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled code against the interpreter: the same bytes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "emulation/emulator/jit/lane_pattern.h"
#include "emulation/emulator/jit/variants.h"
#include "tests/emulation/emulator/jit/compiled.h"
#include "tests/emulation/emulator/jit/random_kernel.h"

namespace trimtab::emulator::test {
namespace {

// Of counted launches both: what they leave, and what they count.
void expect_same_counts(const std::string& ptx, const trimtab_dim3& block) {
    std::string interpreted, compiled;
    const auto left = outputs(ptx, "interpreter", block, &interpreted);
    ASSERT_EQ(left, outputs(ptx, "compiled", block, &compiled)) << ptx;
    ASSERT_FALSE(interpreted.empty());
    ASSERT_EQ(interpreted, compiled) << ptx;
}

TEST_F(Compiled, RandomKernelsGiveTheSameBytes) {
    const trimtab_dim3 shapes[] = {{32, 4, 1}, {16, 8, 1}, {64, 1, 1}, {40, 1, 1}, {24, 3, 1}, {8, 8, 1}};
    const char* count = std::getenv("TRIMTAB_RANDOM_KERNELS");
    const unsigned kernels = count == nullptr ? 24 : static_cast<unsigned>(std::atoi(count));
    const char* first = std::getenv("TRIMTAB_RANDOM_SEED");
    const unsigned start = first == nullptr ? 1 : static_cast<unsigned>(std::atoi(first));
    for (unsigned seed = start; seed < start + kernels; seed++) {
        // Some so large that their registers lie in memory.
        const std::string ptx = random_kernel(seed, seed % 3 == 0 ? 50 : 8);
        const trimtab_dim3& block = shapes[seed % std::size(shapes)];
        const auto interpreted = outputs(ptx, "interpreter", block);
        const auto compiled = outputs(ptx, "compiled", block);
        ASSERT_TRUE(is_compiled(*load(ptx), "random", block)) << "seed " << seed;
        ASSERT_EQ(interpreted.size(), compiled.size());
        for (std::size_t i = 0; i < interpreted.size(); i++) {
            ASSERT_EQ(interpreted[i], compiled[i])
                << "seed " << seed << ", thread " << i / random_kernel_outputs << ", output "
                << i % random_kernel_outputs << " in\n"
                << ptx;
        }
        expect_same_counts(ptx, block);
        if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
}

TEST_F(Compiled, LargeKernelsAreCompiledOnceMoreForLongRuns) {
    const std::string ptx = large_random_kernel();
    const trimtab_dim3 block{64, 1, 1};
    const auto interpreted = outputs(ptx, "interpreter", block);
    EXPECT_EQ(interpreted, outputs(ptx, "compiled", block));
    EXPECT_EQ(cached_objects(), 1u);
    const auto program = load(ptx);
    const CompiledKernel* kernel = program->kernel("random");
    jit::Variant* variant = kernel->variants().of(kernel->code(false), block);
    ASSERT_NE(variant, nullptr);
    const Handler first = variant->handlers()[0].load();
    variant->ran(std::uint64_t{1} << 40);
    EXPECT_NE(variant->handlers()[0].load(), first);
    EXPECT_EQ(cached_objects(), 2u);
    // From the cache, and in place of the first.
    EXPECT_EQ(interpreted, outputs(ptx, "compiled", block));
    EXPECT_EQ(cached_objects(), 2u);
}

TEST_F(Compiled, SmallLaunchesAreNotCompiledUnlessAsked) {
    setenv("TRIMTAB_EMULATOR", "auto", 1);
    std::vector<std::uint32_t> data(64, 1);
    HostMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{64});
    const auto program = load(scale);
    run(*program, memory, "scale", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
    EXPECT_FALSE(is_compiled(*program, "scale", {64, 1, 1}));
    EXPECT_EQ(cached_objects(), 0u);
}

void expect_same(const std::string& ptx) {
    const trimtab_dim3 block{64, 1, 1};
    const auto interpreted = outputs(ptx, "interpreter", block);
    ASSERT_FALSE(interpreted.empty());
    EXPECT_NE(interpreted[40], 0xdeadbeefu);
    EXPECT_EQ(interpreted, outputs(ptx, "compiled", block)) << ptx;
    expect_same_counts(ptx, block);
}

// Requests of every shape: one place, one behind the other, rows, strides, some lanes alone; at several
// widths, in both spaces, at the start of a line and within it; and loads that nothing in their region waits
// for.
TEST_F(Compiled, RequestsAreCountedAsTheInterpreterDoes) {
    const char* places[] = {"mov.u32 %r3, 64;",
                            "shl.b32 %r3, %r0, 4;",
                            "and.b32 %r3, %r0, 15; shl.b32 %r3, %r3, 4; add.s32 %r3, %r3, 16;",
                            "shl.b32 %r3, %r0, 7; and.b32 %r3, %r3, 4080;",
                            "shr.u32 %r3, %r0, 4; shl.b32 %r3, %r3, 6; add.s32 %r3, %r3, 48;",
                            "mul.lo.s32 %r3, %r0, 80; and.b32 %r3, %r3, 0xff0;",
                            "sub.s32 %r3, 63, %r0; shl.b32 %r3, %r3, 2;"};
    const char* accesses[] = {
        "ld.global.u32 %r4, [%d3];",
        "ld.global.u8 %r4, [%d3+1];",
        "and.b64 %d3, %d3, -16; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d3];",
        "and.b64 %d3, %d3, -8; ld.global.u64 %d4, [%d3]; cvt.u32.u64 %r4, %d4;",
        "st.shared.u32 [%r3], %r0; bar.sync 0; ld.shared.u32 %r4, [%r3];",
        "and.b32 %r3, %r3, -8; ld.shared.u64 %d4, [%r3]; cvt.u32.u64 %r4, %d4;",
        "and.b32 %r3, %r3, -16; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];",
        "ld.shared.u16 %r4, [%r3+2];",
        "@%p1 ld.global.u32 %r4, [%d3]; @!%p1 ld.shared.u32 %r4, [%r3];",
        "@%p2 ld.global.u32 %r4, [%d3];",
        "ld.global.u32 %r4, [%d3]; ld.global.u32 %r5, [%d3+4]; bra.uni on; on: add.s32 %r4, %r4, %r5;",
        "@%p1 bra away; ld.global.u32 %r4, [%d3]; st.shared.u32 [%r3], %r4; away: add.s32 %r4, %r4, 1;",
        "ld.u32 %r4, [%d3]; st.u32 [%d3+8192], %r0;",
        "@!%p2 st.global.u8 [%d3+8193], %r0; ld.global.u32 %r4, [%d3+8192];"};
    for (const char* place : places) {
        std::string body =
            "and.b32 %r5, %r0, 5; setp.eq.u32 %p1, %r5, 0; setp.gt.u32 %p2, %r0, 70; "
            "mov.u32 %r2, 0; mov.u32 %r4, 0;\n";
        unsigned label = 0;
        for (std::string access : accesses) {
            for (const std::string name : {"away", "on"}) {
                for (auto at = access.find(name); at != std::string::npos; at = access.find(name, at + 9))
                    access.replace(at, name.size(), fmt::format("{}_{:04}", name, label));
            }
            body +=
                fmt::format("{} cvt.u64.u32 %d3, %r3; add.s64 %d3, %d1, %d3; mov.u32 %r8, 2;\nagain_{}: {}\n",
                            place, label, access);
            body += fmt::format(
                "xor.b32 %r2, %r2, %r4; sub.s32 %r8, %r8, 1; setp.ne.s32 %p3, %r8, 0; "
                "@%p3 bra again_{};\n",
                label++);
        }
        const std::string ptx =
            kernel_of(body, ".shared .align 16 .b8 room[4352];\n", "mov.u32 %r6, room;\n");
        for (const trimtab_dim3& block :
             {trimtab_dim3{64, 1, 1}, trimtab_dim3{16, 4, 1}, trimtab_dim3{40, 1, 1}}) {
            expect_same_counts(ptx, block);
            if (HasFatalFailure()) return;
        }
    }
}

// Rows of a block, as far apart as only the launch knows: loads behind one place and another row's, in a
// loop, under a guard; stores with room between the rows and without; indices that leave 32 bits.
TEST_F(Compiled, RowsOfABlock) {
    const char* bodies[] = {
        "ld.global.u32 %r5, [%d3+4]; ld.global.u32 %r6, [%d3+68]; add.s32 %r2, %r5, %r6; ld.global.u32 %r5, "
        "[%d3]; xor.b32 %r2, %r2, %r5; add.s64 %d3, %d3, %d4; ld.global.u32 %r5, [%d3]; add.s32 %r2, %r2, "
        "%r5;",
        "mov.u32 %r8, 5; again: ld.global.u32 %r5, [%d3]; ld.global.u32 %r6, [%d3+128]; mad.lo.s32 %r2, %r2, "
        "3, %r5; xor.b32 %r2, %r2, %r6; add.s64 %d3, %d3, %d4; sub.s32 %r8, %r8, 1; setp.ne.s32 %p2, %r8, 0; "
        "@%p2 bra again;",
        "@%p1 ld.global.u32 %r2, [%d3+4]; @!%p1 ld.global.u32 %r2, [%d3+8]; @%p1 bra over; ld.global.u32 "
        "%r5, "
        "[%d3]; ld.global.u32 %r6, [%d3+16]; add.s32 %r2, %r5, %r6; over: add.s32 %r2, %r2, 1;",
        "mul.wide.s32 %d3, %r1, 8192; mul.wide.s32 %d5, %r0, 8; shr.u64 %d3, %d3, 4; add.s64 %d3, %d3, %d5; "
        "add.s64 %d3, %d3, %d1; ld.global.u64 %d4, [%d3]; cvt.u32.u64 %r2, %d4; ld.global.v2.u32 {%r5, %r6}, "
        "[%d3+8]; add.s32 %r2, %r2, %r6;",
        "mul.lo.s32 %r5, %r1, %r9; shl.b32 %r5, %r5, 2; cvt.u64.u32 %d3, %r5; add.s64 %d3, %d3, %d1; "
        "ld.global.u32 %r2, [%d3];",
        "mul.lo.s32 %r5, %r9, 44739242; mad.lo.s32 %r5, %r5, %r1, %r0; cvt.s64.s32 %d3, %r5; shr.u64 %d3, "
        "%d3, "
        "31; cvt.u32.u64 %r2, %d3; mul.wide.u32 %d3, %r5, 16; shr.u64 %d3, %d3, 32; cvt.u32.u64 %r6, %d3; "
        "add.s32 %r2, %r2, %r6;",
        // A register of runs that other instructions write, too.
        "mov.u32 %r6, %tid.y; mov.b32 %r8, 0f40490FDB; xor.b32 %r2, %r2, %r6; cvt.rzi.s32.f32 %r6, %r8; "
        "mad.lo.s32 %r2, %r2, 7, %r6; add.f32 %r6, %r8, %r8; xor.b32 %r2, %r2, %r6; sub.sat.s32 %r6, -5, "
        "2147483646; xor.b32 %r2, %r2, %r6; mul.hi.s32 %r6, %r8, %r8; add.s32 %r2, %r2, %r6;"};
    for (const std::string body : bodies) {
        for (const int more : {-32, -28, 0, 52}) {
            for (const int room : {0, 3}) {
                const std::string ptx = kernel_of(fmt::format(
                    "add.s32 %r9, %r9, {}; mov.u32 %r1, %tid.y; mov.u32 %r2, 0; mov.u32 %r7, "
                    "%ntid.x; add.s32 %r7, %r7, {};\n"
                    "mad.lo.s32 %r4, %r1, %r9, %r0; mul.wide.s32 %d3, %r4, 4; add.s64 %d3, %d1, "
                    "%d3; mul.wide.s32 %d4, %r9, 4; setp.gt.s32 %p1, %r0, 2;\n{}\n"
                    "mov.u32 %r3, %ctaid.x; mul.lo.s32 %r3, %r3, 640; mad.lo.s32 %r4, %r1, %r7, "
                    "%r0; add.s32 %r4, %r4, %r3; mul.wide.s32 %d2, %r4, 4; add.s64 %d2, %d0, %d2;",
                    more, room, body));
                for (const trimtab_dim3& block :
                     {trimtab_dim3{16, 6, 1}, trimtab_dim3{8, 8, 1}, trimtab_dim3{16, 5, 1}}) {
                    expect_same_counts(ptx, block);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

// A NaN is the GPU's wherever its bits are looked at, though compiled code lets any pass between.
TEST_F(Compiled, NansHaveTheGpusBits) {
    for (const std::string body :
         {"add.f32 %r3, %r2, %r4; fma.rn.f32 %r3, %r3, %r4, %r4; mov.b32 %r2, %r3;",
          "mov.b32 %r3, 0f00000000; mov.u32 %r8, 3; again: fma.rn.f32 %r3, %r2, %r4, %r3; mov.b32 %r5, %r3; "
          "sub.s32 %r8, %r8, 1; setp.ne.s32 %p1, %r8, 0; @%p1 bra again; and.b32 %r2, %r5, 65535;",
          "mul.f32 %r3, %r2, %r4; neg.f32 %r5, %r3; abs.f32 %r6, %r3; xor.b32 %r2, %r5, %r6;",
          "max.f32 %r3, %r2, %r2; min.NaN.f32 %r5, %r2, %r4; setp.num.f32 %p1, %r3, %r4; selp.f32 %r6, %r5, "
          "%r3, %p0; selp.b32 %r2, %r6, %r5, %p1;",
          "sub.f32 %r3, %r4, %r2; @%p0 add.f32 %r3, %r4, %r4; mov.f32 %r5, %r3; @%p0 bra over; mul.f32 %r5, "
          "%r5, %r5; over: shr.u32 %r2, %r5, 1;",
          "mul.f32 %r3, %r2, %r4; shfl.sync.idx.b32 %r5, %r3, 3, 31, -1; add.f32 %r3, %r3, %r4; "
          "ex2.approx.f32 "
          "%r6, %r3; xor.b32 %r2, %r5, %r6; xor.b32 %r2, %r2, %r3;",
          "mov.b32 %r3, %r2; @%p0 mul.f32 %r3, %r2, %r4; mov.b32 %r2, %r3;",
          "mov.b32 %r3, 0f7FC00123; @%p0 mul.f32 %r3, %r2, %r4; mov.b32 %r2, %r3;",
          "cvt.f64.f32 %d3, %r2; fma.rn.f64 %d3, %d3, %d3, %d3; mov.b64 {%r5, %r6}, %d3; add.f64 %d4, %d3, "
          "%d3; "
          "cvt.rn.f32.f64 %r3, %d4; xor.b32 %r2, %r6, %r3; add.s32 %r2, %r2, %r5;",
          "add.ftz.f32 %r3, %r2, %r4; mul.ftz.f32 %r3, %r3, %r4; cvt.rzi.s32.f32 %r5, %r3; st.global.f32 "
          "[%d2], "
          "%r3; ld.global.u32 %r2, [%d2]; add.s32 %r2, %r2, %r5;"}) {
        expect_same(
            kernel_of("and.b32 %r5, %r0, 3; setp.eq.u32 %p0, %r5, 1; shl.b32 %r2, %r0, 20; add.s32 %r2, "
                      "%r2, 2143289635; mov.b32 %r4, 0f3FC00000; mov.u32 %r5, 0; mov.u32 %r6, 0;\n" +
                      body));
    }
}

// Lanes lie %r9 = 48 bytes apart, which only the launch knows.
TEST_F(Compiled, NeighbouringLoadsOfEachLane) {
    for (const std::string loads :
         {"ld.global.u32 %r3, [%d3]; ld.global.u32 %r4, [%d3+4]; ld.global.u32 %r5, [%d3+8]; ld.global.u32 "
          "%r6, [%d3+12];",
          "ld.global.u32 %r5, [%d3+8]; add.s32 %r2, %r2, %r5; ld.global.u32 %r6, [%d3+12]; "
          "ld.global.u32 %r3, [%d3]; ld.global.u32 %r4, [%d3+4];",
          "ld.global.u64 %d4, [%d3+8]; ld.global.u64 %d5, [%d3+16]; add.s64 %d4, %d4, %d5; "
          "cvt.u32.u64 %r3, %d4; shr.u64 %d4, %d4, 32; cvt.u32.u64 %r4, %d4;",
          "ld.global.u32 %r3, [%d3+-4]; ld.global.u32 %r4, [%d3]; add.s64 %d3, %d3, 4; "
          "ld.global.u32 %r5, [%d3+4]; ld.global.u32 %r6, [%d3+8];",
          "ld.global.u32 %r3, [%d3]; st.global.u32 [%d3+4], %r2; ld.global.u32 %r4, [%d3+4];",
          "ld.global.u32 %r3, [%d3]; @%p1 ld.global.u32 %r4, [%d3+4]; ld.global.s32 %r5, [%d3+8]; "
          "ld.global.u32 %r6, [%d3+4];",
          "@%p1 bra over; ld.global.u32 %r3, [%d3]; ld.global.u32 %r4, [%d3+4]; over: ld.global.u32 %r5, "
          "[%d3+8]; "
          "ld.global.u32 %r6, [%d3+12];"}) {
        expect_same(
            kernel_of("and.b32 %r3, %r0, 5; setp.eq.u32 %p1, %r3, 0; mov.u32 %r8, 3; mov.u32 %r2, 0;\n"
                      "mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mad.lo.s32 %r7, %r0, %r9, 16;\n"
                      "cvt.u64.u32 %d3, %r7; add.s64 %d3, %d1, %d3;\nagain: " +
                      loads +
                      "\nmad.lo.s32 %r2, %r2, 3, %r3; mad.lo.s32 %r2, %r2, 3, %r4; mad.lo.s32 %r2, "
                      "%r2, 3, %r5; add.s32 %r2, %r2, %r6;\nadd.s64 %d3, %d3, 16; sub.s32 %r8, %r8, 1; "
                      "setp.ne.s32 %p0, %r8, 0;\n@%p0 bra again;"));
    }
}

TEST_F(Compiled, AFaultAmongNeighbouringLoadsIsTheirOwn) {
    const std::string ptx = kernel_of(
        "mul.lo.s32 %r7, %r0, %r9; cvt.u64.u32 %d3, %r7; add.s64 %d3, %d1, %d3; mov.u32 %r2, 0; mov.u32 %r8, "
        "2;\n"
        "again: ld.global.u32 %r3, [%d3];\nld.global.u32 %r4, [%d3+4];\nld.global.u32 %r5, [%d3+8];\n"
        "ld.global.u32 %r6, [%d3+12];\nadd.s64 %d3, %d3, 8; sub.s32 %r8, %r8, 1; setp.ne.s32 %p0, %r8, 0;\n"
        "@%p0 bra again;");
    std::string messages[2];
    std::vector<std::uint32_t> out(64 * random_kernel_outputs), in(64 * 12 - 8);
    for (int i = 0; i < 2; i++) {
        setenv("TRIMTAB_EMULATOR", i == 0 ? "interpreter" : "compiled", 1);
        const auto program = load(ptx);
        HostMemory memory;
        const Parameters parameters(memory.add(out), memory.add(in), std::uint32_t{48});
        const auto done = try_run(*program, memory, "random", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
        ASSERT_FALSE(done.has_value());
        messages[i] = done.error().message;
    }
    EXPECT_EQ(messages[0], messages[1]);
    EXPECT_NE(messages[0].find("thread (63,0,0)"), std::string::npos) << messages[0];
    EXPECT_NE(messages[0].find("[%d3+8]"), std::string::npos) << messages[0];
}

// At both ends of the address space sums wrap around: by uniform, consecutive and arbitrary lanes; alone and with
// neighbours; behind an access that has found its range.
TEST_F(Compiled, NothingLiesAtEitherEndOfTheAddressSpace) {
    const char* const ends[] = {"0", "0xfffffffffffffffc", "0xffffffffffffff80"};
    const char* const lanes[] = {"0", "%d4", "%d5"};
    const std::string first =
        "cvt.u64.u32 %d4, %r0; shl.b64 %d4, %d4, 2; mul.lo.s32 %r3, %r0, %r0; cvt.u64.u32 %d5, %r3; "
        "shl.b64 %d5, %d5, 3; mov.u32 %r2, 0; mov.u64 %d3, %d1;\n";
    const std::string accesses[] = {"ld.global.u32 %r2, [%d3];", "st.global.u32 [%d3], %r0;",
                                    "ld.global.u32 %r2, [%d3]; ld.global.u32 %r4, [%d3+4];",
                                    "ld.global.u32 %r2, [%d3+4]; ld.global.u32 %r4, [%d3+-4];"};
    std::vector<std::uint32_t> out(64 * random_kernel_outputs), in(4096);
    for (const std::string end : ends) {
        for (const std::string lane : lanes) {
            for (const std::string& access : accesses) {
                // Twice: the first time in range.
                const std::string ptx =
                    kernel_of(first + "again: " + access + "\nmov.u64 %d3, " + end + "; add.s64 %d3, %d3, " +
                              lane + "; setp.ne.u32 %p0, %r2, 0xffffffff;\n@%p0 bra again;");
                std::string messages[2];
                for (int i = 0; i < 2; i++) {
                    setenv("TRIMTAB_EMULATOR", i == 0 ? "interpreter" : "compiled", 1);
                    const auto program = load(ptx);
                    HostMemory memory;
                    const std::uint32_t* const middle = memory.add(in) + 2048;
                    const Parameters parameters(memory.add(out), middle, std::uint32_t{48});
                    const auto done =
                        try_run(*program, memory, "random", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
                    ASSERT_FALSE(done.has_value()) << end << ' ' << lane << ' ' << access;
                    messages[i] = done.error().message;
                }
                EXPECT_EQ(messages[0], messages[1]) << end << ' ' << lane << ' ' << access;
            }
        }
    }
}

TEST_F(Compiled, CountedLaunchesHaveCodeOfTheirOwn) {
    std::vector<std::uint32_t> data(64, 1);
    HostMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{64});
    const auto program = load(scale);
    const LaunchResult result = run(*program, memory, "scale", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters,
                                    {.count = true, .footprints = false, .groups = {}});
    EXPECT_TRUE(is_compiled(*program, "scale", {64, 1, 1}, true));
    EXPECT_EQ(result.warp_instructions, 2u * 14);
    run(*program, memory, "scale", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
    EXPECT_EQ(data, std::vector<std::uint32_t>(64, 9));
    EXPECT_EQ(cached_objects(), 2u);
}

// Whole grids of warps and blocks that compiled code runs without a word to the interpreter, but for a block
// here and there whose lanes part; loops as long as the block's index says; requests of lanes that are far
// apart, from window to window.
TEST_F(Compiled, BlocksFollowEachOther) {
    const std::string ptx = kernel_of(
        "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r1, %r3, %r4, %r0;\n"
        "mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d0, %d2;\n"
        "and.b32 %r5, %r3, 3; mov.u32 %r2, %r3; setp.eq.u32 %p0, %r5, 0;\n@%p0 bra behind;\n"
        "again: mul.wide.u32 %d3, %r5, 512; add.s64 %d3, %d1, %d3; ld.global.u32 %r6, [%d3];\n"
        "add.s32 %r2, %r2, %r6; sub.s32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n@%p1 bra again;\n"
        "behind: and.b32 %r7, %r3, 15; setp.ne.u32 %p2, %r7, 5;\n@%p2 bra over;\n"
        "and.b32 %r7, %r0, 1; setp.eq.u32 %p3, %r7, 0;\n@%p3 bra over;\nadd.s32 %r2, %r2, 1000;\n"
        "over: and.b32 %r7, %r0, 31; mul.lo.s32 %r7, %r7, 513; and.b32 %r8, %r3, 7;\n"
        "mad.lo.s32 %r7, %r8, 40, %r7; mov.u32 %r5, 12;\n"
        "far: mul.wide.u32 %d3, %r7, 4; add.s64 %d3, %d1, %d3; ld.global.u32 %r6, [%d3];\n"
        "mad.lo.s32 %r2, %r6, %r5, %r2; add.s32 %r7, %r7, 55; sub.s32 %r5, %r5, 1;\n"
        "setp.ne.u32 %p1, %r5, 0;\n@%p1 bra far;");
    for (const std::uint32_t threads : {32, 64, 80, 256}) {
        const trimtab_dim3 block{threads, 1, 1};
        std::string expected_counters, counters;
        const auto expected = outputs(ptx, "interpreter", block, &expected_counters, 400);
        EXPECT_EQ(outputs(ptx, "compiled", block, &counters, 400), expected) << threads;
        EXPECT_EQ(counters, expected_counters) << threads;
        EXPECT_EQ(outputs(ptx, "compiled", block, nullptr, 400), expected) << threads;
    }
}

// Fences, prefetches and waits have no ops here: where they end a block, the next op is a loop's entry or a
// join, which is not theirs.
TEST_F(Compiled, InstructionsWithoutOpsMayEndABlock) {
    for (const std::string nothing :
         {"cp.async.commit_group;", "cp.async.wait_group 0;", "membar.gl;", "prefetch.global.L2 [%d1];",
          "fence.acq_rel.gpu;", "nanosleep.u32 %r9;"}) {
        expect_same(
            kernel_of("mul.lo.s32 %r3, %r0, 3; mov.u32 %r2, 0;\n" + nothing +
                      "\nagain: add.s32 %r2, %r2, %r3; sub.s32 %r9, %r9, 1; setp.ne.s32 %p0, %r9, 0;\n" +
                      nothing + "\n@%p0 bra again;"));
        expect_same(kernel_of(
            "mul.lo.s32 %r3, %r0, 3; and.b32 %r4, %r0, 3; setp.lt.u32 %p0, %r4, 2; mov.u32 %r2, %r3;\n"
            "@%p0 bra over;\nadd.s32 %r2, %r2, 7;\n" +
            nothing + "\nover: add.s32 %r2, %r2, %r3;"));
    }
}

// Registers computed before, and needed behind, what the interpreter's handlers run.
TEST_F(Compiled, ValuesSurviveWhatTheInterpreterRuns) {
    for (const std::string own :
         {"mov.u64 %d3, 64; alloca.u64 %d4, %d3, 16; st.local.u32 [%d4], %r3; ld.local.u32 %r4, [%d4];",
          "stacksave.u64 %d3; stackrestore.u64 %d3; mov.u32 %r4, 1;",
          "shfl.sync.bfly.b32 %r4|%p2, %r3, 5, 31, -1;",
          "@%p1 shfl.sync.bfly.b32 %r4, %r3, 8, 31, 0x55555555;", "vote.sync.ballot.b32 %r4, %p1, -1;",
          "@%p1 activemask.b32 %r4;", "match.any.sync.b32 %r4, %r5, -1;", "redux.sync.add.s32 %r4, %r3, -1;",
          "bar.red.popc.u32 %r4, 0, %p1;", "@%p1 atom.shared.add.u32 %r4, [bar], 0;",
          "@!%p1 vadd.s32.s32.s32.add %r4, %r3.b0, %r0.h0, %r5;", "call (%r4), twice, (%r3);",
          "@%p1 call (%r4), twice, (%r3);", "add.cc.u32 %r4, %r3, -1; addc.u32 %r4, %r4, 0;",
          "isspacep.shared %p2, %d2; selp.b32 %r4, 1, 2, %p2;"}) {
        expect_same(
            kernel_of("mov.u64 %d5, 0; st.shared.u64 [bar], %d5; bar.sync 0;\n"
                      "mul.lo.s32 %r3, %r0, 3; and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; mov.u32 %r2, 0; "
                      "mov.u32 %r4, 9;\n"
                      "again: " +
                          own +
                          "\n"
                          "mad.lo.s32 %r2, %r2, 5, %r4; add.s32 %r2, %r2, %r3; sub.s32 %r9, %r9, 1; "
                          "setp.ne.s32 %p0, %r9, 0;\n"
                          "@%p0 bra again;",
                      ".func (.reg .b32 %y) twice(.reg .b32 %x)\n{\n.reg .pred %p;\nsetp.gt.s32 %p, %x, 50;\n"
                      "mov.u32 %y, 0;\n@%p bra over;\nadd.s32 %y, %x, %x;\nover: add.s32 %y, %y, 1;\n}\n"));
    }
}

// A block that ends for good may have one behind it that nothing leads to: CCCL's radix sort has, behind an
// exit.
TEST_F(Compiled, WhatNothingLeadsToIsLeftOut) {
    for (const std::string end : {"exit;", "ret;", "trap;", "bra.uni on;", "brx.idx %r4, there;"}) {
        const std::string never = end == "trap;" ? "100" : "3";
        for (const std::string lost : {"lost: add.s32 %r2, %r2, 1;", "lost: bra.uni lost;", ""}) {
            const std::string ptx = kernel_of(
                "there: .branchtargets on, on;\nmov.u32 %r2, %r0; mov.u32 %r4, 1; setp.ne.u32 %p1, %r0, " +
                never + ";\n@%p1 bra on;\n" + end + "\n" + lost +
                "\nexit;\nexit;\non: mul.lo.s32 %r2, %r2, 3;");
            expect_same(ptx);
            EXPECT_TRUE(is_compiled(*load(ptx), "random", {64, 1, 1})) << ptx;
        }
    }
}

TEST_F(Compiled, AGuardMayBeWhatItGuards) {
    expect_same(
        kernel_of("and.b32 %r3, %r0, 1; setp.ne.u32 %p1, %r3, 0; setp.ne.u32 %p2, %r3, 1;\n"
                  "@%p1 setp.lt.u32 %p1|%p2, %r0, 20;\n"
                  "selp.b32 %r2, 1, 0, %p1; selp.b32 %r4, 2, 0, %p2; add.u32 %r2, %r2, %r4;"));
}

TEST(LanePatterns, FollowTheBlockShape) {
    const auto rows = jit::lane_patterns({16, 16, 1});
    ASSERT_TRUE(rows.tid[0].known);
    ASSERT_TRUE(rows.tid[1].known);
    EXPECT_EQ(rows.tid[0].offset[17], 1u);
    EXPECT_EQ(rows.tid[1].offset[17], 1u);
    EXPECT_EQ(rows.tid[1].offset[15], 0u);
    EXPECT_FALSE(jit::lane_patterns({24, 4, 1}).tid[0].known);
    const auto line = jit::lane_patterns({100, 1, 1});
    EXPECT_TRUE(line.tid[0].known);
    EXPECT_EQ(line.tid[0].offset[31], 31u);
}

}  // namespace
}  // namespace trimtab::emulator::test
