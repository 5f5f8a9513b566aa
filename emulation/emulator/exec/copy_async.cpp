// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async: done at once, which is one of the orders that the ISA allows. The load's op comes first, the
// store's right after it.
#include <bit>
#include <cstring>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::run {

const Op* copy_async(Warp& w, const Op* op) {
    const auto host_of = [&w](const MemoryInfo& info, LaneAddresses::Shape shape, unsigned lane) {
        if (shape == LaneAddresses::Shape::uniform) return w.at.host;
        if (shape == LaneAddresses::Shape::contiguous)
            return w.at.host + std::size_t{lane} * info.total_bytes;
        return w.at.of_lane(lane);
    };
    const Op* const store_op = op + 1;
    const MemoryInfo& load = *static_cast<const MemoryInfo*>(op->info);
    const MemoryInfo& store = *static_cast<const MemoryInfo*>(store_op->info);
    const std::uint32_t* taken = w.lanes<std::uint32_t>(op->b);
    LaneAddresses::Shape shape = load.resolve(w, op);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    std::byte data[warp_lanes][16] = {};
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::size_t bytes = taken[lane] < load.total_bytes ? taken[lane] : load.total_bytes;
        std::memcpy(data[lane], host_of(load, shape, lane), bytes);
    }
    shape = store.resolve(w, store_op);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::memcpy(host_of(store, shape, lane), data[lane], store.total_bytes);
    }
    return op + 2;
}

}  // namespace trimtab::emulator::run
