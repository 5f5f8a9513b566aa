// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks of warps: the paper's algorithms on small kernels, and whole rounds beside what the emulator counts.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>

#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/opencl/pruning/active_groups.h"
#include "emulation/opencl/pruning/emulated_round.h"
#include "emulation/opencl/pruning/round_traces.h"
#include "emulation/opencl/pruning/warp_walk.h"
#include "tests/emulation/opencl/pruning/paper_trace.h"

namespace trimtab::pruning {
namespace {

// A row walked by one item, in a loop.
constexpr const char* row_by_item = R"(
    mov.u32 %r11, 0;
    mul.lo.s32 %r12, %r3, %r1;
LOOP:
    add.s32 %r13, %r12, %r11;
    mul.wide.s32 %rd2, %r13, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.s32 %r11, %r11, 1;
    setp.lt.s32 %p1, %r11, 60;
    @%p1 bra LOOP;
    ret;
)";

using test::paper_trace;
using testing::ElementsAre;
using testing::ElementsAreArray;

// A kernel of one pointer, %rd1, and two counts, %r1 and %r2; %r3 is its index in x, %r4 in y, %r5 tid.x.
std::string kernel_text(const std::string& body) {
    return fmt::format(R"(
.version 7.8
.target sm_50
.address_size 64
.visible .entry kernel(.param .u64 kernel_0, .param .u32 kernel_1, .param .u32 kernel_2)
{{
    .shared .align 4 .b8 buffer[8192];
    .reg .pred %p<9>; .reg .f32 %f<10>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .f64 %d<4>;
    ld.param.u64 %rd1, [kernel_0];
    ld.param.u32 %r1, [kernel_1];
    ld.param.u32 %r2, [kernel_2];
    mov.u32 %r5, %tid.x;
    mov.u32 %r6, %ctaid.x;
    mov.u32 %r7, %ntid.x;
    mad.lo.s32 %r3, %r6, %r7, %r5;
    mov.u32 %r8, %tid.y;
    mov.u32 %r9, %ctaid.y;
    mov.u32 %r10, %ntid.y;
    mad.lo.s32 %r4, %r9, %r10, %r8;
{}
}}
)",
                       body);
}

std::array<std::byte, 16> arguments(std::uint32_t first, std::uint32_t second) {
    std::array<std::byte, 16> out{};
    const std::uint64_t address = emulator::SparseMemory::region_base(0);
    std::memcpy(out.data(), &address, 8);
    std::memcpy(out.data() + 8, &first, 4);
    std::memcpy(out.data() + 12, &second, 4);
    return out;
}

// A multiplication takes as long as any other operation, which leaves less to count.
model::Architecture with_plain_multiplications(const model::Device& device) {
    model::Architecture architecture = model::architecture_of(device);
    architecture.integer_multiply_slots.value = 1;
    return architecture;
}

struct Kernel {
    ptx::Module module;
    model::Device device = model::find_device("k620").value();
    Latencies latencies = latencies_of(device, 3);
    model::Architecture architecture = with_plain_multiplications(device);
    KernelCode code;

    explicit Kernel(const std::string& body) : module(ptx::parse(kernel_text(body), "kernel.ptx").value()) {
        auto made = KernelCode::make(module, *module.function("kernel"), latencies, architecture);
        EXPECT_TRUE(made) << made.error().text();
        if (made) code = std::move(*made);
    }

    std::vector<std::uint32_t> blocks(std::uint32_t warp, std::uint32_t first, std::uint32_t second = 0,
                                      WalkSettings settings = {}) const {
        const auto bytes = arguments(first, second);
        WarpWalk walk(code, bytes, settings);
        walk.lists_blocks = true;
        WalkedWarp out;
        walk.walk({.group = {128, 1, 1}, .groups = {1, 1, 1}, .index = {0, 0, 0}, .warp = warp},
                  WarpLanes::of({128, 1, 1}, warp), out);
        return {out.blocks.begin(), out.blocks.end()};
    }
};

// A branch that the thread's id decides: a warp of threads on both sides passes both.
TEST(WarpWalk, TakesTheSidesOfABranchThatAWarpTakes) {
    const Kernel kernel(R"(
    setp.ge.s32 %p1, %r3, %r1;
    @%p1 bra OTHER;
    st.global.u32 [%rd1], %r3;
    bra.uni END;
OTHER:
    st.global.u32 [%rd1+4], %r3;
END:
    ret;
)");
    const auto paper = [](std::set<std::uint32_t> missed_then, std::set<std::uint32_t> missed_else) {
        return paper_trace({{.bounds = {1}, .successors = {2, 1}, .back = {}, .missed = {}},
                            {.bounds = {1}, .successors = {3}, .back = {}, .missed = std::move(missed_then)},
                            {.bounds = {1}, .successors = {3}, .back = {}, .missed = std::move(missed_else)},
                            {.bounds = {1}, .successors = {}, .back = {}, .missed = {}}});
    };
    EXPECT_THAT(kernel.blocks(0, 40), ElementsAreArray(paper({}, {0})));
    EXPECT_THAT(kernel.blocks(1, 40), ElementsAreArray([&] {
                    auto both = paper({}, {});
                    std::ranges::sort(both);  // sides have no order of their own
                    return both;
                }()));
    EXPECT_THAT(kernel.blocks(2, 40), ElementsAreArray(paper({0}, {})));
}

// Loops in loops: the inner one begins anew in each iteration of the outer one.
TEST(WarpWalk, GoesRoundNestedLoops) {
    const Kernel kernel(R"(
    mov.u32 %r11, 0;
OUTER:
    mov.u32 %r12, 0;
INNER:
    st.global.u32 [%rd1], %r12;
    add.s32 %r12, %r12, 1;
    setp.lt.s32 %p1, %r12, %r2;
    @%p1 bra INNER;
    add.s32 %r11, %r11, 1;
    setp.lt.s32 %p2, %r11, %r1;
    @%p2 bra OUTER;
    ret;
)");
    for (const auto& [outer, inner] :
         {std::pair(3u, 2u), std::pair(2u, 5u), std::pair(1u, 1u), std::pair(4u, 1u)})
        EXPECT_THAT(kernel.blocks(0, outer, inner),
                    ElementsAreArray(paper_trace(
                        {{.bounds = {1}, .successors = {1}, .back = {}, .missed = {}},
                         {.bounds = {outer}, .successors = {2}, .back = {}, .missed = {}},
                         {.bounds = {inner, outer}, .successors = {2, 3}, .back = {2}, .missed = {}},
                         {.bounds = {outer}, .successors = {1, 4}, .back = {1}, .missed = {}},
                         {.bounds = {1}, .successors = {}, .back = {}, .missed = {}}})))
            << outer << " x " << inner;
}

// A branch that the induction variable decides, and a loop whose iterations hang on the thread's id.
TEST(WarpWalk, DecidesByInductionVariables) {
    const Kernel kernel(R"(
    mov.u32 %r11, 0;
LOOP:
    setp.ge.s32 %p1, %r11, %r2;
    @%p1 bra NEXT;
    st.global.u32 [%rd1], %r11;
NEXT:
    add.s32 %r11, %r11, 1;
    setp.lt.s32 %p2, %r11, %r1;
    @%p2 bra LOOP;
    ret;
)");
    EXPECT_THAT(
        kernel.blocks(0, 5, 2),
        ElementsAreArray(paper_trace({{.bounds = {1}, .successors = {1}, .back = {}, .missed = {}},
                                      {.bounds = {5}, .successors = {3, 2}, .back = {}, .missed = {}},
                                      {.bounds = {5}, .successors = {3}, .back = {}, .missed = {2, 3, 4}},
                                      {.bounds = {5}, .successors = {1, 4}, .back = {1}, .missed = {}},
                                      {.bounds = {1}, .successors = {}, .back = {}, .missed = {}}})));
    const Kernel triangle(R"(
    mov.u32 %r11, 0;
LOOP:
    st.global.u32 [%rd1], %r11;
    add.s32 %r11, %r11, 1;
    setp.le.s32 %p2, %r11, %r3;
    @%p2 bra LOOP;
    ret;
)");
    // The last lane of warp 0 goes round 32 times.
    EXPECT_EQ(triangle.blocks(0, 0).size(), 2u + 32u);
}

TEST(WarpWalk, TakesBothWaysWhereMemoryDecides) {
    const Kernel kernel(R"(
    ld.global.u32 %r11, [%rd1];
    setp.eq.s32 %p1, %r11, 0;
    @%p1 bra END;
LOOP:
    ld.global.u32 %r12, [%rd1+4];
    setp.ne.s32 %p2, %r12, 0;
    @%p2 bra LOOP;
END:
    ret;
)");
    EXPECT_THAT(kernel.blocks(0, 0), ElementsAre(0, 1, 2));
    EXPECT_THAT(kernel.blocks(0, 0, 0, {.unknown_trips = 3}), ElementsAre(0, 1, 1, 1, 2));
}

struct Totals {
    double accesses = 0, sectors = 0, passes = 0;
};
Totals totals_of(const Round& round, const TracePool& pool) {
    Totals out;
    for (const TraceIndex warp : round.warps)
        for (const Operation& one : pool.trace(warp)) {
            if (one.component == Component::gm || one.component == Component::gc)
                out.accesses += one.weight, out.sectors += one.weight * one.transactions;
            if (one.component == Component::lm) out.passes += one.weight * one.transactions;
        }
    return out;
}

// What arguments, ids and induction variables decide is decided as a run decides it: the same accesses touch the same.
TEST(StaticTraces, TouchWhatARunTouches) {
    const std::string bodies[] = {// A guard, and a row of a matrix.
                                  R"(
    setp.ge.s32 %p1, %r3, %r1;
    setp.ge.s32 %p2, %r4, %r2;
    or.pred %p3, %p1, %p2;
    @%p3 bra END;
    mad.lo.s32 %r11, %r4, %r1, %r3;
    mul.wide.s32 %rd2, %r11, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    st.global.f32 [%rd3+4096], %f1;
END:
    ret;
)",
                                  // A column, walked in a loop.
                                  row_by_item,
                                  // Divisions, masks, shifts, and a tree in local memory.
                                  R"(
    div.u32 %r11, %r3, 7;
    rem.u32 %r12, %r3, 7;
    mad.lo.s32 %r13, %r12, 100, %r11;
    xor.b32 %r13, %r13, 5;
    mul.wide.u32 %rd2, %r13, 8;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f64 %d1, [%rd3];
    mov.u32 %r14, buffer;
    shl.b32 %r15, %r5, 3;
    add.s32 %r16, %r14, %r15;
    mov.u32 %r17, 16;
TREE:
    setp.ge.u32 %p1, %r5, %r17;
    @%p1 bra SKIP;
    ld.shared.f32 %f2, [%r16];
SKIP:
    bar.sync 0;
    shr.u32 %r17, %r17, 1;
    setp.ne.s32 %p2, %r17, 0;
    @%p2 bra TREE;
    ret;
)",
                                  // A triangle.
                                  R"(
    mov.u32 %r11, 0;
LOOP:
    mad.lo.s32 %r13, %r11, %r1, %r3;
    mul.wide.s32 %rd2, %r13, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.s32 %r11, %r11, 1;
    setp.le.s32 %p1, %r11, %r3;
    @%p1 bra LOOP;
    ret;
)"};
    for (const std::string& body : bodies) {
        const Kernel kernel(body);
        auto program = emulator::load_program(kernel.module);
        ASSERT_TRUE(program) << program.error().text();
        const auto bytes = arguments(300, 90);
        // The emulator keeps 64 iterations of a loop; of the triangle's as many are kept here.
        const trimtab_dim3 global{body.contains("setp.le") ? 60u : 300u, 90, 1};
        const WalkSettings all_iterations{.kept_inner_iterations = 1000, .kept_outer_iterations = 1000};
        for (const trimtab_dim3 size :
             {trimtab_dim3{32, 1, 1}, trimtab_dim3{64, 2, 1}, trimtab_dim3{7, 9, 1}, trimtab_dim3{1, 33, 1},
              trimtab_dim3{100, 3, 1}, trimtab_dim3{33, 1, 1}}) {
            const GroupPlacement placement = GroupPlacement::of(global, size, 3, 4);
            if (body.contains("setp.le") && placement.groups.x * size.x > 64) continue;
            TracePool pool;
            StaticTraces traces(kernel.code, bytes, all_iterations, kernel.latencies, pool);
            const Totals found = totals_of(traces.round(placement, 3, 1), pool);
            StaticTraces few(kernel.code, bytes, {}, kernel.latencies, pool);
            const Totals kept = totals_of(few.round(placement, 3, 1), pool);
            emulator::SparseMemory memory;
            const auto launch = schedule::trace_launch({.program = program->get(),
                                                        .memory = &memory,
                                                        .kernel = "kernel",
                                                        .grid = placement.groups,
                                                        .block = size,
                                                        .parameters = bytes,
                                                        .device = &kernel.device,
                                                        .resident = placement.at_once,
                                                        .instruction_budget = 10'000'000,
                                                        .first_block = placement.first});
            ASSERT_TRUE(launch) << launch.error().text();
            CachedRound cached(kernel.latencies, pool);
            const Totals run =
                totals_of(emulated_round(*launch, placement.at_once, kernel.latencies, 1, cached), pool);
            EXPECT_GT(run.sectors, 0);
            EXPECT_NEAR(found.sectors, run.sectors, 1e-3 * run.sectors) << size.x << " x " << size.y << body;
            EXPECT_NEAR(found.accesses, run.accesses, 1e-3 * run.accesses)
                << size.x << " x " << size.y << body;
            EXPECT_EQ(found.passes, run.passes) << size.x << " x " << size.y << body;
            // A few kept iterations stand for all.
            EXPECT_NEAR(kept.sectors, run.sectors, 0.08 * run.sectors) << size.x << " x " << size.y << body;
            EXPECT_EQ(kept.passes, run.passes) << size.x << " x " << size.y << body;
        }
    }
}

// What a few warps and the lines of two groups say of a round, beside the round itself.
TEST(StaticTraces, AreEstimatedByTheirGroups) {
    const std::string bodies[] = {
        // A cell and its four neighbours, in a matrix of rows of %r1: rows are met by several warps.
        R"(
    setp.eq.s32 %p1, %r3, 0;
    setp.ge.s32 %p2, %r3, %r1;
    or.pred %p3, %p1, %p2;
    @%p3 bra END;
    mad.lo.s32 %r11, %r4, %r1, %r3;
    mul.wide.s32 %rd2, %r11, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    ld.global.f32 %f1, [%rd3+4];
    ld.global.f32 %f1, [%rd3+-4];
    ld.global.f32 %f1, [%rd3+16384];
    ld.global.f32 %f1, [%rd3+-16384];
END:
    ret;
)",
        // Rows walked by one item each, a sector of each at a time.
        row_by_item};
    for (const std::string& body : bodies) {
        const Kernel kernel(body);
        const auto bytes = arguments(4096, 4096);
        for (const std::uint64_t l2_bytes : {std::uint64_t{1} << 20, std::uint64_t{32} << 10})
            for (const trimtab_dim3 size :
                 {trimtab_dim3{32, 8, 1}, trimtab_dim3{15, 67, 1}, trimtab_dim3{39, 26, 1},
                  trimtab_dim3{3, 100, 1}, trimtab_dim3{128, 1, 1}, trimtab_dim3{7, 9, 1}}) {
                Latencies latencies = kernel.latencies;
                latencies.l2_bytes = l2_bytes;
                TracePool pool;
                StaticTraces traces(kernel.code, bytes, {}, latencies, pool);
                const GroupPlacement placement = GroupPlacement::of({4096, 4096, 1}, size, 3, 2);
                const RoundSums estimate = traces.estimate(placement, 3, 1);
                RoundSums whole;
                for (const TraceIndex warp : traces.round(placement, 3, 1).warps)
                    whole.add(pool.sums(warp), 1);
                // What is fetched is known of whole groups; what a warp finds is a sample's.
                for (const auto& [component, share] :
                     {std::pair(Component::gm, 0.1), std::pair(Component::gc, 0.3),
                      std::pair(Component::fpu, 0.1)}) {
                    const double busy = whole.busy_cycles[index(component)];
                    EXPECT_NEAR(estimate.busy_cycles[index(component)], busy, share * busy + 20)
                        << size.x << " x " << size.y << ", " << name(component) << ", " << l2_bytes
                        << " bytes\n"
                        << body;
                }
            }
    }
}

// Columns are walked again and again: all warps' lines together are put out before they are met again, a few warps'
// are not. A warp waits as long as it does among all.
TEST(StaticTraces, AreEstimatedWithTheWaitsOfAllWarps) {
    const Kernel kernel(R"(
    mov.u32 %r11, 0;
AGAIN:
    mov.u32 %r12, 0;
LOOP:
    mad.lo.s32 %r13, %r12, %r1, %r3;
    mul.wide.s32 %rd2, %r13, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.s32 %r12, %r12, 1;
    setp.lt.s32 %p1, %r12, 16;
    @%p1 bra LOOP;
    add.s32 %r11, %r11, 1;
    setp.lt.s32 %p2, %r11, 4;
    @%p2 bra AGAIN;
    ret;
)");
    const auto bytes = arguments(65536, 0);
    const GroupPlacement placement = GroupPlacement::of({65536, 1, 1}, {128, 1, 1}, 3, 8);
    double fits = 0;
    for (const std::uint64_t l2_bytes : {std::uint64_t{1} << 20, std::uint64_t{32} << 10}) {
        Latencies latencies = kernel.latencies;
        latencies.l2_bytes = l2_bytes;
        TracePool pool;
        StaticTraces traces(kernel.code, bytes, {}, latencies, pool);
        const RoundSums estimate = traces.estimate(placement, 3, 1);
        RoundSums whole;
        for (const TraceIndex warp : traces.round(placement, 3, 1).warps) whole.add(pool.sums(warp), 1);
        EXPECT_NEAR(estimate.longest_cycles, whole.longest_cycles, 0.02 * whole.longest_cycles) << l2_bytes;
        if (fits == 0)
            fits = whole.longest_cycles;
        else
            EXPECT_GT(whole.longest_cycles, 1.2 * fits);
    }
}

// Groups that reach beyond the launch, or lie at its edge, stand for others only where there are no others.
TEST(GroupPlacements, AreOfInnerGroups) {
    for (const trimtab_dim3 size :
         {trimtab_dim3{39, 26, 1}, trimtab_dim3{15, 67, 1}, trimtab_dim3{1000, 1, 1}}) {
        const GroupPlacement placement = GroupPlacement::of({4096, 4096, 1}, size, 3, 2);
        for (std::uint32_t g = 0; g < placement.at_once; ++g) {
            const std::uint64_t linear = placement.group_at(g, 3);
            ASSERT_LT(linear, placement.group_count);
            EXPECT_GT(linear % placement.groups.x, 0u) << size.x;
            EXPECT_LT(linear % placement.groups.x, placement.groups.x - 1) << size.x;
        }
    }
    const GroupPlacement one = GroupPlacement::of({100, 1, 1}, {128, 1, 1}, 3, 16);
    EXPECT_EQ(one.group_at(0, 3), 0u);
    const GroupPlacement few =
        GroupPlacement::of({700, 1, 1}, {128, 1, 1}, 2, 3);  // six groups, three an SM: 0, 2, 4
    EXPECT_EQ(few.group_at(0, 2), 0u) << "there is no other round";
}

TEST(KernelCode, RefusesALoopWithTwoEntries) {
    const auto module = ptx::parse(kernel_text(R"(
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra SECOND;
FIRST:
    add.s32 %r2, %r2, 1;
SECOND:
    add.s32 %r2, %r2, 2;
    setp.lt.s32 %p2, %r2, 100;
    @%p2 bra FIRST;
    ret;
)"),
                                   "kernel.ptx")
                            .value();
    const auto code = KernelCode::make(module, *module.function("kernel"), {}, {});
    ASSERT_FALSE(code);
    EXPECT_THAT(code.error().message, testing::HasSubstr("two entries"));
}

}  // namespace
}  // namespace trimtab::pruning
