// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of expressions: PTX's pure integer instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/ptx/semantics/evaluate.h"
#include "core/ptx/types.h"

namespace trimtab::analysis {

enum class Operator : std::uint8_t {
    add,
    sub,
    mul_lo,
    mul_hi,
    mul_wide,
    mul24_lo,
    mad_lo,
    mad_hi,
    mad_wide,
    shl,
    shr,
    and_,
    or_,
    xor_,
    not_,
    neg,
    abs,
    min,
    max,
    div,
    rem,
    cvt,
    setp,
    selp
};

struct Operation {
    Operator op = Operator::add;
    ptx::Comparison comparison = ptx::Comparison::none;
    ptx::Type type = ptx::Type::none;    // that the operation works in; of cvt: of the result
    ptx::Type source = ptx::Type::none;  // of cvt: of the operand
    ptx::Type result = ptx::Type::none;
    unsigned arity = 0;

    [[nodiscard]] ptx::Type operand_type(unsigned index) const;
    friend auto operator<=>(const Operation&, const Operation&) = default;
};

// nullopt: the grammar has no such operator, or not of this type. `comparison` is setp's.
[[nodiscard]] std::optional<Operation> operation_of(Operator op, ptx::Type type,
                                                    ptx::Comparison comparison = ptx::Comparison::none);
[[nodiscard]] std::optional<Operation> conversion(ptx::Type to, ptx::Type from);
// The operator that an opcode is in that form; nullopt: the grammar has none.
[[nodiscard]] std::optional<Operator> operator_of(ptx::Opcode opcode, ptx::semantics::Form form);
// Their names in files: "setp.ge.s32", "cvt.u64.u32".
[[nodiscard]] std::optional<Operation> decode_operation(std::string_view mnemonic);
[[nodiscard]] std::string mnemonic(const Operation& operation);

// The result's bits, zero-extended from its width; operands likewise (core/ptx/semantics/integer.h). What PTX leaves
// unspecified, quotient and remainder by zero, is all ones, as on GPUs: fit for what a launch will compute, not for what a
// proof may take for granted.
[[nodiscard]] std::uint64_t apply(const Operation& operation, std::span<const std::uint64_t> operands);

// Integer types of at most 64 bits and pred (one bit); 0 for every other type.
[[nodiscard]] constexpr unsigned width_bits(ptx::Type type) {
    return ptx::integer_bits(type);
}
[[nodiscard]] constexpr bool is_signed_type(ptx::Type type) {
    return ptx::is_signed(type);
}
[[nodiscard]] constexpr std::string_view type_name(ptx::Type type) {
    return ptx::name(type);
}
[[nodiscard]] std::optional<ptx::Type> type_from_name(std::string_view name);
// b32, u32 or s32: nullopt where there is no such width.
[[nodiscard]] std::optional<ptx::Type> bits_type(unsigned width);
[[nodiscard]] std::optional<ptx::Type> integer_type(bool is_signed, unsigned width);
[[nodiscard]] std::string_view comparison_name(ptx::Comparison comparison);

using ptx::semantics::sign_extend;
using ptx::semantics::truncate_bits;

}  // namespace trimtab::analysis
