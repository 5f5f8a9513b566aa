// Starting `trimtab prepare` beside the program, so that the program cannot tell.
#pragma once

#include <string>

namespace trimtab::runtime {

// A process of its own session, with the lowest priority, no open files and no parent in this program:
// nothing for its wait(), no SIGCHLD. Empty, or why it could not be started.
[[nodiscard]] std::string start_preparation(const std::string& source);

}  // namespace trimtab::runtime
