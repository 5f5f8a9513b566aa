// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of semantics/integer.h and bits.h for single values, chosen at run time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/ptx/module.h"
#include "core/ptx/semantics/forms.h"

namespace trimtab::ptx::semantics {

struct Operation {
    Opcode opcode = Opcode::unknown;
    Form form = Form::plain;
    Type type = Type::none;
    Control control;
};
// What an instruction computes of its operands, setp's combination with a predicate and literals that are Control left
// out. Nothing: it is not of integer.def (cvt, of which see convert(), and what leaves a carry are not).
[[nodiscard]] std::optional<Operation> operation_of(const Instruction& instruction);

inline constexpr std::size_t max_operands = 4;
// One of the functions, of one type.
struct Function {
    std::uint64_t (*compute)(const std::uint64_t* operands, Control control) = nullptr;
    std::array<Type, max_operands> operands{};  // u8 to s64; pred: a predicate
    Type result = Type::none;
    std::uint8_t arity = 0;
};
// nullptr: integer.def has no such form, or not of that type.
[[nodiscard]] const Function* find(Opcode opcode, Form form, Type type);

// The result's bits with zeros above; what is above the operands' widths does not count. Nothing: there is no such
// function, or it takes more operands.
[[nodiscard]] std::optional<std::uint64_t> evaluate(const Operation& operation,
                                                    std::span<const std::uint64_t> operands);

// cvt between integers of at most 64 bits (ptx::integer_bits): with `saturates`, what `to` cannot hold is the nearest
// number that it can.
[[nodiscard]] std::uint64_t convert(std::uint64_t bits, Type from, Type to, bool saturates = false);

[[nodiscard]] constexpr std::uint64_t truncate_bits(std::uint64_t bits, unsigned width) {
    return width >= 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}
[[nodiscard]] constexpr std::int64_t sign_extend(std::uint64_t bits, unsigned width) {
    return width >= 64 ? static_cast<std::int64_t>(bits)
                       : static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}

// All of integer.def.
struct Entry {
    Opcode opcode = Opcode::unknown;
    Form form = Form::plain;
    std::array<Function, std::size(type_table)> of_type{};
};
[[nodiscard]] std::span<const Entry> entries();

}  // namespace trimtab::ptx::semantics
