// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JSON that the LLVM pass writes beside the PTX: names, types and lines of kernels
// (docs/maintainers/house.md).
#include "core/analysis/launches/kernel_sources.h"

#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "core/base/read_text.h"

namespace trimtab::analysis {
namespace {

using base::JsonValue;

std::string text_in(const JsonValue& object, const char* key) {
    const auto member = object.find(key);
    return member ? member->text() : std::string();
}

std::uint32_t line_in(const JsonValue& object) {
    const auto line = object.find("line");
    return line ? line->count() : 0;
}

KernelSource kernel_from(const JsonValue& value) {
    KernelSource source;
    source.demangled = text_in(value, "demangled");
    source.file = text_in(value, "file");
    source.line = line_in(value);
    if (const auto annotations = value.find("annotations"))
        for (const JsonValue& annotation : annotations->list())
            source.annotations.push_back({.text = text_in(annotation, "text"),
                                          .file = text_in(annotation, "file"),
                                          .line = line_in(annotation)});
    if (const auto parameters = value.find("parameters"))
        for (const JsonValue& parameter : parameters->list())
            source.parameters.push_back({text_in(parameter, "name"), text_in(parameter, "type")});
    if (const auto variant = value.find("variant"))
        source.variant = Variant{.of = text_in(*variant, "of"),
                                 .value = (*variant)["value"].integer(INT32_MIN, INT32_MAX)};
    return source;
}

KernelSources sources_from(const JsonValue& value) {
    KernelSources sources;
    for (const auto& [name, kernel] : value["kernels"].members()) sources.emplace(name, kernel_from(kernel));
    return sources;
}

}  // namespace

std::expected<KernelSources, Error> read_kernel_sources(const std::string& json_path) {
    const auto text = base::read_text(json_path);
    if (!text) return std::unexpected(Error{.message = "cannot be read", .file = json_path});
    const auto json = base::parse_json(*text, json_path);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "kernel sources", json_path, sources_from);
}

}  // namespace trimtab::analysis
