// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel parameters with the names and types that the source gave them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/kernel_sources.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

// "void f<int>(float const*, int)" -> {"const float *", "int"}; nothing where it is no function's signature.
[[nodiscard]] std::optional<std::vector<std::string>> signature_types(const std::string& demangled);

// Names and types from `source` where the pass gave them, types else from the mangled name.
[[nodiscard]] std::vector<KernelParameter> kernel_parameters(const ptx::Function& kernel,
                                                             const KernelSource* source);

// The machine type of a C++ scalar: "unsigned int" -> u32; nothing for a name that is not built in.
[[nodiscard]] std::optional<ptx::Type> scalar_type(const std::string& type);

}  // namespace trimtab::analysis
