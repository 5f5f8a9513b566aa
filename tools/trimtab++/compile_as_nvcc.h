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

// A source of the command line, line.arguments[input], and where what its compile needs is put.
struct SourceCompile {
    const CommandLine& line;
    const Toolchain& tools;
    std::size_t input = 0;
    const TemporaryFolder& folder;
};

// `command` compiles the source. What it says goes to stderr, or into the file `messages`. The exit code.
[[nodiscard]] int compile_as_nvcc(const SourceCompile& source, const Command& command,
                                  const Environment& environment, const std::string& messages = {});

}  // namespace trimtab::wrapper
