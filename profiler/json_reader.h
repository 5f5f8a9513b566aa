// Reading JSON that may be anything: the first thing that is not as documented is named with its path.
// For .cpp files alone (it includes the whole of nlohmann/json.hpp).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trimtab::profiler::json_reader {

using nlohmann::json;

// Caught where a whole document is read; never leaves a room.
struct Malformed {
    std::string message;
};
[[noreturn]] inline void malformed(const std::string& where, std::string_view what) {
    throw Malformed{fmt::format("{} {}", where, what)};
}

inline const json& member(const json& value, const char* key, const std::string& where) {
    if (!value.is_object()) malformed(where, "is not an object");
    const auto found = value.find(key);
    if (found == value.end()) malformed(where, fmt::format("has no member \"{}\"", key));
    return *found;
}
inline double number(const json& value, const std::string& where) {
    if (!value.is_number()) malformed(where, "is not a number");
    return value.get<double>();
}
inline bool boolean(const json& value, const std::string& where) {
    if (!value.is_boolean()) malformed(where, "is not a boolean");
    return value.get<bool>();
}
inline std::string text(const json& value, const std::string& where) {
    if (!value.is_string()) malformed(where, "is not a string");
    return value.get<std::string>();
}
inline const json& array(const json& value, const std::string& where) {
    if (!value.is_array()) malformed(where, "is not an array");
    return value;
}
// Whether it was written as a signed or an unsigned number is no matter.
inline bool is_natural(const json& value) {
    return value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}
inline std::uint32_t index_below(const json& value, std::size_t count, const std::string& where) {
    if (!is_natural(value) || value.get<std::uint64_t>() >= count)
        malformed(where, fmt::format("is not an index below {}", count));
    return value.get<std::uint32_t>();
}
inline std::int32_t small_integer(const json& value, const std::string& where) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < -64 || value.get<std::int64_t>() > 64)
        malformed(where, "is not an integer between -64 and 64");
    return value.get<std::int32_t>();
}
inline std::uint32_t count(const json& value, const std::string& where) {
    if (!is_natural(value) || value.get<std::uint64_t>() > 0xffffffffu) malformed(where, "is not a count");
    return value.get<std::uint32_t>();
}

}  // namespace trimtab::profiler::json_reader
