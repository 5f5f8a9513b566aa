// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a compiled object to an instrumented one: kernels described, profiled and fitted, their driver
// programs compiled and joined to it.
#pragma once

#include <string>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/process.h"
#include "tools/trimtab++/toolchain.h"

namespace trimtab::wrapper {

struct Compiled {
    std::string input;           // the source, for messages
    std::string object;          // changed in place, whole or not at all
    std::string kernel_sources;  // what the plugin wrote
};

// False where an annotation is wrong: that is an error in the source, and is said. Else it never fails the
// build: whatever goes wrong is one warning, and the object (or the one kernel) stays as clang made it.
[[nodiscard]] bool instrument(const Compiled& compiled, const CommandLine& line, const Toolchain& tools,
                              const TemporaryFolder& folder);

}  // namespace trimtab::wrapper
