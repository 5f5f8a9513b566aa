#include "tools/trimtab/records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "driver_gen/record.h"
#include "trimtab/section.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::json;

std::string text_member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::expected<KernelRecord, Error> read_kernel(const Json& json, const std::string& origin) {
    KernelRecord kernel;
    const auto description = json.find("description");
    if (description == json.end())
        return std::unexpected(Error{.message = "a kernel has no description", .file = origin});
    auto read = analysis::description_from_json(*description, origin);
    if (!read) return std::unexpected(read.error());
    kernel.description = std::move(*read);
    if (const auto profile = json.find("profile"); profile != json.end()) {
        auto value = profiler::profile_from_json(*profile, origin);
        if (!value) return std::unexpected(value.error());
        kernel.profile = std::move(*value);
    }
    if (const auto fits = json.find("fits"); fits != json.end()) {
        auto value = driver_gen::fits_from_json(*fits, origin);
        if (!value) return std::unexpected(value.error());
        kernel.fits = std::move(*value);
    }
    kernel.driver_source = text_member(json, "driver_source");
    return kernel;
}

}  // namespace

std::expected<std::vector<Json>, Error> read_record_json(std::span<const std::byte> section,
                                                         const std::string& path) {
    std::vector<Json> records;
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
    for (const Json& json : *list) {
        Record record{.compiler = text_member(json, "compiler"),
                      .input = text_member(json, "input"),
                      .fat_binary = text_member(json, "fat_binary"),
                      .kernels = {}};
        const auto kernels = json.find("kernels");
        if (kernels == json.end() || !kernels->is_array())
            return std::unexpected(Error{.message = "a record has no list of kernels", .file = origin});
        for (const Json& kernel : *kernels) {
            if (!kernel.is_object())
                return std::unexpected(Error{.message = "a record's kernel is no object", .file = origin});
            auto read = read_kernel(kernel, origin);
            if (!read) return std::unexpected(read.error());
            record.kernels.push_back(std::move(*read));
        }
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace trimtab::tools
