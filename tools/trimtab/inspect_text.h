// A kernel's record for people.
#pragma once

#include <string>

#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {

// Lines end in '\n'.
[[nodiscard]] std::string to_text(const FileKernel& kernel);
// The measured points as a table.
[[nodiscard]] std::string profile_text(const profiler::Profile& profile);

}  // namespace trimtab::tools
