// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of expressions: PTX's pure integer instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ptx/types.h"

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
// Their names in files: "setp.ge.s32", "cvt.u64.u32".
[[nodiscard]] std::optional<Operation> decode_operation(std::string_view mnemonic);
[[nodiscard]] std::string mnemonic(const Operation& operation);

// The result's bits, zero-extended from its width; operands likewise. What PTX leaves unspecified, quotient
// and remainder by zero, is all ones, as on GPUs and the emulator (emulator/exec/vector/integer_ops.h): fit for what a
// launch will compute, not for what a proof may take for granted.
[[nodiscard]] std::uint64_t apply(const Operation& operation, std::span<const std::uint64_t> operands);

// Integer types of at most 64 bits and pred (one bit); 0 for every other type.
[[nodiscard]] unsigned width_bits(ptx::Type type);
[[nodiscard]] bool is_signed_type(ptx::Type type);
[[nodiscard]] std::string_view type_name(ptx::Type type);
[[nodiscard]] std::optional<ptx::Type> type_from_name(std::string_view name);
// b32, u32 or s32: nullopt where there is no such width.
[[nodiscard]] std::optional<ptx::Type> bits_type(unsigned width);
[[nodiscard]] std::optional<ptx::Type> integer_type(bool is_signed, unsigned width);
[[nodiscard]] std::string_view comparison_name(ptx::Comparison comparison);

[[nodiscard]] constexpr std::uint64_t truncate_bits(std::uint64_t bits, unsigned width) {
    return width >= 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}
[[nodiscard]] constexpr std::int64_t sign_extend(std::uint64_t bits, unsigned width) {
    return width >= 64 ? static_cast<std::int64_t>(bits)
                       : static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}

}  // namespace trimtab::analysis
