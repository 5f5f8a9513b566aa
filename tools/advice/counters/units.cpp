// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace trimtab::advice {
namespace {

struct Prefix {
    char letter;
    double factor;
};
// Decimal, as Nsight Compute scales: 16.38 Kbyte are 16384 bytes. Small letters for small parts.
constexpr std::array prefixes{Prefix{'K', 1e3},  Prefix{'M', 1e6},  Prefix{'G', 1e9},  Prefix{'T', 1e12},
                              Prefix{'m', 1e-3}, Prefix{'u', 1e-6}, Prefix{'n', 1e-9}, Prefix{'p', 1e-12}};

struct Base {
    std::string_view word;
    Dimension dimension;
};
constexpr std::array bases{
    Base{"byte", Dimension::bytes},     Base{"bytes", Dimension::bytes},     Base{"B", Dimension::bytes},
    Base{"second", Dimension::seconds}, Base{"seconds", Dimension::seconds}, Base{"s", Dimension::seconds},
    Base{"sec", Dimension::seconds},    Base{"hz", Dimension::hertz},        Base{"Hz", Dimension::hertz}};

std::optional<Unit> exactly(std::string_view word, double factor) {
    const auto* const base = std::ranges::find(bases, word, &Base::word);
    if (base == bases.end()) return std::nullopt;
    return Unit{.dimension = base->dimension, .factor = factor};
}

std::optional<Unit> part(std::string_view word) {
    if (word == "%") return Unit{.dimension = Dimension::percent, .factor = 1};
    if (const auto plain = exactly(word, 1)) return plain;
    if (!word.empty())
        for (const Prefix& prefix : prefixes)
            if (word.front() == prefix.letter)
                if (const auto scaled = exactly(word.substr(1), prefix.factor)) return scaled;
    const auto is_of_a_word = [](unsigned char c) {
        return std::isalpha(c) != 0 || c == '_' || c == ' ' || c == '#';
    };
    if (!std::ranges::all_of(word, is_of_a_word)) return std::nullopt;
    return Unit{};
}

}  // namespace

std::string_view name(Dimension dimension) {
    switch (dimension) {
        case Dimension::seconds:
            return "a time";
        case Dimension::bytes:
            return "a number of bytes";
        case Dimension::bytes_per_second:
            return "bytes per second";
        case Dimension::hertz:
            return "a frequency";
        case Dimension::percent:
            return "a percentage";
        case Dimension::count:
            break;
    }
    return "a count";
}

std::string_view si_unit(Dimension dimension) {
    switch (dimension) {
        case Dimension::seconds:
            return "second";
        case Dimension::bytes:
            return "byte";
        case Dimension::bytes_per_second:
            return "byte/second";
        case Dimension::hertz:
            return "hz";
        case Dimension::percent:
            return "%";
        case Dimension::count:
            break;
    }
    return "";
}

std::optional<Unit> parse_unit(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto above = part(text.substr(0, slash));
    if (!above || slash == std::string_view::npos) return above;
    const auto below = part(text.substr(slash + 1));
    if (!below) return std::nullopt;
    if (below->dimension == Dimension::count) return above;  // a block, a thread, a cycle
    if (below->dimension != Dimension::seconds) return std::nullopt;
    const double factor = above->factor / below->factor;
    if (above->dimension == Dimension::bytes)
        return Unit{.dimension = Dimension::bytes_per_second, .factor = factor};
    if (above->dimension == Dimension::count) return Unit{.dimension = Dimension::hertz, .factor = factor};
    return std::nullopt;
}

}  // namespace trimtab::advice
