// Addresses that the quick ways (lanes/resolve.cpp) leave: another range than last time, lanes in different
// ranges, the windows of generic addresses, local memory, and everything that is a fault.
#pragma once

#include "emulator/exec/memory_info.h"
#include "emulator/exec/op.h"
#include "ptx/types.h"

namespace trimtab::emulator {

// Warp::at holds first and end and, where the shape is `scattered`, every lane's address.
[[nodiscard]] LaneAddresses::Shape resolve_slowly(Warp& warp, const Op* op, LaneAddresses::Shape shape);
[[nodiscard]] LaneAddresses::Shape fault_misaligned(Warp& warp, const Op* op, LaneAddresses::Shape shape);
[[nodiscard]] LaneAddresses::Shape fault_shared(Warp& warp, const Op* op, LaneAddresses::Shape shape);

[[nodiscard]] Resolve local_resolver(bool wide_address);
[[nodiscard]] Resolve parameter_resolver(bool wide_address);

// Sectors, lines and conflicts of one request (count_requests.cpp). The addresses are those that the kernel
// sees.
void count_global(Warp& warp, const Op* op, LaneAddresses::Shape shape);
void count_shared(Warp& warp, const Op* op, LaneAddresses::Shape shape);
void count_local(Warp& warp, const Op* op);

[[nodiscard]] bool can_run_atomic(ptx::AtomicOp operation, ptx::Type type);

}  // namespace trimtab::emulator
