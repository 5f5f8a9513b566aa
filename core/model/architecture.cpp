// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "core/model/architecture_fields.h"
#include "core/model/builtin_architectures.h"
#include "core/model/builtin_devices.h"
#include "core/model/device.h"

namespace trimtab::model {

namespace {

using base::JsonValue;

// What an architecture inherits comes from another description, whose errors are that one's.
struct ParentError {
    Error error;
};

class Reader {
  public:
    explicit Reader(const ArchitectureTexts& others) : others_(others) {}

    std::expected<Architecture, Error> read(std::string_view text, const std::string& origin) {
        const auto json = base::parse_json(text, origin);
        if (!json) return std::unexpected(json.error());
        try {
            return base::read_json(*json, "architecture", origin,
                                   [this](const JsonValue& value) { return architecture_from(value); });
        } catch (ParentError& parent) {
            return std::unexpected(std::move(parent.error));
        }
    }

  private:
    Architecture architecture_from(const JsonValue& json) {
        json.check_members({"schema", "name", "first_compute_capability", "values"}, {"inherits"});
        if (json["schema"].natural() != 1) json["schema"].fail("is not 1");
        const std::string name = json["name"].text();
        if (name.empty()) json["name"].fail("is empty");
        heirs_.push_back(name);
        const auto parent = json.find("inherits");
        Architecture out = parent ? parent_of(*parent) : Architecture{};
        out.name = name;
        const auto capability = json["first_compute_capability"].list(2);  // major, minor
        out.first_capability = capability[0].index_below(100) * 10 + capability[1].index_below(10);
        const JsonValue values = json["values"];
        const std::vector<std::string_view> fields = architecture_field_names();
        const std::vector<std::string_view> no_fields;
        values.check_members(parent ? no_fields : fields, parent ? fields : no_fields);
        for (const ArchitectureField& field : architecture_fields())
            if (const auto entry = values.find(std::string(field.name).c_str()))
                out.*field.member = read_sourced(*entry, field);
        return out;
    }

    Architecture parent_of(const JsonValue& inherits) {
        const std::string name = inherits.text();
        if (std::ranges::find(heirs_, name) != heirs_.end())
            inherits.fail(fmt::format("leads back to \"{}\"", name));
        heirs_.push_back(name);  // its file may state another name
        const auto text = others_(name);
        if (!text) inherits.fail(fmt::format("names an architecture that is not known, \"{}\"", name));
        auto parent = read(*text, builtin_origin(name));
        if (!parent) throw ParentError{std::move(parent.error())};
        return std::move(*parent);
    }

    const ArchitectureTexts& others_;
    std::vector<std::string> heirs_;  // those read so far, each of which inherits from the next
};

}  // namespace

std::optional<std::string_view> builtin_architecture(std::string_view name) {
    const auto all = builtin_architectures();
    const auto found = std::ranges::find(all, name, &BuiltinArchitecture::name);
    return found == all.end() ? std::nullopt : std::optional(found->json);
}

std::expected<Architecture, Error> parse_architecture(std::string_view json, const std::string& origin,
                                                      const ArchitectureTexts& others) {
    return Reader(others).read(json, origin);
}

const std::vector<Architecture>& architectures() {
    static const std::vector<Architecture> all = [] {
        std::vector<Architecture> list;
        for (const BuiltinArchitecture& builtin : builtin_architectures())
            if (auto one = parse_architecture(builtin.json, builtin_origin(builtin.name)))
                list.push_back(std::move(*one));
        std::ranges::sort(list, {}, &Architecture::first_capability);
        return list;
    }();
    return all;
}

Architecture architecture_of(const Device& device) {
    const std::vector<Architecture>& all = architectures();
    Architecture found = all.front();
    for (const Architecture& one : all)
        if (device.architecture.empty() ? one.first_capability <= device.values.compute_capability
                                        : one.name == device.architecture)
            found = one;
    for (const Device::OwnValue& own : device.own_values)
        for (const ArchitectureField& field : architecture_fields())
            if (field.name == own.field) found.*field.member = own.value;
    return found;
}

}  // namespace trimtab::model
