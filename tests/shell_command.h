// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as a shell runs them, with what they print.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace trimtab::test {

struct Outcome {
    int status = -1;     // 128 and the signal, of one that a signal ended
    std::string output;  // stdout and stderr
};

// `environment`: options and assignments of env(1).
inline Outcome run(const std::string& environment, const std::string& command) {
    const std::string whole = "env -u TRIMTAB -u TRIMTAB_LOG -u TRIMTAB_REPORT " + environment +
                              " TRIMTAB_MODULES=off " + command + " 2>&1";
    Outcome outcome;
    std::FILE* pipe = popen(whole.c_str(), "r");
    if (pipe == nullptr) return outcome;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        outcome.output.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

}  // namespace trimtab::test
