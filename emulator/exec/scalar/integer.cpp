// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer instructions that are computed lane by lane.
#include <algorithm>
#include <bit>

#include "emulator/exec/program.h"
#include "emulator/exec/scalar/function.h"
#include "ptx/opcodes.h"

namespace trimtab::emulator {
namespace {

using ptx::Opcode;
using ptx::Type;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

s64 sign_extended(u64 value, unsigned bits) {
    return bits >= 64 ? static_cast<s64>(value) : static_cast<s64>(value << (64 - bits)) >> (64 - bits);
}

template <unsigned bits>
u64 insert_field(const Op&, u64 field, u64 into, u64 position, u64 length) {
    const u64 pos = position & 0xff, len = length & 0xff;
    u64 out = into;
    for (u64 i = 0; i < len && pos + i < bits; i++)
        out = (out & ~(u64{1} << (pos + i))) | (((field >> i) & 1) << (pos + i));
    return out;
}

// bfind: imm: bit 0 signed, bit 1 shiftamt; width in a_bytes.
u64 find_leading(const Op& op, u64 a, u64, u64, u64) {
    const unsigned bits = op.a_bytes * 8u;
    const u64 all = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
    if ((op.imm & 1) != 0 && ((a >> (bits - 1)) & 1) != 0) a = ~a & all;
    if (a == 0) return 0xffffffffu;
    const auto position = static_cast<u64>(63 - std::countl_zero(a));
    return (op.imm & 2) != 0 ? bits - 1 - position : position;
}

// The position of the n-th set bit at or above (below) a base (PTX ISA, fns).
u64 find_nth_set(const Op&, u64 mask, u64 base, u64 offset, u64) {
    const auto count = static_cast<s32>(offset);
    if (count == 0) return (mask >> (base & 31)) & 1 && base < 32 ? base : 0xffffffffu;
    const s32 step = count > 0 ? 1 : -1;
    s32 left = std::abs(static_cast<s64>(count)) > 32 ? 33 : std::abs(count);
    for (s64 at = static_cast<s64>(static_cast<u32>(base)); at >= 0 && at < 32; at += step) {
        if (((mask >> at) & 1) != 0 && --left == 0) return static_cast<u64>(at);
    }
    return 0xffffffffu;
}

u64 make_bit_mask(const Op& op, u64 position, u64 width, u64, u64) {
    u64 a = position, b = width;
    if (op.imm != 0) {  // .clamp; else .wrap
        a = std::min<u64>(a, 32);
        b = std::min<u64>(b, 32);
    } else {
        a &= 31;
        b &= 31;
    }
    const u64 ones = (u64{1} << b) - 1;
    return a >= 32 ? 0 : static_cast<u32>(ones << a);
}

// szext: imm: bit 0 signed, bit 1 clamp.
u64 extend_from(const Op& op, u64 a, u64 position, u64, u64) {
    const bool is_signed = (op.imm & 1) != 0, clamp = (op.imm & 2) != 0;
    const u64 bits = clamp ? std::min<u64>(position, 32) : position & 31;
    if (bits == 0) return 0;
    if (bits >= 32) return a;
    return is_signed ? static_cast<u32>(sign_extended(a, static_cast<unsigned>(bits)))
                     : a & ((u64{1} << bits) - 1);
}

// prmt: imm is the mode: 0 general, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16.
u64 permute(const Op& op, u64 a, u64 b, u64 c, u64) {
    const u64 both = (b << 32) | static_cast<u32>(a);
    const auto byte = [both](u64 i) { return (both >> (8 * (i & 7))) & 0xff; };
    const u64 s = c & 3;
    u64 out = 0;
    for (u64 i = 0; i < 4; i++) {
        u64 value = 0;
        switch (op.imm) {
            case 1:
                value = byte(s + i);
                break;
            case 2:
                value = byte(s + 8 - i);
                break;
            case 3:
                value = byte(s);
                break;
            case 4:
                value = byte(std::max(i, s));
                break;
            case 5:
                value = byte(std::min(i, s));
                break;
            case 6:
                value = byte(((s & 1) << 1) + (i & 1));
                break;
            default: {
                const u64 selector = (c >> (4 * i)) & 0xf;
                value = byte(selector);
                if ((selector & 8) != 0) value = (value & 0x80) != 0 ? 0xff : 0;
                break;
            }
        }
        out |= value << (8 * i);
    }
    return out;
}

// dp4a, dp2a: imm: bit 0 a is signed, bit 1 b is signed, bit 2 (dp2a) the upper half of b.
u64 dot_of_four(const Op& op, u64 a, u64 b, u64 c, u64) {
    s64 sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        const u64 x = (a >> (8 * i)) & 0xff, y = (b >> (8 * i)) & 0xff;
        sum += ((op.imm & 1) != 0 ? sign_extended(x, 8) : static_cast<s64>(x)) *
               ((op.imm & 2) != 0 ? sign_extended(y, 8) : static_cast<s64>(y));
    }
    return static_cast<u32>(c + static_cast<u64>(sum));
}
u64 dot_of_two(const Op& op, u64 a, u64 b, u64 c, u64) {
    s64 sum = 0;
    for (unsigned i = 0; i < 2; i++) {
        const u64 x = (a >> (16 * i)) & 0xffff, y = (b >> (8 * i + ((op.imm & 4) != 0 ? 16 : 0))) & 0xff;
        sum += ((op.imm & 1) != 0 ? sign_extended(x, 16) : static_cast<s64>(x)) *
               ((op.imm & 2) != 0 ? sign_extended(y, 8) : static_cast<s64>(y));
    }
    return static_cast<u32>(c + static_cast<u64>(sum));
}

u64 clamp_s32(s64 value) {
    return static_cast<u32>(static_cast<s32>(std::clamp<s64>(value, INT32_MIN, INT32_MAX)));
}
u64 add_saturating(const Op&, u64 a, u64 b, u64, u64) {
    return clamp_s32(s64{static_cast<s32>(a)} + static_cast<s32>(b));
}
u64 subtract_saturating(const Op&, u64 a, u64 b, u64, u64) {
    return clamp_s32(s64{static_cast<s32>(a)} - static_cast<s32>(b));
}
// mad.hi.sat.s32
u64 multiply_add_saturating(const Op&, u64 a, u64 b, u64 c, u64) {
    return clamp_s32(((s64{static_cast<s32>(a)} * static_cast<s32>(b)) >> 32) + static_cast<s32>(c));
}

// mul24.hi, mad24.hi: bits 47 to 16 of the product. imm: bit 0 signed, bit 1 adds c, bit 2 saturates.
u64 multiply24_high(const Op& op, u64 a, u64 b, u64 c, u64) {
    const bool is_signed = (op.imm & 1) != 0;
    const s64 x = is_signed ? sign_extended(a, 24) : static_cast<s64>(a & 0xffffff);
    const s64 y = is_signed ? sign_extended(b, 24) : static_cast<s64>(b & 0xffffff);
    const s64 high =
        is_signed ? s64{static_cast<s32>((x * y) >> 16)} : static_cast<s64>(static_cast<u32>((x * y) >> 16));
    if ((op.imm & 2) == 0) return static_cast<u32>(high);
    if ((op.imm & 4) != 0) return clamp_s32(high + static_cast<s32>(c));
    return static_cast<u32>(static_cast<u64>(high) + c);
}

// slct by an integer: c >= 0 ? a : b.
u64 select_by_sign(const Op&, u64 a, u64 b, u64 c, u64) {
    return static_cast<s32>(c) >= 0 ? a : b;
}

u64 in_window(const Op& op, u64 a, u64, u64, u64) {
    return a - op.imm < window_bytes ? 1 : 0;
}
u64 in_global(const Op&, u64 a, u64, u64, u64) {
    return a - shared_window < windows_end - shared_window ? 0 : 1;
}
u64 never(const Op&, u64, u64, u64, u64) {
    return 0;
}

// Packed 16-bit integers: add, min, max. imm: bit 0 signed, bits 1 and 2 the operation, bit 3 .relu.
u64 packed16(const Op& op, u64 a, u64 b, u64, u64) {
    u64 out = 0;
    for (unsigned half = 0; half < 2; half++) {
        const u64 x = (a >> (16 * half)) & 0xffff, y = (b >> (16 * half)) & 0xffff;
        const s64 sx = (op.imm & 1) != 0 ? sign_extended(x, 16) : static_cast<s64>(x);
        const s64 sy = (op.imm & 1) != 0 ? sign_extended(y, 16) : static_cast<s64>(y);
        s64 r = sx + sy;
        if ((op.imm >> 1 & 3) == 1) r = std::min(sx, sy);
        if ((op.imm >> 1 & 3) == 2) r = std::max(sx, sy);
        if ((op.imm & 8) != 0) r = std::max<s64>(r, 0);
        out |= (static_cast<u64>(r) & 0xffff) << (16 * half);
    }
    return out;
}

// min.relu.s32, max.relu.s32
template <bool maximum>
u64 extremum_from_zero(const Op&, u64 a, u64 b, u64, u64) {
    const auto x = static_cast<s32>(a), y = static_cast<s32>(b);
    return static_cast<u32>(std::max(maximum ? std::max(x, y) : std::min(x, y), 0));
}

u64 permute_mode(const ptx::Instruction& instruction) {
    constexpr const char* modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    for (const std::string& suffix : instruction.suffixes) {
        for (u64 mode = 1; mode < 7; mode++) {
            if (suffix == modes[mode]) return mode;
        }
    }
    return 0;
}

ScalarChoice space_test(const ptx::Instruction& instruction) {
    switch (instruction.modifiers.space) {
        case ptx::Space::shared:
        case ptx::Space::shared_cluster:
            return {in_window, shared_window};
        case ptx::Space::local:
            return {in_window, local_window};
        case ptx::Space::param:
            return {in_window, parameter_window};
        case ptx::Space::global:
            return {in_global, 0};
        case ptx::Space::constant:
            return {never, 0};
        default:
            return {};
    }
}

}  // namespace

ScalarChoice scalar_integer(const ptx::Instruction& instruction) {
    const Type type = instruction.type;
    const ptx::Modifiers& modifiers = instruction.modifiers;
    const u64 is_signed = ptx::is_signed(type) ? 1 : 0;
    const u64 relu = modifiers.relu ? 8 : 0;
    const unsigned bytes = ptx::size_bytes(type);
    const bool packed = type == Type::u16x2 || type == Type::s16x2;
    switch (instruction.opcode) {
        case Opcode::bfi:
            return {bytes == 8 ? insert_field<64> : insert_field<32>, 0};
        case Opcode::bfind:
            return {find_leading, is_signed | (has(instruction, "shiftamt") ? 2u : 0u)};
        case Opcode::fns:
            return {find_nth_set, 0};
        case Opcode::bmsk:
            return {make_bit_mask, modifiers.clamp ? 1u : 0u};
        case Opcode::szext:
            return {extend_from, is_signed | (modifiers.clamp ? 2u : 0u)};
        case Opcode::prmt:
            return {permute, permute_mode(instruction)};
        case Opcode::dp4a:
        case Opcode::dp2a: {
            const u64 signs = is_signed | (ptx::is_signed(instruction.source_type) ? 2u : 0u);
            if (instruction.opcode == Opcode::dp4a) return {dot_of_four, signs};
            return {dot_of_two, signs | (has(instruction, "hi") ? 4u : 0u)};
        }
        case Opcode::add:
            if (packed) return {packed16, is_signed};
            return modifiers.sat && type == Type::s32 ? ScalarChoice{add_saturating, 0} : ScalarChoice{};
        case Opcode::sub:
            return modifiers.sat && type == Type::s32 ? ScalarChoice{subtract_saturating, 0} : ScalarChoice{};
        case Opcode::min:
            if (packed) return {packed16, is_signed | 2u | relu};
            return relu != 0 && type == Type::s32 ? ScalarChoice{extremum_from_zero<false>, 0}
                                                  : ScalarChoice{};
        case Opcode::max:
            if (packed) return {packed16, is_signed | 4u | relu};
            return relu != 0 && type == Type::s32 ? ScalarChoice{extremum_from_zero<true>, 0}
                                                  : ScalarChoice{};
        case Opcode::mad:
            return modifiers.sat && type == Type::s32 && modifiers.multiply_part == ptx::MultiplyPart::hi
                       ? ScalarChoice{multiply_add_saturating, 0}
                       : ScalarChoice{};
        case Opcode::mul24:
            return {multiply24_high, is_signed};
        case Opcode::mad24:
            return {multiply24_high, is_signed | 2u | (modifiers.sat ? 4u : 0u)};
        case Opcode::slct:
            return instruction.source_type == Type::s32 ? ScalarChoice{select_by_sign, 0} : ScalarChoice{};
        case Opcode::isspacep:
            return space_test(instruction);
        case Opcode::set:
            return scalar_comparison(instruction);
        default:
            return {};
    }
}

}  // namespace trimtab::emulator
