// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tuned_quality/tuned_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace trimtab::bench {

namespace {

std::expected<std::int64_t, Error> value_of(const TunedKernel& kernel, const Values& values,
                                            const std::string& text) {
    auto value = evaluate_expression(text, [&](std::string_view name) -> std::optional<std::int64_t> {
        const auto found = std::ranges::find(kernel.columns, name);
        if (found == kernel.columns.end()) return std::nullopt;
        return values[static_cast<std::size_t>(found - kernel.columns.begin())];
    });
    if (!value) return std::unexpected(Error{.message = value.error(), .file = kernel.path});
    return *value;
}

std::expected<trimtab_dim3, Error> sizes_of(const TunedKernel& kernel, const Values& values,
                                            const std::vector<std::string>& texts) {
    std::uint32_t sizes[3] = {1, 1, 1};
    for (std::size_t d = 0; d < texts.size(); ++d) {
        const auto value = value_of(kernel, values, texts[d]);
        if (!value) return std::unexpected(value.error());
        if (*value < 1 || *value > INT32_MAX)
            return std::unexpected(Error{.message = fmt::format("\"{}\" is {}: no size", texts[d], *value),
                                         .file = kernel.path});
        sizes[d] = static_cast<std::uint32_t>(*value);
    }
    return trimtab_dim3{sizes[0], sizes[1], sizes[2]};
}

}  // namespace

std::expected<TunedKernel, Error> read_tuned_kernel(const std::string& path) {
    const auto bad = [&](std::string message) {
        return std::unexpected(Error{.message = std::move(message), .file = path});
    };
    std::ifstream stream(path);
    if (!stream) return bad("cannot read the file");
    const auto json = nlohmann::ordered_json::parse(stream, nullptr, false);
    if (!json.is_object()) return bad("is not a JSON object");
    TunedKernel out;
    out.path = path;
    try {
        out.source = std::filesystem::absolute(std::filesystem::path(path).parent_path() /
                                               std::string(json.at("source")))
                         .lexically_normal()
                         .string();
        out.kernel = json.at("kernel");
        out.time_column = json.at("time_ms");
        out.columns = json.at("columns");
        out.slice = json.at("slice");
        out.grid = json.at("grid");
        out.block = json.at("block");
        if (json.contains("flags")) out.flags = json["flags"];
        for (const auto& [name, value] : json.at("defines").items()) out.defines.emplace_back(name, value);
        for (const auto& [name, value] : json.at("arguments").items())
            out.arguments.emplace_back(name, value);
    } catch (const nlohmann::json::exception& error) {
        return bad(error.what());
    }
    if (out.columns.empty()) return bad("names no column");
    if (out.grid.size() > 3 || out.block.size() > 3)
        return bad("a grid and a block have three sizes at most");
    for (const std::string& column : out.slice)
        if (std::ranges::find(out.columns, column) == out.columns.end())
            return bad(fmt::format("\"slice\" names {}, which is no column", column));
    // Expressions that cannot be read show now.
    if (const auto tried = configured_launch(out, Values(out.columns.size(), 1)); !tried)
        return std::unexpected(tried.error());
    return out;
}

std::expected<ConfiguredLaunch, Error> configured_launch(const TunedKernel& kernel, const Values& values) {
    ConfiguredLaunch out;
    const auto grid = sizes_of(kernel, values, kernel.grid);
    if (!grid) return std::unexpected(grid.error());
    const auto block = sizes_of(kernel, values, kernel.block);
    if (!block) return std::unexpected(block.error());
    out.grid = *grid;
    out.block = *block;
    for (const auto& [name, text] : kernel.defines) {
        const auto value = value_of(kernel, values, text);
        if (!value) return std::unexpected(value.error());
        out.defines.push_back(fmt::format("-D{}={}", name, *value));
    }
    for (const auto& [name, text] : kernel.arguments) {
        const auto value = value_of(kernel, values, text);
        if (!value) return std::unexpected(value.error());
        out.arguments.push_back(fmt::format("{}={}", name, *value));
    }
    return out;
}

}  // namespace trimtab::bench
