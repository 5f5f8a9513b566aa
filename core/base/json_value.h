// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading JSON that may be anything: the first thing that is not as documented is named with its place.
//
//     read_json(json, "fits", "gemm", [](const JsonValue& fits) { return fits["data"][0]["name"].text(); })
//
// gives the text, or an error as "gemm: fits.data[0] has no member "name"".
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::base {

// Thrown where a value is not as documented; read_json() catches it.
struct Malformed {
    std::string message;
};

struct JsonDocument {
    const nlohmann::json* root;
    std::string name;
};

// A value of a document that outlives it. Where in the document it is, is looked for only when that is to be
// said. What throws, throws Malformed.
class JsonValue {
  public:
    explicit JsonValue(const JsonDocument& document) : JsonValue(*document.root, document) {}

    [[nodiscard]] const nlohmann::json& json() const { return *json_; }
    [[nodiscard]] std::string where() const;              // "fits.data[0]"
    [[noreturn]] void fail(std::string_view what) const;  // "<where> <what>"

    // A member that must be there; one that may be; all of an object; those of a list.
    [[nodiscard]] JsonValue operator[](const char* key) const;
    [[nodiscard]] std::optional<JsonValue> find(const char* key) const;
    [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;
    [[nodiscard]] std::vector<JsonValue> list() const;
    [[nodiscard]] std::vector<JsonValue> list(std::size_t length) const;  // of just so many
    // An object with each of these members, of `optional` any, and no other; one that is near to what it has is named.
    void check_members(const std::vector<std::string_view>& names,
                       const std::vector<std::string_view>& optional = {}) const;

    [[nodiscard]] bool is_null() const;
    [[nodiscard]] std::string text() const;
    [[nodiscard]] double number() const;
    [[nodiscard]] bool boolean() const;
    [[nodiscard]] std::uint64_t natural() const;
    [[nodiscard]] std::uint32_t count() const;
    [[nodiscard]] std::uint32_t index_below(std::size_t count) const;
    [[nodiscard]] std::int32_t integer(std::int32_t least, std::int32_t most) const;
    // The place of the text among `names`.
    [[nodiscard]] std::size_t one_of(const std::vector<std::string_view>& names) const;

  private:
    JsonValue(const nlohmann::json& json, const JsonDocument& document)
        : json_(&json), document_(&document) {}
    const nlohmann::json* json_;
    const JsonDocument* document_;
};

// The error names the line and column.
[[nodiscard]] std::expected<nlohmann::json, Error> parse_json(std::string_view text,
                                                              const std::string& origin);

// `read` of a whole document. `name` is what it is called in messages, `origin` its file.
template <class Read>
[[nodiscard]] auto read_json(const nlohmann::json& json, const std::string& name, const std::string& origin,
                             const Read& read)
    -> std::expected<std::invoke_result_t<Read, JsonValue>, Error> {
    const JsonDocument document{&json, name};
    try {
        return read(JsonValue(document));
    } catch (Malformed& malformed) {
        return std::unexpected(Error{.message = std::move(malformed.message), .file = origin});
    }
}

}  // namespace trimtab::base
