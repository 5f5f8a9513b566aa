#include "tools/trimtab/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "trimtab/section.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::json;

constexpr std::size_t magic_bytes = 8, header_bytes = 16, alignment = 8;

std::unexpected<Error> damaged(const std::string& path, std::size_t offset, std::string_view what) {
    return std::unexpected(
        Error{.message = fmt::format("section {}, byte {}: {}", section_name, offset, what), .file = path});
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t(bytes[i]) << (8 * i);
    return value;
}

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
        const auto rest = section.subspan(offset);
        if (rest.size() < header_bytes) return damaged(path, offset, "cut short in a record's header");
        if (std::memcmp(rest.data(), record_magic, magic_bytes) != 0)
            return damaged(path, offset, "no record begins here");
        const std::uint64_t length = little_endian(rest.subspan(magic_bytes));
        if (length > rest.size() - header_bytes)
            return damaged(
                path, offset,
                fmt::format("the record says {} bytes, {} are left", length, rest.size() - header_bytes));
        const auto text = rest.subspan(header_bytes, length);
        const auto* first = reinterpret_cast<const char*>(text.data());
        Json json = Json::parse(first, first + text.size(), nullptr, false);
        if (!json.is_object()) return damaged(path, offset, "the record is no JSON object");
        const auto abi = json.find("abi");
        if (abi == json.end() || *abi != record_abi)
            return damaged(path, offset, "the record is of another version of Trimtab");
        records.push_back(std::move(json));
        offset += header_bytes + (length + alignment - 1) / alignment * alignment;
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
