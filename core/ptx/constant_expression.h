// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX ISA, "Constants" and "Constant Expressions".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/ptx/token_stream.h"

namespace trimtab::ptx {

struct Constant {
    enum class Kind : std::uint8_t { s64, u64, f32, f64 };
    Kind kind = Kind::s64;
    std::uint64_t bits = 0;

    [[nodiscard]] bool is_integer() const { return kind == Kind::s64 || kind == Kind::u64; }
    // The same value in another floating-point width; integers are left alone.
    [[nodiscard]] Constant as_f32() const;
    [[nodiscard]] Constant as_f64() const;
};

// One literal: 17, 0x1F, 017, 0b101, each with or without U; 1.5, 2e-3, 0f3F800000, 0d3FF0000000000000.
[[nodiscard]] std::optional<Constant> read_number(std::string_view spelling);

// Does a constant expression start here?
[[nodiscard]] bool starts_constant(const Token& token);
[[nodiscard]] bool parse_constant(TokenStream& tokens, Constant& out);
// A number from 0 to 2^32 - 1; `what` names it in the error.
[[nodiscard]] bool parse_count(TokenStream& tokens, std::uint64_t& out, std::string_view what);

}  // namespace trimtab::ptx
