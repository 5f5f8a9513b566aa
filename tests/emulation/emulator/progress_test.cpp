// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who waits for another thread gets what it waits for, however it looks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

struct Waiter {
    const char* look;  // the word at %rd1, or at `word` in shared memory, to %r4
    const char* answer = "st.volatile.global.u32 [%rd1], %r6;";
};
constexpr const char* answer_shared = "st.volatile.shared.u32 [word], %r6;";
const Waiter waiters[] = {
    {"ld.volatile.global.u32 %r4, [%rd1];"},
    {"ld.relaxed.gpu.global.u32 %r4, [%rd1];"},
    {"ld.acquire.gpu.global.u32 %r4, [%rd1];"},
    {"ld.global.cg.u32 %r4, [%rd1];"},
    {"ld.global.cs.u32 %r4, [%rd1];"},
    {"ld.global.cv.u32 %r4, [%rd1];"},
    {"ld.global.u32 %r4, [%rd1];"},
    {"ld.u32 %r4, [%rd1];"},
    {"ld.global.v2.u32 {%r4, %r10}, [%rd1];"},
    {"atom.global.add.u32 %r4, [%rd1], 0;"},
    {"atom.global.or.b32 %r4, [%rd1], 0;"},
    {"atom.global.cas.b32 %r4, [%rd1], 0, 0;"},
    {"ld.shared.u32 %r4, [word];", answer_shared},
    {"ld.volatile.shared.u32 %r4, [word];", answer_shared},
    {"atom.shared.max.u32 %r4, [word], 0;", answer_shared},
    // The state of the loop changes, too.
    {"ld.global.cg.u32 %r4, [%rd1]; add.u32 %r9, %r9, 1;"},
    {"ld.global.cg.u32 %r4, [%rd1]; mov.u64 %rd3, %clock64; nanosleep.u32 20;"},
};

// Two threads, numbered %r5, that answer each other: one writes 1, 3, 5 ..., the other 2, 4, 6 ...
std::string kernel(const Waiter& waiter, const char* number) {
    return fmt::format(R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry test(.param .u64 word_at, .param .u64 out, .param .u32 rounds) {{
.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
.shared .align 8 .b32 word[2];
ld.param.u64 %rd1, [word_at]; ld.param.u64 %rd2, [out]; ld.param.u32 %r8, [rounds];
mov.u32 %r5, %{}; mov.u32 %r9, 0; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
mov.u32 %r7, %laneid;
wait:
{}
setp.ne.u32 %p1, %r4, %r5;
@%p1 bra wait;
add.u32 %r6, %r5, 1;
{}
add.u32 %r5, %r5, 2;
setp.lt.u32 %p2, %r5, %r8;
@%p2 bra wait;
mad.lo.u32 %r1, %r2, 64, %r1;
mul.wide.u32 %rd4, %r1, 4; add.u64 %rd2, %rd2, %rd4;
st.global.u32 [%rd2], %r5;
ret;
}})",
                       number, waiter.look, waiter.answer);
}

void expect_rounds(const Waiter& waiter, const char* number, const Grid& grid, std::uint32_t rounds) {
    const auto program = load(kernel(waiter, number));
    ASSERT_NE(program, nullptr);
    HostMemory memory;
    std::vector<std::uint32_t> word(2), out(128);
    const auto result =
        try_run(*program, memory, "test", grid, Parameters(memory.add(word), memory.add(out), rounds));
    ASSERT_TRUE(result) << waiter.look << ": " << result.error().message;
    EXPECT_NE(std::count(out.begin(), out.end(), rounds), 0) << waiter.look;
    EXPECT_NE(std::count(out.begin(), out.end(), rounds + 1), 0) << waiter.look;
}

TEST(Progress, WarpsOfABlock) {
    for (const Waiter& waiter : waiters) expect_rounds(waiter, "warpid", {{1, 1, 1}, {64, 1, 1}}, 12);
}

TEST(Progress, LanesOfAWarp) {
    for (const Waiter& waiter : waiters) expect_rounds(waiter, "tid.x", {{1, 1, 1}, {2, 1, 1}}, 12);
}

TEST(Progress, BlocksOfAGrid) {
    for (const Waiter& waiter : waiters) {
        if (waiter.answer == answer_shared) continue;
        expect_rounds(waiter, "ctaid.x", {{2, 1, 1}, {32, 1, 1}}, 4);
    }
}

}  // namespace
}  // namespace trimtab::emulator::test
