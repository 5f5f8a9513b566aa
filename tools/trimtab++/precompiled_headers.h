// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every CUDA source includes first, parsed once for all compiles with the same options: clang's headers of CUDA, the
// toolkit's and nvcc.h. They are half of what a small source costs. The object is the same to the byte. Kept in
// $XDG_CACHE_HOME/trimtab/headers, a folder for each set of options.
#pragma once

#include <optional>
#include <string>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/jobs.h"
#include "tools/trimtab++/toolchain.h"

namespace trimtab::wrapper {

struct PrecompiledHeaders {
    Command command;     // the compile that reads them
    std::string folder;  // that holds them
};

// For compile_command()'s `command`, that of line.arguments[input]. They are made at the second compile with the same
// options. Nothing where there are none yet, where options ask for what they would change, or where they cannot be made.
[[nodiscard]] std::optional<PrecompiledHeaders> precompiled_headers(const CommandLine& line,
                                                                    const Toolchain& tools, std::size_t input,
                                                                    const Command& command);

// They did not fit: what is in the folder goes, to be made anew.
void forget(const PrecompiledHeaders& headers);

}  // namespace trimtab::wrapper
