// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/json_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/nearest_name.h"

namespace trimtab::base {

using nlohmann::json;

namespace {

// The way from `from` down to `wanted`, which is behind `path` then.
bool find_path(const json& from, const json& wanted, std::string& path) {
    if (&from == &wanted) return true;
    const std::size_t length = path.size();
    for (const auto& [key, value] : from.items()) {
        if (!from.is_structured()) break;  // items() of a plain value is the value itself
        path += from.is_array() ? fmt::format("[{}]", key) : fmt::format(".{}", key);
        if (find_path(value, wanted, path)) return true;
        path.resize(length);
    }
    return false;
}

}  // namespace

std::string JsonValue::where() const {
    std::string path = document_->name;
    find_path(*document_->root, *json_, path);
    return path;
}

void JsonValue::fail(std::string_view what) const {
    throw Malformed{fmt::format("{} {}", where(), what)};
}

JsonValue JsonValue::operator[](const char* key) const {
    if (auto member = find(key)) return *member;
    fail(fmt::format("has no member \"{}\"", key));
}

std::optional<JsonValue> JsonValue::find(const char* key) const {
    if (!json_->is_object()) fail("is not an object");
    const auto found = json_->find(key);
    if (found == json_->end()) return std::nullopt;
    return JsonValue(*found, *document_);
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
    if (!json_->is_object()) fail("is not an object");
    std::vector<std::pair<std::string, JsonValue>> values;
    for (const auto& [key, value] : json_->items()) values.emplace_back(key, JsonValue(value, *document_));
    return values;
}

std::vector<JsonValue> JsonValue::list() const {
    if (!json_->is_array()) fail("is not a list");
    std::vector<JsonValue> values;
    values.reserve(json_->size());
    for (const nlohmann::json& value : *json_) values.push_back(JsonValue(value, *document_));
    return values;
}

std::vector<JsonValue> JsonValue::list(std::size_t length) const {
    if (!json_->is_array() || json_->size() != length) fail(fmt::format("is not a list of {}", length));
    return list();
}

void JsonValue::check_members(const std::vector<std::string_view>& names,
                              const std::vector<std::string_view>& optional) const {
    if (!json_->is_object()) fail("is not an object");
    std::vector<std::string_view> all = names;
    all.insert(all.end(), optional.begin(), optional.end());
    for (const auto& [key, value] : json_->items())
        if (std::ranges::find(all, key) == all.end())
            fail(fmt::format("has an unknown member \"{}\"{}", key, suggestion(key, all)));
    for (const std::string_view name : names)
        if (!json_->contains(name)) fail(fmt::format("has no member \"{}\"", name));
}

bool JsonValue::is_null() const {
    return json_->is_null();
}
std::string JsonValue::text() const {
    if (!json_->is_string()) fail("is not a text");
    return json_->get<std::string>();
}
double JsonValue::number() const {
    if (!json_->is_number()) fail("is not a number");
    return json_->get<double>();
}
bool JsonValue::boolean() const {
    if (!json_->is_boolean()) fail("is neither true nor false");
    return json_->get<bool>();
}

std::uint64_t JsonValue::natural() const {
    // Built in memory, a small number may be kept as a signed one.
    if (!json_->is_number_unsigned() && !(json_->is_number_integer() && json_->get<std::int64_t>() >= 0))
        fail("is not a whole number from 0 on");
    return json_->get<std::uint64_t>();
}
std::uint32_t JsonValue::count() const {
    if (const std::uint64_t value = natural(); value <= std::numeric_limits<std::uint32_t>::max())
        return static_cast<std::uint32_t>(value);
    fail("is above 2^32 - 1");
}
std::uint32_t JsonValue::index_below(std::size_t count) const {
    if (const std::uint64_t value = natural(); value < count) return static_cast<std::uint32_t>(value);
    fail(fmt::format("is not an index below {}", count));
}
std::int32_t JsonValue::integer(std::int32_t least, std::int32_t most) const {
    const bool is_too_large =
        json_->is_number_unsigned() && json_->get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max();
    if (!json_->is_number_integer() || is_too_large || json_->get<std::int64_t>() < least ||
        json_->get<std::int64_t>() > most)
        fail(fmt::format("is not a whole number from {} to {}", least, most));
    return json_->get<std::int32_t>();
}

std::size_t JsonValue::one_of(const std::vector<std::string_view>& names) const {
    const std::string name = text();
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
        fail(fmt::format("is \"{}\", which is none of {}", name, fmt::join(names, ", ")));
    return static_cast<std::size_t>(found - names.begin());
}

std::expected<json, Error> parse_json(std::string_view text, const std::string& origin) {
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
        const auto line = 1 + std::ranges::count(before, '\n');
        const std::size_t start = before.rfind('\n');
        const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
        return std::unexpected(Error{.message = "not valid JSON",
                                     .file = origin,
                                     .line = static_cast<std::uint32_t>(line),
                                     .column = static_cast<std::uint32_t>(std::max<std::size_t>(column, 1))});
    } catch (const json::out_of_range&) {
        return std::unexpected(Error{.message = "a number is too large for a double", .file = origin});
    }
}

}  // namespace trimtab::base
