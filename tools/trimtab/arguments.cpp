// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/analysis/launches/operation.h"
#include "core/base/nearest_name.h"

namespace trimtab::tools {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{.message = std::move(message)});
}

template <typename Number>
std::optional<Number> number_from(std::string_view text, int base = 10) {
    Number value{};
    std::from_chars_result result{};
    if constexpr (std::is_integral_v<Number>)
        result = std::from_chars(text.data(), text.data() + text.size(), value, base);
    else
        result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

// What a name on the command line stands for: bytes of the parameter buffer, and their type.
struct Target {
    std::uint32_t parameter = 0, offset = 0;  // `offset` in the buffer
    std::string type;
    std::optional<std::size_t> data;
};

std::optional<Target> target_named(const analysis::KernelDescription& kernel, std::string_view name) {
    const auto of_parameter = [](const analysis::KernelParameter& p) {
        return Target{.parameter = p.index, .offset = p.offset, .type = p.ptx_type, .data = {}};
    };
    for (const analysis::KernelParameter& parameter : kernel.parameters)
        if (parameter.name == name) return of_parameter(parameter);
    for (std::size_t i = 0; i < kernel.data.size(); ++i) {
        const analysis::DataParameter& data = kernel.data[i];
        if (data.is_extent || data.name != name || data.parameter >= kernel.parameters.size()) continue;
        return Target{.parameter = data.parameter,
                      .offset = kernel.parameters[data.parameter].offset + data.offset,
                      .type = data.type,
                      .data = i};
    }
    if (const auto index = number_from<std::uint32_t>(name))
        for (const analysis::KernelParameter& parameter : kernel.parameters)
            if (parameter.index == *index) return of_parameter(parameter);
    return std::nullopt;
}

std::string unknown_name(const analysis::KernelDescription& kernel, std::string_view name) {
    std::vector<std::string> names;
    for (const auto& parameter : kernel.parameters) names.push_back(parameter.name);
    for (const auto& data : kernel.data)
        if (!data.is_extent) names.push_back(data.name);
    if (names.empty()) return fmt::format("--arg {}: {} has no parameters", name, kernel.demangled);
    const std::string near = base::suggestion(name, names);
    return fmt::format("--arg {}: {} has no such parameter{}", name, kernel.demangled,
                       near.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : near);
}

// The bits of `text` as a value of a PTX type; nullopt where it is none, or does not fit.
std::optional<std::uint64_t> bits_of(std::string_view text, ptx::Type type, std::size_t size_bytes) {
    if (type == ptx::Type::f32 || type == ptx::Type::f64) {
        const auto value = number_from<double>(text);
        if (!value) return std::nullopt;
        if (type == ptx::Type::f64) return std::bit_cast<std::uint64_t>(*value);
        return std::bit_cast<std::uint32_t>(static_cast<float>(*value));
    }
    const bool negative = text.starts_with('-');
    std::string_view digits = negative ? text.substr(1) : text;
    const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    if (hexadecimal) digits.remove_prefix(2);
    const auto magnitude = number_from<std::uint64_t>(digits, hexadecimal ? 16 : 10);
    if (!magnitude) return std::nullopt;
    const unsigned width = static_cast<unsigned>(size_bytes) * 8;
    const std::uint64_t all = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    if (negative ? *magnitude > all / 2 + 1 : *magnitude > all) return std::nullopt;
    return (negative ? ~*magnitude + 1 : *magnitude) & all;
}

std::uint32_t buffer_bytes(const analysis::KernelDescription& kernel) {
    std::uint32_t size = 0;
    for (const auto& parameter : kernel.parameters) size = std::max(size, parameter.offset + parameter.size);
    return size;
}

}  // namespace

std::expected<LaunchArguments, Error> parse_arguments(const analysis::KernelDescription& kernel,
                                                      const std::vector<std::string>& texts,
                                                      PointerDefault pointer_default) {
    LaunchArguments arguments{.bytes = std::vector<std::byte>(buffer_bytes(kernel)),
                              .given = std::vector<bool>(kernel.parameters.size()),
                              .part = {}};
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const analysis::KernelParameter& parameter = kernel.parameters[i];
        if (!parameter.is_pointer || parameter.size != sizeof(std::uint64_t)) continue;
        const std::uint64_t address = pointer_default(parameter.index);
        std::memcpy(arguments.bytes.data() + parameter.offset, &address, sizeof address);
    }
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            return bad(fmt::format("--arg {}: write NAME=VALUE", text));
        const std::string_view name = std::string_view(text).substr(0, equals);
        const std::string_view value = std::string_view(text).substr(equals + 1);
        const auto target = target_named(kernel, name);
        if (!target) return bad(unknown_name(kernel, name));
        const auto type = analysis::type_from_name(target->type);
        const std::size_t size = type ? ptx::size_bytes(*type) : 0;
        if (size == 0 || size > sizeof(std::uint64_t) || target->offset + size > arguments.bytes.size() ||
            (!target->data && kernel.parameters[target->parameter].size != size))
            return bad(fmt::format("--arg {}: a {} cannot be given as one number", name,
                                   kernel.parameters[target->parameter].type));
        const auto bits = bits_of(value, *type, size);
        if (!bits) return bad(fmt::format("--arg {}: \"{}\" is no {}", name, value, target->type));
        std::memcpy(arguments.bytes.data() + target->offset, &*bits, size);
        if (target->data)
            arguments.part.push_back(*target->data);
        else
            arguments.given[target->parameter] = true;
    }
    return arguments;
}

std::expected<void, Error> require_data(const analysis::KernelDescription& kernel,
                                        const LaunchArguments& arguments) {
    for (std::size_t i = 0; i < kernel.data.size(); ++i) {
        const analysis::DataParameter& data = kernel.data[i];
        if (data.is_extent || std::ranges::count(arguments.part, i) != 0) continue;
        if (data.parameter < arguments.given.size() && arguments.given[data.parameter]) continue;
        return bad(fmt::format("argument {} of {} is missing: give --arg {}=VALUE", data.name,
                               kernel.demangled, data.name));
    }
    return {};
}

std::expected<trimtab_dim3, Error> parse_dim3(std::string_view text, std::string_view option) {
    std::array<std::uint32_t, 3> values{1, 1, 1};
    std::size_t count = 0;
    std::string_view rest = text;
    while (true) {
        const std::size_t end = rest.find_first_of(",x");
        const auto value = number_from<std::uint32_t>(rest.substr(0, end));
        if (!value || *value == 0 || count == 3)
            return bad(fmt::format("{} {}: write one to three whole numbers, at least 1, as 512,256,1",
                                   option, text));
        values[count++] = *value;
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    return trimtab_dim3{values[0], values[1], values[2]};
}

std::expected<std::vector<trimtab_dim3>, Error> parse_candidates(std::string_view text) {
    std::vector<trimtab_dim3> list;
    while (!text.empty()) {
        const std::size_t end = text.find(';');
        const std::string_view part = text.substr(0, end);
        if (!part.empty()) {
            const auto block = parse_dim3(part, "--candidates");
            if (!block) return std::unexpected(block.error());
            list.push_back(*block);
        }
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return list;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    if (text == "all") return 0;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
    return value;
}

}  // namespace trimtab::tools
