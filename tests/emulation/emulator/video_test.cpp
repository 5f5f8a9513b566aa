// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Video instructions, 8-bit floating point, packed comparisons: against the ISA's definitions, worked out
// here.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "tests/emulation/emulator/instruction_runner.h"

namespace trimtab::emulator::test {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// Part i of `bits` bits, extended as its type says.
s64 part(u64 word, unsigned bits, unsigned i, bool is_signed) {
    const u64 raw = (word >> (bits * i)) & ((u64{1} << bits) - 1);
    const bool negative = is_signed && (raw >> (bits - 1)) != 0;
    return static_cast<s64>(raw) - (negative ? s64{1} << bits : 0);
}

struct Simd {
    const char* opcode;
    std::function<s64(s64, s64)> compute;
};
const Simd simd[] = {{"vadd", [](s64 a, s64 b) { return a + b; }},
                     {"vsub", [](s64 a, s64 b) { return a - b; }},
                     {"vabsdiff", [](s64 a, s64 b) { return std::abs(a - b); }},
                     {"vmin", [](s64 a, s64 b) { return std::min(a, b); }},
                     {"vmax", [](s64 a, s64 b) { return std::max(a, b); }},
                     {"vavrg", [](s64 a, s64 b) {
                          const double half = static_cast<double>(a + b) / 2;
                          return static_cast<s64>(a + b >= 0 ? std::floor(half + 0.5) : std::floor(half));
                      }}};

TEST(Video, EveryPairAndQuadOperation) {
    const auto operands = integer_operands(32, 32, 32);
    for (const Simd& one : simd) {
        for (const unsigned parts : {2u, 4u}) {
            for (const bool is_signed : {false, true}) {
                for (const std::string suffix : {"", ".sat", ".add"}) {
                    const unsigned bits = 32 / parts;
                    const std::string type = is_signed ? ".s32" : ".u32";
                    const auto reference = [&](const Operands& o) {
                        u64 word = 0;
                        s64 sum = static_cast<s64>(o.c);
                        for (unsigned i = 0; i < parts; i++) {
                            s64 r = one.compute(part(o.a, bits, i, is_signed), part(o.b, bits, i, is_signed));
                            const s64 top = (s64{1} << (bits - (is_signed ? 1 : 0))) - 1;
                            if (suffix == ".sat") r = std::clamp(r, is_signed ? -top - 1 : 0, top);
                            const u64 kept = static_cast<u64>(r) & ((u64{1} << bits) - 1);
                            word |= kept << (bits * i);
                            sum += part(kept, bits, 0, is_signed);
                        }
                        return suffix == ".add" ? static_cast<u64>(sum) : word;
                    };
                    expect_instruction(
                        one.opcode + std::to_string(parts) + type + type + type + suffix + " %d, %a, %b, %c",
                        {}, operands, reference);
                }
            }
        }
    }
}

TEST(Video, ComparisonsOfParts) {
    const auto operands = integer_operands(32, 32, 32);
    const std::pair<const char*, std::function<bool(s64, s64)>> comparisons[] = {
        {"eq", std::equal_to<s64>()},   {"ne", std::not_equal_to<s64>()}, {"lt", std::less<s64>()},
        {"le", std::less_equal<s64>()}, {"gt", std::greater<s64>()},      {"ge", std::greater_equal<s64>()}};
    for (const auto& [name, holds] : comparisons) {
        for (const unsigned parts : {2u, 4u}) {
            for (const bool is_signed : {false, true}) {
                const std::string type = is_signed ? ".s32" : ".u32";
                expect_instruction(
                    "vset" + std::to_string(parts) + type + type + "." + name + " %d, %a, %b, %c", {},
                    operands, [&](const Operands& o) {
                        u64 word = 0;
                        for (unsigned i = 0; i < parts; i++) {
                            const unsigned bits = 32 / parts;
                            const bool is =
                                holds(part(o.a, bits, i, is_signed), part(o.b, bits, i, is_signed));
                            word |= u64{is} << (bits * i);
                        }
                        return word;
                    });
            }
        }
    }
}

TEST(Video, PartsArePickedMaskedAndMerged) {
    const auto operands = integer_operands(32, 32, 32);
    const auto u = [](u64 word, unsigned bits, unsigned i) {
        return static_cast<u64>(part(word, bits, i, false));
    };
    // b's bytes count from 4 on; only bytes 0 and 2 are written, the others are c's.
    expect_instruction("vadd4.u32.u32.u32 %d.b20, %a.b7123, %b.b0456, %c", {}, operands,
                       [&](const Operands& o) {
                           const u64 low = u(o.a, 8, 3) + u(o.b, 8, 2), third = u(o.a, 8, 1) + u(o.b, 8, 0);
                           return (o.c & 0xff00ff00u) | (low & 0xff) | (third & 0xff) << 16;
                       });
    expect_instruction("vsub2.s32.s32.s32 %d.h1, %a.h32, %b.h01, %c", {}, operands, [&](const Operands& o) {
        const u64 upper = u(o.b, 16, 1) - u(o.a, 16, 0);
        return (o.c & 0xffffu) | (upper & 0xffff) << 16;
    });
    expect_instruction("vadd.s32.u32.s32.sat %d, %a.b1, %b.h1", {}, operands, [&](const Operands& o) {
        return static_cast<u64>(part(o.a, 8, 1, false) + part(o.b, 16, 1, true));
    });
    expect_instruction("vsub.u32.u32.u32.sat %d, %a, %b", {}, operands,
                       [](const Operands& o) { return o.a < o.b ? 0 : o.a - o.b; });
    expect_instruction("vabsdiff.u32.u32.u32.add %d, %a.b3, %b.b0, %c", {}, operands, [&](const Operands& o) {
        return o.c + static_cast<u64>(std::abs(part(o.a, 8, 3, false) - part(o.b, 8, 0, false)));
    });
    expect_instruction("vmax.s32.s32.s32.min %d, %a, %b, %c", {}, operands, [](const Operands& o) {
        const s32 a = static_cast<s32>(o.a), b = static_cast<s32>(o.b), c = static_cast<s32>(o.c);
        return static_cast<u64>(std::min(std::max(a, b), c));
    });
    expect_instruction("vadd.s32.s32.s32.sat %d.b2, %a, %b, %c", {}, operands, [](const Operands& o) {
        const s64 sum = s64{static_cast<s32>(o.a)} + static_cast<s32>(o.b);
        return (o.c & 0xff00ffffu) | (static_cast<u64>(std::clamp<s64>(sum, -128, 127)) & 0xff) << 16;
    });
    expect_instruction("vset.u32.u32.lt %d, %a.h0, %b.h1", {}, operands,
                       [&](const Operands& o) { return u64{u(o.a, 16, 0) < u(o.b, 16, 1)}; });
    expect_instruction("vshl.u32.u32.u32.clamp %d, %a, %b", {}, operands,
                       [](const Operands& o) { return o.b >= 32 ? 0 : o.a << o.b; });
    expect_instruction("vshr.s32.s32.u32.wrap %d, %a, %b", {}, operands, [](const Operands& o) {
        return static_cast<u64>(s64{static_cast<s32>(o.a)} >> (o.b & 31));
    });
    expect_instruction("vmad.u32.u32.u32 %d, %a.h0, %b.h1, %c", {}, operands,
                       [&](const Operands& o) { return u(o.a, 16, 0) * u(o.b, 16, 1) + o.c; });
    expect_instruction(
        "vmad.s32.s32.s32.sat.shr7 %d, %a.h0, -%b.h1, %c", {}, operands, [&](const Operands& o) {
            const s64 sum = -part(o.a, 16, 0, true) * part(o.b, 16, 1, true) + static_cast<s32>(o.c);
            return static_cast<u64>(std::clamp<s64>(sum >> 7, INT32_MIN, INT32_MAX));
        });
    expect_instruction("vmad.u32.u32.u32.po %d, %a.b0, %b.b1, %c", {}, operands,
                       [&](const Operands& o) { return u(o.a, 8, 0) * u(o.b, 8, 1) + o.c + 1; });
}

// What an 8-bit float stands for, spelled out from the table of its format.
double fp8_value(u8 bits, bool e5m2) {
    const int fraction_bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
    const int exponent = (bits & 0x7f) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits & 0x80) != 0 ? -1 : 1;
    if (e5m2 && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
    if (!e5m2 && (bits & 0x7f) == 0x7f) return NAN;
    const double unit = std::pow(2.0, std::max(exponent, 1) - bias - fraction_bits);
    return sign * unit * (fraction + (exponent > 0 ? 1 << fraction_bits : 0));
}

// The nearest of all 256, ties to the even one; beyond the greatest, that one.
u8 nearest_fp8(double value, bool e5m2) {
    if (std::isnan(value)) return 0x7f;
    u8 best = 0;
    double least = INFINITY;
    for (int bits = 0; bits < 128; bits++) {
        const double candidate = fp8_value(static_cast<u8>(bits), e5m2);
        if (!std::isfinite(candidate)) continue;
        const double distance = std::fabs(candidate - std::min(std::fabs(value), 1e9));
        if (distance < least || (distance == least && bits % 2 == 0)) {
            least = distance;
            best = static_cast<u8>(bits);
        }
    }
    return static_cast<u8>(best | (std::signbit(value) ? 0x80 : 0));
}

TEST(Fp8, RoundsToNearestAndNeverToInfinity) {
    std::vector<Operands> operands = f32_operands(2);
    for (int bits = 0; bits < 256; bits++) {  // every value, and the middles between neighbours
        for (const bool e5m2 : {false, true}) {
            const auto value = static_cast<float>(fp8_value(static_cast<u8>(bits), e5m2));
            const auto next = static_cast<float>(fp8_value(static_cast<u8>(bits ^ 1), e5m2));
            operands.push_back({std::bit_cast<u32>(value), std::bit_cast<u32>((value + next) / 2), 0, 0});
        }
    }
    for (const bool e5m2 : {false, true}) {
        const std::string format = e5m2 ? "e5m2x2" : "e4m3x2";
        const auto eight = [&](u64 bits, bool relu) {
            const double value = std::bit_cast<float>(static_cast<u32>(bits));
            return nearest_fp8(relu && value < 0 ? 0.0 : value, e5m2);
        };
        expect_instruction(
            "cvt.rn.satfinite." + format + ".f32 %d, %a, %b", {2, 4, 4, 4}, operands,
            [&](const Operands& o) { return u64{eight(o.a, false)} << 8 | eight(o.b, false); });
        expect_instruction("cvt.rn.satfinite.relu." + format + ".f32 %d, %a, %b", {2, 4, 4, 4}, operands,
                           [&](const Operands& o) {
                               const auto relu = [&](u64 x) {
                                   return x == 0x80000000u ? u64{0} : eight(x, true);
                               };
                               return u64{relu(o.a)} << 8 | relu(o.b);
                           });
    }
}

TEST(Fp8, BecomesHalfAndComesBack) {
    std::vector<Operands> operands;
    for (u64 bits = 0; bits < 256; bits++) operands.push_back({bits << 8 | (255 - bits), 0, 0, 0});
    for (const bool e5m2 : {false, true}) {
        const std::string format = e5m2 ? "e5m2x2" : "e4m3x2";
        const auto halves = run_instruction("cvt.rn.f16x2." + format + " %d, %a", {4, 2, 4, 4}, operands);
        ASSERT_EQ(halves.size(), 256u);
        std::vector<Operands> back;
        for (u64 bits = 0; bits < 256; bits++) {
            _Float16 upper;
            const u16 raw = static_cast<u16>(halves[bits] >> 16);
            std::memcpy(&upper, &raw, 2);
            const double expected = fp8_value(static_cast<u8>(bits), e5m2);
            if (std::isnan(expected))
                EXPECT_EQ(raw, 0x7fff);
            else
                EXPECT_EQ(static_cast<double>(upper), expected) << format << ' ' << bits;
            back.push_back({halves[bits], 0, 0, 0});
        }
        expect_instruction("cvt.rn.satfinite." + format + ".f16x2 %d, %a", {2, 4, 4, 4}, back,
                           [&](const Operands& o) {
                               const auto eight = [&](u64 raw) {
                                   _Float16 value;
                                   const u16 own = static_cast<u16>(raw);
                                   std::memcpy(&value, &own, 2);
                                   return u64{nearest_fp8(static_cast<double>(value), e5m2)};
                               };
                               return eight(o.a >> 16) << 8 | eight(o.a);
                           });
    }
}

TEST(Packed, ComparisonsSetMasksAndTwoPredicates) {
    std::vector<Operands> operands;
    for (const u64 a : {0x0000u, 0x8000u, 0x3c00u, 0xbc00u, 0x7c00u, 0x7e00u}) {
        for (const u64 b : {0x0000u, 0x3c00u, 0x7e00u, 0xfc00u})
            operands.push_back({a << 16 | b, b << 16 | a, 0, 0});
    }
    const auto below = [](u64 x, u64 y) {
        _Float16 a, b;
        const u16 p = static_cast<u16>(x), q = static_cast<u16>(y);
        std::memcpy(&a, &p, 2);
        std::memcpy(&b, &q, 2);
        return a < b;
    };
    expect_instruction("set.lt.u32.f16x2 %d, %a, %b", {}, operands, [&](const Operands& o) {
        return (below(o.a, o.b) ? 0xffffu : 0u) | (below(o.a >> 16, o.b >> 16) ? 0xffff0000u : 0u);
    });
    expect_instruction(
        "setp.lt.f16x2 %q0|%q1, %a, %b;\nselp.u32 %w1, 1, 0, %q0;\nselp.u32 %w2, 2, 0, %q1;\n"
        "or.b32 %d, %w1, %w2",
        {}, operands, [&](const Operands& o) {
            return (below(o.a, o.b) ? 1u : 0u) | (below(o.a >> 16, o.b >> 16) ? 2u : 0u);
        });
}

TEST(Packed, ExtremaBelowZeroAreZero) {
    expect_instruction("min.relu.s32 %d, %a, %b", {}, integer_operands(32, 32, 32), [](const Operands& o) {
        return static_cast<u64>(std::max(std::min(static_cast<s32>(o.a), static_cast<s32>(o.b)), 0));
    });
    expect_instruction("max.relu.s16x2 %d, %a, %b", {}, integer_operands(32, 32, 32), [](const Operands& o) {
        u64 word = 0;
        for (unsigned i = 0; i < 2; i++) {
            const s64 r = std::max({part(o.a, 16, i, true), part(o.b, 16, i, true), s64{0}});
            word |= static_cast<u64>(r) << (16 * i);
        }
        return word;
    });
}

TEST(Packed, IntegersArePackedWithSaturation) {
    expect_instruction("cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c", {}, integer_operands(32, 32, 32),
                       [](const Operands& o) {
                           const auto byte = [](u64 x) {
                               return static_cast<u64>(std::clamp<s64>(static_cast<s32>(x), 0, 255));
                           };
                           return o.c << 16 | byte(o.a) << 8 | byte(o.b);
                       });
    expect_instruction(
        "cvt.pack.sat.s16.s32 %d, %a, %b", {}, integer_operands(32, 32, 32), [](const Operands& o) {
            const auto half = [](u64 x) {
                return static_cast<u64>(std::clamp<s64>(static_cast<s32>(x), -32768, 32767)) & 0xffff;
            };
            return half(o.a) << 16 | half(o.b);
        });
}

}  // namespace
}  // namespace trimtab::emulator::test
