// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/launch_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "emulation/emulator/exec/program.h"
#include "emulation/schedule/architecture.h"
#include "emulation/schedule/bounds.h"
#include "emulation/schedule/work_count.h"

namespace trimtab::pruning {

namespace {

// Iterations that are walked of a loop: half of them show what those behind do.
constexpr std::uint16_t walked_iterations = 8;

}  // namespace

LaunchEstimate::LaunchEstimate(const KernelCode& code, WarpWalk& walk, const model::Device& device,
                               bool loads_bypass_l1)
    : walk_(walk), device_(device), architecture_(model::architecture_of(device)) {
    launch_.machine = schedule::machine_of(device, 1);
    code_ = schedule::build_code(code.program->module(), *code.program->kernel(code.name), launch_.machine,
                                 {.architecture = architecture_,
                                  .l1_caches_loads = launch_.machine.l1_bytes != 0 && !loads_bypass_l1});
    launch_.trace.code = code_.code;
    for (schedule::Loop& loop : launch_.trace.code.loops) loop.kept_iterations = walked_iterations;
    // What L2 has not is left out: it is much the same for all sizes.
    launch_.trace.accesses.assign(code_.access_count, {.dram_sectors = 0, .dram_waits = 0});
}

double LaunchEstimate::operator()(const GroupPlacement& placed) {
    const auto blocks = std::uint64_t{placed.groups.x} * placed.groups.y * placed.groups.z;
    const auto sm_count = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(device_.values.sm_count));
    if (const auto active = static_cast<double>(std::min(blocks, sm_count)); active != active_sms_) {
        launch_.machine = schedule::machine_of(device_, active);
        active_sms_ = active;
    }
    launch_.resident = placed.at_once;
    launch_.blocks_on_sm = (blocks + sm_count - 1) / sm_count;

    const std::array<std::uint32_t, 3> group{placed.group.x, placed.group.y, placed.group.z};
    const std::uint32_t items = group[0] * group[1] * group[2], whole = items / warp_lanes;
    std::array<double, schedule::resource_count> cycles{};
    double chain = 0;
    const auto add = [&](const std::vector<std::uint32_t>& warps, std::uint32_t stand_for) {
        walk(placed, warps);
        const schedule::WorkCount work = schedule::work_count(launch_.trace, launch_.machine, 1);
        for (std::size_t r = 0; r < schedule::resource_count; ++r)
            cycles[r] += work.cycles[r] * stand_for / static_cast<double>(warps.size());
        chain = std::max(chain, schedule::chain_cycles(launch_));
    };
    if (whole > 0) add(whole > 1 ? std::vector{0u, whole / 2} : std::vector{0u}, whole);
    if (items % warp_lanes != 0) add({whole}, 1);
    const schedule::Machine& machine = launch_.machine;
    double busiest = 0;
    for (std::size_t r = 0; r < schedule::resource_count; ++r)
        busiest = std::max(busiest, cycles[r] / (machine.pipes[r].per_scheduler ? machine.schedulers : 1));
    const double waves = std::ceil(static_cast<double>(launch_.blocks_on_sm) / launch_.resident);
    // Where both are near each other, neither hides the other quite.
    return std::hypot(busiest * static_cast<double>(launch_.blocks_on_sm), waves * chain);
}

void LaunchEstimate::walk(const GroupPlacement& placed, const std::vector<std::uint32_t>& warps) {
    WalkPlace place{.group = {placed.group.x, placed.group.y, placed.group.z},
                    .groups = {placed.groups.x, placed.groups.y, placed.groups.z},
                    .index = {placed.groups.x / 2, placed.groups.y / 2, placed.groups.z / 2}};
    const std::uint32_t kept = std::exchange(walk_.settings.kept_iterations, walked_iterations);
    schedule::TraceWriter writer(code_, schedule::store_rules(architecture_));
    const std::size_t number = writer.begin_block(place.linear(), warps.size());
    for (std::size_t w = 0; w < warps.size(); ++w) {
        place.warp = warps[w];
        walk_.walk(place, WarpLanes::of(place.group, warps[w]), &writer, {.block = number, .warp = w});
    }
    walk_.settings.kept_iterations = kept;
    launch_.trace.blocks = writer.take().blocks;
}

}  // namespace trimtab::pruning
