// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red. Lanes act one after the other, in order; blocks run on several host threads, so that global
// memory needs the host's atomic operations.
#include <bit>
#include <cmath>
#include <cstring>

#include "emulation/emulator/exec/address_resolution.h"
#include "emulation/emulator/exec/half.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/paths.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {
namespace {

using ptx::AtomicOp;
using ptx::Type;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

double half_sum(u64 a, u64 b, Type type) {
    if (type == Type::bf16 || type == Type::bf16x2)
        return bfloat_to_real(static_cast<u16>(a)) + bfloat_to_real(static_cast<u16>(b));
    return half_to_real(static_cast<u16>(a)) + half_to_real(static_cast<u16>(b));
}
u64 half_added(u64 a, u64 b, Type type) {
    const double sum = half_sum(a, b, type);
    return type == Type::bf16 || type == Type::bf16x2 ? real_to_bfloat(sum) : real_to_half(sum);
}

u64 added(u64 a, u64 b, Type type) {
    switch (type) {
        case Type::f32: {
            const float sum =
                std::bit_cast<float>(static_cast<u32>(a)) + std::bit_cast<float>(static_cast<u32>(b));
            return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<u32>(sum);
        }
        case Type::f64: {
            const double sum = std::bit_cast<double>(a) + std::bit_cast<double>(b);
            return std::isnan(sum) ? 0xfff8000000000000u : std::bit_cast<u64>(sum);
        }
        case Type::f16:
        case Type::bf16:
            return half_added(a, b, type);
        case Type::f16x2:
        case Type::bf16x2:
            return half_added(a & 0xffff, b & 0xffff, type) | half_added(a >> 16, b >> 16, type) << 16;
        default:
            return a + b;
    }
}

bool below(u64 a, u64 b, Type type) {
    if (type == Type::s32) return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    if (type == Type::s64) return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    return a < b;
}

u64 half_extremum(u64 a, u64 b, Type type, bool maximum) {
    const bool bfloat = type == Type::bf16 || type == Type::bf16x2;
    const auto one = [&](u64 x, u64 y) -> u64 {
        const auto p = static_cast<u16>(x), q = static_cast<u16>(y);
        const double left = bfloat ? bfloat_to_real(p) : half_to_real(p);
        const double right = bfloat ? bfloat_to_real(q) : half_to_real(q);
        if (std::isnan(left) && std::isnan(right)) return 0x7fff;
        if (std::isnan(left) || std::isnan(right)) return std::isnan(left) ? q : p;
        if (left == right) return ((p & 0x8000) != 0) == maximum ? q : p;
        return (left < right) == maximum ? q : p;
    };
    if (type == Type::f16 || type == Type::bf16) return one(a, b);
    return one(a & 0xffff, b & 0xffff) | one(a >> 16, b >> 16) << 16;
}

// What the memory holds afterwards. `swap` is cas's third operand.
u64 next_value(AtomicOp operation, Type type, u64 old, u64 operand, u64 swap) {
    switch (operation) {
        case AtomicOp::and_:
            return old & operand;
        case AtomicOp::or_:
            return old | operand;
        case AtomicOp::xor_:
            return old ^ operand;
        case AtomicOp::add:
            return added(old, operand, type);
        case AtomicOp::inc:
            return old >= operand ? 0 : old + 1;
        case AtomicOp::dec:
            return old == 0 || old > operand ? operand : old - 1;
        case AtomicOp::min:
            if (ptx::is_float(type)) return half_extremum(old, operand, type, false);
            return below(operand, old, type) ? operand : old;
        case AtomicOp::max:
            if (ptx::is_float(type)) return half_extremum(old, operand, type, true);
            return below(old, operand, type) ? operand : old;
        case AtomicOp::exch:
            return operand;
        case AtomicOp::cas:
            return old == operand ? swap : old;
        case AtomicOp::none:
            break;
    }
    return old;
}

template <class T>
u64 exchange(std::byte* host, AtomicOp operation, Type type, u64 operand, u64 swap, bool& changed) {
    auto* place = reinterpret_cast<T*>(host);
    T old = __atomic_load_n(place, __ATOMIC_RELAXED);
    for (;;) {
        const T wanted = static_cast<T>(next_value(operation, type, old, operand, swap));
        if (__atomic_compare_exchange_n(place, &old, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            changed = changed || wanted != old;
            return old;
        }
    }
}

// Shared memory is the block's own, and its warps take turns.
template <class T>
u64 exchange_alone(std::byte* host, AtomicOp operation, Type type, u64 operand, u64 swap, bool& changed) {
    T old;
    std::memcpy(&old, host, sizeof old);
    const T wanted = static_cast<T>(next_value(operation, type, old, operand, swap));
    std::memcpy(host, &wanted, sizeof wanted);
    changed = changed || wanted != old;
    return old;
}

template <class T>
void each_lane(Warp& w, const Op* op, const MemoryInfo& info, LaneAddresses::Shape shape) {
    const T* b = w.lanes<T>(op->b);
    const T* c = op->c == no_operand ? nullptr : w.lanes<T>(op->c);
    T* d = op->d == no_operand ? nullptr : w.lanes<T>(op->d);
    const bool alone = info.space == ptx::Space::shared || info.space == ptx::Space::shared_cluster;
    const bool adds = info.atomic == AtomicOp::add && !ptx::is_float(info.type);
    bool changed = adds;
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::byte* host = w.at.host;
        if (shape == LaneAddresses::Shape::contiguous) host += lane * sizeof(T);
        if (shape == LaneAddresses::Shape::scattered) host = w.at.of_lane(lane);
        const u64 swap = c == nullptr ? 0 : c[lane];
        u64 old = 0;
        if (alone)
            old = exchange_alone<T>(host, info.atomic, info.type, b[lane], swap, changed);
        else if (adds)
            old = __atomic_fetch_add(reinterpret_cast<T*>(host), b[lane], __ATOMIC_SEQ_CST);
        else
            old = exchange<T>(host, info.atomic, info.type, b[lane], swap, changed);
        if (d != nullptr) d[lane] = static_cast<T>(old);
    }
    // Atomics that change nothing are how lanes wait for a lock.
    if (changed)
        w.spins = 0;
    else
        w.spun(spin_of_atomic);
}

template <class T>
void each_element(Warp& w, const VectorAtomic& memory, LaneAddresses::Shape shape) {
    for (unsigned element = 0; element < memory.element_count; element++) {
        const T* b = w.lanes<T>(memory.elements[element]);
        T* d = memory.results[element] == no_operand ? nullptr : w.lanes<T>(memory.results[element]);
        for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            std::byte* host = w.at.host;
            if (shape == LaneAddresses::Shape::contiguous) host += std::size_t{lane} * memory.total_bytes;
            if (shape == LaneAddresses::Shape::scattered) host = w.at.of_lane(lane);
            bool changed = false;
            const u64 old =
                exchange<T>(host + element * sizeof(T), memory.atomic, memory.type, b[lane], 0, changed);
            if (d != nullptr) d[lane] = static_cast<T>(old);
        }
    }
    w.spins = 0;
}

// atom.b128: exch and cas. Blocks on other host threads take their turn by a lock of the memory's own.
const Op* wide_exchange(Warp& w, const Op* op, const MemoryInfo& info, LaneAddresses::Shape shape) {
    using Wide = unsigned __int128;
    const Wide* b = w.lanes<Wide>(op->b);
    const Wide* c = op->c == no_operand ? nullptr : w.lanes<Wide>(op->c);
    Wide* d = op->d == no_operand ? nullptr : w.lanes<Wide>(op->d);
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::byte* host = w.at.host;
        if (shape == LaneAddresses::Shape::contiguous) host += std::size_t{lane} * sizeof(Wide);
        if (shape == LaneAddresses::Shape::scattered) host = w.at.of_lane(lane);
        const std::lock_guard lock(w.worker->launch().wide_atomics);
        Wide old;
        std::memcpy(&old, host, sizeof old);
        Wide wanted = b[lane];
        if (info.atomic == AtomicOp::cas) wanted = old == b[lane] ? c[lane] : old;
        std::memcpy(host, &wanted, sizeof wanted);
        if (wanted == old) w.spun(spin_of_atomic);
        if (d != nullptr) std::memcpy(d + lane, &old, sizeof old);
    }
    return op + 1;
}

}  // namespace

bool can_run_atomic(AtomicOp operation, Type type) {
    const unsigned bytes = ptx::size_bytes(type);
    if (operation == AtomicOp::none) return false;
    if (bytes == 16) return operation == AtomicOp::exch || operation == AtomicOp::cas;
    if (type == Type::f32 || type == Type::f64) return operation == AtomicOp::add;
    if (ptx::is_float(type))
        return operation == AtomicOp::add || operation == AtomicOp::min || operation == AtomicOp::max;
    return bytes == 4 || bytes == 8 || (bytes == 2 && operation == AtomicOp::cas);
}

namespace run {

const Op* atomic(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const LaneAddresses::Shape shape = info.resolve(w, op);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    switch (info.element_bytes) {
        case 2:
            each_lane<u16>(w, op, info, shape);
            break;
        case 4:
            each_lane<u32>(w, op, info, shape);
            break;
        case 16:
            return wide_exchange(w, op, info, shape);
        default:
            each_lane<u64>(w, op, info, shape);
            break;
    }
    return op + 1;
}

const Op* vector_atomic(Warp& w, const Op* op) {
    const VectorAtomic& info = static_cast<const VectorAtomic&>(*static_cast<const MemoryInfo*>(op->info));
    const LaneAddresses::Shape shape = info.resolve(w, op);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    if (info.element_bytes == 2)
        each_element<u16>(w, info, shape);
    else
        each_element<u32>(w, info, shape);
    return op + 1;
}

}  // namespace run
}  // namespace trimtab::emulator
