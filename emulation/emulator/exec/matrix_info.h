// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices that the lanes of a warp hold in pieces: wmma, mma, ldmatrix and their kin.
//
// PTX ISA, "Matrix Fragments for mma.m16n8k16" and the like: lane l is in group g = l / 4 at place t = l % 4.
// A register holds `per_register` neighbours of a row (of A) or column (of B); further registers hold first
// the other blocks of 8 rows (A) then the next columns. All of mma.sync's shapes but m8n8k4 on f16 follow
// this rule. wmma's fragments, whose layout is nobody's business, follow it too; where such a fragment has
// more registers than the matrix has values, they hold them again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

enum class MatrixElement : std::uint8_t { f16, bf16, tf32, f32, f64, s8, u8, s4, u4, b1, e4m3, e5m2, s32 };
[[nodiscard]] std::optional<MatrixElement> matrix_element(std::string_view suffix);
[[nodiscard]] unsigned element_bits(MatrixElement element);

struct MatrixShape {
    unsigned m = 0, n = 0, k = 0;
};
// "m16n8k16"
[[nodiscard]] std::optional<MatrixShape> matrix_shape(std::string_view suffix);

enum class MatrixRole : std::uint8_t { a, b, accumulator };

// One of the three matrices, as a warp holds it.
struct Fragment {
    MatrixRole role = MatrixRole::a;
    MatrixShape shape;
    MatrixElement element = MatrixElement::f16;

    [[nodiscard]] unsigned rows() const { return role == MatrixRole::b ? shape.k : shape.m; }
    [[nodiscard]] unsigned columns() const { return role == MatrixRole::a ? shape.k : shape.n; }
    [[nodiscard]] unsigned per_register() const;
    [[nodiscard]] unsigned registers() const;  // of a lane, each value once
    [[nodiscard]] unsigned register_bytes() const { return element == MatrixElement::f64 ? 8 : 4; }
    // Row and column of a register's element.
    [[nodiscard]] std::pair<unsigned, unsigned> place(unsigned lane, unsigned reg, unsigned index) const;
};

struct MatrixMultiply {
    Fragment a, b, c, d;
    std::vector<OperandRef> a_registers, b_registers, c_registers,
        d_registers;         // as many as registers() says
    bool saturates = false;  // to finite values
    bool ands = false;       // b1: and, not xor, before the bits are counted
};

// Where a lane's element lies in memory: base + (line * stride + position) elements.
struct MatrixAddresses {
    std::array<std::uint16_t, warp_lanes> line{}, position{};
    unsigned bits = 0;
    std::uint32_t stride = 0;  // where no operand gives it
};

}  // namespace trimtab::emulator
