// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier: a barrier in shared memory, in 64 bits whose meaning is ours (PTX ISA: the object is opaque).
// Lanes act one after the other; a block's warps take turns on one host thread.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/warp.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

// PTX ISA, "mbarrier": both counts go up to 2^20 - 1, the transactions from -(2^20 - 1) to 2^20 - 1.
struct Barrier {
    s64 expected = 0, pending = 0, transactions = 0;
    u64 phase = 0;  // parity of the current one

    [[nodiscard]] static Barrier unpacked(u64 bits) {
        return {static_cast<s64>(bits & 0xfffff), static_cast<s64>(bits >> 20 & 0xfffff),
                static_cast<s64>(bits << 2) >> 42, bits >> 62 & 1};
    }
    [[nodiscard]] u64 packed() const {
        return (static_cast<u64>(expected) & 0xfffff) | (static_cast<u64>(pending) & 0xfffff) << 20 |
               (static_cast<u64>(transactions) & 0x3fffff) << 40 | phase << 62;
    }
    void complete_if_done() {
        // The count is of 20 bits and wraps: awbarrier's arrivals (cuda_awbarrier.h) come to more than it.
        if ((pending & 0xfffff) != 0 || transactions != 0) return;
        pending = expected;
        phase ^= 1;
    }
};

Barrier barrier_at(const std::byte* host) {
    u64 bits = 0;
    std::memcpy(&bits, host, sizeof bits);
    return Barrier::unpacked(bits);
}
void write(std::byte* host, const Barrier& barrier) {
    const u64 bits = barrier.packed();
    std::memcpy(host, &bits, sizeof bits);
}

std::byte* host_of(Warp& w, LaneAddresses::Shape shape, unsigned lane) {
    if (shape == LaneAddresses::Shape::uniform) return w.at.host;
    if (shape == LaneAddresses::Shape::contiguous) return w.at.host + std::size_t{lane} * sizeof(u64);
    return w.at.of_lane(lane);
}

void complete_transactions(std::byte* host, s64 bytes) {
    Barrier barrier = barrier_at(host);
    barrier.transactions -= bytes;
    barrier.complete_if_done();
    write(host, barrier);
}

}  // namespace

namespace run {

const Op* mbarrier(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const LaneAddresses::Shape shape = info.resolve(w, op);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    const u32* amounts = op->b == no_operand ? nullptr : w.lanes<u32>(op->b);
    const auto action = static_cast<MbarrierAction>(op->d_bytes);
    u64* states = op->d == no_operand ? nullptr : w.lanes<u64>(op->d);
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::byte* const host = host_of(w, shape, lane);
        Barrier barrier = barrier_at(host);
        const s64 amount = amounts == nullptr ? 1 : amounts[lane];
        const u64 before = barrier.packed();
        switch (action) {
            case MbarrierAction::init:
                barrier = {amount, amount, 0, 0};
                break;
            case MbarrierAction::expect:
                barrier.transactions += amount;
                break;
            case MbarrierAction::complete:
                barrier.transactions -= amount;
                break;
            case MbarrierAction::arrive_expecting:
                barrier.transactions += amount;
                barrier.pending--;
                break;
            case MbarrierAction::drop:
                barrier.expected -= amount;
                barrier.pending -= amount;
                break;
            case MbarrierAction::arrive:
                barrier.pending -= amount;
                break;
        }
        if (action != MbarrierAction::init && action != MbarrierAction::expect) barrier.complete_if_done();
        write(host, barrier);
        if (states != nullptr) states[lane] = before;
    }
    w.spins = 0;
    return op + 1;
}

// A lane that waits in vain gives up its turn at the next branch.
const Op* mbarrier_wait(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const LaneAddresses::Shape shape = info.resolve(w, op);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    const bool by_parity = op->a_bytes != 0;
    u32 done = 0;
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const u64 waited = by_parity ? w.lanes<u32>(op->b)[lane] & 1 : w.lanes<u64>(op->b)[lane] >> 62 & 1;
        done |= (barrier_at(host_of(w, shape, lane)).phase != waited ? 1u : 0u) << lane;
    }
    w.write_predicate(op->d, done);
    if (done == w.mask)
        w.spins = 0;
    else
        w.spun(spin_limit);
    return op + 1;
}

const Op* mbarrier_pending(Warp& w, const Op* op) {
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (((w.mask >> lane) & 1u) == 0) continue;
        w.lanes<u32>(op->d)[lane] = static_cast<u32>(Barrier::unpacked(w.lanes<u64>(op->a)[lane]).pending);
    }
    return op + 1;
}

// Done at once, and so are the bytes that the barrier waits for.
const Op* copy_bulk(Warp& w, const Op* op) {
    const BulkCopy& info = *static_cast<const BulkCopy*>(op->info);
    const auto address = [&w](const BulkCopy::Place& place, unsigned lane) {
        const u64 base = place.wide ? w.lanes<u64>(place.base)[lane] : w.lanes<u32>(place.base)[lane];
        const u64 at = base + place.offset;
        return place.is_shared ? shared_window + narrow_address(at) : at;
    };
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const u64 bytes = w.lanes<u32>(op->b)[lane];
        const auto host = [&](const BulkCopy::Place& place, u64 offset, u64 size,
                              u64 alignment) -> std::byte* {
            const u64 at = address(place, lane) + offset;
            const bool aligned = at % alignment == 0;
            std::byte* const found = aligned ? w.worker->host_address(w, lane, at, size) : nullptr;
            if (found == nullptr) {
                (void)w.worker->fault(
                    w, op, aligned ? Fault::Kind::illegal_address : Fault::Kind::misaligned_address, lane,
                    (aligned ? "illegal address " : "misaligned address ") + hexadecimal(at));
            }
            return found;
        };
        // In pieces within pages: made-up memory is not in one piece.
        for (u64 done = 0, size = 0; done < bytes; done += size) {
            const auto left = [&](const BulkCopy::Place& place) {
                return SparseMemory::page_bytes - (address(place, lane) + done) % SparseMemory::page_bytes;
            };
            size = std::min({bytes - done, left(info.to), left(info.from)});
            std::byte* const to = host(info.to, done, size, done == 0 ? 16 : 1);
            std::byte* const from = to == nullptr ? nullptr : host(info.from, done, size, done == 0 ? 16 : 1);
            if (from == nullptr) return nullptr;
            std::memmove(to, from, size);
        }
        if (info.barrier.base == no_operand) continue;
        std::byte* const barrier = host(info.barrier, 0, sizeof(u64), sizeof(u64));
        if (barrier == nullptr) return nullptr;
        complete_transactions(barrier, static_cast<s64>(bytes));
    }
    w.spins = 0;
    return op + 1;
}

}  // namespace run
}  // namespace trimtab::emulator
