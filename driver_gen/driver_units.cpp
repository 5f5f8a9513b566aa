// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/driver_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "driver_gen/c_driver.h"

namespace trimtab::driver_gen {
namespace {

constexpr std::size_t drivers_of_unit = 8;

bool is_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Hands the pieces of a C text on: visit(piece, is a name). Strings, characters and comments are in pieces of no name.
template <typename Visit>
void for_each_piece(std::string_view text, const Visit& visit) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        bool is_name = false;
        const char first = text[at];
        if (text.substr(at, 2) == "/*") {
            end = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
        } else if (first == '"' || first == '\'') {
            while (end < text.size() && text[end] != first) end += text[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, text.size());
        } else if (is_of_name(first)) {
            while (end < text.size() && is_of_name(text[end])) end++;
            is_name = std::isdigit(static_cast<unsigned char>(first)) == 0;
        }
        visit(text.substr(at, end - at), is_name);
        at = end;
    }
}

bool is_generated(std::string_view name) {
    return name.starts_with("trimtab_") || name.starts_with("metric_");
}

// Names at the level of a file begin so. Those of the common text and of driver.h are meant by all alike, and
// trimtab_driver_<id> is the one that others know.
std::string with_own_names(std::string_view text, const std::set<std::string_view>& shared,
                           std::size_t number) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for_each_piece(text, [&](std::string_view piece, bool is_name) {
        out += piece;
        if (is_name && is_generated(piece) && !piece.starts_with("trimtab_driver_") &&
            !shared.contains(piece))
            out += fmt::format("_{}", number);
    });
    return out;
}

std::set<std::string_view> shared_names() {
    std::set<std::string_view> names{"trimtab_driver",     "trimtab_dim3",   "trimtab_device",
                                     "trimtab_image",      "trimtab_limits", "trimtab_choice",
                                     "trimtab_prediction", "trimtab_asked"};
    for_each_piece(common_driver_text(), [&](std::string_view piece, bool is_name) {
        if (is_name && is_generated(piece)) names.insert(piece);
    });
    return names;
}

}  // namespace

std::vector<SourceFile> driver_units(std::span<const SourceFile> drivers) {
    const std::string& common = common_driver_text();
    const std::set<std::string_view> shared = shared_names();
    std::vector<SourceFile> units;
    for (std::size_t first = 0; first < drivers.size(); first += drivers_of_unit) {
        const auto of_unit = drivers.subspan(first, std::min(drivers_of_unit, drivers.size() - first));
        if (of_unit.size() == 1) {
            units.push_back(of_unit.front());
            continue;
        }
        SourceFile unit{.name = fmt::format("trimtab_drivers_{}.c", units.size()), .content = common};
        for (std::size_t i = 0; i < of_unit.size(); ++i) {
            const std::string_view whole = of_unit[i].content;
            const std::size_t begins = whole.find(common);
            unit.content += whole.substr(0, begins);
            unit.content += with_own_names(whole.substr(begins + common.size()), shared, i);
        }
        units.push_back(std::move(unit));
    }
    return units;
}

}  // namespace trimtab::driver_gen
