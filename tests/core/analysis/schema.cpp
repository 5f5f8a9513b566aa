// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schema.h"

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

namespace trimtab::analysis::test {
namespace {

using nlohmann::json;

class Checker {
  public:
    explicit Checker(const json& root) : root_(root) {}

    std::string fault(const json& schema, const json& value, const std::string& where) const {
        static const std::set<std::string> known{"$schema",
                                                 "$id",
                                                 "$defs",
                                                 "$ref",
                                                 "title",
                                                 "description",
                                                 "type",
                                                 "const",
                                                 "enum",
                                                 "pattern",
                                                 "required",
                                                 "properties",
                                                 "additionalProperties",
                                                 "items",
                                                 "prefixItems",
                                                 "minItems",
                                                 "maxItems",
                                                 "minimum",
                                                 "maximum",
                                                 "oneOf"};
        for (const auto& [key, unused] : schema.items())
            if (!known.contains(key)) return where + ": this checker does not know '" + key + "'";
        if (const auto ref = schema.find("$ref"); ref != schema.end())
            if (std::string found = fault(resolve(*ref), value, where); !found.empty()) return found;
        if (const auto type = schema.find("type"); type != schema.end() && !has_type(value, *type))
            return where + ": is no " + type->get<std::string>();
        if (const auto wanted = schema.find("const"); wanted != schema.end() && *wanted != value)
            return where + ": is not " + wanted->dump();
        if (const auto list = schema.find("enum");
            list != schema.end() && std::find(list->begin(), list->end(), value) == list->end())
            return where + ": " + value.dump() + " is none of " + list->dump();
        if (const auto one_of = schema.find("oneOf"); one_of != schema.end()) {
            int fitting = 0;
            std::string faults;
            for (const json& choice : *one_of) {
                const std::string found = fault(choice, value, where);
                fitting += found.empty() ? 1 : 0;
                faults += found.empty() ? "" : " [" + found + "]";
            }
            if (fitting != 1) return where + ": fits " + std::to_string(fitting) + " choices:" + faults;
        }
        if (value.is_object()) return object_fault(schema, value, where);
        if (value.is_array()) return array_fault(schema, value, where);
        return scalar_fault(schema, value, where);
    }

  private:
    const json& resolve(const json& reference) const {
        const std::string text = reference.get<std::string>();
        return root_.at(json::json_pointer(text.substr(1)));
    }
    static bool has_type(const json& value, const json& type) {
        const std::string name = type.get<std::string>();
        return (name == "object" && value.is_object()) || (name == "array" && value.is_array()) ||
               (name == "string" && value.is_string()) || (name == "boolean" && value.is_boolean()) ||
               (name == "integer" && value.is_number_integer()) || (name == "null" && value.is_null());
    }
    std::string object_fault(const json& schema, const json& value, const std::string& where) const {
        if (const auto required = schema.find("required"); required != schema.end())
            for (const json& key : *required)
                if (!value.contains(key.get<std::string>())) return where + ": lacks " + key.dump();
        const auto properties = schema.find("properties");
        for (const auto& [key, member] : value.items()) {
            if (properties != schema.end() && properties->contains(key)) {
                if (std::string found = fault((*properties)[key], member, where + "." + key); !found.empty())
                    return found;
            } else if (const auto more = schema.find("additionalProperties");
                       more != schema.end() && *more == false) {
                return where + ": has no place for '" + key + "'";
            }
        }
        return {};
    }
    std::string array_fault(const json& schema, const json& value, const std::string& where) const {
        if (const auto least = schema.find("minItems"); least != schema.end() && value.size() < *least)
            return where + ": is too short";
        if (const auto most = schema.find("maxItems"); most != schema.end() && value.size() > *most)
            return where + ": is too long";
        const auto prefix = schema.find("prefixItems"), items = schema.find("items");
        for (std::size_t i = 0; i < value.size(); i++) {
            const std::string at = where + "[" + std::to_string(i) + "]";
            const bool in_prefix = prefix != schema.end() && i < prefix->size();
            if (!in_prefix && items == schema.end()) continue;
            if (std::string found = fault(in_prefix ? (*prefix)[i] : *items, value[i], at); !found.empty())
                return found;
        }
        return {};
    }
    static std::string scalar_fault(const json& schema, const json& value, const std::string& where) {
        if (const auto pattern = schema.find("pattern"); pattern != schema.end() && value.is_string())
            if (!std::regex_search(value.get<std::string>(), std::regex(pattern->get<std::string>())))
                return where + ": " + value.dump() + " does not match " + pattern->dump();
        if (value.is_number()) {
            if (const auto least = schema.find("minimum"); least != schema.end() && value < *least)
                return where + ": is too small";
            if (const auto most = schema.find("maximum"); most != schema.end() && value > *most)
                return where + ": is too large";
        }
        return {};
    }

    const json& root_;
};

}  // namespace

std::string schema_fault(const json& schema, const json& value) {
    return Checker(schema).fault(schema, value, "$");
}

}  // namespace trimtab::analysis::test
