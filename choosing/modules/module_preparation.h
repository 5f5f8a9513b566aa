// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starting `trimtab prepare` beside the program, so that the program cannot tell.
#pragma once

#include <string>

namespace trimtab::choosing {

// A process of its own session, with no open files and no parent in this program: nothing for its wait(), no
// SIGCHLD. At a low priority and one at a time, unless the program waits for it. Empty, or why it
// could not be started. `annotations`: a file, or empty.
[[nodiscard]] std::string start_preparation(const std::string& source, const std::string& annotations,
                                            bool is_waited_for);

}  // namespace trimtab::choosing
