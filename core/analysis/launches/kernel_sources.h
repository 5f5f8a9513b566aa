// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the source says of kernels: names, types, annotations and variants.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "trimtab/error.h"

namespace trimtab::analysis {

// What the LLVM pass adds to PTX for one kernel, by mangled name. Read from the JSON that the pass writes
// (docs/maintainers/house.md).
struct KernelSource {
    std::string demangled, file;
    std::uint32_t line = 0;
    struct Parameter {
        std::string name, type;
    };
    std::vector<Parameter> parameters;
    struct Annotation {
        std::string text, file;  // what stands in TRIMTAB_TUNE(...), and where
        std::uint32_t line = 0;
    };
    std::vector<Annotation> annotations;
    std::optional<Variant> variant;
};
using KernelSources = std::map<std::string, KernelSource, std::less<>>;
[[nodiscard]] std::expected<KernelSources, Error> read_kernel_sources(const std::string& json_path);

}  // namespace trimtab::analysis
