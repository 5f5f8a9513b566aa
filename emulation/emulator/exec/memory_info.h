// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lowered memory instruction knows, and what is found out about its addresses when it runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ptx/types.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

// Where the active lanes' data lie on the host, once every address has been checked.
struct LaneAddresses {
    enum class Shape : std::uint8_t {
        fault,       // Warp::stop says why
        uniform,     // all lanes at `host`
        contiguous,  // lane i at host + i * bytes; all 32 lanes
        scattered    // lane i at address[i] + delta
    };
    alignas(64) std::uint64_t address[warp_lanes] = {};  // filled where scattered
    std::byte* host = nullptr;
    std::uint64_t delta = 0;
    std::uint64_t first = 0, end = 0;  // the addresses, as the kernel sees them, lie in [first, end)
    // In an observed launch: lanes' data lie in several ranges. Then `address` is of the host, and this is what
    // the kernel sees.
    bool is_apart = false;
    alignas(64) std::uint64_t seen[warp_lanes] = {};

    [[nodiscard]] std::byte* of_lane(unsigned lane) const {
        return reinterpret_cast<std::byte*>(address[lane] + delta);
    }
};

using Resolve = LaneAddresses::Shape (*)(Warp& warp, const Op* op);

// How wide a window of addresses is known to be valid, and where it lies.
struct CachedRange {
    std::uint64_t first = 0, end = 0, delta = 0;  // host address = address + delta
};

struct MemoryInfo {
    Resolve resolve = nullptr;
    Resolve unobserved = nullptr;  // observed launches: what `resolve` would be in others
    ptx::Space space = ptx::Space::generic;
    Access access = Access::read;
    bool counted = false;
    bool is_atomic = false;
    bool is_ordered = false;         // volatile, relaxed, acquire or release: one host access a lane
    std::uint8_t element_bytes = 0;  // in memory
    std::uint8_t element_count = 1;  // of a vector
    std::uint8_t total_bytes = 0;    // element_bytes * element_count
    std::uint8_t alignment_bytes = 0;
    std::uint8_t register_bytes = 0;  // of a stored element
    bool wide_address = true;         // the address register has 64 bits, not 32
    ptx::AtomicOp atomic = ptx::AtomicOp::none;
    ptx::Type type = ptx::Type::none;  // atomics
    OperandRef elements[8] = {};       // no_operand: a sink
};

// What becomes of an mbarrier; the operand is a count or a number of bytes.
enum class MbarrierAction : std::uint8_t { init, arrive, drop, expect, complete, arrive_expecting };

// An atomic on each element of a vector; the elements apart (PTX ISA: the whole is not one atomic access).
struct VectorAtomic : MemoryInfo {
    OperandRef results[8];
};

// cp.async.bulk.
struct BulkCopy {
    struct Place {
        OperandRef base = no_operand;
        std::uint64_t offset = 0;
        bool wide = true, is_shared = false;
    };
    Place to, from, barrier;
};

[[nodiscard]] inline const MemoryInfo& info_of(const Op* op) {
    return *static_cast<const MemoryInfo*>(op->info);
}

[[nodiscard]] inline bool has_lane(std::uint32_t mask, unsigned lane) {
    return ((mask >> lane) & 1u) != 0;
}

}  // namespace trimtab::emulator
