// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/access_log.h"

#include <bit>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::analysis::test {

using Shape = emulator::LaneAddresses::Shape;

std::string with_marked_read_only_loads(std::string ptx) {
    constexpr std::string_view load = "ld.global.nc", marked = "ld.volatile.global";
    for (std::size_t at = ptx.find(load); at != std::string::npos; at = ptx.find(load, at + 1))
        ptx.replace(at, load.size(), marked);
    return ptx;
}

void AccessLog::block_started(const emulator::Block&) {
    phase_++;
    shared_.clear();
    moments_.clear();
}
void AccessLog::barrier_completes(const emulator::Block&, unsigned, std::span<const std::uint32_t>) {
    phase_++;
}
void AccessLog::warp_synchronizes(emulator::Warp& w, const emulator::Op*, emulator::OperandRef,
                                  std::uint32_t) {
    moments_[w.index]++;
}

void AccessLog::Done::add(const Access& access, std::uint64_t one) {
    AccessLog::add(by, one);
    const bool is_atomic = access.atomic != none;
    is_added_to |= is_atomic;
    is_touched |= !is_atomic;
    is_stored |= !is_atomic && access.writes;
}

const char* AccessLog::open_after(Byte& byte, const Access& access) {
    if (byte.phase != access.phase) byte.by_warps = {};
    if (byte.phase != access.phase || byte.warp != access.warp || byte.moment != access.moment)
        byte.by_lanes = {};
    byte.phase = access.phase;
    byte.warp = access.warp;
    byte.moment = access.moment;
    byte.is_of_constants |= access.is_of_constants;
    byte.is_written |= access.writes;
    if (access.atomic != none) add(byte.atomic, access.atomic);
    byte.by_blocks.add(access, access.block);
    byte.by_warps.add(access, access.warp);
    byte.by_lanes.add(access, access.thread);
    if (byte.is_of_constants && byte.is_written) return "read-only memory that is written";
    if (byte.atomic == several) return "atomics of several kinds";
    // No barrier orders what two blocks do.
    if (byte.by_blocks.is_open()) return "a byte that blocks touch in no order";
    if (byte.by_warps.is_open()) return "a byte that warps touch with no barrier between";
    if (byte.by_lanes.is_open()) return "a byte that lanes of a warp touch in no order";
    return nullptr;
}

Shape AccessLog::accesses(emulator::Warp& w, const emulator::Op* op, Shape shape) {
    const auto& info = *static_cast<const emulator::MemoryInfo*>(op->info);
    Access access{.block = w.block->linear_index(),
                  .phase = phase_,
                  .warp = w.index,
                  .moment = moments_[w.index],
                  .writes = info.access != emulator::Access::read};
    if (info.is_atomic)
        access.atomic = static_cast<std::uint64_t>(info.atomic) << 8 | static_cast<std::uint64_t>(info.type);
    access.is_of_constants = !access.writes && info.is_ordered;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        access.thread = w.index << 5 | lane;
        const std::uint64_t step = shape == Shape::uniform ? 0 : info.total_bytes;
        const std::uint64_t first = shape == Shape::scattered
                                        ? w.at.address[lane] + w.at.delta
                                        : reinterpret_cast<std::uint64_t>(w.at.host) + lane * step;
        auto& bytes = w.block->is_cluster_memory(first) ? shared_ : bytes_;
        for (std::uint64_t at = first; at < first + info.total_bytes; at++)
            if (const char* open = open_after(bytes[at], access); open != nullptr && open_.empty())
                open_ = open;
    }
    return shape;
}

}  // namespace trimtab::analysis::test
