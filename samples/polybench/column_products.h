// Checks that the CORR and COVAR samples share. As on the device, data has a row and a column 0 that nothing
// uses: vectors j = 1 .. m are its columns, points i = 1 .. n its rows.
#pragma once

#include "../common/sample.h"

inline void verify_means(sample::Verifier& verifier, const std::vector<float>& mean,
                         const std::vector<float>& data, std::size_t m, std::size_t n) {
    for (std::size_t j = 1; j <= m; j++) {
        sample::Sum expected;
        for (std::size_t i = 1; i <= n; i++) expected.add(double(data[i * (m + 1) + j]) / double(n));
        verifier.equals("mean", j, mean[j], expected);
    }
}

// Is symmat[j1][j2] the product of columns j1 and j2 of data, for every j1 and j2? With unit_diagonal,
// symmat[j1][j1] must be 1 instead.
inline void verify_column_products(sample::Verifier& verifier, const std::vector<float>& symmat,
                                   const std::vector<float>& data, std::size_t m, std::size_t n,
                                   bool unit_diagonal) {
    std::vector<float> columns(m * n);
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t j = 0; j < m; j++) columns[j * n + i] = data[(i + 1) * (m + 1) + (j + 1)];
    for (std::size_t at : sample::outputs_to_check(m * m, n)) {
        const std::size_t j1 = at / m, j2 = at % m;
        sample::Sum expected;
        if (unit_diagonal && j1 == j2) {
            expected.add(1.0);
        } else {
            for (std::size_t i = 0; i < n; i++)
                expected.add(double(columns[j1 * n + i]) * columns[j2 * n + i]);
        }
        const std::size_t element = (j1 + 1) * (m + 1) + (j2 + 1);
        verifier.equals("symmat", element, symmat[element], expected);
    }
}
