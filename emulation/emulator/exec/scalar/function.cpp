// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::run {
namespace {

using Lanes = std::uint64_t[warp_lanes];

template <class T>
void widen(const T* from, Lanes& to) {
    for (unsigned lane = 0; lane < warp_lanes; lane++) to[lane] = from[lane];
}

void read(Warp& w, OperandRef ref, unsigned bytes, Lanes& to) {
    if (ref == no_operand) return;
    switch (bytes) {
        case 0:
            for (unsigned lane = 0; lane < warp_lanes; lane++) to[lane] = (w.predicate(ref) >> lane) & 1u;
            break;
        case 2:
            widen(w.lanes<std::uint16_t>(ref), to);
            break;
        case 4:
            widen(w.lanes<std::uint32_t>(ref), to);
            break;
        default:
            widen(w.lanes<std::uint64_t>(ref), to);
            break;
    }
}

template <class T>
void narrow(Warp& w, OperandRef ref, const Lanes& from) {
    T* d = w.lanes<T>(ref);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if ((w.mask >> lane) & 1u) d[lane] = static_cast<T>(from[lane]);
    }
}

}  // namespace

const Op* scalar_function(Warp& w, const Op* op) {
    Lanes a = {}, b = {}, c = {}, e = {}, d;
    read(w, op->a, op->a_bytes, a);
    read(w, op->b, op->b_bytes, b);
    read(w, op->c, op->c_bytes, c);
    read(w, op->e, 4, e);  // a fourth operand is always a 32-bit one
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (((w.mask >> lane) & 1u) == 0) continue;
        d[lane] = op->scalar(*op, a[lane], b[lane], c[lane], e[lane]);
        bits |= static_cast<std::uint32_t>(d[lane] & 1u) << lane;
    }
    switch (op->d_bytes) {
        case 0:
            w.write_predicate(op->d, bits);
            break;
        case 2:
            narrow<std::uint16_t>(w, op->d, d);
            break;
        case 4:
            narrow<std::uint32_t>(w, op->d, d);
            break;
        default:
            narrow<std::uint64_t>(w, op->d, d);
            break;
    }
    return op + 1;
}

}  // namespace trimtab::emulator::run
