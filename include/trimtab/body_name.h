// Bodies of a kernel that trimtab++ compiles with another value of a macro (docs/variants.md) are named
//
//     KERNEL$MACRO$VALUE        _Z6reducePKiPii$BLOCK$128
//
// after the kernel's mangled name. PTX allows the character in names; C++ mangles no name with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trimtab {

struct BodyName {
    std::string_view kernel, macro, value;
};

[[nodiscard]] inline std::string body_name(std::string_view kernel, std::string_view macro,
                                           std::string_view value) {
    std::string name(kernel);
    return name.append("$").append(macro).append("$").append(value);
}

// Of a name that is none of a body: none.
[[nodiscard]] inline std::optional<BodyName> read_body_name(std::string_view name) {
    const std::size_t value = name.rfind('$');
    if (value == std::string_view::npos || value == 0 || value + 1 == name.size() ||
        name.find_first_not_of("0123456789", value + 1) != std::string_view::npos)
        return std::nullopt;
    const std::size_t macro = name.rfind('$', value - 1);
    if (macro == std::string_view::npos || macro == 0 || macro + 1 == value) return std::nullopt;
    return BodyName{.kernel = name.substr(0, macro),
                    .macro = name.substr(macro + 1, value - macro - 1),
                    .value = name.substr(value + 1)};
}

// "reduce(int const*, int*, int) [BLOCK=128]", of the kernel's own name as people read it.
[[nodiscard]] inline std::string readable_body_name(std::string_view kernel, const BodyName& body) {
    std::string text(kernel);
    return text.append(" [").append(body.macro).append("=").append(body.value).append("]");
}

}  // namespace trimtab
