// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace trimtab::ptx {
namespace {

// Each list follows its enumeration in types.h.
constexpr std::array type_names = {
    std::string_view("none"),       std::string_view("pred"),   std::string_view("b8"),
    std::string_view("b16"),        std::string_view("b32"),    std::string_view("b64"),
    std::string_view("b128"),       std::string_view("u8"),     std::string_view("u16"),
    std::string_view("u32"),        std::string_view("u64"),    std::string_view("s8"),
    std::string_view("s16"),        std::string_view("s32"),    std::string_view("s64"),
    std::string_view("f16"),        std::string_view("f16x2"),  std::string_view("bf16"),
    std::string_view("bf16x2"),     std::string_view("tf32"),   std::string_view("e4m3"),
    std::string_view("e5m2"),       std::string_view("e4m3x2"), std::string_view("e5m2x2"),
    std::string_view("f32"),        std::string_view("f32x2"),  std::string_view("f64"),
    std::string_view("u16x2"),      std::string_view("s16x2"),  std::string_view("texref"),
    std::string_view("samplerref"), std::string_view("surfref")};
constexpr std::array space_names = {std::string_view(""),
                                    std::string_view("reg"),
                                    std::string_view("sreg"),
                                    std::string_view("param"),
                                    std::string_view("global"),
                                    std::string_view("shared"),
                                    std::string_view("shared::cluster"),
                                    std::string_view("local"),
                                    std::string_view("const"),
                                    std::string_view("tex")};

static_assert(type_names.size() == static_cast<std::size_t>(Type::surfref) + 1);
static_assert(space_names.size() == static_cast<std::size_t>(Space::tex) + 1);

template <class Enum, std::size_t n>
std::optional<Enum> find(const std::array<std::string_view, n>& names, std::string_view spelling) {
    const auto at = std::ranges::find(names, spelling);
    if (at == names.end()) return std::nullopt;
    return static_cast<Enum>(at - names.begin());
}

}  // namespace

std::string_view name(Type type) {
    return type_names[static_cast<std::size_t>(type)];
}
std::string_view name(Space space) {
    return space_names[static_cast<std::size_t>(space)];
}

std::optional<Type> find_type(std::string_view spelling) {
    if (spelling == "none") return std::nullopt;
    return find<Type>(type_names, spelling);
}

std::optional<Space> find_space(std::string_view spelling) {
    if (spelling == "shared::cta") return Space::shared;
    if (spelling.starts_with("param::")) return Space::param;
    if (spelling.empty()) return std::nullopt;
    return find<Space>(space_names, spelling);
}

}  // namespace trimtab::ptx
