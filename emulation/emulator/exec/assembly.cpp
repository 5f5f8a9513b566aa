// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/assembly.h"

#include <bit>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/observer.h"
#include "emulation/emulator/exec/paths.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {
namespace {

template <class F>
bool every_lane(std::uint32_t lanes, const F& holds) {
    for (; lanes != 0; lanes &= lanes - 1) {
        if (!holds(static_cast<unsigned>(std::countr_zero(lanes)))) return false;
    }
    return true;
}

Assembly complete(Warp& w, const Op* op, OperandRef members, std::uint32_t lanes) {
    if (LaunchObserver* observer = w.worker->launch().request.observer)
        observer->warp_synchronizes(w, op, members, lanes);
    Assembly made{.lanes = lanes, .next = op + 1};
    const std::uint32_t* masks = w.lanes<std::uint32_t>(members);
    const std::uint32_t first = masks[std::countr_zero(lanes)];
    if (every_lane(lanes, [&](unsigned lane) { return masks[lane] == first; }) && (lanes & ~first) == 0)
        return made;
    made.is_one_group = false;
    (void)every_lane(lanes, [&](unsigned lane) {
        made.groups[lane] = agrees(masks, lanes, lane) ? masks[lane] & lanes : lanes;
        return true;
    });
    return made;
}

// A path that stands at `op` too, or would: bar.warp.sync may be met at different places, data is only
// exchanged at one.
bool stands_at(const Warp& w, const Path& path, const Op* op) {
    return path.state == Path::State::at_collective &&
           (path.pc == op ? path.frame == w.frame : path.pc->run == op->run && op->run == run::warp_sync);
}

const std::uint32_t* masks_of(Warp& w, const Path& path, const Op* op, OperandRef members) {
    const OperandRef ref = path.pc == op ? members : path.pc->a;  // of a bar.warp.sync
    const std::uint32_t offset = ref & ((1u << base_shift) - 1);
    switch (static_cast<Base>(ref >> base_shift)) {
        case Base::registers:
            return reinterpret_cast<const std::uint32_t*>(path.frame->registers + offset);
        case Base::constants:
            return reinterpret_cast<const std::uint32_t*>(path.frame->constants + offset);
        default:
            return w.lanes<std::uint32_t>(ref);
    }
}

}  // namespace

bool agrees(const std::uint32_t* masks, std::uint32_t lanes, unsigned lane) {
    const std::uint32_t mask = masks[lane];
    return ((mask >> lane) & 1u) != 0 && every_lane(lanes, [&](unsigned other) {
               const bool is_in_one = ((mask >> other | masks[other] >> lane) & 1u) != 0;
               return !is_in_one || masks[other] == mask;
           });
}

Assembly assemble(Warp& w, const Op* op, OperandRef members) {
    if (members == no_operand) return {.lanes = w.mask, .next = op + 1};
    const std::uint32_t* own = w.lanes<std::uint32_t>(members);
    Path& path = w.paths[static_cast<std::size_t>(w.current)];
    const bool forced = path.forced;
    path.forced = false;
    const auto has_all = [&](const std::uint32_t* masks, std::uint32_t lanes, std::uint32_t there,
                             unsigned lane) {
        return (masks[lane] & w.live & ~there) == 0 || !agrees(masks, lanes, lane);
    };
    if (forced || every_lane(w.path_lanes,
                             [&](unsigned lane) { return has_all(own, w.path_lanes, w.path_lanes, lane); }))
        return complete(w, op, members, w.path_lanes);
    // Those whose members are all there: lanes of this path, and whole paths that wait.
    std::uint32_t ready = w.path_lanes, waiting = 0;
    for (const Path& other : w.paths) {
        if (stands_at(w, other, op)) waiting |= other.lanes;
    }
    for (std::uint32_t before = 0; before != (ready | waiting);) {
        before = ready | waiting;
        for (std::uint32_t rest = ready; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            if (!has_all(own, w.path_lanes, before, lane)) ready &= ~(1u << lane);
        }
        for (const Path& other : w.paths) {
            if (!stands_at(w, other, op) || (other.lanes & waiting) == 0) continue;
            const std::uint32_t* masks = masks_of(w, other, op, members);
            if (!every_lane(other.lanes,
                            [&](unsigned lane) { return has_all(masks, other.lanes, before, lane); }))
                waiting &= ~other.lanes;
        }
    }
    if (ready == 0) return {.next = suspend_path(w, Path::State::at_collective, op)};
    // The others of the path wait apart from it.
    if (ready != w.path_lanes) return {.next = split_path(w, ready, op, op, nullptr)};
    for (Path& other : w.paths) {
        if (!stands_at(w, other, op) || (other.lanes & waiting) == 0) continue;
        other.state = Path::State::ready;
        other.pc = other.pc + 1;
    }
    w.set_mask(ready | waiting);
    return complete(w, op, members, ready | waiting);
}

}  // namespace trimtab::emulator
