// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running other programs, as a compiler driver does: whatever stops one is said on stderr.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/temporary_folder.h"

namespace trimtab::wrapper {

using base::TemporaryFolder;
using Environment = std::vector<std::pair<std::string, std::string>>;  // beside this process's own

// Runs to the end and gives the exit code; 1 where the program could not be started, or died of a signal.
[[nodiscard]] int run(const std::vector<std::string>& command, const Environment& environment = {});

// The same with what it writes on stderr in `messages`, a file.
[[nodiscard]] int run_with_messages_in(const std::string& messages, const std::vector<std::string>& command,
                                       const Environment& environment);

// Becomes the other program (by its own name: arguments[0] is not read); returns only where that fails,
// with the exit code.
[[nodiscard]] int become(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace trimtab::wrapper
