// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to and from the 8-bit floating-point formats, in pairs, and cvt.pack.
#include <algorithm>
#include <bit>
#include <cmath>

#include "emulation/emulator/exec/half.h"
#include "emulation/emulator/exec/scalar/function.h"

namespace trimtab::emulator {
namespace {

using ptx::Type;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

// PTX ISA, "Alternate Floating-Point Data Formats": e4m3 has no infinity and one NaN of either sign.
struct Format {
    int fraction_bits, bias;
    double greatest;
};
constexpr Format e4m3{3, 7, 448}, e5m2{2, 15, 57344};

namespace fp8_flag {  // of Op::imm
constexpr u64 e5m2 = 1, relu = 2, bfloat = 4;
}

const Format& format_of(const Op& op) {
    return (op.imm & fp8_flag::e5m2) != 0 ? e5m2 : e4m3;
}

u64 narrow(double value, const Op& op) {
    const Format& format = format_of(op);
    if (std::isnan(value)) return 0x7f;
    if ((op.imm & fp8_flag::relu) != 0 && !(value > 0)) value = 0;
    const int least = 1 - format.bias;  // exponent of the least normal number
    const double rounded = round_to_format(value, format.fraction_bits + 1, least, ptx::Rounding::rn);
    const double magnitude = std::min(std::fabs(rounded), format.greatest);
    const u64 sign = std::signbit(value) ? 0x80 : 0;
    if (magnitude == 0) return sign;
    const int exponent = std::max(std::ilogb(magnitude), least);
    // In units of the last place: the hidden bit adds one to the exponent's field by itself.
    const auto units = static_cast<u64>(std::ldexp(magnitude, format.fraction_bits - exponent));
    return sign | ((static_cast<u64>(exponent - least) << format.fraction_bits) + units);
}

double f32_value(u64 bits) {
    return std::bit_cast<float>(static_cast<u32>(bits));
}

// cvt.rn.satfinite.e4m3x2.f32 d, a, b: a above, b below.
u64 from_floats(const Op& op, u64 a, u64 b, u64, u64) {
    return narrow(f32_value(a), op) << 8 | narrow(f32_value(b), op);
}

u64 from_halves(const Op& op, u64 a, u64, u64, u64) {
    const auto real = [&](u64 bits) {
        const auto own = static_cast<u16>(bits);
        return (op.imm & fp8_flag::bfloat) != 0 ? bfloat_to_real(own) : half_to_real(own);
    };
    return narrow(real(a >> 16), op) << 8 | narrow(real(a), op);
}

u64 to_halves(const Op& op, u64 a, u64, u64, u64) {
    const auto half = [&](u64 bits) -> u64 {
        double value = fp8_to_real(static_cast<std::uint8_t>(bits), (op.imm & fp8_flag::e5m2) != 0);
        if ((op.imm & fp8_flag::relu) != 0 && !std::isnan(value) && !(value > 0)) value = 0;
        return (op.imm & fp8_flag::bfloat) != 0 ? real_to_bfloat(value) : real_to_half(value);
    };
    return half(a >> 8 & 0xff) << 16 | half(a & 0xff);
}

// cvt.pack.sat.u8.s32.b32 d, a, b, c: a and b saturated, b the lowest, c's low bits above both. imm: the
// result's bits, bit 8: it is signed, bit 9: the sources are unsigned.
u64 pack(const Op& op, u64 a, u64 b, u64 c, u64) {
    const auto bits = static_cast<unsigned>(op.imm & 0xff);
    const bool is_signed = (op.imm & 0x100) != 0;
    const s64 highest = (s64{1} << (is_signed ? bits - 1 : bits)) - 1, lowest = is_signed ? -highest - 1 : 0;
    const auto part = [&](u64 raw) {
        const s64 value =
            (op.imm & 0x200) != 0 ? static_cast<s64>(raw & 0xffffffffu) : s64{static_cast<std::int32_t>(raw)};
        return static_cast<u64>(std::clamp(value, lowest, highest)) & ((u64{1} << bits) - 1);
    };
    return static_cast<u32>(c << (2 * bits) | part(a) << bits | part(b));
}

bool is_pair(Type type) {
    return type == Type::e4m3x2 || type == Type::e5m2x2;
}

}  // namespace

ScalarChoice scalar_fp8(const ptx::Instruction& instruction) {
    const Type to = instruction.type, from = instruction.source_type;
    const std::size_t sources = instruction.sources().size();
    u64 imm = instruction.modifiers.relu ? fp8_flag::relu : 0;
    if (to == Type::e5m2x2 || from == Type::e5m2x2) imm |= fp8_flag::e5m2;
    if (to == Type::bf16x2 || from == Type::bf16x2) imm |= fp8_flag::bfloat;
    if (is_pair(to) && from == Type::f32)
        return sources == 2 ? ScalarChoice{from_floats, imm} : ScalarChoice{};
    if (sources != 1) return {};
    if (is_pair(to) && (from == Type::f16x2 || from == Type::bf16x2)) return {from_halves, imm};
    if (is_pair(from) && (to == Type::f16x2 || to == Type::bf16x2)) return {to_halves, imm};
    return {};
}

ScalarChoice scalar_pack(const ptx::Instruction& instruction) {
    const Type to = instruction.type, from = instruction.source_type;
    const unsigned bits = 8 * ptx::size_bytes(to);
    if ((from != Type::s32 && from != Type::u32) || (bits != 8 && bits != 16)) return {};
    return {pack, bits | (ptx::is_signed(to) ? 0x100u : 0u) | (from == Type::u32 ? 0x200u : 0u)};
}

}  // namespace trimtab::emulator
