// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device side of the LLVM plugin: what the source says of each kernel and PTX does not.
#pragma once

#include <map>
#include <set>
#include <string>

#include "llvm/IR/Module.h"
#include "pass/variants.h"

namespace trimtab::pass {

// Writes, as JSON, each kernel's demangled name, file, line and parameter names to `path`
// (docs/maintainers/house.md has the form; analysis reads it with read_kernel_sources). File and line need
// debug locations (-gline-tables-only is enough), parameter names -fno-discard-value-names. The file appears
// whole or not at all. A file that cannot be written is reported on stderr in one line: the program still
// builds.
void write_kernel_sources(const llvm::Module& module, const KernelVariants& variants,
                          const std::string& path);

// The kernels of that file that have neither an annotation nor another body.
[[nodiscard]] std::set<std::string> kernels_as_written(const std::string& path);

// Puts bodies into that file that the plugin made of kernels: by their names (trimtab/body_name.h), the kernels that they
// are of.
void add_bodies(const std::map<std::string, std::string>& kernels, const std::string& path);

// Takes out of that file what has gone since: bodies, and what it says of kernels that had no other.
void forget_variants(const KernelVariants& left, const std::string& path);

}  // namespace trimtab::pass
