// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/kernel_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"

namespace trimtab::bench {

namespace {

using base::JsonValue;

std::string comparable(std::string_view app) {
    std::string out;
    for (const char c : app)
        if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string size_from(const JsonValue& value) {
    std::string size = value.text();
    if (!evaluate_size(size, 64))
        value.fail(fmt::format("is \"{}\", which is no sum of products of integers and n", size));
    return size;
}

ListedKernel kernel_from(const JsonValue& entry, const std::string& path) {
    const auto source = std::filesystem::path(path).parent_path() / entry["source"].text();
    ListedKernel kernel{.app = entry["app"].text(),
                        .kernel = entry["kernel"].text(),
                        .source = std::filesystem::absolute(source).lexically_normal().string(),
                        .symbol = entry["symbol"].text(),
                        .extent = {},
                        .block = {},
                        .arguments = {},
                        .launches = {}};
    for (const JsonValue& size : entry["extent"].list()) kernel.extent.push_back(size_from(size));
    for (const JsonValue& size : entry["block"].list()) kernel.block.push_back(size.count());
    if (kernel.extent.empty() || kernel.extent.size() > 2 || kernel.extent.size() != kernel.block.size())
        entry.fail("has not one or two extents, and as many of the block");
    for (const auto& [name, value] : entry["arguments"].members())
        kernel.arguments.emplace_back(name, size_from(value));
    if (const auto launches = entry.find("launches"))
        kernel.launches = {.argument = (*launches)["argument"].text(),
                           .from = size_from((*launches)["from"]),
                           .to = size_from((*launches)["to"])};
    return kernel;
}

}  // namespace

std::optional<std::int64_t> evaluate_size(std::string_view text, std::int64_t n) {
    std::int64_t sum = 0, product = 1, sign = 1;
    bool expects_factor = true;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == ' ') {
            ++at;
        } else if (expects_factor && c == 'n') {
            product *= n;
            expects_factor = false;
            ++at;
        } else if (expects_factor && std::isdigit(static_cast<unsigned char>(c))) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
            if (error != std::errc{}) return std::nullopt;
            product *= value;
            expects_factor = false;
            at = static_cast<std::size_t>(end - text.data());
        } else if (!expects_factor && (c == '*' || c == '+' || c == '-')) {
            if (c != '*') {
                sum += sign * product;
                product = 1;
                sign = c == '-' ? -1 : 1;
            }
            expects_factor = true;
            ++at;
        } else {
            return std::nullopt;
        }
    }
    if (expects_factor) return std::nullopt;
    return sum + sign * product;
}

std::expected<std::vector<ListedKernel>, Error> read_kernel_list(const std::string& path) {
    std::ifstream stream(path);
    if (!stream) return std::unexpected(Error{.message = "cannot read the file", .file = path});
    const auto json = base::parse_json(std::string{std::istreambuf_iterator<char>(stream), {}}, path);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "kernels", path, [&path](const JsonValue& value) {
        std::vector<ListedKernel> kernels;
        for (const JsonValue& entry : value.list()) kernels.push_back(kernel_from(entry, path));
        return kernels;
    });
}

const ListedKernel* find_kernel(const std::vector<ListedKernel>& kernels, std::string_view app,
                                std::string_view kernel) {
    const auto found = std::ranges::find_if(kernels, [&](const ListedKernel& listed) {
        return comparable(listed.app) == comparable(app) && listed.kernel == kernel;
    });
    return found == kernels.end() ? nullptr : &*found;
}

std::vector<SampledArguments> launches_at(const ListedKernel& kernel, std::uint64_t n, std::size_t most) {
    const auto size = static_cast<std::int64_t>(n);
    SampledArguments common;
    for (const auto& [name, value] : kernel.arguments)
        common.texts.push_back(fmt::format("{}={}", name, evaluate_size(value, size).value_or(0)));
    if (!kernel.launches) return {common};
    const std::int64_t from = evaluate_size(kernel.launches->from, size).value_or(0),
                       to = evaluate_size(kernel.launches->to, size).value_or(0);
    if (to < from) return {};
    const std::int64_t count = to - from + 1, parts = std::min<std::int64_t>(count, std::int64_t(most));
    std::vector<SampledArguments> launches;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = count * part / parts, end = count * (part + 1) / parts;
        SampledArguments launch = common;
        launch.weight = static_cast<double>(end - first);
        launch.texts.push_back(fmt::format("{}={}", kernel.launches->argument, from + (first + end - 1) / 2));
        launches.push_back(std::move(launch));
    }
    return launches;
}

}  // namespace trimtab::bench
