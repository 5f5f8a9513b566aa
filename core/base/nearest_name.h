// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the user may have meant: the known name nearest to a misspelt one.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::base {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, letter case aside.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto same = [](char l, char r) {
        return std::tolower(static_cast<unsigned char>(l)) == std::tolower(static_cast<unsigned char>(r));
    };
    // Three rows of the usual table: the swap looks two rows back.
    std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(above);
        above.swap(row);
    }
    return above[b.size()];
}

// The name of `names` (anything of strings) nearest to `name`, the first among equals; empty if there is
// none.
template <typename Names>
[[nodiscard]] std::string nearest_name(std::string_view name, const Names& names) {
    std::string best;
    std::size_t best_distance = std::numeric_limits<std::size_t>::max();
    for (const auto& candidate : names) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

// "; did you mean "gemm"?" where one of `names` is near to `name`, or holds it; else empty, for a far guess
// only misleads.
template <typename Names>
[[nodiscard]] std::string suggestion(std::string_view name, const Names& names) {
    constexpr std::size_t least_part = 3;
    std::string best = nearest_name(name, names);
    if (edit_distance(name, best) > std::max<std::size_t>(name.size() / 3, 1)) {
        best.clear();
        if (name.size() >= least_part)
            for (const auto& candidate : names)
                if (best.empty() && std::string_view(candidate).contains(name)) best = candidate;
    }
    return best.empty() ? "" : "; did you mean \"" + best + "\"?";
}

}  // namespace trimtab::base
