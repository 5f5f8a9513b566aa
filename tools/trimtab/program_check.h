// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab run --check: a program on the emulator, its kernels watched for defects.
#pragma once

#include <string>
#include <vector>

namespace trimtab::tools {

struct CheckOptions {
    std::string checks;  // "memory,race": emulation/emulator/check/checks.h
    std::string report;  // a file for what is found, as JSON; empty: it is printed
    bool json = false;   // printed as JSON on stdout, which the program then does not write on
};

// Runs `command` (its first word a path) to the end and prints what was found. Its exit code: 1 where
// something was, else the program's own.
[[nodiscard]] int run_checked(const std::vector<std::string>& command, const CheckOptions& options);

}  // namespace trimtab::tools
