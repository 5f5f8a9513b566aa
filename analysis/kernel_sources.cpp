// The JSON that the LLVM pass writes beside the PTX: names, types and lines of kernels
// (docs/maintainers/house.md).
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/describe.h"
#include "ptx/file_names.h"

namespace trimtab::analysis {
namespace {

using nlohmann::json;

std::string text_member(const json& object, const char* key) {
    const auto member = object.find(key);
    return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

std::expected<KernelSource, Error> read_kernel(const std::string& path, const std::string& name,
                                               const json& object) {
    const auto fail = [&](std::string_view what) {
        return std::unexpected(Error{.message = fmt::format("kernel '{}' {}", name, what), .file = path});
    };
    if (!object.is_object()) return fail("is no object");
    KernelSource source;
    source.demangled = text_member(object, "demangled");
    source.file = ptx::decode_file_name(text_member(object, "file"));
    if (const auto line = object.find("line"); line != object.end()) {
        if (!line->is_number_unsigned() || line->get<std::uint64_t>() > UINT32_MAX)
            return fail("has no line number in \"line\"");
        source.line = line->get<std::uint32_t>();
    }
    if (const auto annotations = object.find("annotations"); annotations != object.end()) {
        if (!annotations->is_array()) return fail("has no list in \"annotations\"");
        for (const json& annotation : *annotations) {
            if (!annotation.is_object()) return fail("has an annotation that is no object");
            source.annotations.push_back({.text = text_member(annotation, "text"),
                                          .file = text_member(annotation, "file"),
                                          .line = annotation.value("line", 0u)});
        }
    }
    const auto parameters = object.find("parameters");
    if (parameters == object.end()) return source;
    if (!parameters->is_array()) return fail("has no list in \"parameters\"");
    for (const json& parameter : *parameters) {
        if (!parameter.is_object()) return fail("has a parameter that is no object");
        source.parameters.push_back({text_member(parameter, "name"), text_member(parameter, "type")});
    }
    return source;
}

}  // namespace

std::expected<KernelSources, Error> read_kernel_sources(const std::string& json_path) {
    std::ifstream file(json_path, std::ios::binary);
    if (!file) return std::unexpected(Error{.message = "cannot be read", .file = json_path});
    const json object = json::parse(file, nullptr, false);
    if (object.is_discarded()) return std::unexpected(Error{.message = "is no JSON", .file = json_path});
    const auto kernels = object.is_object() ? object.find("kernels") : object.end();
    if (!object.is_object() || kernels == object.end() || !kernels->is_object())
        return std::unexpected(Error{.message = "has no object \"kernels\"", .file = json_path});
    KernelSources sources;
    for (const auto& [name, kernel] : kernels->items()) {
        auto source = read_kernel(json_path, name, kernel);
        if (!source) return std::unexpected(std::move(source.error()));
        sources.emplace(name, std::move(*source));
    }
    return sources;
}

}  // namespace trimtab::analysis
