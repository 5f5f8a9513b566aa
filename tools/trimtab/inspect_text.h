// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's record for people.
#pragma once

#include <string>

#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {

// Lines end in '\n'. `has_stand_in`: the file holds a body for its launches with the block that is built in
// (core/analysis/launches/built_in_blocks.h).
[[nodiscard]] std::string to_text(const FileKernel& kernel, bool has_stand_in);
// The measured points as a table.
[[nodiscard]] std::string profile_text(const profiler::Profile& profile);

}  // namespace trimtab::tools
