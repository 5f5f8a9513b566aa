// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters against numbers worked out by hand, and footprints against every address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "emulation/emulator/metrics/metrics.h"
#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using model::Metric;

// One global or shared access of a warp, its addresses made by the host: offsets[lane].
constexpr const char* accesses = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry load4(.param .u64 offsets, .param .u64 data) {
    .reg .b32 %r<3>; .reg .b64 %rd<6>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [offsets]; ld.param.u64 %rd2, [data];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    cvt.u64.u32 %rd4, %r2;
    setp.eq.u32 %p, %r2, 0xffffffff;
    @%p exit;
    add.s64 %rd5, %rd2, %rd4;
    ld.global.u32 %r2, [%rd5];
    ret;
}
.visible .entry store4(.param .u64 offsets, .param .u64 data) {
    .reg .b32 %r<3>; .reg .b64 %rd<6>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [offsets]; ld.param.u64 %rd2, [data];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    cvt.u64.u32 %rd4, %r2;
    setp.eq.u32 %p, %r2, 0xffffffff;
    @%p exit;
    add.s64 %rd5, %rd2, %rd4;
    st.global.u32 [%rd5], %r2;
    ret;
}
.visible .entry store1(.param .u64 offsets, .param .u64 data) {
    .reg .b32 %r<3>; .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [offsets]; ld.param.u64 %rd2, [data];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    cvt.u64.u32 %rd4, %r2;
    add.s64 %rd5, %rd2, %rd4;
    st.global.u8 [%rd5], %r2;
    ret;
}
.visible .entry load16(.param .u64 offsets, .param .u64 data) {
    .reg .b32 %r<7>; .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [offsets]; ld.param.u64 %rd2, [data];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    cvt.u64.u32 %rd4, %r2;
    add.s64 %rd5, %rd2, %rd4;
    ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd5];
    ret;
}
.visible .entry shared4(.param .u64 offsets) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>; .shared .align 16 .b8 s[8192];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [offsets];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    ld.shared.u32 %r3, [%r2];
    ret;
}
.visible .entry shared8(.param .u64 offsets) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>; .shared .align 16 .b8 s[8192];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [offsets];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    ld.shared.u64 %rd4, [%r2];
    ret;
}
.visible .entry shared_atomic(.param .u64 offsets) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>; .shared .align 16 .b8 s[8192];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [offsets];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    red.shared.add.u32 [%r2], 1;
    ret;
}
)";

constexpr std::uint32_t absent = 0xffffffffu;

class Requests : public testing::Test {
  protected:
    static void SetUpTestSuite() { program_ = load(accesses); }
    static void TearDownTestSuite() { program_.reset(); }
    void SetUp() override {
        ASSERT_NE(program_, nullptr);
        // Aligned to a line, so that offsets are all that matters.
        data_.resize(1 << 16);
        aligned_ = data_.data() + (128 - reinterpret_cast<std::uint64_t>(data_.data()) % 128) % 128;
    }
    // The counts of the kernel's only access that is not the load of the offsets.
    template <class Offset>
    InstructionCount count(const char* kernel, const Offset& offset) {
        std::vector<std::uint32_t> offsets(32);
        for (std::uint32_t i = 0; i < 32; i++) offsets[i] = static_cast<std::uint32_t>(offset(i));
        memory_.clear();
        memory_.add(data_);
        CountingPlan plan;
        plan.count = true;
        const bool shared = std::string_view(kernel).starts_with("shared");
        const LaunchResult result =
            run(*program_, memory_, kernel, {},
                shared ? Parameters(memory_.add(offsets)) : Parameters(memory_.add(offsets), aligned_), plan);
        const auto places = instruction_places(*program_, kernel);
        InstructionCount found;
        bool first = true;
        for (std::size_t i = 0; i < result.counters.instructions.size(); i++) {
            if (result.counters.instructions[i].requests == 0) continue;
            if (!first) found = result.counters.instructions[i];
            first = false;
        }
        return found;
    }

    static std::shared_ptr<Program> program_;
    HostMemory memory_;
    std::vector<std::byte> data_;
    std::byte* aligned_ = nullptr;
};
std::shared_ptr<Program> Requests::program_;

TEST_F(Requests, SectorsAndLinesOfLoads) {
    struct Case {
        const char* what;
        std::uint32_t (*offset)(std::uint32_t);
        unsigned sectors, lines;
    };
    const Case cases[] = {
        {"coalesced", [](std::uint32_t i) { return 4 * i; }, 4, 1},
        {"coalesced, a word further", [](std::uint32_t i) { return 4 * i + 4; }, 5, 2},
        {"backwards", [](std::uint32_t i) { return 124 - 4 * i; }, 4, 1},
        {"one word", [](std::uint32_t) { return 64u; }, 1, 1},
        {"stride 2", [](std::uint32_t i) { return 8 * i; }, 8, 2},
        {"stride 8", [](std::uint32_t i) { return 32 * i; }, 32, 8},
        {"stride 32", [](std::uint32_t i) { return 128 * i; }, 32, 32},
        {"stride 33", [](std::uint32_t i) { return 132 * i; }, 32, 32},
        {"two rows of a 16-wide block", [](std::uint32_t i) { return i % 16 * 4 + i / 16 * 4096; }, 4, 2},
        {"the same two rows, swapped", [](std::uint32_t i) { return i % 16 * 4 + (1 - i / 16) * 4096; }, 4,
         2},
        {"scattered in one line", [](std::uint32_t i) { return i * 12 % 128; }, 4, 1},
        {"far and shuffled", [](std::uint32_t i) { return i * 7 % 32 * 1024; }, 32, 32},
        {"odd lanes", [](std::uint32_t i) { return i % 2 ? 4 * i : absent; }, 4, 1},
        {"one lane", [](std::uint32_t i) { return i == 17 ? 4 * i : absent; }, 1, 1},
    };
    for (const Case& one : cases) {
        const InstructionCount counted = count("load4", one.offset);
        unsigned lanes = 0;
        for (std::uint32_t i = 0; i < 32; i++) lanes += one.offset(i) != absent;
        EXPECT_EQ(counted.requests, 1u) << one.what;
        EXPECT_EQ(counted.warp, 1u) << one.what;
        EXPECT_EQ(counted.thread, lanes) << one.what;
        EXPECT_EQ(counted.bytes, 4 * lanes) << one.what;
        EXPECT_EQ(counted.sectors, one.sectors) << one.what;
        EXPECT_EQ(counted.lines, one.lines) << one.what;
        EXPECT_EQ(counted.full_segments + counted.fragments, 0u) << one.what;
    }
    EXPECT_EQ(count("load16", [](std::uint32_t i) { return 16 * i; }).sectors, 16u);
    EXPECT_EQ(count("load16", [](std::uint32_t i) { return 16 * i; }).lines, 4u);
    EXPECT_EQ(count("load16", [](std::uint32_t i) { return 16 * (31 - i); }).sectors, 16u);
}

TEST_F(Requests, SegmentsAndFragmentsOfStores) {
    struct Case {
        const char* what;
        std::uint32_t (*offset)(std::uint32_t);
        unsigned sectors, full, fragments, partial;
    };
    const Case cases[] = {
        // Two whole segments of 64 bytes.
        {"coalesced", [](std::uint32_t i) { return 4 * i; }, 4, 2, 0, 0},
        // One whole segment; the other 15 words: lanes 0 to 14 in one sector and a bit, quads of 4 lanes: 16
        // to 60
        // (quads 0..3; quad 3's lanes 12 to 14 end at 63, lane 15 starts the whole segment), and lane 31
        // alone.
        {"a word further", [](std::uint32_t i) { return 4 * i + 4; }, 5, 1, 6, 2},
        {"one word", [](std::uint32_t) { return 64u; }, 1, 0, 8, 1},
        {"stride 2", [](std::uint32_t i) { return 8 * i; }, 8, 0, 8, 8},
        {"stride 8", [](std::uint32_t i) { return 32 * i; }, 32, 0, 32, 32},
        {"an 8-wide block: half segments", [](std::uint32_t i) { return i % 8 * 4 + i / 8 * 4096; }, 4, 0, 8,
         0},
        {"a 16-wide block: whole segments", [](std::uint32_t i) { return i % 16 * 4 + i / 16 * 4096; }, 4, 2,
         0, 0},
        {"one lane", [](std::uint32_t i) { return i == 3 ? 0 : absent; }, 1, 0, 1, 1},
    };
    for (const Case& one : cases) {
        const InstructionCount counted = count("store4", one.offset);
        EXPECT_EQ(counted.sectors, one.sectors) << one.what;
        EXPECT_EQ(counted.full_segments, one.full) << one.what;
        EXPECT_EQ(counted.fragments, one.fragments) << one.what;
        EXPECT_EQ(counted.partial_sectors, one.partial) << one.what;
    }
    // 32 bytes: half a segment, eight quads.
    EXPECT_EQ(count("store1", [](std::uint32_t i) { return i; }).fragments, 8u);
}

TEST_F(Requests, BankConflicts) {
    const auto passes = [&](const char* kernel, auto offset) { return count(kernel, offset).wavefronts; };
    EXPECT_EQ(passes("shared4", [](std::uint32_t i) { return 4 * i; }), 1u);
    EXPECT_EQ(passes("shared4", [](std::uint32_t) { return 40u; }), 1u);
    EXPECT_EQ(passes("shared4", [](std::uint32_t i) { return 8 * i; }), 2u);
    EXPECT_EQ(passes("shared4", [](std::uint32_t i) { return 128 * i; }), 32u);
    EXPECT_EQ(passes("shared4", [](std::uint32_t i) { return 132 * i; }), 1u);
    EXPECT_EQ(passes("shared4", [](std::uint32_t i) { return i / 2 * 4; }), 1u);
    EXPECT_EQ(passes("shared4", [](std::uint32_t i) { return i % 4 * 128; }), 4u);
    EXPECT_EQ(passes("shared8", [](std::uint32_t i) { return 8 * i; }), 2u);
    EXPECT_EQ(passes("shared8", [](std::uint32_t i) { return 16 * i; }), 4u);
    EXPECT_EQ(passes("shared8", [](std::uint32_t) { return 8u; }), 1u);
    EXPECT_EQ(passes("shared_atomic", [](std::uint32_t i) { return 4 * i; }), 1u);
    EXPECT_EQ(passes("shared_atomic", [](std::uint32_t) { return 4u; }), 32u);
    EXPECT_EQ(passes("shared_atomic", [](std::uint32_t i) { return i / 4 * 4; }), 4u);
}

constexpr const char* source = R"(
#define KERNEL extern "C" __global__ void
KERNEL scale(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
KERNEL matrix(const float* a, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = a[x * n + y] + a[y * n + x];
}
KERNEL chase(const int* next, int* out, int steps) {
    int at = threadIdx.x;
    for (int i = 0; i < steps; i++) at = next[at];
    out[threadIdx.x] = at;
}
KERNEL sum3(const float* a, const float* b, const float* c, float* out) {
    int i = threadIdx.x;
    out[i] = a[i] * b[i] + c[i];
}
KERNEL accumulate(float* sum, const float* in) {
    int i = threadIdx.x;
    sum[i] += in[i];
    sum[i] += in[i + 32];
    sum[i] += in[i + 64];
}
KERNEL halves(int* out) {
    int x = 0;
    if (threadIdx.x % 2) x = 5 * out[threadIdx.x]; else x = 3 * out[threadIdx.x + 32];
    out[threadIdx.x] = x;
}
KERNEL tiles(const float* in, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
    __syncthreads();
}
)";

class Counters : public testing::Test {
  protected:
    static void SetUpTestSuite() { program_ = load(compile_cuda(source, "-O1 -fno-unroll-loops")); }
    static void TearDownTestSuite() { program_.reset(); }
    void SetUp() override { ASSERT_NE(program_, nullptr); }

    LaunchCounters counters(const char* kernel, const Grid& grid, const Parameters& parameters,
                            const CountingPlan& plan = {true, false, {}}) {
        return run(*program_, memory_, kernel, grid, parameters, plan).counters;
    }
    model::MetricValues values(const char* kernel, const LaunchCounters& counted, std::uint64_t blocks) {
        return metrics(*program_, kernel, counted, blocks);
    }
    static double of(const model::MetricValues& values, Metric metric) {
        return values[static_cast<std::size_t>(metric)];
    }

    static std::shared_ptr<Program> program_;
    HostMemory memory_;
};
std::shared_ptr<Program> Counters::program_;

TEST_F(Counters, ThreadsBeyondTheGuardDoNotDilute) {
    // 1000 floats: 31 whole warps and one of 8 lanes; 8 blocks of 4 warps hold 32, a ninth is all beyond the
    // guard.
    std::vector<float> in(1024 + 32), out(1024 + 32);
    (void)memory_.add(in);
    (void)memory_.add(out);
    const auto at_line = [](float* p) {
        return p + (128 - reinterpret_cast<std::uint64_t>(p) % 128) % 128 / 4;
    };
    const auto counted = counters("scale", {{9, 1, 1}, {128, 1, 1}},
                                  Parameters(at_line(in.data()), at_line(out.data()), 1000));
    EXPECT_EQ(counted.blocks, 9u);
    EXPECT_EQ(counted.warps, 36u);
    EXPECT_EQ(counted.active_blocks, 8u);
    EXPECT_EQ(counted.active_warps, 32u);
    EXPECT_EQ(counted.divergent_branches, 1u);
    const auto by = [](InstructionClass which) { return static_cast<std::size_t>(which); };
    EXPECT_EQ(counted.active_by_class[by(InstructionClass::global_load)].warp, 32u);
    EXPECT_EQ(counted.active_by_class[by(InstructionClass::global_load)].thread, 1000u);
    EXPECT_EQ(counted.by_class[by(InstructionClass::global_store)].warp, 32u);
    EXPECT_EQ(counted.active_by_class[by(InstructionClass::fp32)].thread, 1000u);
    EXPECT_GT(counted.by_class[by(InstructionClass::integer)].warp,
              counted.active_by_class[by(InstructionClass::integer)].warp);
    const auto m = values("scale", counted, 9);
    EXPECT_EQ(of(m, Metric::load_requests), 1);
    EXPECT_EQ(of(m, Metric::load_sectors), (31 * 4 + 1) / 32.0);
    EXPECT_EQ(of(m, Metric::load_lines), 1);
    EXPECT_EQ(of(m, Metric::store_sectors), (31 * 4 + 1) / 32.0);
    EXPECT_EQ(of(m, Metric::fp32_instructions), 1);
    EXPECT_EQ(of(m, Metric::active_warps), 4);
    EXPECT_EQ(of(m, Metric::active_blocks), 8);
    EXPECT_EQ(of(m, Metric::dependent_rounds), 1);
    EXPECT_GE(of(m, Metric::instruction_parallelism), 1);
    EXPECT_GT(of(m, Metric::active_lanes), 31);
    // What adds up: warp instructions by class and by instruction.
    std::uint64_t by_class = 0, by_instruction = 0;
    for (const ClassCount& one : counted.active_by_class) by_class += one.warp;
    for (const InstructionCount& one : counted.instructions) by_instruction += one.warp;
    EXPECT_EQ(by_class, by_instruction);
    EXPECT_EQ(of(m, Metric::warp_instructions), by_class / 32.0);
    EXPECT_EQ(counted.instructions.size(), kernel_info(*program_, "scale")->instruction_count);
    EXPECT_EQ(instruction_places(*program_, "scale").size(), counted.instructions.size());
}

TEST_F(Counters, ThreadCountChangesNothing) {
    std::vector<float> a(100 * 100), out(100 * 100);
    const Parameters parameters(memory_.add(a), memory_.add(out), 100);
    CountingPlan plan{true, true, {{0, 1, 7}, {3}}};
    Grid grid{{7, 13, 1}, {16, 8, 1}, 0, 1};
    const LaunchCounters one = counters("matrix", grid, parameters, plan);
    grid.threads = 4;
    const LaunchCounters four = counters("matrix", grid, parameters, plan);
    EXPECT_EQ(one.dependent_rounds, four.dependent_rounds);
    EXPECT_EQ(one.max_warp_instructions, four.max_warp_instructions);
    EXPECT_EQ(one.total_sectors, four.total_sectors);
    EXPECT_EQ(one.group_sectors, four.group_sectors);
    EXPECT_EQ(one.block_sectors, four.block_sectors);
    EXPECT_EQ(one.idle_lanes, four.idle_lanes);
    ASSERT_EQ(one.instructions.size(), four.instructions.size());
    for (std::size_t i = 0; i < one.instructions.size(); i++) {
        EXPECT_EQ(one.instructions[i].warp, four.instructions[i].warp);
        EXPECT_EQ(one.instructions[i].sectors, four.instructions[i].sectors);
        EXPECT_EQ(one.instructions[i].lines, four.instructions[i].lines);
    }
}

TEST_F(Counters, FootprintsByEveryAddress) {
    const int n = 100;
    std::vector<float> a(n * n), out(n * n);
    const auto first = reinterpret_cast<std::uint64_t>(memory_.add(a));
    const auto second = reinterpret_cast<std::uint64_t>(memory_.add(out));
    const std::vector<std::vector<std::uint64_t>> groups = {{0, 1, 7}, {90}, {8, 9, 10, 11, 12, 13}};
    const Grid grid{{7, 13, 1}, {16, 8, 1}};
    const auto touched = [&](std::uint64_t block, std::set<std::uint64_t>& sectors) {
        for (std::uint32_t t = 0; t < 128; t++) {
            const std::uint64_t x = block % 7 * 16 + t % 16, y = block / 7 * 8 + t / 16;
            if (x >= n || y >= n) continue;
            for (const std::uint64_t address :
                 {first + 4 * (x * n + y), first + 4 * (y * n + x), second + 4 * (y * n + x)})
                sectors.insert(address / 32);
        }
    };
    const LaunchCounters counted =
        counters("matrix", grid, Parameters(a.data(), out.data(), n), {true, true, groups});
    std::set<std::uint64_t> all;
    std::uint64_t of_blocks = 0;
    for (std::uint64_t block = 0; block < 91; block++) {
        std::set<std::uint64_t> own;
        touched(block, own);
        of_blocks += own.size();
        all.merge(own);
    }
    EXPECT_EQ(counted.total_sectors, all.size());
    EXPECT_EQ(counted.block_sectors, of_blocks);
    ASSERT_EQ(counted.group_sectors.size(), groups.size());
    for (std::size_t g = 0; g < groups.size(); g++) {
        std::set<std::uint64_t> own, lines;
        for (const std::uint64_t block : groups[g]) touched(block, own);
        for (const std::uint64_t sector : own) lines.insert(sector / 4);
        EXPECT_EQ(counted.group_sectors[g], own.size());
        EXPECT_EQ(counted.group_lines[g], lines.size());
    }
    EXPECT_EQ(of(values("matrix", counted, 91), Metric::footprint_sectors),
              static_cast<double>(of_blocks) / static_cast<double>(counted.active_blocks));
    // A sample of blocks: those asked for, and those of the groups besides.
    LaunchRequest request;
    const Parameters parameters(a.data(), out.data(), n);
    request.kernel = "matrix";
    request.grid = grid.grid;
    request.block = grid.block;
    request.parameters = parameters.bytes();
    request.blocks = {0, 50};
    request.counting = {true, true, groups};
    const auto sample = launch(*program_, memory_, request);
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->counters.blocks, 2u + 2 + 1 + 6);
    EXPECT_EQ(sample->counters.group_sectors, counted.group_sectors);
    EXPECT_EQ(of(values("matrix", sample->counters, 91), Metric::active_blocks),
              static_cast<double>(sample->counters.active_blocks) * 91 / 11);
}

TEST_F(Counters, DependentRounds) {
    const auto rounds = [&](const char* kernel, const Parameters& parameters, std::uint32_t threads = 32) {
        return counters(kernel, {{1, 1, 1}, {threads, 1, 1}}, parameters).dependent_rounds;
    };
    std::vector<int> next(96), out(96);
    for (int i = 0; i < 96; i++) next[i] = (i * 5 + 1) % 96;
    std::vector<float> a(96), b(96), c(96), d(96);
    int* chain = memory_.add(next);
    int* to = memory_.add(out);
    float* pa = memory_.add(a);
    float* pb = memory_.add(b);
    // Each step of a list waits for the one before.
    EXPECT_EQ(rounds("chase", Parameters(chain, to, 7)), 7u);
    // Independent loads share a round.
    EXPECT_EQ(rounds("sum3", Parameters(pa, pb, memory_.add(c), memory_.add(d))), 1u);
    // A load may not pass a store that could change what it reads.
    EXPECT_EQ(rounds("accumulate", Parameters(pa, pb)), 3u);
    // Two sides of a branch, one after the other.
    EXPECT_EQ(rounds("halves", Parameters(to)), 2u);
    EXPECT_EQ(rounds("tiles", Parameters(pa, pb), 64), 2u);  // one for each of two warps
}

// Every warp touches the same 32 lines, one after the other, and again behind a barrier; another one of each
// block is looked at.
TEST_F(Counters, EachWarpHasAFootprintOfItsOwn) {
    const auto program = load(R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry lines(.param .u64 in) {
    .reg .b32 %r<4>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [in]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31;
    mul.wide.u32 %d1, %r1, 128; add.s64 %d1, %d0, %d1;
    ld.global.u32 %r2, [%d1];
    bar.sync 0;
    ld.global.u32 %r3, [%d1+4];
    ret;
}
)");
    ASSERT_NE(program, nullptr);
    std::vector<int> in(32 * 32);
    HostMemory memory;
    CountingPlan plan;
    plan.count = plan.footprints = true;
    const auto counted =
        run(*program, memory, "lines", {{3, 1, 1}, {96, 1, 1}, 0, 1}, Parameters(memory.add(in)), plan)
            .counters;
    EXPECT_EQ(counted.footprint_warps, 3u);
    // One sector a line, or two where the array does not begin with a sector.
    EXPECT_EQ(counted.warp_sectors % 3, 0u);
    EXPECT_GE(counted.warp_sectors, 3u * 32);
    EXPECT_EQ(counted.warp_sectors, counted.block_sectors);
    EXPECT_EQ(counted.warp_sectors, 3 * counted.total_sectors);
}

TEST_F(Counters, BarriersDivergenceAndSharedMemory) {
    std::vector<float> in(64), out(64);
    std::vector<int> numbers(96);
    const auto tiles =
        counters("tiles", {{3, 1, 1}, {64, 1, 1}}, Parameters(memory_.add(in), memory_.add(out)));
    EXPECT_EQ(tiles.barriers, 3u * 2 * 2);
    const auto m = values("tiles", tiles, 3);
    EXPECT_EQ(of(m, Metric::barriers), 2);
    EXPECT_EQ(of(m, Metric::shared_requests), 2);
    EXPECT_EQ(of(m, Metric::shared_wavefronts), 2);
    EXPECT_EQ(of(m, Metric::divergent_branches), 0);
    const auto halves = counters("halves", {}, Parameters(memory_.add(numbers)));
    EXPECT_EQ(halves.divergent_branches, 1u);
    EXPECT_GT(halves.idle_lanes, 0u);
    EXPECT_EQ(of(values("halves", halves, 1), Metric::load_requests), 2);
    const auto uncounted = run(*program_, memory_, "halves", {}, Parameters(numbers.data()));
    EXPECT_TRUE(uncounted.counters.instructions.empty());
    EXPECT_EQ(uncounted.warp_instructions, 0u);
}

}  // namespace
}  // namespace trimtab::emulator::test
