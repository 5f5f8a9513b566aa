#include "bench/selection_quality/kernel_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace trimtab::bench {

namespace {

std::string comparable(std::string_view app) {
    std::string out;
    for (const char c : app)
        if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
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
    const auto bad = [&](std::string message) {
        return std::unexpected(Error{.message = std::move(message), .file = path});
    };
    std::ifstream stream(path);
    if (!stream) return bad("cannot read the file");
    const auto json = nlohmann::ordered_json::parse(stream, nullptr, false);
    if (!json.is_array()) return bad("is not a JSON list of kernels");
    std::vector<ListedKernel> kernels;
    for (std::size_t i = 0; i < json.size(); ++i) {
        try {
            const auto& entry = json[i];
            ListedKernel kernel{
                .app = entry.at("app"),
                .kernel = entry.at("kernel"),
                .source = std::filesystem::absolute(std::filesystem::path(path).parent_path() /
                                                    std::string(entry.at("source")))
                              .lexically_normal()
                              .string(),
                .symbol = entry.at("symbol"),
                .extent = entry.at("extent"),
                .block = entry.at("block"),
                .arguments = {},
                .launches = {}};
            for (const auto& [name, value] : entry.at("arguments").items())
                kernel.arguments.emplace_back(name, value);
            if (entry.contains("launches"))
                kernel.launches = {.argument = entry["launches"].at("argument"),
                                   .from = entry["launches"].at("from"),
                                   .to = entry["launches"].at("to")};
            if (kernel.extent.empty() || kernel.extent.size() > 2 ||
                kernel.extent.size() != kernel.block.size())
                return bad(fmt::format("entry {}: one or two extents, and as many of the block", i));
            std::vector<std::string> sizes = kernel.extent;
            for (const auto& [name, value] : kernel.arguments) sizes.push_back(value);
            if (kernel.launches) sizes.insert(sizes.end(), {kernel.launches->from, kernel.launches->to});
            for (const std::string& size : sizes)
                if (!evaluate_size(size, 64))
                    return bad(
                        fmt::format("entry {}: \"{}\" is no sum of products of integers and n", i, size));
            kernels.push_back(std::move(kernel));
        } catch (const nlohmann::json::exception& error) {
            return bad(fmt::format("entry {}: {}", i, error.what()));
        }
    }
    return kernels;
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
