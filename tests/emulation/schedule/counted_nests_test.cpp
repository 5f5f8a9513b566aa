// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterations of loops that hold loops and branches are left out where each goes the same way, and nothing comes out
// otherwise than from a run of every iteration.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/emulation/schedule/told_by.h"
#include "tests/emulation/schedule/traced_kernel.h"

namespace trimtab::schedule {
namespace {

// A loop of 1000 iterations counted by %r7, and of what one of them is.
std::string outer(const std::string& iteration, const std::string& before = "    mov.u32 %r7, 0;\n",
                  const std::string& up = "    add.u32 %r7, %r7, 1;\n    setp.lt.u32 %p2, %r7, %r1;\n") {
    return "    mov.u64 %rd4, %rd1;\n    mov.u64 %rd6, %rd1;\n    mov.u32 %r9, 0;\n" + before + "$O:\n" +
           iteration + up + "    @%p2 bra $O;\n";
}
// One within, counted by %r4.
std::string inner(const std::string& iteration, const std::string& before = "    mov.u32 %r4, 0;\n",
                  const std::string& end = "4") {
    return before + "$I:\n" + iteration + "    add.u32 %r4, %r4, 1;\n    setp.lt.u32 %p1, %r4, " + end +
           ";\n    @%p1 bra $I;\n";
}

const std::string
    from_here = "    mov.u64 %rd5, %rd4;\n",
    load = "    ld.global.f32 %f1, [%rd5];\n    add.f32 %f2, %f2, %f1;\n    add.s64 %rd5, %rd5, 64;\n",
    next_row = "    add.s64 %rd4, %rd4, 4096;\n";

struct Nest {
    const char* name;
    std::string body;
    bool is_left_out;
};

void changes_nothing(const std::vector<Nest>& nests) {
    for (const Nest& one : nests) {
        SCOPED_TRACE(one.name);
        const std::array<std::expected<Traced, Error>, 2> traced{
            trace(one.body, 1000, {400, 1, 1}, {64, 1, 1}, "rtx2070super", 2, false),
            trace(one.body, 1000, {400, 1, 1}, {64, 1, 1}, "rtx2070super", 2, true)};
        ASSERT_TRUE(traced[0] && traced[1]) << traced[traced[0] ? 1 : 0].error().text();
        EXPECT_EQ(told_by(traced[0]->launch), told_by(traced[1]->launch));
        EXPECT_EQ(traced[0]->launch.block_warp_instructions, traced[1]->launch.block_warp_instructions);
        const double share = static_cast<double>(traced[0]->launch.warp_instructions) /
                             static_cast<double>(traced[1]->launch.warp_instructions);
        if (one.is_left_out)
            EXPECT_LT(share, 0.25);
        else
            EXPECT_GT(share, 0.4);
    }
}

TEST(CountedNests, GoTheSameWayEachTime) {
    const std::string rows = from_here + inner(load) + next_row;
    changes_nothing({
        {"a loop of four iterations", outer(rows), true},
        {"what it summed up is stored",
         outer("    mov.f32 %f2, 0f00000000;\n" + rows + "    st.global.f32 [%rd6], %f2;\n"), true},
        {"it is stored where the next iteration loads",
         outer("    mov.f32 %f2, 0f00000000;\n" + rows + "    st.global.f32 [%rd4], %f2;\n"), true},
        {"each lane begins elsewhere",
         outer(rows, "    and.b32 %r7, %r2, 31;\n    and.b32 %r8, %r3, 7;\n    add.u32 %r7, %r7, %r8;\n"),
         true},
        {"of a copy of its counter",
         outer("    mov.u32 %r8, %r7;\n" + rows, "    mov.u32 %r7, 0;\n",
               "    add.u32 %r7, %r8, 1;\n    setp.lt.u32 %p2, %r8, %r1;\n"),
         true},
        {"a loop that lanes leave one by one",
         outer(from_here + inner(load, "    mov.u32 %r4, 0;\n", "%r5") + next_row,
               "    mov.u32 %r7, 0;\n    and.b32 %r5, %r2, 7;\n"),
         true},
        {"half of the lanes go past it",
         outer(from_here + "    @%p3 bra $P;\n" + inner(load) + "$P:\n" + next_row,
               "    mov.u32 %r7, 0;\n    and.b32 %r5, %r2, 16;\n    setp.eq.u32 %p3, %r5, 0;\n"),
         true},
        {"two loops, one after the other",
         outer(from_here + inner(load) + "    mov.u32 %r6, 3;\n$J:\n" + load +
               "    add.s32 %r6, %r6, -1;\n    setp.ne.s32 %p3, %r6, 0;\n    @%p3 bra $J;\n" + next_row),
         true},
        {"left in its midst, and a branch back",
         "    mov.u64 %rd4, %rd1;\n    mov.u32 %r7, 0;\n$O:\n" + rows +
             "    add.u32 %r7, %r7, 1;\n    setp.eq.u32 %p2, %r7, %r1;\n    @%p2 bra $E;\n    bra.uni "
             "$O;\n$E:\n",
         true},
        {"three deep",
         outer("    mov.u32 %r6, 0;\n$M:\n" + from_here + inner(load) +
               "    add.u32 %r6, %r6, 1;\n    setp.lt.u32 %p3, %r6, 3;\n    @%p3 bra $M;\n" + next_row),
         true},
        {"downwards, by an amount of each lane's own",
         outer(rows, "    mov.u32 %r7, %r1;\n    and.b32 %r5, %r2, 1;\n    add.u32 %r5, %r5, 1;\n",
               "    sub.s32 %r7, %r7, %r5;\n    setp.gt.s32 %p2, %r7, 0;\n"),
         true},
    });
}

TEST(CountedNests, RunWhereTheyDoNot) {
    const std::string rows = from_here + inner(load) + next_row;
    changes_nothing({
        {"the loop within grows",
         outer(from_here + "    and.b32 %r6, %r7, 3;\n" + inner(load, "    mov.u32 %r4, 0;\n", "%r6") +
               next_row),
         false},
        {"memory ends the loop within",
         outer("    ld.global.u32 %r6, [%rd4];\n    and.b32 %r6, %r6, 3;\n" + from_here +
               inner(load, "    mov.u32 %r4, 0;\n", "%r6") + next_row),
         false},
        {"every second iteration goes another way",
         outer("    and.b32 %r5, %r7, 1;\n    setp.eq.u32 %p3, %r5, 0;\n" + from_here + "    @%p3 bra $P;\n" +
               inner(load) + "$P:\n" + next_row),
         false},
        {"the loop within walks on",
         outer(inner("    ld.global.f32 %f1, [%rd6];\n    add.s64 %rd6, %rd6, 4;\n")), false},
        {"what it counted is an address",
         outer(rows +
               "    add.u32 %r9, %r9, %r7;\n    and.b32 %r5, %r9, 1023;\n    mul.wide.u32 %rd7, %r5, 4;\n"
               "    add.s64 %rd7, %rd1, %rd7;\n    ld.global.f32 %f3, [%rd7];\n"),
         false},
        {"a sum decides behind it",
         outer(rows + "    xor.b32 %r9, %r9, %r7;\n") +
             "    setp.eq.u32 %p3, %r9, 0;\n    @%p3 bra $E;\n    ld.global.f32 %f3, [%rd4];\n$E:\n",
         false},
        {"a barrier", outer(rows + "    bar.sync 0;\n"), false},
        {"an atomic", outer(rows + "    atom.global.add.u32 %r5, [%rd1], 1;\n"), false},
        {"it moves in a branch that half of the lanes take",
         outer(from_here + inner(load) + "    @%p3 bra $P;\n    add.u32 %r9, %r9, 1;\n$P:\n" + next_row +
                   "    mul.wide.u32 %rd7, %r9, 4;\n    add.s64 %rd7, %rd1, %rd7;\n    ld.global.f32 %f3, "
                   "[%rd7];\n",
               "    mov.u32 %r7, 0;\n    and.b32 %r5, %r2, 16;\n    setp.eq.u32 %p3, %r5, 0;\n"),
         false},
        {"it is left in two places",
         outer("    setp.gt.u32 %p3, %r7, 700;\n    @%p3 bra $E;\n" + rows) + "$E:\n", false},
    });
}

}  // namespace
}  // namespace trimtab::schedule
