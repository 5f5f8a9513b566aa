// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding programs, and what is installed with this one: bin/ and lib/ stand side by side in the build as in
// an install.
#pragma once

#include <optional>
#include <string>

namespace trimtab::base {

// The file that a shell would run for `name`; nullopt where there is none. Where the process runs with more
// rights than its user has, PATH is not read.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);
// This program is where this code is: a library of ours, where another program has loaded that.
// The folder that holds bin/ with this program, lib/ and include/.
[[nodiscard]] std::string own_prefix();
// Beside this program, in ../bin (programs) or ../lib (../lib64 ...) of it.
[[nodiscard]] std::optional<std::string> find_own_program(const std::string& name);
[[nodiscard]] std::optional<std::string> find_own_library(const std::string& name);

}  // namespace trimtab::base
