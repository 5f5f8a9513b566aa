// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/annotations/annotation_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json_value.h"
#include "core/base/read_text.h"

namespace trimtab::analysis {
namespace {

using base::JsonValue;

std::vector<KernelAnnotation> annotations_from(const JsonValue& file) {
    const JsonValue version = file["trimtab_annotations"];
    if (version.count() != annotation_file_version)
        version.fail(fmt::format("is not {}: the file is of another version", annotation_file_version));
    std::vector<KernelAnnotation> annotations;
    std::set<std::string> known;
    for (const JsonValue& value : file["kernels"].list()) {
        KernelAnnotation annotation;
        annotation.kernel = value["kernel"].text();
        annotation.text = value["annotation"].text();
        if (const auto parameters = value.find("parameters"))
            for (const JsonValue& name : parameters->list()) annotation.parameters.push_back(name.text());
        if (const auto variant = value.find("variant"))
            annotation.variant = Variant{.of = (*variant)["of"].text(),
                                         .value = (*variant)["value"].integer(INT32_MIN, INT32_MAX)};
        if (annotation.kernel.empty()) value["kernel"].fail("is empty");
        if (!known.insert(annotation.kernel).second)
            value["kernel"].fail("names a kernel that is there already");
        annotations.push_back(std::move(annotation));
    }
    return annotations;
}

}  // namespace

std::expected<std::vector<KernelAnnotation>, Error> parse_annotation_file(std::string_view text,
                                                                          const std::string& path) {
    const auto json = base::parse_json(text, path);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "annotations", path, annotations_from);
}

std::expected<std::vector<KernelAnnotation>, Error> read_annotation_file(const std::string& path) {
    const auto text = base::read_text(path);
    if (!text) return std::unexpected(Error{.message = "cannot be read", .file = path});
    return parse_annotation_file(*text, path);
}

void add_annotations(KernelSources& sources, const std::vector<KernelAnnotation>& annotations,
                     const std::string& path) {
    for (const KernelAnnotation& annotation : annotations) {
        KernelSource& source = sources[annotation.kernel];
        if (!source.variant) source.variant = annotation.variant;
        if (!source.annotations.empty()) continue;
        source.annotations.push_back({.text = annotation.text, .file = path, .line = 0});
        if (!source.parameters.empty()) continue;
        for (const std::string& name : annotation.parameters)
            source.parameters.push_back({.name = name, .type = {}});
    }
}

}  // namespace trimtab::analysis
