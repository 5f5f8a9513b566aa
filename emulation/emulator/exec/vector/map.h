// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the 32 lanes that compilers vectorise.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "emulation/emulator/exec/warp.h"

// A destination is the very same array as a source, or apart from it: no dependence between lanes.
#if defined(__clang__)
#define TRIMTAB_EACH_LANE                                                  \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned lane = 0; \
                                                        lane < ::trimtab::emulator::warp_lanes; lane++)
#else
#define TRIMTAB_EACH_LANE \
    _Pragma("GCC ivdep") for (unsigned lane = 0; lane < ::trimtab::emulator::warp_lanes; lane++)
#endif

namespace trimtab::emulator::TRIMTAB_VECTOR {

template <class F>
[[gnu::always_inline]] inline F make(const Op& op) {
    if constexpr (std::is_constructible_v<F, const Op&>)
        return F(op);
    else
        return F{};
}

template <class F, class D, class A>
const Op* map(Warp& w, const Op* op) {
    const F f = make<F>(*op);
    D* d = w.lanes<D>(op->d);
    const A* a = w.lanes<A>(op->a);
    if (w.mask == all_lanes) {
        TRIMTAB_EACH_LANE d[lane] = f(a[lane]);
    } else {
        const std::int32_t* m = w.lane_mask;
        TRIMTAB_EACH_LANE d[lane] = m[lane] ? f(a[lane]) : d[lane];
    }
    return op + 1;
}

template <class F, class D, class A, class B>
const Op* map(Warp& w, const Op* op) {
    const F f = make<F>(*op);
    D* d = w.lanes<D>(op->d);
    const A* a = w.lanes<A>(op->a);
    const B* b = w.lanes<B>(op->b);
    if (w.mask == all_lanes) {
        TRIMTAB_EACH_LANE d[lane] = f(a[lane], b[lane]);
    } else {
        const std::int32_t* m = w.lane_mask;
        TRIMTAB_EACH_LANE d[lane] = m[lane] ? f(a[lane], b[lane]) : d[lane];
    }
    return op + 1;
}

template <class F, class D, class A, class B, class C>
const Op* map(Warp& w, const Op* op) {
    const F f = make<F>(*op);
    D* d = w.lanes<D>(op->d);
    const A* a = w.lanes<A>(op->a);
    const B* b = w.lanes<B>(op->b);
    const C* c = w.lanes<C>(op->c);
    if (w.mask == all_lanes) {
        TRIMTAB_EACH_LANE d[lane] = f(a[lane], b[lane], c[lane]);
    } else {
        const std::int32_t* m = w.lane_mask;
        TRIMTAB_EACH_LANE d[lane] = m[lane] ? f(a[lane], b[lane], c[lane]) : d[lane];
    }
    return op + 1;
}

template <class F, class D, class A, class B, class C, class E>
const Op* map(Warp& w, const Op* op) {
    const F f = make<F>(*op);
    D* d = w.lanes<D>(op->d);
    const A* a = w.lanes<A>(op->a);
    const B* b = w.lanes<B>(op->b);
    const C* c = w.lanes<C>(op->c);
    const E* e = w.lanes<E>(op->e);
    if (w.mask == all_lanes) {
        TRIMTAB_EACH_LANE d[lane] = f(a[lane], b[lane], c[lane], e[lane]);
    } else {
        const std::int32_t* m = w.lane_mask;
        TRIMTAB_EACH_LANE d[lane] = m[lane] ? f(a[lane], b[lane], c[lane], e[lane]) : d[lane];
    }
    return op + 1;
}

// Of what no vector code can be made.
template <class F, class D, class A, class B, class C>
const Op* map_lane_by_lane(Warp& w, const Op* op) {
    const F f = make<F>(*op);
    D* d = w.lanes<D>(op->d);
    const A* a = w.lanes<A>(op->a);
    const B* b = w.lanes<B>(op->b);
    const C* c = w.lanes<C>(op->c);
    for (unsigned lane = 0; lane < warp_lanes; lane++)
        if ((w.mask >> lane & 1) != 0) d[lane] = f(a[lane], b[lane], c[lane]);
    return op + 1;
}

// 32 bytes of 0 or 1 as a mask: multiplying gathers eight of them at a time.
[[gnu::always_inline]] inline std::uint32_t pack_bits(const std::uint8_t (&flags)[warp_lanes]) {
    std::uint32_t bits = 0;
    for (unsigned part = 0; part < 4; part++) {
        std::uint64_t eight = 0;
        __builtin_memcpy(&eight, flags + 8 * part, 8);
        bits |= static_cast<std::uint32_t>((eight * 0x0102040810204080u) >> 56) << (8 * part);
    }
    return bits;
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
