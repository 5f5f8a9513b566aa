// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conversions that programs are full of; the others are lane functions (exec/conversion.cpp).
#include "emulation/emulator/exec/vector/handlers.h"
#include "emulation/emulator/exec/vector/map.h"
#include "emulation/emulator/exec/vector/real_ops.h"
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {
namespace {

using ptx::Type;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// From a register of type A, whose lower part S is the value, to one of type D, by way of D's lower part R.
template <class S, class R>
struct Integer {
    template <class A>
    auto operator()(A a) const {
        return static_cast<R>(static_cast<S>(a));
    }
};

// To an integral value of the same type.
enum class Integral : std::uint8_t { nearest, zero, down, up };
template <Integral mode>
[[gnu::always_inline]] inline float integral(float a) {
    if constexpr (mode == Integral::nearest) return __builtin_rintf(a);
    if constexpr (mode == Integral::zero) return __builtin_truncf(a);
    if constexpr (mode == Integral::down) return __builtin_floorf(a);
    return __builtin_ceilf(a);
}
template <Integral mode>
[[gnu::always_inline]] inline double integral(double a) {
    if constexpr (mode == Integral::nearest) return __builtin_rint(a);
    if constexpr (mode == Integral::zero) return __builtin_trunc(a);
    if constexpr (mode == Integral::down) return __builtin_floor(a);
    return __builtin_ceil(a);
}
template <Integral mode>
struct RoundToIntegral {
    template <class A>
    A operator()(A a) const {
        return canonical(integral<mode>(a));
    }
};

// Rounded and saturating. A NaN becomes 0, or 1 << 63 (1 << 31) where either type is wide.
template <class R, Integral mode>
struct ToInteger {
    template <class A>
    R operator()(A real) const {
        // Conversion itself rounds towards zero.
        const A a = mode == Integral::zero ? real : integral<mode>(real);
        constexpr bool is_signed = std::is_signed_v<R>;
        constexpr R smallest = is_signed ? static_cast<R>(u64{1} << (sizeof(R) * 8 - 1)) : R{0};
        constexpr R largest = static_cast<R>(~smallest);
        constexpr A half = static_cast<A>(u64{1} << (sizeof(R) * 8 - 1));
        constexpr A limit = is_signed ? half : half * 2;
        constexpr bool wide = sizeof(A) == 8 || sizeof(R) == 8;
        constexpr R of_nan = wide ? static_cast<R>(u64{1} << (sizeof(R) * 8 - 1)) : R{0};
        const bool over = a >= limit, under = is_signed ? a < -limit : a <= A{0};
        const R r = static_cast<R>(over || under || a != a ? A{0} : a);
        const R clamped = over ? largest : (under ? smallest : r);
        return a != a ? of_nan : clamped;
    }
};
template <bool ftz, bool sat>
struct Finish {
    float operator()(float a) const { return finish<ftz, sat>(a); }
};
struct Narrow {
    float operator()(double a) const { return canonical(static_cast<float>(a)); }
};
struct Widen {
    double operator()(float a) const { return canonical(static_cast<double>(a)); }
};
struct ToReal32 {
    template <class A>
    float operator()(A a) const {
        return static_cast<float>(a);
    }
};
struct ToReal64 {
    template <class A>
    double operator()(A a) const {
        return static_cast<double>(a);
    }
};

// Between integers: `from` and `to` are the instruction's types, A and D the registers' widths.
template <class S, class A>
Handler integer_to(const VectorKey& key) {
    const auto pick = [&key]<class R>(R) -> Handler {
        if (key.d_bytes == sizeof(R)) {
            if constexpr (sizeof(R) == 1)
                return nullptr;
            else
                return &map<Integer<S, R>, R, A>;
        }
        // A result narrower than its register is extended by its own sign.
        if constexpr (sizeof(R) < 2)
            if (key.d_bytes == 2)
                return &map<Integer<S, R>, std::conditional_t<std::is_signed_v<R>, s16, u16>, A>;
        if constexpr (sizeof(R) < 4)
            if (key.d_bytes == 4)
                return &map<Integer<S, R>, std::conditional_t<std::is_signed_v<R>, s32, u32>, A>;
        return nullptr;
    };
    switch (key.type) {
        case Type::u8:
            return pick(u8{});
        case Type::s8:
            return pick(s8{});
        case Type::u16:
            return pick(u16{});
        case Type::s16:
            return pick(s16{});
        case Type::u32:
            return pick(u32{});
        case Type::s32:
            return pick(s32{});
        case Type::u64:
            return pick(u64{});
        case Type::s64:
            return pick(s64{});
        default:
            return nullptr;
    }
}

Handler integer_from(const VectorKey& key) {
    switch (key.source_type) {
        case Type::u8:
            if (key.a_bytes == 2) return integer_to<u8, u16>(key);
            return key.a_bytes == 4 ? integer_to<u8, u32>(key) : nullptr;
        case Type::s8:
            if (key.a_bytes == 2) return integer_to<s8, u16>(key);
            return key.a_bytes == 4 ? integer_to<s8, u32>(key) : nullptr;
        case Type::u16:
            return key.a_bytes == 2 ? integer_to<u16, u16>(key) : nullptr;
        case Type::s16:
            return key.a_bytes == 2 ? integer_to<s16, s16>(key) : nullptr;
        case Type::u32:
            return key.a_bytes == 4 ? integer_to<u32, u32>(key) : nullptr;
        case Type::s32:
            return key.a_bytes == 4 ? integer_to<s32, s32>(key) : nullptr;
        case Type::u64:
            return key.a_bytes == 8 ? integer_to<u64, u64>(key) : nullptr;
        case Type::s64:
            return key.a_bytes == 8 ? integer_to<s64, s64>(key) : nullptr;
        default:
            return nullptr;
    }
}

template <class A, Integral mode>
Handler to_integer(ptx::Type type) {
    switch (type) {
        case Type::u32:
            return &map<ToInteger<u32, mode>, u32, A>;
        case Type::s32:
            return &map<ToInteger<s32, mode>, s32, A>;
        case Type::u64:
            return &map<ToInteger<u64, mode>, u64, A>;
        case Type::s64:
            return &map<ToInteger<s64, mode>, s64, A>;
        case Type::f32:
        case Type::f64:
            return &map<RoundToIntegral<mode>, A, A>;
        default:
            return nullptr;
    }
}

// To an integer, or an integral value of the same type.
template <class A>
Handler rounding_to_integral(const VectorKey& key) {
    switch (key.rounding) {
        case ptx::Rounding::rni:
            return to_integer<A, Integral::nearest>(key.type);
        case ptx::Rounding::rzi:
            return to_integer<A, Integral::zero>(key.type);
        case ptx::Rounding::rmi:
            return to_integer<A, Integral::down>(key.type);
        case ptx::Rounding::rpi:
            return to_integer<A, Integral::up>(key.type);
        default:
            return nullptr;
    }
}

template <class F, class D>
Handler from_integer(const VectorKey& key) {
    switch (key.source_type) {
        case Type::u16:
            return key.a_bytes == 2 ? Handler{&map<F, D, u16>} : nullptr;
        case Type::s16:
            return key.a_bytes == 2 ? Handler{&map<F, D, s16>} : nullptr;
        case Type::u32:
            return key.a_bytes == 4 ? Handler{&map<F, D, u32>} : nullptr;
        case Type::s32:
            return key.a_bytes == 4 ? Handler{&map<F, D, s32>} : nullptr;
        case Type::u64:
            return key.a_bytes == 8 ? Handler{&map<F, D, u64>} : nullptr;
        case Type::s64:
            return key.a_bytes == 8 ? Handler{&map<F, D, s64>} : nullptr;
        default:
            return nullptr;
    }
}

unsigned width(Type type) {
    if (type == Type::f32) return 4;
    return type == Type::f64 ? 8 : ptx_width(type);
}

}  // namespace

Handler convert_handler(const VectorKey& key) {
    if (key.type == Type::f32 && key.source_type == Type::f32 && key.rounding == ptx::Rounding::none) {
        if (key.ftz)
            return key.sat ? Handler{&map<Finish<true, true>, float, float>}
                           : &map<Finish<true, false>, float, float>;
        return key.sat ? Handler{&map<Finish<false, true>, float, float>}
                       : &map<Finish<false, false>, float, float>;
    }
    if (key.ftz || key.sat) return nullptr;
    const bool from_real = key.source_type == Type::f32 || key.source_type == Type::f64;
    const bool to_real = key.type == Type::f32 || key.type == Type::f64;
    if (!from_real && !to_real) return integer_from(key);
    if (key.d_bytes != width(key.type) || (from_real && key.a_bytes != width(key.source_type)))
        return nullptr;
    if (from_real && to_real && key.type != key.source_type) {
        if (key.type == Type::f64) return &map<Widen, double, float>;
        return key.rounding == ptx::Rounding::rn ? Handler{&map<Narrow, float, double>} : nullptr;
    }
    if (from_real) {
        return key.source_type == Type::f32 ? rounding_to_integral<float>(key)
                                            : rounding_to_integral<double>(key);
    }
    if (key.rounding != ptx::Rounding::rn) return nullptr;
    return key.type == Type::f32 ? from_integer<ToReal32, float>(key) : from_integer<ToReal64, double>(key);
}

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
