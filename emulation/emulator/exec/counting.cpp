// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/counting.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {
namespace {

using ptx::Type;

SlotCount& touch(Warp& w, std::uint32_t slot) {
    SlotCount& count = w.slots[slot];
    if (count.empty()) w.touched.push_back(slot);
    return count;
}

bool meets(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    return std::any_of(a.begin(), a.end(),
                       [&b](std::uint32_t item) { return std::binary_search(b.begin(), b.end(), item); });
}

// rounds.h: loads of this region may join those that the one before left under way.
void count_rounds(Warp& w, const RegionInfo& region) {
    w.dependent_rounds += region.rounds;
    if (w.pending != nullptr) {
        const bool same_function = w.pending->function == region.function;
        if (region.rounds != 0 && same_function && !meets(w.pending->left_pending, region.needed_first))
            w.dependent_rounds--;
        const bool waited =
            !same_function || region.rounds != 0 || meets(w.pending->left_pending, region.read);
        if (waited) w.pending = nullptr;
    }
    if (!region.left_pending.empty()) w.pending = &region;
}

InstructionClass memory_class(const ptx::Instruction& instruction) {
    switch (instruction.modifiers.space) {
        case ptx::Space::shared:
        case ptx::Space::shared_cluster:
            return InstructionClass::shared_memory;
        case ptx::Space::local:
            return InstructionClass::local_memory;
        case ptx::Space::constant:
        case ptx::Space::param:
            return InstructionClass::constant_memory;
        default:
            break;
    }
    switch (ptx::info(instruction.opcode).opcode_class) {
        case ptx::OpcodeClass::store:
            return InstructionClass::global_store;
        case ptx::OpcodeClass::atomic:
            return InstructionClass::global_atomic;
        default:
            return InstructionClass::global_load;
    }
}

InstructionClass arithmetic_class(Type type) {
    switch (ptx::element_of(type)) {
        case Type::f32:
            return InstructionClass::fp32;
        case Type::f64:
            return InstructionClass::fp64;
        case Type::f16:
        case Type::bf16:
            return InstructionClass::fp16;
        default:
            return InstructionClass::integer;
    }
}

}  // namespace

std::string_view name(InstructionClass instruction_class) {
    constexpr std::array<std::string_view, instruction_class_count> names = {"fp32",
                                                                             "fp64",
                                                                             "fp16",
                                                                             "integer",
                                                                             "conversion",
                                                                             "special_function",
                                                                             "control",
                                                                             "global_load",
                                                                             "global_store",
                                                                             "global_atomic",
                                                                             "local_memory",
                                                                             "shared_memory",
                                                                             "constant_memory",
                                                                             "barrier",
                                                                             "warp_collective",
                                                                             "other"};
    return names[static_cast<std::size_t>(instruction_class)];
}

InstructionClass class_of(const ptx::Instruction& instruction) {
    switch (ptx::info(instruction.opcode).pipe) {
        case ptx::Pipe::by_space:
            return memory_class(instruction);
        case ptx::Pipe::control:
            return InstructionClass::control;
        case ptx::Pipe::barrier:
            return InstructionClass::barrier;
        case ptx::Pipe::warp_collective:
            return InstructionClass::warp_collective;
        case ptx::Pipe::conversion:
            return InstructionClass::conversion;
        case ptx::Pipe::special_function:
            return InstructionClass::special_function;
        case ptx::Pipe::integer:
            return InstructionClass::integer;
        case ptx::Pipe::other:
            return InstructionClass::other;
        case ptx::Pipe::by_type:
            break;
    }
    return arithmetic_class(instruction.type);
}

void finish_warp_counts(Warp& w, WorkerCounts& counts, const KernelCode& code) {
    counts.warps++;
    std::uint64_t instructions = 0;
    std::vector<SlotCount>& into = w.active ? counts.active : counts.inactive;
    for (const std::uint32_t slot : w.touched) {
        SlotCount& own = w.slots[slot];
        into[slot] += own;
        instructions += own.warp * code.slot_instructions[slot];
        own = {};
    }
    w.touched.clear();
    counts.recent.forget();
    counts.last.next_warp(counts.block_footprint);
    if (w.is_footprint_wanted) {
        if (w.active) counts.footprint_warps++;
        counts.last_in_warp.next_warp(counts.warp_footprint);
        counts.warp_sectors += counts.warp_footprint.sectors();
        counts.block_footprint.merge(counts.warp_footprint);
        counts.warp_footprint.clear();
    }
    counts.update_tables();
    if (!w.active) return;
    counts.active_warps++;
    counts.dependent_rounds += w.dependent_rounds;
    counts.max_dependent_rounds = std::max(counts.max_dependent_rounds, w.dependent_rounds);
    counts.max_warp_instructions = std::max(counts.max_warp_instructions, instructions);
}

void Worker::finish_block(std::uint64_t linear_index, bool active) {
    counts_.blocks++;
    if (active) counts_.active_blocks++;
    if (!counts_.footprints) {
        counts_.block_footprint.clear();
        return;
    }
    if (const auto groups = launch_.groups_of.find(linear_index); groups != launch_.groups_of.end()) {
        const std::lock_guard lock(launch_.mutex);
        for (const std::uint32_t group : groups->second)
            launch_.group_footprints[group].merge(counts_.block_footprint);
    }
    counts_.block_sectors += counts_.block_footprint.start_next(counts_.total_footprint);
}

LaunchCounters gather_counters(const CompiledKernel& kernel, const KernelCode& code,
                               const std::vector<const WorkerCounts*>& workers) {
    LaunchCounters all;
    const std::size_t size = kernel.info().instruction_count;
    std::vector<SlotCount> active(size), inactive(size);
    all.instructions.resize(size);
    for (const WorkerCounts* worker : workers) {
        for (std::size_t i = 0; i < size; i++) {
            active[i] += worker->active[i];
            inactive[i] += worker->inactive[i];
            all.instructions[i] += worker->instructions[i];
            all.instructions[i].divergent += worker->active[i].divergent;
        }
        all += *worker;
    }
    for (const auto& function : code.functions) {
        for (std::size_t i = 0; i < function->counted_at.size(); i++) {
            const std::size_t index = function->instruction_base + i;
            const ptx::Instruction& instruction = function->source->body[i];
            const SlotCount& counted = active[function->counted_at[i]];
            const SlotCount& idle = inactive[function->counted_at[i]];
            const auto own_class = static_cast<std::size_t>(class_of(instruction));
            all.instructions[index].warp = counted.warp;
            all.instructions[index].thread = counted.thread;
            all.active_by_class[own_class] += {counted.warp, counted.thread};
            all.by_class[own_class] += {counted.warp + idle.warp, counted.thread + idle.thread};
            all.idle_lanes += warp_lanes * counted.warp - counted.thread;
            if (!ptx::info(instruction.opcode).has(ptx::jumps)) continue;
            all.branches += counted.warp;
            all.divergent_branches += all.instructions[index].divergent;
        }
    }
    return all;
}

void collect_footprints(Launch& launch, const std::vector<const WorkerCounts*>& workers,
                        LaunchCounters& counters) {
    if (!launch.request.counting.footprints) return;
    for (const SectorSet& group : launch.group_footprints) {
        counters.group_sectors.push_back(group.sectors());
        counters.group_lines.push_back(group.lines());
    }
    if (workers.size() == 1) {
        counters.total_sectors = workers.front()->total_footprint.sectors();
        return;
    }
    const auto largest = std::ranges::max_element(
        workers, {}, [](const WorkerCounts* worker) { return worker->total_footprint.window_count(); });
    SectorSet total = (*largest)->total_footprint;
    for (const WorkerCounts* worker : workers) {
        if (worker != *largest) total.merge(worker->total_footprint);
    }
    counters.total_sectors = total.sectors();
}

namespace run {

const Op* count_region(Warp& w, const Op* op) {
    const RegionInfo& region = *static_cast<const RegionInfo*>(op->info);
    SlotCount& count = touch(w, region.slot);
    count.warp++;
    count.thread += static_cast<std::uint64_t>(std::popcount(w.path_lanes));
    if (region.rounds != 0 || w.pending != nullptr) count_rounds(w, region);
    return op + 1;
}

const Op* count_guarded(Warp& w, const Op* op) {
    SlotCount& count = touch(w, static_cast<const RegionInfo*>(op->info)->slot);
    count.warp++;
    count.thread += static_cast<std::uint64_t>(std::popcount(w.mask));
    return op + 1;
}

const Op* count_branch(Warp& w, const Op* op) {
    const std::uint32_t taken = w.predicate(op->a) & w.path_lanes;
    if (taken != 0 && taken != w.path_lanes) touch(w, op->index).divergent++;
    return op + 1;
}

}  // namespace run
}  // namespace trimtab::emulator
