// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that computes PTX's integers gives what core/ptx/semantics/ says, for every instruction of integer.def, in every
// type: the interpreter, compiled code (this program once more), the proof's folding, the checker's replay, and the C text
// of driver programs. integer_test.cpp holds the same instructions against the words of the ISA.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/launches/operation.h"
#include "core/checker/replay.h"
#include "core/ptx/opcodes.h"
#include "core/ptx/semantics/evaluate.h"
#include "tests/emulation/emulator/instruction_runner.h"
#include "trimtab/driver.h"

namespace driver_text {
// What the text stands behind in a driver program.
enum { trimtab_data_size = 1 };
struct trimtab_context {};
#include "driver_gen/annotation_begin.inc"
}  // namespace driver_text

namespace trimtab::emulator::test {
namespace {

using namespace ptx::semantics;
using ptx::Opcode;
using ptx::Type;

static_assert(Remainder::of<s32>(5, 0) == -1 && Remainder::of<u16>(5, 0) == 0xffff);
static_assert(Divide::of<s64>(INT64_MIN, -1) == INT64_MIN && Divide::of<u32>(5, 0) == ~0u);
static_assert(ShiftRight::of<s16>(-2, 99) == -1 && ShiftLeft::of<u64>(1, 64) == 0);
static_assert(MultiplyHigh::of<u64>(~0ull, ~0ull) == ~0ull - 1);

// Zero, the ends of the type, powers of two and their neighbours, and amounts at and beyond every width.
std::vector<std::uint64_t> edges(unsigned bits) {
    std::set<std::uint64_t> all;
    for (const unsigned at : {0u, 3u, 5u, 6u, 7u, 8u, 15u, 23u, 31u, bits / 2, bits - 2, bits - 1}) {
        const std::uint64_t power = truncate_bits(std::uint64_t{1} << at, bits);
        for (const std::uint64_t value : {power, power - 1, power + 1, 0 - power})
            all.insert(truncate_bits(value, bits));
    }
    all.insert(truncate_bits(0x9abcdef012345678u, bits));
    return {all.begin(), all.end()};
}

unsigned register_bytes(Type type) {
    return type == Type::pred ? 4 : std::max(2u, ptx::size_bytes(type));
}

// All pairs of the first two operands' edges; the further ones take theirs in turn.
std::vector<Operands> edge_operands(const Function& function) {
    std::array<std::vector<std::uint64_t>, max_operands> values;
    for (std::size_t i = 0; i < max_operands; i++)
        values[i] = i < function.arity && function.operands[i] != Type::pred
                        ? edges(8 * ptx::size_bytes(function.operands[i]))
                        : std::vector<std::uint64_t>{0, 1};
    std::vector<Operands> all;
    std::size_t turn = 0;
    for (const std::uint64_t a : values[0])
        for (const std::uint64_t b : values[1]) {
            turn += 7;
            all.push_back({a, b, values[2][turn % values[2].size()], values[3][turn / 3 % values[3].size()]});
        }
    return all;
}

ptx::Instruction parsed(const std::string& text) {
    auto module = ptx::parse(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry test() {
.reg .pred %p, %q<4>; .reg .b16 %h<4>; .reg .b32 %w<8>; .reg .b64 %l<4>;
.reg .b32 %a, %b, %c, %d, %e;
)" + text + ";\nret;\n}",
                             "test");
    if (!module) {
        ADD_FAILURE() << text << ": " << module.error().text();
        return {};
    }
    return module->functions.front().body.front();
}

// How an entry is written: the mnemonic, and what stands behind the operands.
struct Spelling {
    std::string mnemonic, literals;
};
std::vector<Spelling> spellings(const Entry& entry, Type type) {
    constexpr std::array<const char*, 11> form_words{"",     "",      ".lo",   ".hi", ".wide", ".hi.sat",
                                                     ".sat", ".relu", ".relu", ".l",  ".r"};
    const std::string base =
                          std::string(name(entry.opcode)) + form_words[static_cast<std::size_t>(entry.form)],
                      of = "." + std::string(name(type));
    std::vector<Spelling> all;
    const auto each = [&](std::initializer_list<const char*> words, bool is_behind = false) {
        for (const char* word : words) all.push_back({is_behind ? base + of + word : base + word + of, ""});
    };
    switch (entry.opcode) {
        case Opcode::shf:
        case Opcode::bmsk:
        case Opcode::szext:
            each({".clamp", ".wrap"});
            break;
        case Opcode::bfind:
            each({"", ".shiftamt"});
            break;
        case Opcode::prmt:
            each({"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"}, true);
            break;
        case Opcode::dp4a:
            each({".u32", ".s32"}, true);
            break;
        case Opcode::dp2a:
            for (const char* part : {".lo", ".hi"})
                for (const char* other : {".u32", ".s32"}) all.push_back({base + part + of + other, ""});
            break;
        case Opcode::slct:
            each({".s32"}, true);
            break;
        case Opcode::setp:
            each({".eq", ".ne", ".lt", ".le", ".gt", ".ge"});
            if (!ptx::is_signed(type)) each({".lo", ".ls", ".hi", ".hs"});
            break;
        case Opcode::lop3:
            for (const char* table : {"0", "0xff", "0x96", "0xe8", "0xca", "0x1b"})
                all.push_back({base + of, ", " + std::string(table)});
            break;
        default:
            each({""});
    }
    return all;
}

std::vector<std::uint64_t> values_of(const Function& function, const Operands& o) {
    std::vector<std::uint64_t> values{o.a, o.b, o.c, o.e};
    for (std::size_t i = 0; i < function.arity; i++)
        if (function.operands[i] == Type::pred) values[i] = (i == 2 ? o.a : values[i]) & 1;
    values.resize(function.arity);
    return values;
}

// The instruction, of %a, %b, %c and %e to %d; predicates go by way of registers.
std::string statement(const Entry& entry, const Function& function, const Spelling& spelling) {
    if (entry.opcode == Opcode::setp) return spelling.mnemonic + " %q0, %a, %b;\n selp.b32 %d, 1, 0, %q0";
    if (function.result == Type::pred)
        return "and.b32 %w1, %a, 1;\n setp.ne.b32 %q1, %w1, 0;\n and.b32 %w2, %b, 1;\n setp.ne.b32 %q2, %w2, "
               "0;\n " +
               spelling.mnemonic + (function.arity == 1 ? " %q3, %q1" : " %q3, %q1, %q2") +
               ";\n selp.b32 %d, 1, 0, %q3";
    constexpr std::array<const char*, max_operands> names{", %a", ", %b", ", %c", ", %e"};
    std::string text = spelling.mnemonic + " %d";
    for (std::size_t i = 0; i < function.arity; i++)
        text += function.operands[i] == Type::pred ? ", %p" : names[i];
    return text + spelling.literals;
}

std::size_t folded = 0, replayed = 0, emulated = 0;

void expect_agreement(const Entry& entry, Type type, const Spelling& spelling) {
    const Function& function = entry.of_type[static_cast<std::size_t>(type)];
    const std::string operands[] = {"%a", "%b", "%c", "%e"};
    std::string alone = spelling.mnemonic + (function.result == Type::pred ? " %q0" : " %d");
    for (std::size_t i = 0; i < function.arity; i++)
        alone += ", " + (function.operands[i] == Type::pred ? "%q1" : operands[i]);
    const ptx::Instruction instruction = parsed(alone + spelling.literals);
    const auto operation = ptx::semantics::operation_of(instruction);
    ASSERT_TRUE(operation) << alone;
    ASSERT_EQ(operation->opcode, entry.opcode) << alone;
    ASSERT_EQ(operation->form, entry.form) << alone;
    ASSERT_EQ(operation->type, type) << alone;

    const auto all = edge_operands(function);
    const auto reference = [&](const Operands& o) {
        return evaluate(*operation, values_of(function, o)).value();
    };
    const auto fold = analysis::decode_operation(spelling.mnemonic);
    for (const Operands& o : all) {
        const auto values = values_of(function, o);
        const std::uint64_t expected = reference(o);
        if (fold) {
            ASSERT_EQ(analysis::apply(*fold, values), expected) << alone << " of " << o.a << ", " << o.b;
            folded++;
        }
        const auto replay = checker::computed(instruction, values);
        ASSERT_TRUE(replay) << alone;
        ASSERT_EQ(*replay, expected) << alone << " of " << o.a << ", " << o.b;
        replayed++;
    }
    if (ptx::integer_bits(type) == 8) return;  // no register has 8 bits
    const auto bytes = [&](std::size_t i) {
        return i < function.arity ? register_bytes(function.operands[i]) : 4;
    };
    expect_instruction(statement(entry, function, spelling),
                       {register_bytes(function.result), bytes(0), bytes(1), bytes(2)}, all, reference);
    emulated += all.size();
}

TEST(Semantics, EveryoneAgreesOnEveryInstruction) {
    std::set<analysis::Operator> met;
    std::size_t instructions = 0;
    for (const Entry& entry : entries()) {
        for (std::size_t i = 0; i < entry.of_type.size(); i++) {
            if (entry.of_type[i].compute == nullptr) continue;
            for (const Spelling& spelling : spellings(entry, static_cast<Type>(i))) {
                instructions++;
                if (const auto fold = analysis::decode_operation(spelling.mnemonic)) met.insert(fold->op);
                ASSERT_NO_FATAL_FAILURE(expect_agreement(entry, static_cast<Type>(i), spelling));
            }
        }
    }
    // Of the expressions' operators cvt alone is not of the table.
    EXPECT_EQ(met.size(), static_cast<std::size_t>(analysis::Operator::selp));
    fmt::print("{} instructions: {} results emulated, {} folded, {} replayed\n", instructions, emulated,
               folded, replayed);
}

TEST(Semantics, EveryoneAgreesOnConversions) {
    const std::array types{Type::u8,  Type::s8,  Type::u16, Type::s16,
                           Type::u32, Type::s32, Type::u64, Type::s64};
    for (const Type to : types) {
        for (const Type from : types) {
            for (const bool saturates : {false, true}) {
                const std::string text =
                    fmt::format("cvt{}.{}.{}", saturates ? ".sat" : "", name(to), name(from));
                const ptx::Instruction instruction = parsed(text + " %d, %a");
                std::vector<Operands> all;
                for (const std::uint64_t a : edges(ptx::integer_bits(from))) all.push_back({a, 0, 0, 0});
                // Independently of convert(): the number itself, brought into the type's range.
                const auto number = [&](std::uint64_t bits, Type type) {
                    return ptx::is_signed(type) ? __int128{sign_extend(bits, ptx::integer_bits(type))}
                                                : __int128{truncate_bits(bits, ptx::integer_bits(type))};
                };
                const unsigned width = ptx::integer_bits(to);
                const __int128 end = __int128{1} << (ptx::is_signed(to) ? width - 1 : width),
                               begin = ptx::is_signed(to) ? -end : __int128{0};
                const auto fold = analysis::decode_operation(text);
                ASSERT_EQ(fold.has_value(), !saturates) << text;
                for (const Operands& o : all) {
                    __int128 value = number(o.a, from);
                    if (saturates) value = std::clamp(value, begin, end - 1);
                    const std::uint64_t expected = truncate_bits(static_cast<std::uint64_t>(value), width);
                    ASSERT_EQ(convert(o.a, from, to, saturates), expected) << text << " of " << o.a;
                    const std::array values{o.a};
                    ASSERT_EQ(checker::computed(instruction, values), expected) << text << " of " << o.a;
                    if (fold) {
                        ASSERT_EQ(analysis::apply(*fold, values), expected) << text << " of " << o.a;
                    }
                }
                // A result narrower than its register is extended by its own sign.
                expect_instruction(
                    text + " %d, %a", {register_bytes(to), register_bytes(from), 4, 4}, all,
                    [&](const Operands& o) {
                        return static_cast<std::uint64_t>(number(convert(o.a, from, to, saturates), to));
                    });
            }
        }
    }
}

// Annotations' arithmetic in driver programs, which is s64's.
TEST(Semantics, DriverProgramsAgree) {
    using namespace driver_text;
    for (const std::uint64_t first : edges(64)) {
        for (const std::uint64_t second : edges(64)) {
            const auto a = static_cast<s64>(first), b = static_cast<s64>(second);
            EXPECT_EQ(trimtab_quotient(a, b), Divide::of<s64>(a, b)) << a << " by " << b;
            EXPECT_EQ(trimtab_rest(a, b), Remainder::of<s64>(a, b)) << a << " by " << b;
            EXPECT_EQ(trimtab_smaller(a, b), Minimum::of<s64>(a, b));
            EXPECT_EQ(trimtab_larger(a, b), Maximum::of<s64>(a, b));
            if (b < 0) continue;  // amounts are unsigned in PTX
            const u32 by = b > 64 ? 64 : static_cast<u32>(b);
            EXPECT_EQ(trimtab_shift_left(a, b), ShiftLeft::of<s64>(a, by)) << a << " by " << b;
            EXPECT_EQ(trimtab_shift_right(a, b), ShiftRight::of<s64>(a, by)) << a << " by " << b;
        }
    }
}

// What one instruction is not: a table that took it for its neighbour would be wrong in silence.
TEST(Semantics, OtherFormsAreNotTaken) {
    for (const char* text : {"add.cc.u32 %d, %a, %b", "addc.u32 %d, %a, %b", "mad.lo.cc.u32 %d, %a, %b, %c",
                             "add.f32 %d, %a, %b", "min.f32 %d, %a, %b", "slct.b32.f32 %d, %a, %b, %c",
                             "lop3.or.b32 %d, %a, %b, %c, 1, %q0", "min.relu.u16x2 %d, %a, %b",
                             "add.sat.u32 %d, %a, %b", "mul.wide.u64 %l0, %l1, %l2"})
        EXPECT_FALSE(ptx::semantics::operation_of(parsed(text))) << text;
    EXPECT_EQ(find(Opcode::rem, Form::lo, Type::u32), nullptr);
    EXPECT_EQ(find(Opcode::rem, Form::plain, Type::f32), nullptr);
    EXPECT_FALSE(evaluate({Opcode::add, Form::plain, Type::u32, {}}, std::array<std::uint64_t, 1>{1}));
}

}  // namespace
}  // namespace trimtab::emulator::test
