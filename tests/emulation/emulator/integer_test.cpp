// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer, logic and comparison instructions, one by one, against what the PTX ISA says of them: interpreted,
// compiled (this program once more, on compiled code), and as the analysis folds them, in values and
// intervals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/analysis/launches/interval.h"
#include "core/analysis/launches/operation.h"
#include "tests/emulation/emulator/instruction_runner.h"

namespace trimtab::emulator::test {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u128 = unsigned __int128;
using s128 = __int128;

s64 sext(u64 value, unsigned bits) {
    return static_cast<s64>(value << (64 - bits)) >> (64 - bits);
}

// Those that expressions of the analysis have.
bool is_folded(std::string_view mnemonic) {
    constexpr std::array<std::string_view, 24> bases{
        "add.",      "sub.", "mul.lo.", "mul.hi.", "mul.wide.", "mul24.lo.", "mad.lo.", "mad.hi.",
        "mad.wide.", "shl.", "shr.",    "and.",    "or.",       "xor.",      "not.",    "neg.",
        "abs.",      "min.", "max.",    "div.",    "rem.",      "cvt.",      "setp.",   "selp."};
    return !mnemonic.contains(".sat") && !mnemonic.contains(".cc") &&
           std::ranges::any_of(bases, [&](std::string_view base) { return mnemonic.starts_with(base); });
}

void expect_folded(const std::string& text, const Widths& widths, std::span<const Operands> operands,
                   const Reference& reference) {
    using namespace analysis;
    const std::string mnemonic = text.substr(0, text.find(' '));
    if (!is_folded(mnemonic) || text.contains('\n')) return;
    const auto operation = decode_operation(mnemonic);
    ASSERT_TRUE(operation) << mnemonic;
    std::string names;  // of the sources: "abc"
    for (std::size_t at = text.find(','); at != std::string::npos; at = text.find(',', at + 1))
        names += text[at + 3];
    ASSERT_EQ(names.size(), operation->arity) << text;
    std::vector<Interval> before;
    u64 result_before = 0;
    for (const Operands& given : operands) {
        const Operands o{truncate_bits(given.a, 8 * widths.a), truncate_bits(given.b, 8 * widths.b),
                         truncate_bits(given.c, 8 * widths.c), given.e};
        std::vector<u64> values;
        std::vector<Interval> intervals, joined;
        for (unsigned i = 0; i < names.size(); i++) {
            const unsigned width = width_bits(operation->operand_type(i));
            const u64 value = names[i] == 'a' ? o.a : names[i] == 'b' ? o.b : names[i] == 'c' ? o.c : o.a & 1;
            values.push_back(truncate_bits(value, width));
            intervals.push_back(Interval::of(values.back(), values.back(), width));
            if (!before.empty()) joined.push_back(join(before[i], intervals.back()));
        }
        const u64 result = truncate_bits(reference(o), width_bits(operation->result));
        ASSERT_EQ(analysis::apply(*operation, values), result)
            << text << " of " << o.a << ", " << o.b << ", " << o.c;
        ASSERT_TRUE(analysis::apply(*operation, intervals).contains(result))
            << text << " of " << o.a << ", " << o.b;
        if (!before.empty()) {
            const Interval both = analysis::apply(*operation, joined);
            ASSERT_TRUE(both.contains(result) && both.contains(result_before))
                << text << " of " << o.a << ", " << o.b;
        }
        before = std::move(intervals);
        result_before = result;
    }
}

void expect_integer(const std::string& text, const Widths& widths, std::span<const Operands> operands,
                    const Reference& reference) {
    expect_instruction(text, widths, operands, reference);
    expect_folded(text, widths, operands, reference);
}

// Every type of the width, with its bits, sign and operands.
struct IntegerType {
    const char* name;
    unsigned bits;
    bool is_signed;
    [[nodiscard]] Widths widths() const { return {bits / 8, bits / 8, bits / 8, bits / 8}; }
    [[nodiscard]] s128 value(u64 raw) const {
        return is_signed ? s128{sext(raw, bits)} : s128{bits == 64 ? raw : raw & ((u64{1} << bits) - 1)};
    }
};
const IntegerType types[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                             {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

using Binary = s128 (*)(s128 a, s128 b);
void expect_binary(const std::string& opcode, Binary compute) {
    for (const IntegerType& type : types) {
        expect_integer(opcode + "." + type.name + " %d, %a, %b", type.widths(),
                       integer_operands(type.bits, type.bits, type.bits), [&](const Operands& o) {
                           return static_cast<u64>(compute(type.value(o.a), type.value(o.b)));
                       });
    }
}

TEST(Integer, AddSubtractMultiplyMinMax) {
    expect_binary("add", [](s128 a, s128 b) { return a + b; });
    expect_binary("sub", [](s128 a, s128 b) { return a - b; });
    expect_binary("mul.lo", [](s128 a, s128 b) {
        return static_cast<s128>(static_cast<u128>(a) * static_cast<u128>(b));
    });
    expect_binary("min", [](s128 a, s128 b) { return std::min(a, b); });
    expect_binary("max", [](s128 a, s128 b) { return std::max(a, b); });
}

TEST(Integer, DivisionAsGpusDoIt) {
    for (const IntegerType& type : types) {
        const auto operands = integer_operands(type.bits, type.bits, type.bits);
        expect_integer(std::string("div.") + type.name + " %d, %a, %b", type.widths(), operands,
                       [&](const Operands& o) {
                           const s128 b = type.value(o.b);
                           return static_cast<u64>(b == 0 ? s128{-1} : type.value(o.a) / b);
                       });
        expect_integer(std::string("rem.") + type.name + " %d, %a, %b", type.widths(), operands,
                       [&](const Operands& o) {
                           const s128 b = type.value(o.b);
                           return static_cast<u64>(b == 0 ? s128{-1} : type.value(o.a) % b);
                       });
    }
}

// Where the divisor is a constant, and where all lanes share both operands.
TEST(Integer, DivisionByZeroIsAllOnesInEveryForm) {
    for (const IntegerType& type : types) {
        const auto operands = integer_operands(type.bits, type.bits, type.bits);
        for (const char* opcode : {"div.", "rem."}) {
            const auto all_ones = [](const Operands&) { return ~u64{0}; };
            expect_instruction(std::string(opcode) + type.name + " %d, %a, 0", type.widths(), operands,
                               all_ones);
            const std::string zero = type.bits == 64   ? "%l1, 0;\n"
                                     : type.bits == 32 ? "%w1, 0;\n"
                                                       : "%h1, 0;\n";
            const std::string shared = zero.substr(0, 3);
            expect_instruction("mov.b" + std::to_string(type.bits) + " " + zero + opcode + type.name +
                                   " %d, " + shared + ", " + shared,
                               type.widths(), operands, all_ones);
        }
    }
    for (const char* opcode : {"div", "rem"})
        expect_instruction(std::string("sub.u32 %w1, %n, %n;\n") + opcode + ".s32 %d, %n, %w1",
                           types[3].widths(), integer_operands(32, 32, 32),
                           [](const Operands&) { return ~u64{0}; });
}

// The product of two values below 2^64 in 256 bits would be needed for nothing but mul.hi.u64: 128 suffice.
u64 high(const IntegerType& type, u64 a, u64 b) {
    if (type.is_signed) return static_cast<u64>((type.value(a) * type.value(b)) >> type.bits);
    return static_cast<u64>((static_cast<u128>(type.value(a)) * static_cast<u128>(type.value(b))) >>
                            type.bits);
}

TEST(Integer, MultiplyHighAndWideAndAdd) {
    for (const IntegerType& type : types) {
        const std::string name = type.name;
        const auto operands = integer_operands(type.bits, type.bits, type.bits);
        expect_integer("mul.hi." + name + " %d, %a, %b", type.widths(), operands,
                       [&](const Operands& o) { return high(type, o.a, o.b); });
        expect_integer("mad.lo." + name + " %d, %a, %b, %c", type.widths(), operands,
                       [&](const Operands& o) { return o.a * o.b + o.c; });
        expect_integer("mad.hi." + name + " %d, %a, %b, %c", type.widths(), operands,
                       [&](const Operands& o) { return high(type, o.a, o.b) + o.c; });
        if (type.bits == 64) continue;
        const Widths wide{type.bits / 4, type.bits / 8, type.bits / 8, type.bits / 4};
        expect_integer("mul.wide." + name + " %d, %a, %b", wide, operands, [&](const Operands& o) {
            return static_cast<u64>(type.value(o.a) * type.value(o.b));
        });
        expect_integer("mad.wide." + name + " %d, %a, %b, %c", wide,
                       integer_operands(type.bits, type.bits, 2 * type.bits), [&](const Operands& o) {
                           return static_cast<u64>(type.value(o.a) * type.value(o.b)) + o.c;
                       });
    }
    const auto operands = integer_operands(32, 32, 32);
    expect_integer("mul24.lo.u32 %d, %a, %b", {}, operands,
                   [](const Operands& o) { return (o.a & 0xffffff) * (o.b & 0xffffff); });
    expect_integer("mul24.hi.s32 %d, %a, %b", {}, operands,
                   [](const Operands& o) { return static_cast<u64>((sext(o.a, 24) * sext(o.b, 24)) >> 16); });
    expect_integer("mad24.lo.s32 %d, %a, %b, %c", {}, operands,
                   [](const Operands& o) { return static_cast<u64>(sext(o.a, 24) * sext(o.b, 24)) + o.c; });
    expect_integer("add.sat.s32 %d, %a, %b", {}, operands, [](const Operands& o) {
        return static_cast<u64>(std::clamp<s64>(sext(o.a, 32) + sext(o.b, 32), INT32_MIN, INT32_MAX));
    });
    expect_integer("mad.hi.sat.s32 %d, %a, %b, %c", {}, operands, [](const Operands& o) {
        return static_cast<u64>(
            std::clamp<s64>(((sext(o.a, 32) * sext(o.b, 32)) >> 32) + sext(o.c, 32), INT32_MIN, INT32_MAX));
    });
}

TEST(Integer, ConversionsBetweenWidths) {
    for (const IntegerType& to : types) {
        for (const IntegerType& from : types) {
            expect_integer(std::string("cvt.") + to.name + "." + from.name + " %d, %a",
                           {to.bits / 8, from.bits / 8, 4, 4}, integer_operands(from.bits, 32, 32),
                           [&](const Operands& o) { return static_cast<u64>(from.value(o.a)); });
        }
    }
}

TEST(Integer, Carries) {
    // 128-bit a:b + c:b, and the products that libdevice's range reduction is made of.
    const auto operands = integer_operands(64, 64, 64);
    expect_integer("add.cc.u64 %l0, %a, %b;\n addc.u64 %d, %b, %c", {8, 8, 8, 8}, operands,
                   [](const Operands& o) { return o.b + o.c + (o.a + o.b < o.a ? 1 : 0); });
    expect_integer("sub.cc.u64 %l0, %a, %b;\n subc.u64 %d, %b, %c", {8, 8, 8, 8}, operands,
                   [](const Operands& o) { return o.b - o.c - (o.a < o.b ? 1 : 0); });
    const auto small = integer_operands(32, 32, 32);
    expect_integer("mad.lo.cc.u32 %w1, %a, %b, %c;\n madc.hi.u32 %d, %a, %b, 0", {}, small,
                   [](const Operands& o) { return (o.a * o.b + o.c) >> 32; });
    expect_integer("mad.lo.cc.u32 %w1, %a, %b, %c;\n madc.hi.cc.u32 %w2, %a, %b, %c;\n addc.u32 %d, 0, 0", {},
                   small, [](const Operands& o) {
                       const u64 low = u64{static_cast<u32>(o.a * o.b)} + o.c;
                       return (((o.a * o.b) >> 32) + o.c + (low >> 32)) >> 32;
                   });
}

TEST(Integer, LogicAndShifts) {
    for (const unsigned bits : {16u, 32u, 64u}) {
        const std::string b = "b" + std::to_string(bits);
        const Widths same{bits / 8, bits / 8, bits / 8, bits / 8}, shift{bits / 8, bits / 8, 4, 4};
        const auto operands = integer_operands(bits, bits, bits), shifts = integer_operands(bits, 32, 32);
        expect_integer("and." + b + " %d, %a, %b", same, operands,
                       [](const Operands& o) { return o.a & o.b; });
        expect_integer("or." + b + " %d, %a, %b", same, operands,
                       [](const Operands& o) { return o.a | o.b; });
        expect_integer("xor." + b + " %d, %a, %b", same, operands,
                       [](const Operands& o) { return o.a ^ o.b; });
        expect_integer("not." + b + " %d, %a", same, operands, [](const Operands& o) { return ~o.a; });
        expect_integer("cnot." + b + " %d, %a", same, operands,
                       [](const Operands& o) { return u64{o.a == 0}; });
        expect_integer("shl." + b + " %d, %a, %b", shift, shifts,
                       [=](const Operands& o) { return o.b >= bits ? 0 : o.a << o.b; });
        expect_integer("shr.u" + std::to_string(bits) + " %d, %a, %b", shift, shifts,
                       [=](const Operands& o) { return o.b >= bits ? 0 : o.a >> o.b; });
        expect_integer("shr.s" + std::to_string(bits) + " %d, %a, %b", shift, shifts, [=](const Operands& o) {
            return static_cast<u64>(sext(o.a, bits) >> std::min<u64>(o.b, bits - 1));
        });
        expect_integer("selp." + b + " %d, %b, %c, %p", same, operands,
                       [](const Operands& o) { return o.a & 1 ? o.b : o.c; });
    }
    const auto operands = integer_operands(32, 32, 32);
    for (const unsigned table : {0x00u, 0xffu, 0x96u, 0xe8u, 0xcau, 0x1bu}) {
        expect_integer(
            "lop3.b32 %d, %a, %b, %c, " + std::to_string(table), {}, operands, [=](const Operands& o) {
                u64 out = 0;
                for (unsigned i = 0; i < 32; i++) {
                    const u64 row = ((o.a >> i) & 1) << 2 | ((o.b >> i) & 1) << 1 | ((o.c >> i) & 1);
                    out |= u64{(table >> row) & 1} << i;
                }
                return out;
            });
    }
    for (const bool wraps : {false, true}) {
        const std::string mode = wraps ? "wrap" : "clamp";
        const auto amount = [=](const Operands& o) { return wraps ? o.c & 31 : std::min<u64>(o.c, 32); };
        expect_integer("shf.l." + mode + ".b32 %d, %a, %b, %c", {}, operands, [=](const Operands& o) {
            const u128 both = (u128{o.b} << 32 | o.a) << amount(o);
            return static_cast<u64>(both >> 32);
        });
        expect_integer("shf.r." + mode + ".b32 %d, %a, %b, %c", {}, operands,
                       [=](const Operands& o) { return (o.b << 32 | o.a) >> amount(o); });
    }
}

TEST(Integer, BitFields) {
    for (const unsigned bits : {32u, 64u}) {
        const unsigned bytes = bits / 8;
        const auto operands = integer_operands(bits, 32, 32);
        for (const bool is_signed : {false, true}) {
            // The ISA's own description, bit by bit.
            expect_integer(
                std::string("bfe.") + (is_signed ? "s" : "u") + std::to_string(bits) + " %d, %a, %b, %c",
                {bytes, bytes, 4, 4}, operands, [=](const Operands& o) {
                    const u64 pos = o.b & 0xff, len = o.c & 0xff;
                    const u64 last = std::min<u64>(pos + len - 1, bits - 1);
                    const u64 sign = is_signed && len != 0 ? (o.a >> last) & 1 : 0;
                    u64 out = 0;
                    for (u64 i = 0; i < bits; i++)
                        out |= (i < len && pos + i < bits ? (o.a >> (pos + i)) & 1 : sign) << i;
                    return out;
                });
            expect_integer(std::string("bfind.") + (is_signed ? "s" : "u") + std::to_string(bits) + " %d, %a",
                           {4, bytes, 4, 4}, operands, [=](const Operands& o) {
                               const u64 sign = is_signed ? (o.a >> (bits - 1)) & 1 : 0;
                               for (unsigned i = bits; i-- > 0;) {
                                   if (((o.a >> i) & 1) != sign) return u64{i};
                               }
                               return u64{0xffffffffu};
                           });
        }
        expect_integer("bfi.b" + std::to_string(bits) + " %d, %a, %b, %c, %e", {bytes, bytes, bytes, 4},
                       integer_operands(bits, bits, 32), [=](const Operands& o) {
                           u64 out = o.b;
                           for (u64 i = 0; i < (o.e & 0xff) && (o.c & 0xff) + i < bits; i++) {
                               const u64 at = (o.c & 0xff) + i;
                               out = (out & ~(u64{1} << at)) | (((o.a >> i) & 1) << at);
                           }
                           return out;
                       });
        const std::string b = std::to_string(bits);
        expect_integer("popc.b" + b + " %d, %a", {4, bytes, 4, 4}, operands,
                       [](const Operands& o) { return static_cast<u64>(std::popcount(o.a)); });
        expect_integer("clz.b" + b + " %d, %a", {4, bytes, 4, 4}, operands, [=](const Operands& o) {
            return static_cast<u64>(std::countl_zero(o.a)) - (64 - bits);
        });
        expect_integer("brev.b" + b + " %d, %a", {bytes, bytes, 4, 4}, operands, [=](const Operands& o) {
            u64 out = 0;
            for (unsigned i = 0; i < bits; i++) out |= ((o.a >> i) & 1) << (bits - 1 - i);
            return out;
        });
    }
    const auto operands = integer_operands(32, 32, 32);
    expect_integer("fns.b32 %d, %a, %b, %c", {}, operands, [](const Operands& o) {
        if (o.b > 31) return u64{0xffffffffu};  // beyond the mask's bits
        const s64 offset = sext(o.c, 32);
        if (offset == 0) return (o.a >> o.b) & 1 ? o.b : u64{0xffffffffu};
        s64 found = 0;
        for (s64 i = static_cast<s64>(o.b); i >= 0 && i < 32; i += offset > 0 ? 1 : -1) {
            if ((o.a >> i) & 1) found++;
            if (found == std::abs(offset) && ((o.a >> i) & 1)) return static_cast<u64>(i);
        }
        return u64{0xffffffffu};
    });
    expect_integer("bmsk.clamp.b32 %d, %a, %b", {}, operands, [](const Operands& o) {
        const u64 a = std::min<u64>(o.a, 32), b = std::min<u64>(o.b, 32);
        return static_cast<u64>(static_cast<u32>(((u64{1} << b) - 1) << a));
    });
    expect_integer("szext.clamp.s32 %d, %a, %b", {}, operands, [](const Operands& o) {
        const u64 bits = std::min<u64>(o.b, 32);
        return bits == 0 ? 0 : static_cast<u64>(sext(o.a, static_cast<unsigned>(bits)));
    });
}

TEST(Integer, BytesAndDotProducts) {
    const auto operands = integer_operands(32, 32, 32);
    expect_integer("prmt.b32 %d, %a, %b, %c", {}, operands, [](const Operands& o) {
        u64 out = 0;
        for (unsigned i = 0; i < 4; i++) {
            const u64 selector = (o.c >> (4 * i)) & 15;
            u64 byte = ((o.b << 32 | o.a) >> (8 * (selector & 7))) & 0xff;
            if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
            out |= byte << (8 * i);
        }
        return out;
    });
    expect_integer("prmt.b32.f4e %d, %a, %b, %c", {}, operands, [](const Operands& o) {
        return static_cast<u64>(static_cast<u32>((o.b << 32 | o.a) >> (8 * (o.c & 3))));
    });
    expect_integer("prmt.b32.rc8 %d, %a, %b, %c", {}, operands,
                   [](const Operands& o) { return ((o.a >> (8 * (o.c & 3))) & 0xff) * 0x01010101u; });
    for (const bool a_signed : {false, true}) {
        for (const bool b_signed : {false, true}) {
            const std::string suffix = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
            const auto part = [](u64 value, unsigned place, unsigned bits, bool is_signed) {
                const u64 own = (value >> place) & ((u64{1} << bits) - 1);
                return is_signed ? sext(own, bits) : static_cast<s64>(own);
            };
            expect_integer("dp4a" + suffix + " %d, %a, %b, %c", {}, operands, [=](const Operands& o) {
                s64 sum = 0;
                for (unsigned i = 0; i < 32; i += 8)
                    sum += part(o.a, i, 8, a_signed) * part(o.b, i, 8, b_signed);
                return o.c + static_cast<u64>(sum);
            });
            expect_integer("dp2a.hi" + suffix + " %d, %a, %b, %c", {}, operands, [=](const Operands& o) {
                return o.c + static_cast<u64>(part(o.a, 0, 16, a_signed) * part(o.b, 16, 8, b_signed) +
                                              part(o.a, 16, 16, a_signed) * part(o.b, 24, 8, b_signed));
            });
        }
    }
    for (const IntegerType& type : types) {
        expect_integer(std::string("sad.") + type.name + " %d, %a, %b, %c", type.widths(),
                       integer_operands(type.bits, type.bits, type.bits), [&](const Operands& o) {
                           const s128 a = type.value(o.a), b = type.value(o.b);
                           return static_cast<u64>(a < b ? b - a : a - b) + o.c;
                       });
    }
    expect_integer("slct.b32.s32 %d, %a, %b, %c", {}, operands,
                   [](const Operands& o) { return sext(o.c, 32) >= 0 ? o.a : o.b; });
    for (const char* type : {"s16", "s32", "s64"}) {
        const unsigned bits = static_cast<unsigned>(std::stoi(type + 1));
        const Widths same{bits / 8, bits / 8, bits / 8, bits / 8};
        expect_integer(std::string("abs.") + type + " %d, %a", same, integer_operands(bits, bits, bits),
                       [=](const Operands& o) { return sext(o.a, bits) < 0 ? 0 - o.a : o.a; });
        expect_integer(std::string("neg.") + type + " %d, %a", same, integer_operands(bits, bits, bits),
                       [](const Operands& o) { return 0 - o.a; });
    }
}

TEST(Integer, Comparisons) {
    struct Case {
        const char* name;
        bool (*holds)(s128, s128);
    };
    const Case cases[] = {
        {"eq", [](s128 a, s128 b) { return a == b; }}, {"ne", [](s128 a, s128 b) { return a != b; }},
        {"lt", [](s128 a, s128 b) { return a < b; }},  {"le", [](s128 a, s128 b) { return a <= b; }},
        {"gt", [](s128 a, s128 b) { return a > b; }},  {"ge", [](s128 a, s128 b) { return a >= b; }}};
    for (const IntegerType& type : types) {
        const Widths widths{4, type.bits / 8, type.bits / 8, 4};
        const auto operands = integer_operands(type.bits, type.bits, 32);
        for (const Case& one : cases) {
            const std::string name = std::string(one.name) + "." + type.name;
            // The selection runs in every lane: under the guard, only the comparison's predicate could be
            // kept.
            expect_integer(
                "setp." + name + " %q0, %a, %b;\n selp.b32 %d, 1, 0, %q0", widths, operands,
                [&](const Operands& o) { return u64{one.holds(type.value(o.a), type.value(o.b))}; });
            expect_folded("setp." + name + " %q, %a, %b", widths, operands, [&](const Operands& o) {
                return u64{one.holds(type.value(o.a), type.value(o.b))};
            });
        }
        expect_integer(std::string("set.lt.u32.") + type.name + " %d, %a, %b", widths, operands,
                       [&](const Operands& o) { return type.value(o.a) < type.value(o.b) ? ~u64{0} : 0; });
        for (const char* combined : {"and", "or", "xor"}) {
            const std::string way = combined;
            expect_instruction(
                "set.ge." + way + ".s32." + type.name + " %d, %a, %b, !%p", widths, operands,
                [&](const Operands& o) {
                    const bool is = type.value(o.a) >= type.value(o.b), other = (o.a & 1) == 0;
                    const bool result = way == "and" ? is && other : way == "or" ? is || other : is != other;
                    return result ? ~u64{0} : 0;
                });
        }
        expect_integer(std::string("setp.lt.and.") + type.name +
                           " %q0|%q1, %a, %b, %p;\n selp.b32 %w1, 1, 0, %q0;\n selp.b32 %w2, 2, 0, %q1;\n"
                           " or.b32 %d, %w1, %w2",
                       widths, operands, [&](const Operands& o) {
                           const bool less = type.value(o.a) < type.value(o.b), p = o.a & 1;
                           return u64{less && p} | u64{!less && p} << 1;
                       });
    }
    expect_integer("setp.lo.u32 %q0, %a, %b;\n setp.hs.xor.u32 %q1, %b, %c, !%q0;\n selp.b32 %d, 1, 0, %q1",
                   {}, integer_operands(32, 32, 32),
                   [](const Operands& o) { return u64{(o.b >= o.c) != !(o.a < o.b)}; });
}

}  // namespace
}  // namespace trimtab::emulator::test
