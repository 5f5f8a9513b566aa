// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of a kernel that trimtab++ compiles with another value of a macro (docs/variants.md) are named
//
//     KERNEL$MACRO$VALUE        _Z6reducePKiPii$BLOCK$128
//
// after the kernel's mangled name. PTX allows the character in names; C++ mangles no name with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// A body with blockDim in the place of a block that is built in (docs/legality.md) is KERNEL$512x1x0$512 where x and y
// are built in, and 512 and 1; no macro's name begins with a digit.
[[nodiscard]] inline std::string built_in_body_name(std::string_view kernel,
                                                    const std::array<std::uint32_t, 3>& block) {
    std::string sizes = std::to_string(block[0]);
    sizes.append("x").append(std::to_string(block[1])).append("x").append(std::to_string(block[2]));
    std::uint32_t threads = 1;
    for (const std::uint32_t size : block) threads *= size == 0 ? 1 : size;
    return body_name(kernel, sizes, std::to_string(threads));
}

struct BuiltInBody {
    std::string_view kernel;
    std::array<std::uint32_t, 3> block{};  // 0: not built in
};
[[nodiscard]] inline std::optional<BuiltInBody> read_built_in_body(std::string_view name) {
    const auto body = read_body_name(name);
    if (!body) return std::nullopt;
    BuiltInBody found{.kernel = body->kernel};
    std::size_t d = 0, digits = 0;
    for (const char c : body->macro) {
        if (c == 'x' && digits > 0 && d < 2) {
            d++;
            digits = 0;
        } else if (c >= '0' && c <= '9' && digits < 4) {
            found.block[d] = found.block[d] * 10 + static_cast<std::uint32_t>(c - '0');
            digits++;
        } else {
            return std::nullopt;
        }
    }
    return d == 2 && digits > 0 ? std::optional(found) : std::nullopt;
}

// What a body with a built-in block is a variant of, in the record: no name of the source has spaces in it.
[[nodiscard]] inline std::string built_in_block_of(std::string_view kernel) {
    return std::string("the built-in block of ").append(kernel);
}

// A body in which each thread does the work of several of the kernel's (docs/variants.md, "More work a thread") is
// KERNEL$4y$4 where these are 4 neighbours in y.
[[nodiscard]] inline std::string coarsened_body_name(std::string_view kernel, std::size_t dimension,
                                                     std::uint32_t elements) {
    const std::string count = std::to_string(elements);
    return body_name(kernel, count + "xyz"[dimension], count);
}

struct CoarsenedBody {
    std::string_view kernel;
    std::size_t dimension = 0;
    std::uint32_t elements = 1;  // of the kernel's threads that one of the body's stands for
};
[[nodiscard]] inline std::optional<CoarsenedBody> read_coarsened_body(std::string_view name) {
    constexpr std::size_t most_digits = 2;
    const auto body = read_body_name(name);
    if (!body || body->value.size() > most_digits || body->value.front() == '0' ||
        body->macro.size() != body->value.size() + 1 || !body->macro.starts_with(body->value))
        return std::nullopt;
    const std::size_t dimension = std::string_view("xyz").find(body->macro.back());
    if (dimension == std::string_view::npos) return std::nullopt;
    CoarsenedBody found{.kernel = body->kernel, .dimension = dimension, .elements = 0};
    for (const char c : body->value)
        found.elements = found.elements * 10 + static_cast<std::uint32_t>(c - '0');
    return found;
}
// What such a body is a variant of, in the record.
[[nodiscard]] inline std::string threads_of(std::string_view kernel) {
    return std::string("the threads of ").append(kernel);
}

// "reduce(int const*, int*, int) [BLOCK=128]", of the kernel's own name as people read it.
[[nodiscard]] inline std::string readable_body_name(std::string_view kernel, const BodyName& body) {
    std::string text(kernel);
    if (const char last = body.macro.back(); body.macro.size() == body.value.size() + 1 &&
                                             body.macro.starts_with(body.value) && last >= 'x' && last <= 'z')
        return text.append(" [")
            .append(body.value)
            .append(" elements a thread in ")
            .append(1, last)
            .append("]");
    if (body.macro.front() != 'x' && body.macro.find_first_not_of("0123456789x") == std::string_view::npos) {
        std::string_view sizes = body.macro;
        while (sizes.ends_with("x0")) sizes.remove_suffix(2);
        return text.append(" [blockDim for ").append(sizes).append("]");
    }
    return text.append(" [").append(body.macro).append("=").append(body.value).append("]");
}

}  // namespace trimtab
