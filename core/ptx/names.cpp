// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/names.h"

#include <algorithm>
#include <iterator>

namespace trimtab::ptx {
namespace {

constexpr std::string_view space_names[] = {
#define SPACE(enumerator, spelling) spelling,
#include "core/ptx/modifiers.def"
};

}  // namespace

std::string_view name(Space space) {
    return space_names[static_cast<std::size_t>(space)];
}

std::optional<Type> find_type(std::string_view spelling) {
    const auto at = std::ranges::find(type_table, spelling, &TypeInfo::name);
    if (at == std::end(type_table) || spelling == "none") return std::nullopt;
    return static_cast<Type>(at - std::begin(type_table));
}

std::optional<Space> find_space(std::string_view spelling) {
    if (spelling == "shared::cta") return Space::shared;
    if (spelling.starts_with("param::")) return Space::param;
    if (spelling.empty()) return std::nullopt;
    const auto at = std::ranges::find(space_names, spelling);
    if (at == std::end(space_names)) return std::nullopt;
    return static_cast<Space>(at - std::begin(space_names));
}

}  // namespace trimtab::ptx
