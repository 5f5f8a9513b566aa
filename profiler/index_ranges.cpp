// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/index_ranges.h"

namespace trimtab::profiler {

double LinearForm::evaluate(std::span<const double> data) const {
    double sum = constant;
    for (const auto& [index, factor] : terms) sum += factor * data[index];
    return sum;
}

std::array<double, 6> IndexRanges::evaluate(std::span<const double> data) const {
    std::array<double, 6> range{};
    for (std::size_t d = 0; d < 3; ++d) {
        const double low = first[d].evaluate(data);
        double high = end[d].evaluate(data);
        if (extent[d] != no_data && data[extent[d]] < high) high = data[extent[d]];
        range[2 * d] = low > 0 ? low : 0;
        range[2 * d + 1] = high;
    }
    return range;
}

}  // namespace trimtab::profiler
