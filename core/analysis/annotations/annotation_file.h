// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Annotations beside the source: the file that `trimtab suggest` writes, and that trimtab++
// --trimtab-annotations=FILE and TRIMTAB_ANNOTATIONS take.
//
//     {"trimtab_annotations": 1,
//      "kernels": [{"kernel": "_Z4sumPKfPfi", "parameters": ["in", "out", "n"],
//                   "annotation": "block(ispow2(bx)), grid(ceil(n / bx))"}]}
//
// A kernel that is one body of several (docs/variants.md) has "variant": {"of": "reduce", "value": 64} too: PTX does not
// say it. Other members are for people.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/kernel_sources.h"
#include "trimtab/error.h"

namespace trimtab::analysis {

inline constexpr unsigned annotation_file_version = 1;

struct KernelAnnotation {
    std::string kernel;                   // mangled
    std::vector<std::string> parameters;  // the names that the annotation uses, in order; may be empty
    std::string text;                     // what stands in TRIMTAB_TUNE(...)
    std::optional<Variant> variant;       // where the source's own word is not at hand
};

[[nodiscard]] std::expected<std::vector<KernelAnnotation>, Error> parse_annotation_file(
    std::string_view text, const std::string& path);
[[nodiscard]] std::expected<std::vector<KernelAnnotation>, Error> read_annotation_file(
    const std::string& path);

// What is known of the sources, and the annotations of kernels that have none in theirs. `path` is what
// messages name.
void add_annotations(KernelSources& sources, const std::vector<KernelAnnotation>& annotations,
                     const std::string& path);

}  // namespace trimtab::analysis
