// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kind of numbers registers hold. Their declarations do not tell: LLVM keeps floats in .b32 registers and stores
// them by st.b32. It is told by what made a value, and, of a value that is only moved, by what was in the memory that it
// was loaded from.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/module.h"

namespace trimtab::ptx {

enum class NumberKind : std::uint8_t {
    // Nothing was computed: constants, the launch's parameters, and what was moved from memory that holds such.
    moved,
    // Results of floating-point instructions, which may have rounded. A register may hold several, side by side.
    f16,
    bf16,
    f32,
    f64,
    other  // integers, addresses, and what may be of several kinds
};
[[nodiscard]] NumberKind joined(NumberKind one, NumberKind another);
[[nodiscard]] NumberKind kind_of(Type type);
[[nodiscard]] unsigned size_bytes(NumberKind kind);  // 0: of no floating-point number

// Of some functions that call each other. Instructions are numbered through them, in that order.
class NumberKinds {
  public:
    explicit NumberKinds(std::span<const Function* const> functions);

    // What a value is: `kind`, and whatever is in the memory that these instructions load (ld, and atom where its
    // result is no new number).
    struct Origin {
        NumberKind kind = NumberKind::moved;
        std::vector<std::uint32_t> loads;  // in order
    };
    // Of an operand of that function, or of an element of a vector. Constants are moved.
    [[nodiscard]] const Origin& of(std::size_t function, const Operand& operand) const;
    // Does anything read it?
    [[nodiscard]] bool is_read(std::size_t function, RegisterIndex reg) const;

  private:
    class Builder;

    std::vector<std::size_t> first_;  // by function: its first register's place in what follows
    std::vector<Origin> origins_;
    std::vector<bool> is_read_;
};

}  // namespace trimtab::ptx
