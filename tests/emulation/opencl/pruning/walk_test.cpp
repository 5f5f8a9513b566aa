// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks of warps: the paper's algorithms on small kernels, and whole launches beside runs of them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/opencl/pruning/launch_estimate.h"
#include "emulation/opencl/pruning/walked_blocks.h"
#include "emulation/schedule/estimate.h"
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

struct Kernel {
    ptx::Module module;
    model::Device device = model::find_device("k620").value();
    KernelCode code;

    explicit Kernel(const std::string& body) : module(ptx::parse(kernel_text(body), "kernel.ptx").value()) {
        auto made = KernelCode::make(module, *module.function("kernel"));
        EXPECT_TRUE(made) << made.error().text();
        if (made) code = std::move(*made);
    }

    std::vector<std::uint32_t> blocks(std::uint32_t warp, std::uint32_t first, std::uint32_t second = 0,
                                      WalkSettings settings = {}) const {
        const auto bytes = arguments(first, second);
        WarpWalk walk(code, bytes, settings);
        std::vector<ptx::BlockIndex> out;
        walk.blocks = &out;
        walk.walk({.group = {128, 1, 1}, .groups = {1, 1, 1}, .index = {0, 0, 0}, .warp = warp},
                  WarpLanes::of({128, 1, 1}, warp), nullptr, {});
        return {out.begin(), out.end()};
    }

    [[nodiscard]] schedule::TraceRequest request(const GroupPlacement& placed,
                                                 std::span<const std::byte> bytes) const {
        return {.program = code.program.get(),
                .kernel = "kernel",
                .grid = placed.groups,
                .block = placed.group,
                .parameters = bytes,
                .device = &device,
                .resident = placed.at_once,
                .instruction_budget = 10'000'000};
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

void expect_equal(const schedule::KernelTrace& walked, const schedule::KernelTrace& run,
                  const std::string& where) {
    ASSERT_EQ(walked.blocks.size(), run.blocks.size()) << where;
    for (std::size_t b = 0; b < run.blocks.size(); ++b) {
        const schedule::BlockTrace &ours = walked.blocks[b], &theirs = run.blocks[b];
        EXPECT_EQ(ours.block, theirs.block) << where;
        ASSERT_EQ(ours.warps.size(), theirs.warps.size()) << where;
        for (std::size_t w = 0; w < ours.warps.size(); ++w) {
            const schedule::WarpTrace &a = ours.warps[w], &e = theirs.warps[w];
            EXPECT_EQ(a.iterations, e.iterations) << where;
            ASSERT_EQ(a.steps.size(), e.steps.size()) << where;
            for (std::size_t s = 0; s < a.steps.size(); ++s) {
                ASSERT_EQ(a.steps[s].stretch, e.steps[s].stretch) << where;
                ASSERT_EQ(a.steps[s].iteration, e.steps[s].iteration) << where;
            }
            ASSERT_EQ(a.requests.size(), e.requests.size()) << where;
            for (std::size_t r = 0; r < a.requests.size(); ++r) {
                const schedule::Request &own = a.requests[r], &other = e.requests[r];
                ASSERT_EQ(own.lanes, other.lanes) << where;
                ASSERT_EQ(own.passes, other.passes) << where;
                ASSERT_EQ(own.store_slots, other.store_slots) << where;
                ASSERT_EQ(own.lines, other.lines) << where;
                for (unsigned n = 0; n < own.lines; ++n) {
                    ASSERT_EQ(ours.lines[own.first_line + n].number,
                              theirs.lines[other.first_line + n].number)
                        << where;
                    ASSERT_EQ(ours.lines[own.first_line + n].sectors,
                              theirs.lines[other.first_line + n].sectors);
                }
            }
        }
    }
    ASSERT_EQ(walked.accesses.size(), run.accesses.size()) << where;
    for (std::size_t a = 0; a < run.accesses.size(); ++a)
        EXPECT_DOUBLE_EQ(walked.accesses[a].dram_sectors, run.accesses[a].dram_sectors) << where;
}

GroupPlacement placement(trimtab_dim3 global, trimtab_dim3 size, std::uint32_t at_once) {
    return {.group = size,
            .groups = {(global.x + size.x - 1) / size.x, (global.y + size.y - 1) / size.y, 1},
            .at_once = at_once};
}

// What arguments, ids and induction variables decide is decided as a run decides it: the trace of a launch that is walked is
// that of the launch as it runs, and so is its time.
TEST(WalkedBlocks, DoWhatARunDoes) {
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
        const auto bytes = arguments(300, 90);
        for (const trimtab_dim3 size :
             {trimtab_dim3{32, 1, 1}, trimtab_dim3{64, 2, 1}, trimtab_dim3{7, 9, 1}, trimtab_dim3{1, 33, 1},
              trimtab_dim3{100, 3, 1}, trimtab_dim3{33, 1, 1}}) {
            const GroupPlacement placed = placement({300, 90, 1}, size, 4);
            emulator::SparseMemory memory;
            schedule::TraceRequest request = kernel.request(placed, bytes);
            request.memory = &memory;
            const auto run = schedule::trace_launch(request);
            ASSERT_TRUE(run) << run.error().text();
            WarpWalk walk(kernel.code, bytes, {});
            WalkedBlocks blocks(walk, placed.groups, placed.group);
            const auto walked = schedule::trace_launch(request, blocks);
            ASSERT_TRUE(walked) << walked.error().text();
            const std::string where = fmt::format("{} x {}{}", size.x, size.y, body);
            expect_equal(walked->trace, run->trace, where);
            EXPECT_DOUBLE_EQ(walked->work_ratio, run->work_ratio) << where;
            EXPECT_DOUBLE_EQ(walked->block_warp_instructions, run->block_warp_instructions) << where;
            EXPECT_DOUBLE_EQ(schedule::estimate(*walked).time_ns, schedule::estimate(*run).time_ns) << where;
            EXPECT_EQ(walked->blocks_run, 0u) << "nothing is run";
        }
    }
}

// Data that memory decides the place of are nobody else's, and the trace says as much in every group.
TEST(WalkedBlocks, TakePlacesThatMemoryDecidesToMiss) {
    const Kernel kernel(R"(
    mul.wide.s32 %rd2, %r3, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r11, [%rd3];
    mul.wide.s32 %rd4, %r11, 4;
    add.s64 %rd5, %rd1, %rd4;
    ld.global.u32 %r12, [%rd5];
    st.global.u32 [%rd3], %r12;
    ret;
)");
    const auto bytes = arguments(0, 0);
    const GroupPlacement placed = placement({1 << 22, 1, 1}, {128, 1, 1}, 4);
    WarpWalk walk(kernel.code, bytes, {});
    WalkedBlocks blocks(walk, placed.groups, placed.group);
    const auto launch = schedule::trace_launch(kernel.request(placed, bytes), blocks);
    ASSERT_TRUE(launch) << launch.error().text();
    EXPECT_THAT(walk.notes().unknown_addresses, ElementsAre(false, true, false));
    ASSERT_EQ(launch->trace.accesses.size(), 3u);
    EXPECT_GT(launch->trace.accesses[1].dram_sectors, 0.99);
    std::set<std::uint64_t> lines;
    std::size_t touched = 0;
    for (const schedule::BlockTrace& block : launch->trace.blocks)
        for (const schedule::WarpTrace& warp : block.warps) {
            const schedule::Request& scattered = warp.requests.at(1);
            EXPECT_EQ(scattered.sectors, 32);
            for (unsigned n = 0; n < scattered.lines; ++n, ++touched)
                lines.insert(block.lines[scattered.first_line + n].number);
        }
    EXPECT_EQ(lines.size(), touched);
}

// The order of estimates is about that of times: narrow groups waste sectors, and few warps wait.
TEST(LaunchEstimate, PutsTheBestSizesFirst) {
    const std::string copy = R"(
    mad.lo.s32 %r11, %r4, %r1, %r3;
    mul.wide.s32 %rd2, %r11, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.f32 %f1, %f1, %f1;
    st.global.f32 [%rd3], %f1;
    ret;
)";
    for (const std::string& body : {copy, std::string(row_by_item)}) {
        const Kernel kernel(body);
        const auto bytes = arguments(1024, 1024);
        WarpWalk walk(kernel.code, bytes, {});
        LaunchEstimate estimate(kernel.code, walk, kernel.device, false);
        double best = 0, first = 0, least = 0;
        for (const trimtab_dim3 size :
             {trimtab_dim3{32, 8, 1}, trimtab_dim3{256, 1, 1}, trimtab_dim3{1, 256, 1}, trimtab_dim3{8, 8, 1},
              trimtab_dim3{5, 7, 1}, trimtab_dim3{32, 1, 1}, trimtab_dim3{2, 2, 1}}) {
            const GroupPlacement placed =
                placement({1024, 1024, 1}, size, 64 / ((size.x * size.y + 31) / 32));
            WalkedBlocks blocks(walk, placed.groups, placed.group);
            const auto launch = schedule::trace_launch(kernel.request(placed, bytes), blocks);
            ASSERT_TRUE(launch) << launch.error().text();
            const double ns = schedule::estimate(*launch).time_ns, roughly = estimate(placed);
            if (best == 0 || ns < best) best = ns;
            if (first == 0 || roughly < least) first = ns, least = roughly;
        }
        EXPECT_LE(first, 1.1 * best) << body;
    }
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
    const auto code = KernelCode::make(module, *module.function("kernel"));
    ASSERT_FALSE(code);
    EXPECT_THAT(code.error().message, testing::HasSubstr("two entries"));
}

}  // namespace
}  // namespace trimtab::pruning
