// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/semantics/evaluate.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/ptx/opcodes.h"

namespace trimtab::ptx::semantics {
namespace {

template <class T>
constexpr Type type_of() {
    constexpr bool is_signed_type = std::is_signed_v<T>;
    if constexpr (std::is_same_v<T, bool>)
        return Type::pred;
    else if constexpr (sizeof(T) == 1)
        return is_signed_type ? Type::s8 : Type::u8;
    else if constexpr (sizeof(T) == 2)
        return is_signed_type ? Type::s16 : Type::u16;
    else if constexpr (sizeof(T) == 4)
        return is_signed_type ? Type::s32 : Type::u32;
    else
        return is_signed_type ? Type::s64 : Type::u64;
}

template <class T>
T operand(std::uint64_t bits) {
    if constexpr (std::is_same_v<T, bool>)
        return (bits & 1) != 0;
    else
        return static_cast<T>(bits);
}

template <class F, Type type, class T, class R, class... A>
constexpr Function function(List<A...>) {
    Function made{.compute =
                      [](const std::uint64_t* operands, Control control) {
                          const auto apply = [&]<std::size_t... i>(std::index_sequence<i...>) {
                              return call<F, T>(control, operand<A>(operands[i])...);
                          };
                          const R result = apply(std::index_sequence_for<A...>{});
                          if constexpr (std::is_same_v<R, bool>)
                              return std::uint64_t{result};
                          else if constexpr (type == Type::pred)
                              return std::uint64_t{result & 1u};
                          else
                              return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<R>>(result));
                      },
                  .operands = {type == Type::pred ? Type::pred : type_of<A>()...},
                  .result = type == Type::pred ? Type::pred : type_of<R>(),
                  .arity = sizeof...(A)};
    return made;
}

template <class F, class Set, std::size_t... types>
constexpr Entry entry(Opcode opcode, Form form, std::index_sequence<types...>) {
    Entry made{.opcode = opcode, .form = form};
    const auto add = [&made]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        using T = typename Set::template Of<static_cast<Type>(i)>;
        if constexpr (!std::is_void_v<T>) {
            using Of = Signature<F, T>;
            made.of_type[i] =
                function<F, static_cast<Type>(i), T, typename Of::Result>(typename Of::Operands{});
        }
    };
    (add(std::integral_constant<std::size_t, types>{}), ...);
    return made;
}

constexpr Entry table[] = {
#define INTEGER(opcode, form, types, ...) \
    entry<__VA_ARGS__, types>(Opcode::opcode, Form::form, std::make_index_sequence<std::size(type_table)>{}),
#include "core/ptx/semantics/integer.def"
};

// By opcode: where its entries begin.
constexpr auto first_entry = [] {
    std::array<std::uint8_t, std::numeric_limits<std::uint8_t>::max()> first{};
    first.fill(std::size(table));
    for (std::size_t i = std::size(table); i-- > 0;)
        first[static_cast<std::size_t>(table[i].opcode)] = static_cast<std::uint8_t>(i);
    return first;
}();

std::optional<Form> form_of(const Instruction& instruction) {
    const Modifiers& modifiers = instruction.modifiers;
    const bool packed = is_packed(instruction.type);
    if (modifiers.carry_out) return std::nullopt;
    if (instruction.opcode == Opcode::shf) return modifiers.left ? Form::left : Form::right;
    switch (modifiers.multiply_part) {
        case MultiplyPart::lo:
            if (modifiers.sat) return std::nullopt;
            return Form::lo;
        case MultiplyPart::hi:
            return modifiers.sat ? Form::hi_sat : Form::hi;
        case MultiplyPart::wide:
            if (modifiers.sat) return std::nullopt;
            return Form::wide;
        case MultiplyPart::none:
            break;
    }
    if (modifiers.sat) return Form::sat;
    if (modifiers.relu) return packed ? Form::relu_packed : Form::relu;
    return packed ? Form::plain_packed : Form::plain;
}

std::uint64_t permute_mode(const Instruction& instruction) {
    constexpr std::array<std::string_view, 7> modes{"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    for (std::size_t mode = 1; mode < modes.size(); mode++)
        if (has(instruction, modes[mode])) return mode;
    return static_cast<std::uint64_t>(PermuteMode::index);
}

// Nothing: it is a form of the opcode that integer.def does not have.
std::optional<Control> control_of(const Instruction& instruction) {
    const Modifiers& modifiers = instruction.modifiers;
    const std::uint64_t clamps = modifiers.clamp ? Control::clamp : 0,
                        signs = is_signed(instruction.source_type) ? Control::b_is_signed : 0;
    switch (instruction.opcode) {
        case Opcode::shf:
        case Opcode::bmsk:
        case Opcode::szext:
            return Control{clamps};
        case Opcode::bfind:
            return Control{has(instruction, "shiftamt") ? Control::shift_amount : 0};
        case Opcode::dp4a:
            return Control{signs};
        case Opcode::dp2a:
            return Control{signs | (has(instruction, "hi") ? Control::upper_half : 0)};
        case Opcode::prmt:
            return Control{permute_mode(instruction)};
        case Opcode::setp:
            if (modifiers.comparison == Comparison::none) return std::nullopt;
            return Control{static_cast<std::uint64_t>(modifiers.comparison)};
        case Opcode::lop3: {
            const auto sources = instruction.sources();
            if (modifiers.boolean_op != BooleanOp::none || sources.size() != 4) return std::nullopt;
            return Control{sources[3].bits};
        }
        case Opcode::slct:
            if (instruction.source_type != Type::s32) return std::nullopt;
            return Control{};
        default:
            return Control{};
    }
}

}  // namespace

std::span<const Entry> entries() {
    return table;
}

const Function* find(Opcode opcode, Form form, Type type) {
    for (std::size_t i = first_entry[static_cast<std::size_t>(opcode)];
         i < std::size(table) && table[i].opcode == opcode; i++) {
        const Function& function = table[i].of_type[static_cast<std::size_t>(type)];
        if (table[i].form == form) return function.compute == nullptr ? nullptr : &function;
    }
    return nullptr;
}

std::optional<Operation> operation_of(const Instruction& instruction) {
    const auto form = form_of(instruction);
    if (!form || find(instruction.opcode, *form, instruction.type) == nullptr) return std::nullopt;
    const auto control = control_of(instruction);
    if (!control) return std::nullopt;
    return Operation{instruction.opcode, *form, instruction.type, *control};
}

std::optional<std::uint64_t> evaluate(const Operation& operation, std::span<const std::uint64_t> operands) {
    const Function* function = find(operation.opcode, operation.form, operation.type);
    if (function == nullptr || operands.size() < function->arity) return std::nullopt;
    return function->compute(operands.data(), operation.control);
}

std::uint64_t convert(std::uint64_t bits, Type from, Type to, bool saturates) {
    const unsigned from_bits = integer_bits(from), to_bits = integer_bits(to);
    std::uint64_t value = truncate_bits(bits, from_bits);
    const bool is_negative = is_signed(from) && sign_extend(bits, from_bits) < 0;
    if (is_negative) value = static_cast<std::uint64_t>(sign_extend(bits, from_bits));
    if (saturates) {
        const std::uint64_t most = truncate_bits(~std::uint64_t{0}, is_signed(to) ? to_bits - 1 : to_bits);
        if (!is_negative)
            value = std::min(value, most);
        else if (!is_signed(to))
            value = 0;
        else
            value = static_cast<std::uint64_t>(
                std::max(static_cast<std::int64_t>(value), -1 - static_cast<std::int64_t>(most)));
    }
    return truncate_bits(value, to_bits);
}

}  // namespace trimtab::ptx::semantics
