// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single accesses: bounds that the emulator does not know, bytes that nobody wrote, races.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulation/emulator/check/checker.h"
#include "emulation/emulator/check/host_range.h"
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::check {
namespace {

using Shape = LaneAddresses::Shape;

std::uint64_t host_of_lane(const Warp& w, const MemoryInfo& info, Shape shape, unsigned lane) {
    if (shape == Shape::scattered) return w.at.address[lane] + w.at.delta;
    const std::uint64_t step = shape == Shape::uniform ? 0 : info.total_bytes;
    return reinterpret_cast<std::uint64_t>(w.at.host) + lane * step;
}

bool is_strong(const MemoryInfo& info) {
    return info.is_atomic || info.is_ordered;
}

// Does the lane store what lies there already?
bool keeps_value(Warp& w, const MemoryInfo& info, unsigned lane, std::uint64_t host) {
    if (info.register_bytes == 0) return false;  // no plain store
    for (unsigned element = 0; element < info.element_count; element++) {
        const auto* value =
            w.lanes<std::byte>(info.elements[element]) + std::size_t{lane} * info.register_bytes;
        const auto* there = reinterpret_cast<const std::byte*>(host) + element * info.element_bytes;
        if (std::memcmp(value, there, info.element_bytes) != 0) return false;
    }
    return true;
}

bool store_alike(Warp& w, const MemoryInfo& info, unsigned lane, unsigned other) {
    if (info.register_bytes == 0) return false;
    for (unsigned element = 0; element < info.element_count; element++) {
        const auto* values = w.lanes<std::byte>(info.elements[element]);
        if (std::memcmp(values + std::size_t{lane} * info.register_bytes,
                        values + std::size_t{other} * info.register_bytes, info.element_bytes) != 0)
            return false;
    }
    return true;
}

bool fences(ptx::MemorySemantics semantics) {
    return semantics == ptx::MemorySemantics::release || semantics == ptx::MemorySemantics::acq_rel;
}

const char* kind_of(const Race& race, bool writes, bool is_shared) {
    if (race.before_writes) {
        if (writes) return is_shared ? "shared-memory race: two writes" : "global-memory race: two writes";
        return is_shared ? "shared-memory race: read after write" : "global-memory race: read after write";
    }
    return is_shared ? "shared-memory race: write after read" : "global-memory race: write after read";
}

std::string relation(const Stamp& before, const Stamp& now) {
    if (before.block != now.block) return "no synchronization between the blocks orders the two accesses";
    if (before.thread / warp_lanes != now.thread / warp_lanes)
        return "no barrier between the warps of the block orders the two accesses";
    if (before.instruction == now.instruction && before.time == now.time)
        return "two lanes of the warp access the same bytes, and none is ordered before the other";
    return "two lanes of one warp, and no __syncwarp() orders the two accesses";
}

}  // namespace

Shape Checker::accesses(Warp& w, const Op* op, Shape shape) {
    const MemoryInfo& info = info_of(op);
    const std::lock_guard lock(mutex_);
    if (checks_.race) ordering_.enter(w.block->linear_index(), w.index);
    if (checks_.sync) note_absent(w);
    bool is_outside_any = false;
    unsigned culprit = 0;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t host = host_of_lane(w, info, shape, lane);
        if (is_within(host, w.local.data(), w.local.size())) continue;
        const std::span<const std::byte> parameters = w.worker->launch().request.parameters;
        if (is_within(host, parameters.data(), parameters.size())) continue;
        const bool is_shared = is_within(host, w.shared, w.shared_bytes);
        // Other blocks' shared memory: what orders accesses to it is not known.
        if (!is_shared && w.block->is_cluster_memory(host)) continue;
        const LaneAccess access{.w = w,
                                .op = op,
                                .lane = lane,
                                .host = host,
                                .shared_offset = host - reinterpret_cast<std::uint64_t>(w.shared),
                                .is_shared = is_shared};
        if (checks_.memory && !is_shared && is_outside(access)) {
            if (!is_outside_any) culprit = lane;
            is_outside_any = true;
            continue;
        }
        if (checks_.init) check_init(access);
        if (checks_.race && info.space != ptx::Space::constant) check_races(access);
    }
    if (is_outside_any) {
        reports_own_fault_ = true;
        return w.worker->address_fault(
            w, op, Fault::Kind::illegal_address, culprit,
            fmt::format("illegal address 0x{:x} (outside every variable and every allocation)",
                        host_of_lane(w, info, shape, culprit)));
    }
    if (checks_.race && is_strong(info)) order(w, op);
    return shape;
}

// Variables of one module lie side by side in what the emulator knows as one stretch of memory, as do
// allocations of malloc() in kernels.
bool Checker::is_outside(const LaneAccess& access) {
    const Launch& launch = access.w.worker->launch();
    const std::uint64_t bytes = info_of(access.op).total_bytes;
    const Program& program = launch.program;
    if (access.host >= program.variables_first() && access.host < program.variables_end()) {
        const Program::PlacedVariable* placed = program.variable_at(access.host);
        if (placed != nullptr && bytes <= placed->variable->size_bytes - (access.host - placed->first))
            return false;
        Report* const report = found(access.w, access.op->index, access.lane, "memory", "out of bounds");
        if (report == nullptr) return true;
        for (std::uint64_t near = access.host; placed == nullptr && near > program.variables_first();)
            placed = program.variable_at(--near);
        report->text = fmt::format("illegal address {:#x}, in no variable of the module", access.host);
        if (placed != nullptr) {
            report->text +=
                fmt::format(": {} bytes past the start of '{}', which has {}", access.host - placed->first,
                            placed->variable->name, placed->variable->size_bytes);
        }
        return true;
    }
    DeviceHeap& heap = launch.program.heap();
    const auto [first, end] = heap.range();
    if (access.host < first || access.host >= end || heap.is_allocated(access.host, bytes)) return false;
    if (Report* report = found(access.w, access.op->index, access.lane, "memory", "out of bounds"))
        report->text = fmt::format(
            "illegal address {:#x}, in no allocation that malloc() of a kernel made and free() has not "
            "undone",
            access.host);
    return true;
}

void Checker::check_init(const LaneAccess& access) {
    const MemoryInfo& info = info_of(access.op);
    const auto written_shared = [&](std::uint64_t byte) {
        return ((open_block(access.w).shared_written[byte / 64] >> (byte % 64)) & 1u) != 0;
    };
    if (access.is_shared) {
        std::vector<std::uint64_t>& written = open_block(access.w).shared_written;
        if (written.empty()) written.resize(access.w.shared_bytes / 64 + 1);
    }
    if (info.access != Access::write) {
        for (unsigned element = 0; element < info.element_count; element++) {
            if (info.element_count > 1 && info.elements[element] == no_operand) continue;
            const std::uint64_t offset = std::uint64_t{element} * info.element_bytes;
            if (access.is_shared) {
                std::uint64_t byte = access.shared_offset + offset;
                const std::uint64_t end = byte + info.element_bytes;
                while (byte < end && written_shared(byte)) byte++;
                if (byte == end) continue;
                if (Report* report =
                        found(access.w, access.op->index, access.lane, "init", "shared memory never written"))
                    report->text = fmt::format("byte {} of the block's shared memory is read first", byte);
                break;
            }
            const auto byte = log_.first_unwritten(access.host + offset, info.element_bytes);
            if (!byte) continue;
            if (Report* report =
                    found(access.w, access.op->index, access.lane, "init", "device memory never written")) {
                const AllocationLog::Allocation* allocation = log_.live(*byte);
                report->text = fmt::format("byte {} of an allocation of {} bytes is read first",
                                           *byte - allocation->first, allocation->size_bytes);
                add_allocation(*report, *allocation);
            }
            break;
        }
    }
    if (info.access == Access::read) return;
    if (access.is_shared) {
        std::vector<std::uint64_t>& written = open_block(access.w).shared_written;
        for (std::uint64_t i = 0; i < info.total_bytes; i++) {
            const std::uint64_t byte = access.shared_offset + i;
            written[byte / 64] |= std::uint64_t{1} << (byte % 64);
        }
    } else {
        log_.write(access.host, info.total_bytes);
    }
}

// A plain read whose address a compare-and-swap of the same function takes too: the first read of a loop such
// as that of the CUDA programming guide's atomicAdd(double*), which may find any value.
bool Checker::begins_swap_loop(const Warp& w, const Op* op) {
    if (info_of(op).access != Access::read) return false;
    const auto [at, is_new] = begins_swap_loop_.try_emplace(op, false);
    if (!is_new) return at->second;
    const CompiledKernel& kernel = w.worker->launch().kernel;
    const ptx::Instruction& load = kernel.instruction(op->index);
    if (load.operands.size() < 2) return false;
    const ptx::Operand& from = load.operands[1];
    const std::vector<ptx::Instruction>& body = kernel.function_of(op->index).body;
    return at->second = std::any_of(body.begin(), body.end(), [&](const ptx::Instruction& instruction) {
               if (instruction.modifiers.atomic != ptx::AtomicOp::cas || instruction.operands.size() < 2)
                   return false;
               const ptx::Operand& swapped = instruction.operands[1];
               return swapped.reg == from.reg && swapped.offset == from.offset && swapped.text == from.text;
           });
}

void Checker::check_races(const LaneAccess& access) {
    Warp& w = access.w;
    const MemoryInfo& info = info_of(access.op);
    const bool reads = info.access != Access::write, writes = info.access != Access::read;
    Stamp stamp;
    stamp.block = ordering_.block();
    stamp.time = ordering_.time();
    stamp.instruction = access.op->index;
    stamp.thread = static_cast<std::uint16_t>(w.index * warp_lanes + access.lane);
    stamp.strong = is_strong(info) || begins_swap_loop(w, access.op);
    RaceShadow& shadow = access.is_shared ? open_block(w).shared_accesses : global_accesses_;
    const std::uint64_t first = access.is_shared ? access.shared_offset : access.host;
    const std::uint64_t end = first + info.total_bytes;
    bool keeps = false, knows_keeps = false;
    for (std::uint64_t word = first / word_bytes * word_bytes; word < end; word += word_bytes) {
        const std::uint64_t from = std::max(first, word) - word, to = std::min(end, word + word_bytes) - word;
        stamp.bytes = static_cast<std::uint8_t>(((1u << to) - 1) & ~((1u << from) - 1));
        if (writes && !reads && !knows_keeps && !checks_.equal_stores) {
            const Stamp& before = shadow.last_writer(word);
            // A lane before this one in the same instruction: its value is not there yet.
            const bool is_same_store = before.block == stamp.block && before.time == stamp.time &&
                                       before.instruction == stamp.instruction &&
                                       before.thread / warp_lanes == w.index && before.thread < stamp.thread;
            keeps = is_same_store ? store_alike(w, info, access.lane, before.thread % warp_lanes)
                                  : keeps_value(w, info, access.lane, access.host);
            knows_keeps = true;
        }
        const auto race = shadow.access(ordering_, word, stamp, reads, writes, keeps);
        if (!race) continue;
        Report* const report = found(w, access.op->index, access.lane, "race",
                                     kind_of(*race, writes, access.is_shared), race->before.instruction + 1);
        if (report == nullptr) continue;
        report->text = relation(race->before, stamp);
        report->other.push_back(access_of(w, race->before));
        if (!access.is_shared) {
            if (const auto* allocation = log_.live(access.host)) add_allocation(*report, *allocation);
        }
    }
}

void Checker::order(const Warp& w, const Op* op) {
    const MemoryInfo& info = info_of(op);
    if (info.access != Access::write) ordering_.acquire();
    if (info.access != Access::read) {
        const ptx::Instruction& instruction = w.worker->launch().kernel.instruction(op->index);
        ordering_.release(fences(instruction.modifiers.semantics));
    }
}

}  // namespace trimtab::emulator::check
