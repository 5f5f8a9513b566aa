// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way of warps through ptxas's code, against what that does, worked out by hand: gather's loop (tests/core/sass/data)
// does four iterations at a time while more than three are left, then two, then one.
#include "emulation/schedule/machine_trace.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <map>

#include "emulation/schedule/bounds.h"
#include "emulation/schedule/estimate.h"
#include "emulation/schedule/traced_launch.h"
#include "tests/core/sass/fixtures.h"

namespace trimtab::schedule {
namespace {

struct MachineTraced {
    std::shared_ptr<emulator::Program> program;
    TracedLaunch launch;
};

struct GatherOn {
    unsigned architecture = 75;
    const char* device = "rtx2070super";
};

// 64 threads that do so many iterations; with the code, or with another text's lines.
MachineTraced machine_trace(std::uint32_t iterations, bool with_code, bool other_lines = false,
                            const GatherOn& on = {}) {
    sass::Assembly assembly{.architecture = "sm_" + std::to_string(on.architecture),
                            .resources = {},
                            .function = sass::gather(on.architecture).functions.at(0)};
    auto module =
        ptx::parse((other_lines ? std::string(40, '\n') : "") + sass::data_text("gather.ptx"), "gather.ptx");
    EXPECT_TRUE(module);
    auto program = emulator::load_program(std::move(*module));
    EXPECT_TRUE(program);
    std::array<std::byte, 36> parameters{};
    emulator::SparseMemory memory;
    for (std::uint32_t p = 0; p < 4; ++p) {
        const std::uint64_t address = emulator::SparseMemory::region_base(p);
        std::memcpy(parameters.data() + 8 * std::size_t{p}, &address, 8);
        memory.set_fill(p, emulator::SparseMemory::Fill::zero);
    }
    std::memcpy(parameters.data() + 32, &iterations, 4);
    const auto device = model::find_device(on.device);
    auto launch = trace_launch({.program = program->get(),
                                .memory = &memory,
                                .kernel = "gather",
                                .grid = {1, 1, 1},
                                .block = {64, 1, 1},
                                .parameters = parameters,
                                .device = &*device,
                                .instruction_budget = 10'000'000,
                                .code = with_code ? &assembly : nullptr});
    EXPECT_TRUE(launch) << launch.error().text();
    return {.program = *program, .launch = std::move(*launch)};
}

// How often the warp passes each block of the code.
std::map<std::uint32_t, int> passes(const WarpTrace& warp) {
    std::map<std::uint32_t, int> out;
    for (const Step& step : warp.steps) ++out[step.stretch];
    return out;
}

class MachineTraceOf : public testing::TestWithParam<GatherOn> {};

TEST_P(MachineTraceOf, UnrolledIterationsAndTheirRest) {
    for (const std::uint32_t iterations : {1u, 2u, 7u, 11u, 40u}) {
        const MachineTraced traced = machine_trace(iterations, true, false, GetParam());
        ASSERT_EQ(traced.launch.machine_code, "sm_" + std::to_string(GetParam().architecture))
            << traced.launch.no_machine_code;
        ASSERT_EQ(traced.launch.trace.blocks.size(), 1u);
        for (const WarpTrace& warp : traced.launch.trace.blocks[0].warps) {
            const auto count = passes(warp);
            const auto times = [&](std::uint32_t block) {
                return count.contains(block) ? count.at(block) : 0;
            };
            EXPECT_EQ(times(3), iterations / 4) << iterations;
            EXPECT_EQ(times(5), iterations % 4 / 2) << iterations;
            EXPECT_EQ(times(7), iterations % 2) << iterations;
            EXPECT_EQ(times(8), 1) << iterations;
            // Three loads an iteration and a store, each with what its PTX touched: one sector of weights and places, a
            // warp's 128 bytes of the input.
            std::map<int, int> by_sectors;
            for (const Request& request : warp.requests) ++by_sectors[request.sectors];
            EXPECT_EQ(by_sectors[1], 2 * iterations) << iterations;
            EXPECT_EQ(by_sectors[4], iterations + 1) << iterations;
        }
    }
}

TEST_P(MachineTraceOf, LongLoopsAreCutAndCountedWhole) {
    const MachineTraced traced = machine_trace(4000, true, false, GetParam());
    const WarpTrace& warp = traced.launch.trace.blocks[0].warps[0];
    ASSERT_EQ(warp.iterations.size(), 1u);
    EXPECT_EQ(warp.iterations[0], 1000u);  // four at a time
    EXPECT_EQ(passes(warp).at(3), kept_iterations / 4);
    EXPECT_EQ(traced.launch.trace.code.loops[0].kept_iterations, kept_iterations / 4);
    const Estimate longer = estimate(machine_trace(8000, true, false, GetParam()).launch),
                   shorter = estimate(traced.launch);
    EXPECT_NEAR(longer.cycles / shorter.cycles, 2, 0.05);
}

// An iteration of the PTX waits for two loads, one after the other; four iterations of the code share those waits.
TEST_P(MachineTraceOf, LoadsThatPtxasIssuesTogetherWaitTogether) {
    const double by_ptx = estimate(machine_trace(2000, false, false, GetParam()).launch).cycles,
                 by_code = estimate(machine_trace(2000, true, false, GetParam()).launch).cycles;
    EXPECT_LT(by_code, 0.6 * by_ptx);
    EXPECT_GT(by_code, 0.2 * by_ptx);
}

TEST_P(MachineTraceOf, EveryAnswerLiesBetweenItsBounds) {
    for (const std::uint32_t iterations : {1u, 11u, 4000u}) {
        const MachineTraced traced = machine_trace(iterations, true, false, GetParam());
        const Bounds limits = bounds(traced.launch);
        const double cycles = estimate(traced.launch).cycles;
        EXPECT_GE(cycles, limits.least_cycles) << iterations;
        EXPECT_LE(cycles, limits.most_cycles) << iterations;
        EXPECT_FALSE(estimate(traced.launch).crossed) << iterations;
    }
}

INSTANTIATE_TEST_SUITE_P(Gather, MachineTraceOf,
                         testing::Values(GatherOn{75, "rtx2070super"}, GatherOn{52, "gtx960"},
                                         GatherOn{61, "gtx1080ti"}, GatherOn{70, "v100"}),
                         [](const auto& info) { return std::to_string(info.param.architecture); });

// Where nothing takes time but the code's own stall cycles, a warp's iterations take what those add up to. The 65
// instructions of the loop for sm_61, added by hand from its control words: 189 cycles, of which the first of each of 11 pairs
// takes none.
TEST(MachineTrace, StallCyclesAndPairsAreTheCodes) {
    const auto cycles = [](std::uint32_t iterations) {
        MachineTraced traced = machine_trace(iterations, true, false, {61, "gtx1080ti"});
        for (Pipe& pipe : traced.launch.machine.pipes) pipe.latency_cycles = pipe.gap_cycles = 0;
        return emulate(traced.launch.machine, {.trace = &traced.launch.trace}).cycles;
    };
    EXPECT_DOUBLE_EQ(cycles(40) - cycles(20), 5 * 189);
}

TEST(MachineTrace, CodeThatDoesNotMatchLeavesThePtx) {
    const MachineTraced traced = machine_trace(11, true, true);
    EXPECT_EQ(traced.launch.machine_code, "");
    EXPECT_THAT(traced.launch.no_machine_code, testing::HasSubstr("matched"));
    EXPECT_GT(estimate(traced.launch).cycles, 0);
}

}  // namespace
}  // namespace trimtab::schedule
