// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace trimtab::model {

namespace {

double rounded(double value, int digits) {
    return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

// "0.36", "1600", never "1.6e+03"; digits that are known to be noughts stay: "1.0".
std::string digits_text(double value, int digits) {
    const double shown = rounded(value, digits);
    if (shown == 0) return "0";
    const int places = digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(shown))));
    return fmt::format("{:.{}f}", shown, std::max(0, places));
}

struct Unit {
    double ns = 1;
    std::string_view name;
};
constexpr Unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};

const Unit& unit_of(double ns) {
    const Unit* found = &units[0];
    for (const Unit& unit : units)
        if (std::abs(ns) >= unit.ns) found = &unit;
    return *found;
}

}  // namespace

int significant_digits(double error) {
    constexpr int least = 2, most = 6;
    int digits = least;
    double share = std::expm1(std::abs(error));
    for (; share <= 0.1 && digits < most; ++digits) share *= 10;
    return digits;
}

std::string number_text(double value, double error) {
    return digits_text(value, significant_digits(error));
}

std::string time_text(double ns, const PredictionError& error) {
    if (!std::isfinite(ns)) return "unknown";
    const int digits = significant_digits(error.time);
    const double shown = rounded(ns, digits);
    const Unit& unit = unit_of(shown);
    return fmt::format("{} {}", digits_text(shown / unit.ns, digits), unit.name);
}

std::string time_with_bounds(double ns, const PredictionError& error) {
    if (!std::isfinite(ns)) return "unknown";
    const int digits = significant_digits(error.time);
    const Unit& unit = unit_of(rounded(ns, digits));
    const double factor = std::exp(error.time);
    return fmt::format("{} ({} to {} {})", time_text(ns, error), digits_text(ns / factor / unit.ns, digits),
                       digits_text(ns * factor / unit.ns, digits), unit.name);
}

}  // namespace trimtab::model
