// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "driver_gen/record.h"
#include "trimtab/section.h"

namespace trimtab::tools {

namespace {

using base::JsonValue;
using PlainJson = nlohmann::json;

std::string text_member(const JsonValue& object, const char* name) {
    const auto found = object.find(name);
    return found ? found->text() : "";
}

// A part that has a reader of its own.
template <class Read>
auto part_of(const JsonValue& value, const std::string& origin, const Read& read) {
    auto part = read(value.json(), origin);
    if (!part) throw base::Malformed{part.error().message};
    return std::move(*part);
}

KernelRecord kernel_of(const JsonValue& value, const std::string& origin) {
    KernelRecord kernel;
    kernel.description = part_of(value["description"], origin, analysis::description_from_json);
    if (const auto profile = value.find("profile"))
        kernel.profile = part_of(*profile, origin, profiler::profile_from_json);
    if (const auto fits = value.find("fits"))
        kernel.fits = part_of(*fits, origin, driver_gen::fits_from_json);
    kernel.driver_source = text_member(value, "driver_source");
    kernel.no_driver = text_member(value, "no_driver");
    return kernel;
}

// Records of builds that chose none have no member of that name.
model::ChosenModel model_of(const JsonValue& record, const std::string& origin) {
    const auto member = record.find("model");
    if (!member) return {};
    auto model = model::recorded_model((*member)["name"].text(), text_member(*member, "text"), origin);
    if (!model) throw base::Malformed{model.error().text()};
    return std::move(*model);
}

Record record_of(const JsonValue& value, const std::string& origin) {
    Record record{.compiler = text_member(value, "compiler"),
                  .input = text_member(value, "input"),
                  .fat_binary = text_member(value, "fat_binary"),
                  .kernels = {}};
    const model::ChosenModel model = model_of(value, origin);
    for (const JsonValue& kernel : value["kernels"].list()) {
        record.kernels.push_back(kernel_of(kernel, origin));
        record.kernels.back().model = model;
    }
    return record;
}

}  // namespace

std::expected<std::vector<PlainJson>, Error> read_record_json(std::span<const std::byte> section,
                                                              const std::string& path) {
    std::vector<PlainJson> records;
    std::size_t offset = 0;
    while (offset < section.size()) {
        // Linkers pad between objects' parts with zeros.
        if (section[offset] == std::byte{0}) {
            ++offset;
            continue;
        }
        auto record = driver_gen::unpack(section.subspan(offset));
        if (!record)
            return std::unexpected(
                Error{.message = fmt::format("section {}, byte {}: {}", section_name, offset, record.error()),
                      .file = path});
        records.push_back(std::move(record->json));
        offset += record->bytes;
    }
    return records;
}

std::expected<std::vector<Record>, Error> read_records(std::span<const std::byte> section,
                                                       const std::string& path) {
    const auto list = read_record_json(section, path);
    if (!list) return std::unexpected(list.error());
    const std::string origin = fmt::format("{} (section {})", path, section_name);
    std::vector<Record> records;
    for (const PlainJson& json : *list) {
        auto record = base::read_json(json, "record", origin,
                                      [&](const JsonValue& value) { return record_of(value, origin); });
        if (!record) return std::unexpected(record.error());
        records.push_back(std::move(*record));
    }
    return records;
}

}  // namespace trimtab::tools
