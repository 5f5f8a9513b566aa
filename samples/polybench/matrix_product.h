// Checks a matrix product of the 2MM and 3MM samples.
#pragma once

#include "../common/sample.h"

// Is product (rows x columns) = left (rows x inner) * right (inner x columns)? Both factors as the device had
// them.
inline void verify_product(sample::Verifier& verifier, const char* name, const std::vector<float>& product,
                           const std::vector<float>& left, const std::vector<float>& right,
                           std::size_t columns, std::size_t inner) {
    for (std::size_t at : sample::outputs_to_check(product.size(), inner)) {
        const std::size_t i = at / columns, j = at % columns;
        sample::Sum expected;
        for (std::size_t k = 0; k < inner; k++)
            expected.add(double(left[i * inner + k]) * right[k * columns + j]);
        verifier.equals(name, at, product[at], expected);
    }
}
