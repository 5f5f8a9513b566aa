// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/timed_run.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace trimtab::emulator {

std::string time_key(const Heap& heap, const TimedLaunch& launch) {
    std::string key;
    const auto append = [&key](const auto& value) {
        key.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    append(reinterpret_cast<std::uintptr_t>(launch.info));
    append(launch.grid);
    append(launch.block);
    append(launch.cluster);
    append(launch.dynamic_shared_bytes);
    for (std::size_t i = 0; i < launch.parameters.size(); i += sizeof(std::uintptr_t)) {
        std::uintptr_t word = 0;
        std::memcpy(&word, launch.parameters.data() + i, std::min(sizeof word, launch.parameters.size() - i));
        append(heap.owns(reinterpret_cast<const void*>(word)) ? std::uintptr_t{0} : word);
    }
    return key;
}

LaunchRequest request_of(const trimtab_device& device, const TimedLaunch& launch) {
    const double sm_count = std::max(1.0, device.sm_count);
    return {.kernel = launch.info->name,
            .grid = launch.grid,
            .block = launch.block,
            .cluster = launch.cluster,
            .dynamic_shared_bytes = launch.dynamic_shared_bytes,
            .parameters = launch.parameters,
            .blocks = {},
            .counting = {},
            .sm_count = static_cast<std::uint32_t>(sm_count),
            .instruction_limit = 0,
            .threads = 0,
            .cooperative = false,
            .order_seed = 0,
            .print = launch.print,
            .written = launch.written,
            .observer = launch.observer,
            .outside = launch.outside};
}

std::expected<LaunchTime, Fault> run_and_time(const trimtab_device& device, GlobalMemory& memory,
                                              const TimedLaunch& launch, bool is_whole,
                                              const Counted& counted) {
    LaunchCounts counts(device, launch);
    LaunchRequest request = request_of(device, launch);
    request.cooperative = is_whole;
    const std::uint64_t blocks = launch.block_count();
    std::vector<Stretch> stretches = counts.stretches();
    // Clusters run whole, too.
    if (is_whole || launch.has_clusters()) stretches = {{.first = 0, .count = blocks, .counted = true}};
    for (const Stretch& stretch : stretches) {
        if (stretch.count != blocks) {
            request.blocks.resize(stretch.count);
            std::iota(request.blocks.begin(), request.blocks.end(), stretch.first);
        }
        request.counting = stretch.counted ? counts.plan(stretch) : CountingPlan{};
        const auto result = emulator::launch(*launch.program, memory, request);
        if (!result) return std::unexpected(result.error());
        if (stretch.counted) counts.add(stretch, result->counters);
    }
    const LaunchTime time = counts.time();
    if (counted) counted(time, counts);
    return time;
}

std::expected<void, Fault> run_only(const trimtab_device& device, GlobalMemory& memory,
                                    const TimedLaunch& launch, bool is_whole, const LaunchTime& time) {
    // Waking the other cores takes as long as this many warp instructions.
    constexpr double worth_sharing = 20000;
    LaunchRequest request = request_of(device, launch);
    request.cooperative = is_whole;
    request.threads = time.warp_instructions < worth_sharing ? 1 : 0;
    const auto result = emulator::launch(*launch.program, memory, request);
    if (!result) return std::unexpected(result.error());
    return {};
}

}  // namespace trimtab::emulator
