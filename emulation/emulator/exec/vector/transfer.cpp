// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores: the element loops, once the lanes' addresses are known to be good.
#include "emulation/emulator/exec/vector/handlers.h"
#include "emulation/emulator/exec/vector/map.h"
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Shape = LaneAddresses::Shape;

template <class T>
[[gnu::always_inline]] inline T read_as(const std::byte* host, bool ordered) {
    if (ordered) return __atomic_load_n(reinterpret_cast<const T*>(host), __ATOMIC_ACQUIRE);
    T value;
    __builtin_memcpy(&value, host, sizeof value);
    return value;
}
template <class T>
[[gnu::always_inline]] inline void write_as(std::byte* host, T value, bool ordered) {
    if (ordered)
        __atomic_store_n(reinterpret_cast<T*>(host), value, __ATOMIC_RELEASE);
    else
        __builtin_memcpy(host, &value, sizeof value);
}

// PTX promises nothing of a vector's elements together, yet programs hand a value and its state over in 16 aligned
// bytes, which GPUs make visible at once (CUB's tile descriptors). One host access is as whole: on x86 processors
// with AVX it is never torn (Intel's manual, volume 3, 9.1.1; AMD's, volume 2, 7.3.2).
using Sixteen [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]] = u64;
using Eight [[gnu::may_alias]] = u64;

bool is_whole(const MemoryInfo& info) {
    return info.is_ordered && info.element_count > 1 && (info.total_bytes == 16 || info.total_bytes == 8);
}
std::byte* lane_host(const Warp& w, Shape shape, unsigned lane, unsigned total_bytes) {
    if (shape == Shape::uniform) return w.at.host;
    if (shape == Shape::contiguous) return w.at.host + std::size_t{lane} * total_bytes;
    return reinterpret_cast<std::byte*>(w.at.address[lane] + w.at.delta);
}

template <class M, class R>
void load_whole(Warp& w, const MemoryInfo& info, Shape shape) {
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
        const std::byte* host = lane_host(w, shape, lane, info.total_bytes);
        M elements[16 / sizeof(M)];
        if (info.total_bytes == 16) {
            const Sixteen value = *reinterpret_cast<const volatile Sixteen*>(host);
            __builtin_memcpy(elements, &value, sizeof value);
        } else {
            const Eight value = __atomic_load_n(reinterpret_cast<const Eight*>(host), __ATOMIC_ACQUIRE);
            __builtin_memcpy(elements, &value, sizeof value);
        }
        for (unsigned element = 0; element < info.element_count; element++) {
            if (info.elements[element] == no_operand) continue;
            w.lanes<R>(info.elements[element])[lane] = static_cast<R>(elements[element]);
        }
    }
}
template <class M, class R>
void store_whole(Warp& w, const MemoryInfo& info, Shape shape) {
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
        std::byte* host = lane_host(w, shape, lane, info.total_bytes);
        M elements[16 / sizeof(M)] = {};
        for (unsigned element = 0; element < info.element_count; element++)
            elements[element] = static_cast<M>(w.lanes<R>(info.elements[element])[lane]);
        if (info.total_bytes == 16) {
            Sixteen value;
            __builtin_memcpy(&value, elements, sizeof value);
            *reinterpret_cast<volatile Sixteen*>(host) = value;
        } else {
            Eight value;
            __builtin_memcpy(&value, elements, sizeof value);
            __atomic_store_n(reinterpret_cast<Eight*>(host), value, __ATOMIC_RELEASE);
        }
    }
}

// M: what lies in memory, signed where it is extended by sign; R: the register's width.
template <class M, class R>
const Op* load(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const Shape shape = info.resolve(w, op);
    if (shape == Shape::fault) return nullptr;
    if (info.is_ordered) w.spun(spin_of_load);
    if (is_whole(info)) {
        load_whole<M, R>(w, info, shape);
        return op + 1;
    }
    const u32 mask = w.mask;
    const std::int32_t* m = w.lane_mask;
    for (unsigned element = 0; element < info.element_count; element++) {
        if (info.elements[element] == no_operand) continue;
        R* d = w.lanes<R>(info.elements[element]);
        const u64 offset = element * sizeof(M);
        if (shape == Shape::uniform) {
            const R value = static_cast<R>(read_as<M>(w.at.host + offset, info.is_ordered));
            TRIMTAB_EACH_LANE d[lane] = m[lane] ? value : d[lane];
        } else if (shape == Shape::contiguous) {
            const std::byte* host = w.at.host + offset;
            if (info.element_count == 1) {
                TRIMTAB_EACH_LANE {
                    M value;
                    __builtin_memcpy(&value, host + lane * sizeof(M), sizeof value);
                    d[lane] = static_cast<R>(value);
                }
            } else {
                const u64 stride = info.total_bytes;
                for (unsigned lane = 0; lane < warp_lanes; lane++)
                    d[lane] = static_cast<R>(read_as<M>(host + lane * stride, false));
            }
        } else if (mask == all_lanes) {
            const u64 delta = w.at.delta + offset;
            for (unsigned lane = 0; lane < warp_lanes; lane++) {
                const auto* host = reinterpret_cast<const std::byte*>(w.at.address[lane] + delta);
                d[lane] = static_cast<R>(read_as<M>(host, info.is_ordered));
            }
        } else {
            const u64 delta = w.at.delta + offset;
            for (u32 rest = mask; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
                const auto* host = reinterpret_cast<const std::byte*>(w.at.address[lane] + delta);
                d[lane] = static_cast<R>(read_as<M>(host, info.is_ordered));
            }
        }
    }
    return op + 1;
}

template <class M, class R>
const Op* store(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const Shape shape = info.resolve(w, op);
    if (shape == Shape::fault) return nullptr;
    if (info.is_ordered) w.spins = 0;
    if (is_whole(info)) {
        store_whole<M, R>(w, info, shape);
        return op + 1;
    }
    const u32 mask = w.mask;
    for (unsigned element = 0; element < info.element_count; element++) {
        const R* s = w.lanes<R>(info.elements[element]);
        const u64 offset = element * sizeof(M);
        if (shape == Shape::uniform) {  // one of the lanes wins: the last
            const unsigned last = 31 - static_cast<unsigned>(__builtin_clz(mask));
            write_as<M>(w.at.host + offset, static_cast<M>(s[last]), info.is_ordered);
        } else if (shape == Shape::contiguous) {
            std::byte* host = w.at.host + offset;
            if (info.element_count == 1) {
                TRIMTAB_EACH_LANE {
                    const M value = static_cast<M>(s[lane]);
                    __builtin_memcpy(host + lane * sizeof(M), &value, sizeof value);
                }
            } else {
                const u64 stride = info.total_bytes;
                for (unsigned lane = 0; lane < warp_lanes; lane++)
                    write_as<M>(host + lane * stride, static_cast<M>(s[lane]), false);
            }
        } else {
            const u64 delta = w.at.delta + offset;
            for (u32 rest = mask; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
                auto* host = reinterpret_cast<std::byte*>(w.at.address[lane] + delta);
                write_as<M>(host, static_cast<M>(s[lane]), info.is_ordered);
            }
        }
    }
    return op + 1;
}

// Signed registers, so that a signed M is extended by its sign and an unsigned one by zeros.
template <class M>
Handler load_into(unsigned register_bytes) {
    switch (register_bytes) {
        case 2:
            if constexpr (sizeof(M) <= 2) return &load<M, std::int16_t>;
            return nullptr;
        case 4:
            if constexpr (sizeof(M) <= 4) return &load<M, std::int32_t>;
            return nullptr;
        case 8:
            return &load<M, std::int64_t>;
        default:
            return nullptr;
    }
}

template <class M>
Handler store_from(unsigned register_bytes) {
    switch (register_bytes) {
        case 2:
            if constexpr (sizeof(M) <= 2) return &store<M, u16>;
            return nullptr;
        case 4:
            if constexpr (sizeof(M) <= 4) return &store<M, u32>;
            return nullptr;
        case 8:
            return &store<M, u64>;
        default:
            return nullptr;
    }
}

}  // namespace

Handler load_handler(const VectorKey& key) {
    switch (key.type) {
        case ptx::Type::s8:
            return load_into<std::int8_t>(key.d_bytes);
        case ptx::Type::s16:
            return load_into<std::int16_t>(key.d_bytes);
        case ptx::Type::s32:
            return load_into<std::int32_t>(key.d_bytes);
        default:
            break;
    }
    switch (key.memory_bytes) {
        case 1:
            return load_into<u8>(key.d_bytes);
        case 2:
            return load_into<u16>(key.d_bytes);
        case 4:
            return load_into<u32>(key.d_bytes);
        case 8:
            return load_into<u64>(key.d_bytes);
        default:
            return nullptr;
    }
}

Handler store_handler(const VectorKey& key) {
    switch (key.memory_bytes) {
        case 1:
            return store_from<u8>(key.a_bytes);
        case 2:
            return store_from<u16>(key.a_bytes);
        case 4:
            return store_from<u32>(key.a_bytes);
        case 8:
            return store_from<u64>(key.a_bytes);
        default:
            return nullptr;
    }
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
