// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/access_log.h"

#include <bit>

#include "emulator/exec/block.h"
#include "emulator/exec/warp.h"

namespace trimtab::analysis::test {

using Shape = emulator::LaneAddresses::Shape;

std::string with_marked_read_only_loads(std::string ptx) {
    constexpr std::string_view load = "ld.global.nc", marked = "ld.volatile.global";
    for (std::size_t at = ptx.find(load); at != std::string::npos; at = ptx.find(load, at + 1))
        ptx.replace(at, load.size(), marked);
    return ptx;
}

Shape AccessLog::accesses(emulator::Warp& w, const emulator::Op* op, Shape shape) {
    const auto& info = *static_cast<const emulator::MemoryInfo*>(op->info);
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t thread = w.block->linear_index() << 16 | w.index << 5 | lane;
        const std::uint64_t step = shape == Shape::uniform ? 0 : info.total_bytes;
        const std::uint64_t first = shape == Shape::scattered
                                        ? w.at.address[lane] + w.at.delta
                                        : reinterpret_cast<std::uint64_t>(w.at.host) + lane * step;
        for (std::uint64_t at = first; at < first + info.total_bytes; at++) {
            Byte& byte = bytes_[at];
            add(byte.block, w.block->linear_index());
            if (info.is_atomic)
                add(byte.atomic,
                    static_cast<std::uint64_t>(info.atomic) << 8 | static_cast<std::uint64_t>(info.type));
            else
                add(byte.touched_by, thread);
            if (info.access == emulator::Access::read) {
                byte.is_read_only |= info.is_ordered;
            } else {
                byte.is_written = true;
                if (!info.is_atomic) add(byte.stored_by, thread);
            }
        }
    }
    return shape;
}

std::string AccessLog::what_is_open(bool threads_talk) const {
    for (const auto& [address, byte] : bytes_) {
        if (byte.is_read_only && byte.is_written) return "read-only memory that is written";
        if (byte.atomic == Byte::several) return "atomics of several kinds";
        // No barrier orders what two blocks do.
        if (byte.block == Byte::several && byte.atomic != Byte::none && byte.touched_by != Byte::none)
            return "a byte of atomics and of plain accesses, of several blocks";
        if (threads_talk) continue;
        if (byte.stored_by != Byte::none && byte.touched_by == Byte::several)
            return "a byte that one thread stores and another touches";
        if (byte.atomic != Byte::none && byte.touched_by != Byte::none)
            return "a byte of atomics and of plain accesses";
    }
    return {};
}

}  // namespace trimtab::analysis::test
