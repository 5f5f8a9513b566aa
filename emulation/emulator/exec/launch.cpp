// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch: checked, spread over host threads, counted.
#include "emulation/emulator/exec/launch.h"

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "core/analysis/launches/demangle.h"
#include "emulation/emulator/exec/counting.h"
#include "emulation/emulator/exec/observer.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/worker.h"
#include "emulation/emulator/jit/variants.h"

namespace trimtab::emulator {
namespace {

constexpr std::uint32_t max_shared_bytes = 256u << 10;  // more than any GPU lets a block have
constexpr std::uint64_t max_shuffled_blocks = std::uint64_t{1}
                                              << 26;  // the list of a larger grid would not fit

std::string demangled(std::string_view kernel) {
    return analysis::demangle(std::string(kernel));
}

std::unexpected<Fault> invalid(const LaunchRequest& request, const std::string& why) {
    return std::unexpected(
        Fault{Fault::Kind::invalid_launch, fmt::format("kernel {}: {}", demangled(request.kernel), why)});
}

std::vector<LaneBytes> parameter_lanes(const KernelCode& code, std::span<const std::byte> parameters) {
    std::vector<LaneBytes> lanes(code.parameter_slot_bytes / sizeof(LaneBytes) + 1);
    for (const ParameterSlot& slot : code.parameter_slots) {
        std::uint64_t value = 0;
        std::memcpy(&value, parameters.data() + slot.offset, slot.memory_bytes);
        if (slot.is_signed && slot.memory_bytes < 8) {
            const unsigned shift = 64 - 8u * slot.memory_bytes;
            value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
        }
        auto* to = reinterpret_cast<std::byte*>(lanes.data()) + slot.slot_offset;
        for (unsigned lane = 0; lane < warp_lanes; lane++)
            std::memcpy(to + lane * slot.register_bytes, &value, slot.register_bytes);
    }
    return lanes;
}

// The blocks to run: those asked for, then those of the groups that are not among them.
std::expected<std::vector<std::uint64_t>, std::string> blocks_to_run(const LaunchRequest& request,
                                                                     std::uint64_t grid_blocks) {
    std::vector<std::uint64_t> blocks = request.blocks;
    std::set<std::uint64_t> seen(blocks.begin(), blocks.end());
    if (!blocks.empty()) {
        for (const auto& group : request.counting.groups) {
            for (const std::uint64_t block : group) {
                if (seen.insert(block).second) blocks.push_back(block);
            }
        }
    }
    for (const std::uint64_t block : blocks) {
        if (block >= grid_blocks) return std::unexpected(fmt::format("there is no block {}", block));
    }
    return blocks;
}

void run_copy(const DeviceCopy& copy) {
    for (std::uint64_t row = 0; row < copy.height; row++) {
        std::byte* const to = copy.to + row * copy.to_pitch;
        if (copy.from == nullptr)
            std::memset(to, copy.value, copy.width);
        else
            std::memmove(to, copy.from + row * copy.from_pitch, copy.width);
    }
}

// One grid; what its kernel launches is added to `launched`.
std::expected<LaunchResult, Fault> run_grid(Program& program, GlobalMemory& memory,
                                            const LaunchRequest& request,
                                            std::vector<DeviceLaunch>& launched) {
    const CompiledKernel* kernel = program.kernel(request.kernel);
    if (kernel == nullptr) return invalid(request, "the module has no such kernel");
    const KernelInfo& info = kernel->info();
    if (!info.error.empty()) {
        return std::unexpected(Fault{Fault::Kind::illegal_instruction,
                                     fmt::format("kernel {}: {}", demangled(request.kernel), info.error)});
    }
    const trimtab_dim3& grid = request.grid;
    const trimtab_dim3& block = request.block;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (threads == 0 || block.x > max_threads_per_block || block.y > max_threads_per_block ||
        threads > max_threads_per_block) {
        return invalid(request, fmt::format("a block of {}x{}x{} threads", block.x, block.y, block.z));
    }
    const std::uint64_t layer = std::uint64_t{grid.x} * grid.y;
    if (layer == 0 || grid.z == 0 || layer > std::numeric_limits<std::uint64_t>::max() / grid.z)
        return invalid(request, fmt::format("a grid of {}x{}x{} blocks", grid.x, grid.y, grid.z));
    if (request.parameters.size() < info.parameter_bytes) {
        return invalid(request, fmt::format("{} bytes of parameters were passed; the kernel needs {}",
                                            request.parameters.size(), info.parameter_bytes));
    }
    const std::uint64_t shared = std::uint64_t{info.static_shared_bytes} + request.dynamic_shared_bytes;
    if (shared > max_shared_bytes) return invalid(request, fmt::format("{} bytes of shared memory", shared));
    const trimtab_dim3& cluster = request.cluster;
    const std::uint64_t cluster_blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
    if (cluster_blocks == 0 || cluster_blocks > max_cluster_blocks || grid.x % cluster.x != 0 ||
        grid.y % cluster.y != 0 || grid.z % cluster.z != 0 || (cluster_blocks > 1 && !request.blocks.empty()))
        return invalid(request, fmt::format("clusters of {}x{}x{} blocks in a grid of {}x{}x{}", cluster.x,
                                            cluster.y, cluster.z, grid.x, grid.y, grid.z));
    auto blocks = blocks_to_run(request, layer * grid.z);
    if (!blocks) return invalid(request, blocks.error());

    const KernelCode& code = kernel->code(request.counting.count, request.observer != nullptr);
    Launch state(program, memory, request, *kernel, code);
    // What is observed is interpreted; and what reaches other blocks' shared memory.
    if (request.observer == nullptr && cluster_blocks == 1 && !request.is_interpreted)
        state.variant = kernel->variants().of(code, request.block);
    state.parameters = parameter_lanes(code, request.parameters);
    state.group_footprints.resize(request.counting.groups.size());
    for (std::uint32_t group = 0; group < request.counting.groups.size(); group++) {
        for (const std::uint64_t index : request.counting.groups[group])
            state.groups_of[index].push_back(group);
    }
    state.blocks = std::move(*blocks);
    state.block_count = state.blocks.empty() ? layer * grid.z / cluster_blocks : state.blocks.size();
    if (request.order_seed != 0 && state.block_count <= max_shuffled_blocks) {
        if (state.blocks.empty()) {
            state.blocks.resize(state.block_count);
            std::iota(state.blocks.begin(), state.blocks.end(), std::uint64_t{0});
        }
        std::shuffle(state.blocks.begin(), state.blocks.end(), std::mt19937_64(request.order_seed));
    }
    unsigned workers =
        request.threads != 0 ? request.threads : std::max(1u, std::thread::hardware_concurrency());
    workers = static_cast<unsigned>(std::min<std::uint64_t>(workers, state.block_count));
    if (request.observer != nullptr) workers = 1;
    std::vector<std::unique_ptr<Worker>> made(workers);
    for (auto& worker : made) worker = std::make_unique<Worker>(state, workers);
    if (workers == 1) {
        made.front()->run();
    } else {
        // More threads than cores only where they are asked for.
        const oneapi::tbb::global_control allowed(oneapi::tbb::global_control::max_allowed_parallelism,
                                                  workers);
        oneapi::tbb::task_arena arena(static_cast<int>(workers));
        // The hand-over to the workers and back, which race detectors do not see: TBB's is in a library.
        std::atomic<unsigned> ended;
        ended.store(0, std::memory_order_release);
        arena.execute([&] {
            oneapi::tbb::parallel_for(
                0u, workers,
                [&](unsigned i) {
                    (void)ended.load(std::memory_order_acquire);
                    made[i]->run();
                    ended.fetch_add(1, std::memory_order_release);
                },
                oneapi::tbb::simple_partitioner{});
        });
        (void)ended.load(std::memory_order_acquire);
    }
    if (state.fault) return std::unexpected(std::move(*state.fault));
    launched = std::move(state.device_launches);
    LaunchResult result;
    if (!request.counting.count) return result;
    std::vector<const WorkerCounts*> counts;
    for (const auto& worker : made) counts.push_back(&worker->counts());
    result.counters = gather_counters(*kernel, code, counts);
    collect_footprints(state, counts, result.counters);
    for (const ClassCount& count : result.counters.by_class) result.warp_instructions += count.warp;
    return result;
}

}  // namespace

std::expected<LaunchResult, Fault> launch(Program& program, GlobalMemory& memory,
                                          const LaunchRequest& request) {
    std::vector<DeviceLaunch> launched;
    auto result = run_grid(program, memory, request, launched);
    // A grid is over when all that it launched is, so that what it launched comes before its siblings.
    std::vector<DeviceLaunch> waiting(std::make_move_iterator(launched.rbegin()),
                                      std::make_move_iterator(launched.rend()));
    while (result && !waiting.empty()) {
        const DeviceLaunch next = std::move(waiting.back());
        waiting.pop_back();
        if (next.kernel == nullptr) {
            run_copy(next.copy);
            continue;
        }
        LaunchRequest child = request;
        child.kernel = next.kernel->name;
        child.grid = next.grid;
        child.block = next.block;
        child.dynamic_shared_bytes = next.dynamic_shared_bytes;
        child.parameters = next.parameters;
        child.blocks.clear();
        child.counting = {};
        child.cooperative = false;
        child.cluster = {1, 1, 1};
        launched.clear();
        if (child.observer != nullptr) child.observer->grid_started();
        if (auto done = run_grid(program, memory, child, launched); !done)
            return std::unexpected(std::move(done.error()));
        std::move(launched.rbegin(), launched.rend(), std::back_inserter(waiting));
    }
    return result;
}

}  // namespace trimtab::emulator
