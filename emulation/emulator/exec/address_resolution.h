// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses that the quick ways (vector/resolve.cpp) leave: another range than last time, lanes in different
// ranges, the windows of generic addresses, local memory, and everything that is a fault.
#pragma once

#include "core/ptx/types.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

// Warp::at holds first and end and, where the shape is `scattered`, every lane's address.
[[nodiscard]] LaneAddresses::Shape resolve_slowly(Warp& warp, const Op* op, LaneAddresses::Shape shape);
[[nodiscard]] LaneAddresses::Shape fault_misaligned(Warp& warp, const Op* op, LaneAddresses::Shape shape);
[[nodiscard]] LaneAddresses::Shape resolve_shared_slowly(Warp& warp, const Op* op,
                                                         LaneAddresses::Shape shape);

[[nodiscard]] Resolve local_resolver(bool wide_address);
[[nodiscard]] Resolve parameter_resolver(bool wide_address);

// Sectors, lines and conflicts of one request (count_requests.cpp). The addresses are those that the kernel
// sees.
void count_global(Warp& warp, const Op* op, LaneAddresses::Shape shape);
void count_shared(Warp& warp, const Op* op, LaneAddresses::Shape shape);
void count_local(Warp& warp, const Op* op);
// As the resolvers count a request to global or shared memory that is good: of all lanes, one behind the
// other from `first` to `end` or, where only one fits, at one place; or of `lanes`, whose addresses are in
// Warp::at.
void count_request(Warp& warp, const Op* op, std::uint64_t first, std::uint64_t end);
void count_request(Warp& warp, const Op* op, std::uint32_t lanes);
// A load or store of all lanes, of global memory, in runs of `run_lanes` that touch `span` bytes each, from
// the address of the run's first lane on.
void count_request(Warp& warp, const Op* op, unsigned run_lanes, std::uint64_t span);
// A load from global memory by all lanes, each at its address in Warp::at: the LastRequests of that number.
void count_far_load(Warp& warp, const Op* op, std::uint32_t number);
// Sectors of a window (SectorSet) for the footprints of the warp and its block.
void insert_window(Warp& warp, std::uint64_t window, std::uint64_t bits);

[[nodiscard]] bool can_run_atomic(ptx::AtomicOp operation, ptx::Type type);

}  // namespace trimtab::emulator
