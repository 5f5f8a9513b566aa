// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compile of a CUDA source, of copies of the sources where clang does not take what nvcc takes.
#pragma once

#include <cstddef>
#include <string>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/jobs.h"
#include "tools/trimtab++/process.h"
#include "tools/trimtab++/toolchain.h"

namespace trimtab::wrapper {

// `command` compiles line.arguments[input]. What it says goes to stderr, or into the file `messages`. The exit code.
[[nodiscard]] int compile_as_nvcc(Command command, const CommandLine& line, const Toolchain& tools,
                                  std::size_t input, const Environment& environment,
                                  const TemporaryFolder& folder, const std::string& messages = {});

}  // namespace trimtab::wrapper
