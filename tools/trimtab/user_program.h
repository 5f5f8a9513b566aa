// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running the user's program, and the file that what is found out about it goes to.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "core/base/process.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// To its end. Says so where a signal ended it. `output_on_stderr`: stdout is for a report alone. `messages_file`: takes
// what would go to stderr.
[[nodiscard]] std::expected<base::Outcome, Error> run_user_program(const std::vector<std::string>& command,
                                                                   bool output_on_stderr = false,
                                                                   const std::string& messages_file = {});

// Before the program runs, which may take long: why the report could not be written, if so.
[[nodiscard]] std::optional<Error> cannot_write(const std::string& report);
[[nodiscard]] std::expected<void, Error> write_report(const std::string& report, const std::string& text);

}  // namespace trimtab::tools
