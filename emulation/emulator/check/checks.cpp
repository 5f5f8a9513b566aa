// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/checks.h"

#include <algorithm>

namespace trimtab::emulator::check {

std::expected<Checks, Error> parse_checks(std::string_view text) {
    Checks checks;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string_view word = text.substr(start, end - start);
        start = end + 1;
        if (word == "all") {
            checks = {.memory = true, .race = true, .init = true, .sync = true};
        } else if (word == "memory") {
            checks.memory = true;
        } else if (word == "race") {
            checks.race = true;
        } else if (word == "init") {
            checks.init = true;
        } else if (word == "sync") {
            checks.sync = true;
        } else {
            return std::unexpected(Error{.message = "there is no check '" + std::string(word) +
                                                    "'; there are memory, race, init and sync (or all)"});
        }
    }
    return checks;
}

std::string text_of(const Checks& checks) {
    std::string text;
    const auto add = [&text](bool wanted, const char* name) {
        if (wanted) text += (text.empty() ? "" : ",") + std::string(name);
    };
    add(checks.memory, "memory");
    add(checks.race, "race");
    add(checks.init, "init");
    add(checks.sync, "sync");
    return text;
}

}  // namespace trimtab::emulator::check
