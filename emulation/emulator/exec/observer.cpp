// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/observer.h"

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {

LaneAddresses::Shape resolve_observed(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    w.at.is_apart = false;
    const LaneAddresses::Shape shape = info.unobserved(w, op);
    if (shape == LaneAddresses::Shape::fault) return shape;
    LaunchObserver& observer = *w.worker->launch().request.observer;
    if (info.space != ptx::Space::local) return observer.accesses(w, op, shape);
    observer.accesses_local(w, op);
    return shape;
}

namespace run {

const Op* observe_fence(Warp& w, const Op* op) {
    w.worker->launch().request.observer->fence(w);
    return op + 1;
}

const Op* observe_region(Warp& w, const Op* op) {
    w.worker->launch().request.observer->enters(w, *static_cast<const RegionInfo*>(op->info));
    return count_region(w, op);
}

const Op* observe_guarded(Warp& w, const Op* op) {
    w.worker->launch().request.observer->enters(w, *static_cast<const RegionInfo*>(op->info));
    return count_guarded(w, op);
}

}  // namespace run
}  // namespace trimtab::emulator
