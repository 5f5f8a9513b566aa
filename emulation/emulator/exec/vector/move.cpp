// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies, selections, and vectors of registers packed into wider ones.
#include "emulation/emulator/exec/vector/handlers.h"
#include "emulation/emulator/exec/vector/map.h"
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Same {
    template <class T>
    T operator()(T a) const {
        return a;
    }
};

template <class T>
const Op* select(Warp& w, const Op* op) {
    T* d = w.lanes<T>(op->d);
    const T* a = w.lanes<T>(op->a);
    const T* b = w.lanes<T>(op->b);
    const u32 p = w.predicate(op->c);
    const std::int32_t* m = w.lane_mask;
    if (w.mask == all_lanes) {
        TRIMTAB_EACH_LANE d[lane] = (p >> lane) & 1u ? a[lane] : b[lane];
    } else {
        TRIMTAB_EACH_LANE d[lane] = m[lane] ? ((p >> lane) & 1u ? a[lane] : b[lane]) : d[lane];
    }
    return op + 1;
}

// Wide registers of two or four narrow ones, the first lowest. A source that overlaps no destination is read
// first, so that {a, b} = {b, a} works.
template <class Narrow, class Wide, unsigned count>
const Op* pack(Warp& w, const Op* op) {
    const OperandRef refs[4] = {op->a, op->b, op->c, op->e};
    Wide packed[warp_lanes] = {};
    for (unsigned i = 0; i < count; i++) {
        const Narrow* part = w.lanes<Narrow>(refs[i]);
        TRIMTAB_EACH_LANE packed[lane] |=
            static_cast<Wide>(static_cast<Wide>(part[lane]) << (i * sizeof(Narrow) * 8));
    }
    Wide* d = w.lanes<Wide>(op->d);
    const std::int32_t* m = w.lane_mask;
    TRIMTAB_EACH_LANE d[lane] = m[lane] ? packed[lane] : d[lane];
    return op + 1;
}

template <class Narrow, class Wide, unsigned count>
const Op* unpack(Warp& w, const Op* op) {
    const OperandRef refs[4] = {op->d, op->b, op->c, op->e};
    const Wide* a = w.lanes<Wide>(op->a);
    const std::int32_t* m = w.lane_mask;
    for (unsigned i = 0; i < count; i++) {
        if (refs[i] == no_operand) continue;
        Narrow* d = w.lanes<Narrow>(refs[i]);
        TRIMTAB_EACH_LANE d[lane] =
            m[lane] ? static_cast<Narrow>(a[lane] >> (i * sizeof(Narrow) * 8)) : d[lane];
    }
    return op + 1;
}

}  // namespace

Handler copy_handler(unsigned bytes) {
    switch (bytes) {
        case 2:
            return &map<Same, u16, u16>;
        case 4:
            return &map<Same, u32, u32>;
        case 8:
            return &map<Same, u64, u64>;
        default:
            return nullptr;
    }
}

Handler select_handler(unsigned bytes) {
    switch (bytes) {
        case 2:
            return &select<u16>;
        case 4:
            return &select<u32>;
        case 8:
            return &select<u64>;
        default:
            return nullptr;
    }
}

Handler pack_handler(unsigned element_bytes, unsigned elements) {
    if (element_bytes == 4 && elements == 2) return &pack<u32, u64, 2>;
    if (element_bytes == 2 && elements == 2) return &pack<u16, u32, 2>;
    if (element_bytes == 2 && elements == 4) return &pack<u16, u64, 4>;
    return nullptr;
}

Handler unpack_handler(unsigned element_bytes, unsigned elements) {
    if (element_bytes == 4 && elements == 2) return &unpack<u32, u64, 2>;
    if (element_bytes == 2 && elements == 2) return &unpack<u16, u32, 2>;
    if (element_bytes == 2 && elements == 4) return &unpack<u16, u64, 4>;
    return nullptr;
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
