// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes' addresses made into host addresses: the quick ways. What they cannot answer goes to
// exec/address_resolution.cpp.
#include "emulation/emulator/exec/address_resolution.h"
#include "emulation/emulator/exec/vector/handlers.h"
#include "emulation/emulator/exec/vector/map.h"
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Shape = LaneAddresses::Shape;

// The lanes' addresses into w.at, and what they have in common.
template <class AddressRegister>
Shape gather_addresses(Warp& w, const Op* op, const MemoryInfo& info, u64& alignment_bits) {
    const AddressRegister* r = w.lanes<AddressRegister>(op->a);
    const u64 offset = op->imm;
    LaneAddresses& at = w.at;
    const u64 bytes = info.total_bytes;
    if (w.mask == all_lanes) {
        const u64 first = static_cast<u64>(r[0]);
        const u64 step = static_cast<u64>(r[1]) - first;
        if (step == bytes || step == 0) {
            const auto shift = static_cast<unsigned>(__builtin_ctzll(bytes));
            const u64 keep = step == 0 ? 0 : ~u64{0};
            u64 unlike = 0;
            TRIMTAB_EACH_LANE unlike |= static_cast<u64>(r[lane]) ^ (first + ((u64{lane} << shift) & keep));
            if (unlike == 0) {
                at.first = first + offset;
                at.end = step == 0 ? at.first + bytes : at.first + warp_lanes * bytes;
                alignment_bits = at.first;
                return step == 0 ? Shape::uniform : Shape::contiguous;
            }
        }
        u64 low = ~u64{0}, high = 0, bits = 0;
        TRIMTAB_EACH_LANE {
            const u64 address = static_cast<u64>(r[lane]) + offset;
            at.address[lane] = address;
            low = address < low ? address : low;
            high = address > high ? address : high;
            bits |= address;
        }
        at.first = low;
        at.end = high + bytes;
        alignment_bits = bits;
        return Shape::scattered;
    }
    const std::int32_t* m = w.lane_mask;
    const u64 stand_in = static_cast<u64>(r[__builtin_ctz(w.mask)]) + offset;
    u64 low = ~u64{0}, high = 0, bits = 0;
    TRIMTAB_EACH_LANE {
        const u64 address = m[lane] ? static_cast<u64>(r[lane]) + offset : stand_in;
        at.address[lane] = address;
        low = address < low ? address : low;
        high = address > high ? address : high;
        bits |= address;
    }
    at.first = low;
    at.end = high + bytes;
    alignment_bits = bits;
    return low == high ? Shape::uniform : Shape::scattered;
}

template <class AddressRegister>
Shape resolve_global(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    u64 alignment_bits = 0;
    const Shape shape = gather_addresses<AddressRegister>(w, op, info, alignment_bits);
    if ((alignment_bits & (info.alignment_bytes - 1u)) != 0) return fault_misaligned(w, op, shape);
    const CachedRange& range = w.ranges[op->index];
    // end <= first: the addresses wrap around.
    if (w.at.first < range.first || w.at.end > range.end || w.at.end <= w.at.first)
        return resolve_slowly(w, op, shape);
    w.at.delta = range.delta;
    w.at.host = reinterpret_cast<std::byte*>(w.at.first + range.delta);
    if (info.counted) count_global(w, op, shape);
    return shape;
}

template <class AddressRegister>
Shape resolve_shared(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    u64 alignment_bits = 0;
    const Shape shape = gather_addresses<AddressRegister>(w, op, info, alignment_bits);
    if ((alignment_bits & (info.alignment_bytes - 1u)) != 0) return fault_misaligned(w, op, shape);
    if (w.at.end > w.shared_bytes || w.at.end <= w.at.first) return resolve_shared_slowly(w, op, shape);
    w.at.delta = reinterpret_cast<u64>(w.shared);
    w.at.host = w.shared + w.at.first;
    if (info.counted) count_shared(w, op, shape);
    return shape;
}

}  // namespace

Resolve global_resolver(bool wide) {
    return wide ? &resolve_global<u64> : &resolve_global<u32>;
}
Resolve shared_resolver(bool wide) {
    return wide ? &resolve_shared<u64> : &resolve_shared<u32>;
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
