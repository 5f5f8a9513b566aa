// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of 128 bits (.b128): moved, packed of two halves, loaded and stored.
#include <bit>
#include <cstring>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::run {
namespace {

using u64 = std::uint64_t;
struct Wide {
    u64 low = 0, high = 0;
};

template <class Each>
const Op* each_active(Warp& w, const Op* op, Each each) {
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
        each(static_cast<unsigned>(std::countr_zero(rest)));
    return op + 1;
}

template <class Each>
const Op* each_place(Warp& w, const Op* op, Each each) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const LaneAddresses::Shape shape = info.resolve(w, op);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    return each_active(w, op, [&](unsigned lane) {
        std::byte* host = w.at.host;
        if (shape == LaneAddresses::Shape::contiguous) host += std::size_t{lane} * info.total_bytes;
        if (shape == LaneAddresses::Shape::scattered) host = w.at.of_lane(lane);
        for (unsigned i = 0; i < info.element_count; i++) {
            if (info.elements[i] != no_operand)
                each(w.lanes<Wide>(info.elements[i])[lane], host + i * sizeof(Wide));
        }
    });
}

}  // namespace

const Op* wide_copy(Warp& w, const Op* op) {
    return each_active(w, op,
                       [&](unsigned lane) { w.lanes<Wide>(op->d)[lane] = w.lanes<Wide>(op->a)[lane]; });
}
const Op* wide_pack(Warp& w, const Op* op) {
    return each_active(w, op, [&](unsigned lane) {
        w.lanes<Wide>(op->d)[lane] = {w.lanes<u64>(op->a)[lane], w.lanes<u64>(op->b)[lane]};
    });
}
const Op* wide_unpack(Warp& w, const Op* op) {
    return each_active(w, op, [&](unsigned lane) {
        const Wide value = w.lanes<Wide>(op->a)[lane];
        if (op->d != no_operand) w.lanes<u64>(op->d)[lane] = value.low;
        if (op->b != no_operand) w.lanes<u64>(op->b)[lane] = value.high;
    });
}
const Op* wide_load(Warp& w, const Op* op) {
    return each_place(w, op, [](Wide& d, const std::byte* host) { std::memcpy(&d, host, sizeof d); });
}
const Op* wide_store(Warp& w, const Op* op) {
    return each_place(w, op, [](const Wide& s, std::byte* host) { std::memcpy(host, &s, sizeof s); });
}

}  // namespace trimtab::emulator::run
