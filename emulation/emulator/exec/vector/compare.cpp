// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp: comparisons that make predicates (PTX ISA, "Comparison and Selection Instructions").
#include "emulation/emulator/exec/vector/handlers.h"
#include "emulation/emulator/exec/vector/map.h"
#include "emulation/emulator/exec/vector/real_ops.h"
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using ptx::Comparison;

// d = (a cmp b) combined with predicate c; e, the second destination, likewise of the comparison's opposite.
[[gnu::always_inline]] inline const Op* write_results(Warp& w, const Op* op, std::uint32_t bits) {
    if (op->imm == 0) {
        w.write_predicate(op->d, bits);
        return op + 1;
    }
    std::uint32_t opposite = ~bits;
    const auto boolean = static_cast<ptx::BooleanOp>(op->imm & 0xff);
    if (boolean != ptx::BooleanOp::none) {
        const std::uint32_t c = (op->imm & 0x100) != 0 ? ~w.predicate(op->c) : w.predicate(op->c);
        const auto combine = [boolean, c](std::uint32_t x) {
            if (boolean == ptx::BooleanOp::and_) return x & c;
            return boolean == ptx::BooleanOp::or_ ? x | c : x ^ c;
        };
        bits = combine(bits);
        opposite = combine(opposite);
    }
    if (op->d != no_operand) w.write_predicate(op->d, bits);
    if (op->e != no_operand) w.write_predicate(op->e, opposite);
    return op + 1;
}

template <class F, class T>
const Op* compare(Warp& w, const Op* op) {
    const F f;
    const T* a = w.lanes<T>(op->a);
    const T* b = w.lanes<T>(op->b);
    alignas(32) std::uint8_t flags[warp_lanes];
    TRIMTAB_EACH_LANE flags[lane] = f(a[lane], b[lane]) ? 1 : 0;
    return write_results(w, op, pack_bits(flags));
}

struct Equal {
    template <class T>
    bool operator()(T a, T b) const {
        return a == b;
    }
};
struct NotEqual {  // of integers; of reals it is ordered: false where either is NaN
    template <class T>
    bool operator()(T a, T b) const {
        return std::is_floating_point_v<T> ? (a < b) | (a > b) : a != b;
    }
};
struct Less {
    template <class T>
    bool operator()(T a, T b) const {
        return a < b;
    }
};
struct LessOrEqual {
    template <class T>
    bool operator()(T a, T b) const {
        return a <= b;
    }
};
struct Greater {
    template <class T>
    bool operator()(T a, T b) const {
        return a > b;
    }
};
struct GreaterOrEqual {
    template <class T>
    bool operator()(T a, T b) const {
        return a >= b;
    }
};
template <class F>  // the unordered comparison: the opposite of an ordered one's opposite
struct Opposite {
    template <class T>
    bool operator()(T a, T b) const {
        return !F()(a, b);
    }
};
struct Ordered {
    template <class T>
    bool operator()(T a, T b) const {
        return (a == a) & (b == b);
    }
};
template <class F>
struct Flushing {
    bool operator()(float a, float b) const { return F()(flush<true>(a), flush<true>(b)); }
};

template <class F>
Handler of_integers(ptx::Type type) {
    switch (type) {
        case ptx::Type::s16:
            return &compare<F, std::int16_t>;
        case ptx::Type::s32:
            return &compare<F, std::int32_t>;
        case ptx::Type::s64:
            return &compare<F, std::int64_t>;
        default:
            break;
    }
    switch (ptx_width(type)) {
        case 2:
            return &compare<F, std::uint16_t>;
        case 4:
            return &compare<F, std::uint32_t>;
        case 8:
            return &compare<F, std::uint64_t>;
        default:
            return nullptr;
    }
}

template <class F>
Handler of_reals(const VectorKey& key) {
    if (key.type == ptx::Type::f64) return &compare<F, double>;
    if (key.type != ptx::Type::f32) return nullptr;
    return key.ftz ? Handler{&compare<Flushing<F>, float>} : Handler{&compare<F, float>};
}

Handler integer_comparison(const VectorKey& key) {
    switch (key.comparison) {
        case Comparison::eq:
            return of_integers<Equal>(key.type);
        case Comparison::ne:
            return of_integers<NotEqual>(key.type);
        case Comparison::lt:
        case Comparison::lo:
            return of_integers<Less>(key.type);
        case Comparison::le:
        case Comparison::ls:
            return of_integers<LessOrEqual>(key.type);
        case Comparison::gt:
        case Comparison::hi:
            return of_integers<Greater>(key.type);
        case Comparison::ge:
        case Comparison::hs:
            return of_integers<GreaterOrEqual>(key.type);
        default:
            return nullptr;
    }
}

Handler real_comparison(const VectorKey& key) {
    switch (key.comparison) {
        case Comparison::eq:
            return of_reals<Equal>(key);
        case Comparison::ne:
            return of_reals<NotEqual>(key);
        case Comparison::lt:
            return of_reals<Less>(key);
        case Comparison::le:
            return of_reals<LessOrEqual>(key);
        case Comparison::gt:
            return of_reals<Greater>(key);
        case Comparison::ge:
            return of_reals<GreaterOrEqual>(key);
        case Comparison::equ:
            return of_reals<Opposite<NotEqual>>(key);
        case Comparison::neu:
            return of_reals<Opposite<Equal>>(key);
        case Comparison::ltu:
            return of_reals<Opposite<GreaterOrEqual>>(key);
        case Comparison::leu:
            return of_reals<Opposite<Greater>>(key);
        case Comparison::gtu:
            return of_reals<Opposite<LessOrEqual>>(key);
        case Comparison::geu:
            return of_reals<Opposite<Less>>(key);
        case Comparison::num:
            return of_reals<Ordered>(key);
        case Comparison::nan:
            return of_reals<Opposite<Ordered>>(key);
        default:
            return nullptr;
    }
}

}  // namespace

Handler compare_handler(const VectorKey& key) {
    const bool real = key.type == ptx::Type::f32 || key.type == ptx::Type::f64;
    return real ? real_comparison(key) : integer_comparison(key);
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
