// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of compiled code that do not come to their end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include "tests/emulation/emulator/jit/compiled.h"

namespace trimtab::emulator::test {
namespace {

TEST_F(Compiled, AnAddressOutsideNamesTheKernelThreadAndLine) {
    std::vector<std::uint32_t> data(100, 1);
    HostMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{128});
    const auto program = load(scale);
    const auto done = try_run(*program, memory, "scale", {{1, 1, 1}, {128, 1, 1}, 0, 1}, parameters);
    ASSERT_TRUE(is_compiled(*program, "scale", {128, 1, 1}));
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().kind, Fault::Kind::illegal_address);
    EXPECT_NE(done.error().message.find("kernel scale"), std::string::npos) << done.error().message;
    EXPECT_NE(done.error().message.find("thread (100,0,0)"), std::string::npos) << done.error().message;
}

// Memory whose owner throws where a range begins: from the interpreter, and from what compiled code calls.
class ThrowingMemory : public HostMemory {
  public:
    std::uint64_t throws_at = 0;
    [[nodiscard]] Range range_of(std::uint64_t address, Access access) override {
        if (address >= throws_at) throw std::runtime_error("the owner gives up");
        return HostMemory::range_of(address, access);
    }
};

TEST_F(Compiled, WhatIsThrownIsTheLaunchsFault) {
    std::vector<std::uint32_t> data(1000, 1);
    ThrowingMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{1000});
    for (const char* mode : {"interpreter", "compiled"}) {
        for (const bool is_counted : {false, true}) {
            setenv("TRIMTAB_EMULATOR", mode, 1);
            const auto program = load(scale);
            LaunchRequest request;
            request.kernel = "scale";
            request.grid = {8, 1, 1};
            request.block = {128, 1, 1};
            request.parameters = parameters.bytes();
            request.threads = 2;
            request.counting.count = is_counted;
            memory.throws_at = 0;
            const auto done = launch(*program, memory, request);
            ASSERT_FALSE(done.has_value()) << mode;
            EXPECT_EQ(done.error().kind, Fault::Kind::host) << mode;
            EXPECT_NE(done.error().message.find("kernel scale"), std::string::npos) << done.error().message;
            EXPECT_NE(done.error().message.find("the owner gives up"), std::string::npos)
                << done.error().message;
            // Nothing of it is left for the next launch.
            memory.throws_at = ~std::uint64_t{0};
            EXPECT_TRUE(launch(*program, memory, request).has_value()) << mode;
        }
    }
    EXPECT_EQ(data, std::vector<std::uint32_t>(1000, 81));
}

TEST_F(Compiled, ALoopWithoutEndMeetsTheLimit) {
    const auto program =
        load(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry endless()\n{\nL: bra L;\n}\n");
    HostMemory memory;
    LaunchRequest request;
    request.kernel = "endless";
    request.block = {32, 1, 1};
    request.instruction_limit = 1'000'000;
    const auto done = launch(*program, memory, request);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().kind, Fault::Kind::limit);
}

// Rows that are checked at once where the lot of them is in range; a distance that leads out of it, around the
// address space or to what is not aligned is the fault of the load that goes there.
TEST_F(Compiled, RowsAtAnyDistanceAreCheckedAsIfAlone) {
    const char* const distances[] = {"-512",
                                     "0",
                                     "512",
                                     "2",
                                     "8192",
                                     "-8192",
                                     "16384",
                                     "0x7ffffffffffffff8",
                                     "0x8000000000000000",
                                     "0x4000000000000000",
                                     "0xc000000000000000",
                                     "0xfffffffffffff000"};
    std::vector<std::uint32_t> in(4096);
    std::iota(in.begin(), in.end(), 7u);
    unsigned faults = 0;
    for (const std::string distance : distances) {
        for (const std::string lanes : {"0", "%d4"}) {
            // Twice: the first time in range.
            const std::string ptx = kernel_of(
                "cvt.u64.u32 %d4, %r0; shl.b64 %d4, %d4, 2; add.s64 %d3, %d1, " + lanes +
                "; mov.u64 %d2, 256; mov.u32 %r8, 2; mov.u32 %r2, 0;\n"
                "again: ld.global.u32 %r3, [%d3+4];\nadd.s64 %d4, %d3, %d2;\nld.global.u32 %r4, [%d4];\n"
                "add.s64 %d5, %d4, %d2;\nld.global.u32 %r5, [%d5+-4];\n"
                "mad.lo.s32 %r2, %r2, 3, %r3; mad.lo.s32 %r2, %r2, 5, %r4; mad.lo.s32 %r2, %r2, 7, %r5;\n"
                "mov.u64 %d2, " +
                distance + "; sub.s32 %r8, %r8, 1; setp.ne.s32 %p0, %r8, 0;\n@%p0 bra again;\n" +
                "cvt.u64.u32 %d4, %r0; mul.lo.s64 %d4, %d4, 4; add.s64 %d2, %d0, %d4;");
            std::string messages[2];
            std::vector<std::uint32_t> out(64), outs[2];
            for (int i = 0; i < 2; i++) {
                setenv("TRIMTAB_EMULATOR", i == 0 ? "interpreter" : "compiled", 1);
                const auto program = load(ptx);
                HostMemory memory;
                const std::uint32_t* const middle = memory.add(in) + 2048;
                const Parameters parameters(memory.add(out), middle, std::uint32_t{48});
                const auto done =
                    try_run(*program, memory, "random", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
                if (!done) messages[i] = done.error().message;
                outs[i] = out;
                std::ranges::fill(out, 0u);
            }
            EXPECT_EQ(messages[0], messages[1]) << distance << ' ' << lanes;
            EXPECT_EQ(outs[0], outs[1]) << distance << ' ' << lanes;
            faults += messages[0].empty() ? 0 : 1;
        }
    }
    EXPECT_EQ(faults, 2 * 9u);
}

}  // namespace
}  // namespace trimtab::emulator::test
