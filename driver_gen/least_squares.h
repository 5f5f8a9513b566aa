// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear least squares by singular value decomposition (papers: KLARAPTOR, section V-E: columns of monomials
// are nearly dependent, so neither normal equations nor QR will do).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trimtab::driver_gen {

// Column-major, rows >= 1.
struct Matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<double> values;
    Matrix(std::size_t rows, std::size_t columns) : rows(rows), columns(columns), values(rows * columns) {}
    [[nodiscard]] std::span<double> column(std::size_t c) { return {values.data() + c * rows, rows}; }
    [[nodiscard]] std::span<const double> column(std::size_t c) const {
        return {values.data() + c * rows, rows};
    }
};

struct LeastSquares {
    std::vector<double> coefficients;
    double condition = 1;    // largest singular value over the smallest, of the scaled columns
    std::uint32_t rank = 0;  // singular values above `truncation` of the largest
};

// Columns are scaled to unit length first; singular values at or below `truncation` times the largest are
// dropped, so that dependent columns share their weight and none grows without bound. None where a value is
// not finite or LAPACK does not converge.
inline constexpr double default_truncation = 1e-11;
[[nodiscard]] std::optional<LeastSquares> solve(const Matrix& columns, std::span<const double> right_side,
                                                double truncation = default_truncation);

}  // namespace trimtab::driver_gen
