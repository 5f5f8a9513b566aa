// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/ncu_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace trimtab::advice {
namespace {

constexpr std::size_t most_shown = 40;
constexpr std::array<std::string_view, 5> no_values{"", "n/a", "nan", "-nan", "no data"};

}  // namespace

std::string shown(std::string_view text) {
    std::string out = "'";
    for (const char c : text.substr(0, most_shown)) out += c >= ' ' && c <= '~' ? c : '?';
    return out + (text.size() > most_shown ? "...'" : "'");
}

std::expected<std::optional<double>, std::string> ncu_number(std::string_view text) {
    const std::string_view sum = text.substr(0, text.find(" ("));
    if (std::ranges::find(no_values, sum) != no_values.end() || sum.starts_with("(!)")) return std::nullopt;
    std::string digits;
    const std::size_t point = std::min(sum.find('.'), sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i)
        if (const bool parts_thousands = sum[i] == ',' && i > 0 && i < point && (point - i) % 4 == 0;
            !parts_thousands)
            digits += sum[i];
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, failed] = std::from_chars(digits.data(), end, value);
    if (failed != std::errc{} || stopped != end || !std::isfinite(value) || value < 0)
        return std::unexpected(shown(text) + " is no number that a counter can have");
    return value;
}

std::expected<trimtab_dim3, std::string> ncu_size(std::string_view text) {
    std::array<std::uint32_t, 3> sizes{1, 1, 1};
    std::string_view rest = text;
    const bool is_bracketed = rest.starts_with('(') && rest.ends_with(')');
    if (is_bracketed) rest = rest.substr(1, rest.size() - 2);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const auto [stopped, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), sizes[d]);
        if (failed != std::errc{} || sizes[d] == 0) break;
        rest.remove_prefix(static_cast<std::size_t>(stopped - rest.data()));
        if (rest.empty()) return trimtab_dim3{.x = sizes[0], .y = sizes[1], .z = sizes[2]};
        if (!is_bracketed || !rest.starts_with(", ")) break;
        rest.remove_prefix(2);
    }
    return std::unexpected(shown(text) + " is no size, as (256, 1, 1) is");
}

std::expected<unsigned, std::string> ncu_capability(std::string_view text) {
    unsigned major = 0, minor = 0;
    const char* const first = text.data();
    const char* const end = first + text.size();
    const auto whole = std::from_chars(first, end, major);
    if (whole.ec == std::errc{} && whole.ptr != end && *whole.ptr == '.') {
        const auto rest = std::from_chars(whole.ptr + 1, end, minor);
        if (rest.ec == std::errc{} && rest.ptr == end && major < 100 && minor < 10) return 10 * major + minor;
    }
    return std::unexpected(shown(text) + " is no compute capability, as 7.5 is");
}

}  // namespace trimtab::advice
