// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/least_squares.h"

#include <lapacke.h>

#include <algorithm>
#include <cmath>

namespace trimtab::driver_gen {

std::optional<LeastSquares> solve(const Matrix& columns, std::span<const double> right_side,
                                  double truncation) {
    const std::size_t m = columns.rows, n = columns.columns;
    LeastSquares result;
    result.coefficients.assign(n, 0);
    if (n == 0) return result;
    const auto finite = [](double v) { return std::isfinite(v); };
    if (!std::ranges::all_of(columns.values, finite) || !std::ranges::all_of(right_side, finite))
        return std::nullopt;

    Matrix scaled = columns;
    std::vector<double> scale(n, 1);
    for (std::size_t c = 0; c < n; ++c) {
        double largest = 0, square = 0;
        for (const double v : scaled.column(c)) largest = std::max(largest, std::abs(v));
        if (largest == 0) continue;
        for (const double v : scaled.column(c)) square += (v / largest) * (v / largest);
        scale[c] = largest * std::sqrt(square);
        for (double& v : scaled.column(c)) v /= scale[c];
    }

    const std::size_t k = std::min(m, n);
    std::vector<double> s(k), u(m * k), vt(k * n);
    const lapack_int info =
        LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', static_cast<lapack_int>(m), static_cast<lapack_int>(n),
                       scaled.values.data(), static_cast<lapack_int>(m), s.data(), u.data(),
                       static_cast<lapack_int>(m), vt.data(), static_cast<lapack_int>(k));
    if (info != 0) return std::nullopt;

    for (std::size_t i = 0; i < k; ++i) {
        if (!(s[i] > truncation * s[0])) continue;
        ++result.rank;
        double along = 0;
        for (std::size_t r = 0; r < m; ++r) along += u[i * m + r] * right_side[r];
        for (std::size_t c = 0; c < n; ++c) result.coefficients[c] += along / s[i] * vt[c * k + i];
    }
    for (std::size_t c = 0; c < n; ++c) result.coefficients[c] /= scale[c];
    const double smallest = n > m ? 0 : s[k - 1];
    result.condition = smallest > 0 ? s[0] / smallest : 1 / truncation;
    result.condition = std::min(result.condition, 1e300);
    return result;
}

}  // namespace trimtab::driver_gen
