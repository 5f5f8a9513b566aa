// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt between all types, and arithmetic on binary16 and bfloat16, against binary128 or tables of every value.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/emulation/emulator/instruction_runner.h"

namespace trimtab::emulator::test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using s128 = __int128;

struct IntegerType {
    const char* name;
    unsigned bits;
    bool is_signed;
    [[nodiscard]] s128 lowest() const { return is_signed ? -(s128{1} << (bits - 1)) : 0; }
    [[nodiscard]] s128 highest() const { return (s128{1} << (is_signed ? bits - 1 : bits)) - 1; }
    [[nodiscard]] s128 value(u64 raw) const {
        const unsigned shift = 64 - bits;
        return is_signed ? s128{static_cast<s64>(raw << shift) >> shift} : s128{(raw << shift) >> shift};
    }
    [[nodiscard]] unsigned register_bytes() const { return std::max(bits / 8, 2u); }
};
const IntegerType types[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                             {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

TEST(Conversion, BetweenIntegers) {
    for (const IntegerType& from : types) {
        for (const IntegerType& to : types) {
            const Widths widths{to.register_bytes(), from.register_bytes(), 4, 4};
            const auto operands = integer_operands(from.register_bytes() * 8, 32, 32);
            const std::string pair = std::string(to.name) + "." + from.name + " %d, %a";
            // A result narrower than its register is extended as its type says.
            expect_instruction("cvt." + pair, widths, operands, [&](const Operands& o) {
                return static_cast<u64>(to.value(static_cast<u64>(from.value(o.a))));
            });
            expect_instruction("cvt.sat." + pair, widths, operands, [&](const Operands& o) {
                return static_cast<u64>(std::clamp(from.value(o.a), to.lowest(), to.highest()));
            });
        }
    }
    // Registers wider than the types, as the ISA allows.
    const auto operands = integer_operands(64, 32, 32);
    expect_instruction("cvt.s8.s32 %d, %a", {8, 8, 4, 4}, operands,
                       [](const Operands& o) { return static_cast<u64>(static_cast<s64>(o.a << 56) >> 56); });
    expect_instruction("cvt.u32.u16 %d, %a", {8, 4, 4, 4}, operands,
                       [](const Operands& o) { return o.a & 0xffff; });
}

// Rounding in binary128, which holds every operand exactly.
__float128 integral(__float128 value, const std::string& mode) {
    const auto down = [](__float128 x) {
        if (x >= static_cast<__float128>(1e30) || x <= static_cast<__float128>(-1e30)) return x;
        const auto truncated = static_cast<__float128>(static_cast<s128>(x));
        return truncated > x ? truncated - 1 : truncated;
    };
    const __float128 low = down(value);
    if (mode == "rmi") return low;
    if (mode == "rpi") return -down(-value);
    if (mode == "rzi") return value < 0 ? -down(-value) : low;
    const __float128 rest = value - low;
    const bool odd = down(low / 2) * 2 != low;
    return rest > static_cast<__float128>(0.5) || (rest == static_cast<__float128>(0.5) && odd) ? low + 1
                                                                                                : low;
}

template <class T>
u64 to_integer(T value, const IntegerType& to, const std::string& mode) {
    const u64 sign = u64{1} << (to.bits - 1);
    if (std::isnan(value)) return static_cast<u64>(to.value(sizeof(T) == 8 || to.bits == 64 ? sign : 0));
    if (std::isinf(value)) return static_cast<u64>(value > 0 ? to.highest() : to.lowest());
    const __float128 rounded = integral(static_cast<__float128>(value), mode);
    if (rounded <= static_cast<__float128>(to.lowest())) return static_cast<u64>(to.lowest());
    if (rounded >= static_cast<__float128>(to.highest())) return static_cast<u64>(to.highest());
    return static_cast<u64>(static_cast<s128>(rounded));
}

TEST(Conversion, RealsToIntegers) {
    auto singles = f32_operands(1), doubles = f64_operands(1);
    for (int i = -40; i < 40; i++) {
        singles.push_back({std::bit_cast<u32>(static_cast<float>(i) / 4), 0, 0, 0});
        doubles.push_back({std::bit_cast<u64>(i * 53687091.25), 0, 0, 0});
        doubles.push_back({std::bit_cast<u64>(i * 2.3e17 + 0.5), 0, 0, 0});
    }
    for (const IntegerType& to : types) {
        for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
            const std::string opcode = "cvt." + mode + "." + to.name;
            expect_instruction(opcode + ".f32 %d, %a", {to.register_bytes(), 4, 4, 4}, singles,
                               [&](const Operands& o) {
                                   return to_integer(std::bit_cast<float>(static_cast<u32>(o.a)), to, mode);
                               });
            expect_instruction(
                opcode + ".f64 %d, %a", {to.register_bytes(), 8, 4, 4}, doubles,
                [&](const Operands& o) { return to_integer(std::bit_cast<double>(o.a), to, mode); });
        }
    }
}

// The nearest, or next lower or higher, T to an exact value.
template <class T>
T rounded(__float128 value, const std::string& mode) {
    T near = static_cast<T>(value);  // whichever way
    T low = static_cast<__float128>(near) <= value
                ? near
                : std::nextafter(near, -std::numeric_limits<T>::infinity());
    T high =
        static_cast<__float128>(low) == value ? low : std::nextafter(low, std::numeric_limits<T>::infinity());
    if (mode == "rm") return low;
    if (mode == "rp") return high;
    if (mode == "rz") return value < 0 ? high : low;
    // Where numbers end, infinity takes the place of the next one.
    const auto place = [](T x) {
        return static_cast<__float128>(std::isinf(x) ? std::copysign(0x1p128, x) : static_cast<double>(x));
    };
    const __float128 below = value - place(low), above = place(high) - value;
    if (below != above) return below < above ? low : high;
    return (std::bit_cast<std::conditional_t<sizeof(T) == 4, u32, u64>>(low) & 1) == 0 ? low : high;
}

TEST(Conversion, IntegersToReals) {
    for (const IntegerType& from : types) {
        auto operands = integer_operands(from.register_bytes() * 8, 32, 32);
        for (u64 i = 1; i < 64; i++) operands.push_back({0x8000008000000401u >> i, 0, 0, 0});
        for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
            const std::string opcode = "cvt." + mode;
            expect_instruction(
                opcode + ".f32." + from.name + " %d, %a", {4, from.register_bytes(), 4, 4}, operands,
                [&](const Operands& o) {
                    return std::bit_cast<u32>(rounded<float>(static_cast<__float128>(from.value(o.a)), mode));
                });
            expect_instruction(opcode + ".f64." + from.name + " %d, %a", {8, from.register_bytes(), 4, 4},
                               operands, [&](const Operands& o) {
                                   return std::bit_cast<u64>(
                                       rounded<double>(static_cast<__float128>(from.value(o.a)), mode));
                               });
        }
    }
}

TEST(Conversion, BetweenReals) {
    auto doubles = f64_operands(1);
    for (int i = 0; i < 200; i++) {
        doubles.push_back(
            {std::bit_cast<u64>(std::ldexp(1.0 + 0x1p-24 * (i % 5) + 0x1p-40 * (i % 3), i - 160)), 0, 0, 0});
    }
    for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
        expect_instruction("cvt." + mode + ".f32.f64 %d, %a", {4, 8, 4, 4}, doubles, [&](const Operands& o) {
            const double value = std::bit_cast<double>(o.a);
            if (std::isnan(value)) return u64{0x7fffffffu};
            if (std::isinf(value) || value == 0) return u64{std::bit_cast<u32>(static_cast<float>(value))};
            return u64{std::bit_cast<u32>(rounded<float>(static_cast<__float128>(value), mode))};
        });
    }
    const auto singles = f32_operands(1);
    expect_instruction("cvt.f64.f32 %d, %a", {8, 4, 4, 4}, singles, [](const Operands& o) {
        const auto value = static_cast<double>(std::bit_cast<float>(static_cast<u32>(o.a)));
        return std::isnan(value) ? 0xfff8000000000000u : std::bit_cast<u64>(value);
    });
    expect_instruction("cvt.rpi.f32.f32 %d, %a", {4, 4, 4, 4}, singles, [](const Operands& o) {
        const float value = std::ceil(std::bit_cast<float>(static_cast<u32>(o.a)));
        return u64{std::isnan(value) ? 0x7fffffffu : std::bit_cast<u32>(value)};
    });
    expect_instruction("cvt.sat.f32.f32 %d, %a", {4, 4, 4, 4}, singles, [](const Operands& o) {
        const float value = std::bit_cast<float>(static_cast<u32>(o.a));
        return u64{std::bit_cast<u32>(value > 0 ? std::fmin(value, 1.0f) : 0.0f)};
    });
}

// Every binary16 or bfloat16 by its definition.
double half_value(u16 bits, bool bfloat) {
    const int fraction_bits = bfloat ? 7 : 10, bias = bfloat ? 127 : 15;
    const int exponent = (bits & 0x7fff) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 2 * bias + 1) return fraction == 0 ? sign * INFINITY : NAN;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
    return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

// The nearest one, found among all: the finite ones are in order of their bits.
u16 nearest_half(__float128 value, bool negative_zero, bool bfloat) {
    const u16 infinity = bfloat ? 0x7f80 : 0x7c00;
    const bool negative = value < 0 || (value == 0 && negative_zero);
    const __float128 magnitude = negative ? -value : value;
    u16 low = 0, high = infinity;
    while (high - low > 1) {
        const auto middle = static_cast<u16>((low + high) / 2);
        (static_cast<__float128>(half_value(middle, bfloat)) <= magnitude ? low : high) = middle;
    }
    // Infinity stands one step beyond the largest finite number.
    const __float128 at = half_value(low, bfloat);
    const __float128 next = high == infinity ? static_cast<__float128>(std::ldexp(1.0, bfloat ? 128 : 16))
                                             : static_cast<__float128>(half_value(high, bfloat));
    const __float128 below = magnitude - at, above = next - magnitude;
    const u16 chosen = below < above || (below == above && low % 2 == 0) ? low : high;
    return static_cast<u16>(chosen | (negative ? 0x8000 : 0));
}

u64 expected_half(double value, bool bfloat) {
    if (std::isnan(value)) return 0x7fff;
    if (std::isinf(value)) return (bfloat ? 0x7f80u : 0x7c00u) | (value < 0 ? 0x8000u : 0u);
    return nearest_half(static_cast<__float128>(value), std::signbit(value), bfloat);
}

// a + b; where binary128 has no room for the smaller one, a number on its side of the larger one.
__float128 sum(__float128 a, __float128 b) {
    const __float128 total = a + b;
    if (b == 0 || total != a || !(b < 0 || b > 0)) return total;
    const auto little = static_cast<__float128>(0x1p-100);
    return (b > 0) == (total > 0) ? total * (1 + little) : total * (1 - little);
}

std::vector<Operands> all_halves() {
    std::vector<Operands> operands;
    for (u64 i = 0; i < 65536; i++) operands.push_back({i, i * 40503 & 0xffff, i * 30011 >> 3 & 0xffff, 0});
    return operands;
}

TEST(Conversion, HalvesInAndOut) {
    const auto halves = all_halves();
    for (const bool bfloat : {false, true}) {
        const std::string type = bfloat ? "bf16" : "f16";
        expect_instruction("cvt.f32." + type + " %d, %a", {4, 2, 4, 4}, halves, [&](const Operands& o) {
            const auto value = static_cast<float>(half_value(static_cast<u16>(o.a), bfloat));
            return u64{std::isnan(value) ? 0x7fffffffu : std::bit_cast<u32>(value)};
        });
        auto singles = f32_operands(1);
        for (u32 i = 0; i < 60000; i++) singles.push_back({i * 71579u, 0, 0, 0});
        // Half-way between neighbours, and a bit beside it.
        for (u64 i = 0; i < 0x7bff; i += 3) {
            const auto middle = static_cast<float>(
                (half_value(static_cast<u16>(i), bfloat) + half_value(static_cast<u16>(i + 1), bfloat)) / 2);
            for (const u32 beside : {0u, 1u, ~0u})
                singles.push_back({std::bit_cast<u32>(middle) + beside, 0, 0, 0});
        }
        expect_instruction("cvt.rn." + type + ".f32 %d, %a", {2, 4, 4, 4}, singles, [&](const Operands& o) {
            return expected_half(std::bit_cast<float>(static_cast<u32>(o.a)), bfloat);
        });
    }
    expect_instruction("cvt.rn.f16x2.f32 %d, %a, %b", {4, 4, 4, 4}, f32_operands(2), [](const Operands& o) {
        return expected_half(std::bit_cast<float>(static_cast<u32>(o.a)), false) << 16 |
               expected_half(std::bit_cast<float>(static_cast<u32>(o.b)), false);
    });
    expect_instruction("cvt.rzi.s32.f16 %d, %a", {4, 2, 4, 4}, halves, [](const Operands& o) {
        const double value = half_value(static_cast<u16>(o.a), false);
        if (std::isnan(value)) return u64{0};
        return static_cast<u64>(static_cast<s64>(std::clamp(std::trunc(value), -2147483648.0, 2147483647.0)));
    });
}

TEST(Conversion, HalfArithmetic) {
    const auto halves = all_halves();
    for (const bool bfloat : {false, true}) {
        const std::string type = bfloat ? "bf16" : "f16";
        const auto value = [&](u64 bits) { return half_value(static_cast<u16>(bits), bfloat); };
        // Sums and products in binary128 are exact, or (bfloat16's widest sums) decided by their larger
        // operand.
        const auto exact = [&](__float128 result, double shown) {
            if (std::isnan(shown)) return u64{0x7fff};
            if (std::isinf(shown)) return (bfloat ? 0x7f80u : 0x7c00u) | (shown < 0 ? u64{0x8000} : u64{0});
            return u64{nearest_half(result, std::signbit(shown), bfloat)};
        };
        expect_instruction("add.rn." + type + " %d, %a, %b", {2, 2, 2, 2}, halves, [&](const Operands& o) {
            return exact(sum(value(o.a), value(o.b)), value(o.a) + value(o.b));
        });
        expect_instruction("mul.rn." + type + " %d, %a, %b", {2, 2, 2, 2}, halves, [&](const Operands& o) {
            return exact(static_cast<__float128>(value(o.a)) * value(o.b), value(o.a) * value(o.b));
        });
        expect_instruction("fma.rn." + type + " %d, %a, %b, %c", {2, 2, 2, 2}, halves,
                           [&](const Operands& o) {
                               return exact(sum(static_cast<__float128>(value(o.a)) * value(o.b), value(o.c)),
                                            std::fma(value(o.a), value(o.b), value(o.c)));
                           });
        expect_instruction("max." + type + " %d, %a, %b", {2, 2, 2, 2}, halves, [&](const Operands& o) {
            const double a = value(o.a), b = value(o.b);
            if (std::isnan(a) && std::isnan(b)) return u64{0x7fff};
            if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? o.b : o.a;
            if (a == b) return std::signbit(a) ? o.b : o.a;
            return a > b ? o.a : o.b;
        });
        expect_instruction("setp.lt." + type + " %q0, %a, %b;\n selp.b32 %d, 1, 0, %q0", {4, 2, 2, 2}, halves,
                           [&](const Operands& o) { return u64{value(o.a) < value(o.b)}; });
    }
    expect_instruction(
        "fma.rn.f16x2 %d, %a, %b, %c", {4, 4, 4, 4}, integer_operands(32, 32, 32), [](const Operands& o) {
            u64 out = 0;
            for (unsigned i = 0; i < 32; i += 16) {
                const auto part = [i](u64 bits) { return half_value(static_cast<u16>(bits >> i), false); };
                const double shown = std::fma(part(o.a), part(o.b), part(o.c));
                const __float128 result = sum(static_cast<__float128>(part(o.a)) * part(o.b), part(o.c));
                u64 half = 0x7fff;
                if (std::isinf(shown)) half = shown < 0 ? 0xfc00 : 0x7c00;
                if (std::isfinite(shown)) half = nearest_half(result, std::signbit(shown), false);
                out |= half << i;
            }
            return out;
        });
}

}  // namespace
}  // namespace trimtab::emulator::test
