// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where compiled code finds the parts of a warp. Warp is no standard-layout class, for which offsetof is
// conditionally supported: clang and g++ do.
#pragma once

#include <cstddef>

#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::jit {

struct WarpLayout {
    std::size_t bases, path_lanes, join, ranges, executed, check_at, shared, shared_bytes, services;
    std::size_t threads, index, more_warps, may_pass_on, spins;
    std::size_t counts, slots, pending, dependent_rounds, active, addresses, footprint_table, last_requests;
};

[[nodiscard]] inline WarpLayout warp_layout() {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
    return {offsetof(Warp, bases),
            offsetof(Warp, path_lanes),
            offsetof(Warp, join),
            offsetof(Warp, ranges),
            offsetof(Warp, executed),
            offsetof(Warp, check_at),
            offsetof(Warp, shared),
            offsetof(Warp, shared_bytes),
            offsetof(Warp, services),
            offsetof(Warp, threads),
            offsetof(Warp, index),
            offsetof(Warp, more_warps),
            offsetof(Warp, may_pass_on),
            offsetof(Warp, spins),
            offsetof(Warp, counts),
            offsetof(Warp, slot_counts),
            offsetof(Warp, pending),
            offsetof(Warp, dependent_rounds),
            offsetof(Warp, active),
            offsetof(Warp, at) + offsetof(LaneAddresses, address),
            offsetof(Warp, footprint_table),
            offsetof(Warp, last_requests)};
#pragma GCC diagnostic pop
}

}  // namespace trimtab::emulator::jit
