// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/emulated_time.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/model/occupancy.h"
#include "core/ptx/special_registers.h"
#include "emulation/cuda/memory_snapshot.h"
#include "emulation/cuda/scratch_memory.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/schedule/estimate.h"
#include "emulation/schedule/traced_launch.h"

namespace trimtab::cuda {

using emulator::CompiledKernel;

namespace {

// Of each of the few launches of blocks that a trace takes: some seconds.
constexpr std::uint64_t instruction_budget = 100'000'000;
constexpr std::uint64_t most_copied_bytes = std::uint64_t{1} << 30;

}  // namespace

bool times_are_emulated() {
    static const bool answer = [] {
        const char* const text = secure_getenv("TRIMTAB_EVENT_TIMES");
        if (text == nullptr || *text == '\0' || std::string_view(text) == "closed-form") return false;
        if (std::string_view(text) == "emulation") return true;
        std::fprintf(
            stderr,
            "trimtab: TRIMTAB_EVENT_TIMES=%s is not understood: it takes closed-form or emulation; taken as "
            "closed-form\n",
            text);
        return false;
    }();
    return answer;
}

bool reads_emulated_clock(const TimedLaunch& launch) {
    if (!times_are_emulated()) return false;
    const CompiledKernel* const kernel = launch.program->kernel(launch.info->name);
    return kernel != nullptr &&
           std::ranges::any_of(kernel->function().body, [](const ptx::Instruction& instruction) {
               return std::ranges::any_of(instruction.sources(), [](const ptx::Operand& operand) {
                   return operand.kind == ptx::Operand::Kind::special &&
                          ptx::info(operand.special).group == ptx::SpecialGroup::clock;
               });
           });
}

std::expected<EmulatedTime, std::string> emulated_time(const Device& device, GlobalMemory& memory,
                                                       const TimedLaunch& launch, bool cooperative) {
    // What blocks do that wait for others is not seen in some of them.
    if (cooperative || launch.has_clusters()) return std::unexpected("its blocks may wait for each other");
    Program& program = *launch.program;
    const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
    const trimtab_device& values = device.description.values;
    const model::Occupancy occupancy = model::occupancy(
        values, launch.image, static_cast<std::uint32_t>(threads), launch.dynamic_shared_bytes);
    ScratchMemory scratch(memory, most_copied_bytes);
    // The module's variables are the executor's own, and seen past any memory.
    std::vector<MemoryRegion> variables;
    if (program.variables_end() > program.variables_first())
        variables.push_back({.first = program.variables_first(),
                             .size_bytes = program.variables_end() - program.variables_first(),
                             .name = "its module's variables"});
    const MemorySnapshot before(std::move(variables));
    const auto traced = schedule::trace_launch(
        {.program = &program,
         .memory = &scratch,
         .kernel = launch.info->name,
         .grid = launch.grid,
         .block = launch.block,
         .dynamic_shared_bytes = launch.dynamic_shared_bytes,
         .parameters = launch.parameters,
         .device = &device.description,
         .resident = std::max(1u, occupancy.blocks_per_sm),
         .shared_bytes_of_block = launch.image.static_shared_bytes + launch.dynamic_shared_bytes,
         .instruction_budget = instruction_budget,
         .loads_bypass_l1 = false,
         .is_interpreted = false,
         // The clocks' rate is over all instructions that are run.
         .runs_every_iteration = reads_emulated_clock(launch),
         .code = nullptr});
    before.restore();
    if (!traced) return std::unexpected(traced.error().message);
    if (traced->is_cut) return std::unexpected("its blocks do more than can be kept of them");
    const schedule::Estimate estimate = schedule::estimate(*traced);
    if (!(estimate.time_ns > 0)) return std::unexpected("the emulated time is none");
    const double blocks_at_once = std::max(1u, traced->resident);
    const double waves = std::max(1.0, static_cast<double>(traced->blocks_on_sm) / blocks_at_once);
    const auto warp_size = static_cast<std::uint64_t>(values.warp_size);
    const std::uint64_t warp_count = (threads + warp_size - 1) / warp_size;
    const auto warps = static_cast<double>(warp_count);
    const double of_warp = traced->block_warp_instructions * traced->work_ratio / warps;
    return EmulatedTime{.duration_ns = estimate.time_ns,
                        .cycles_per_instruction = of_warp > 0 ? estimate.cycles / waves / of_warp : 0};
}

}  // namespace trimtab::cuda
