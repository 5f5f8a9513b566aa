// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every room returns when bad input meets it: one line that names the file and the place.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace trimtab {

// `message` is one sentence without a final stop. `file` is empty where no file is to blame; `line` and
// `column` count from 1, 0 where there is none (a binary file: see `message` for the byte offset).
struct Error {
    std::string message;
    std::string file = {};
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    // "file:line:column: message", leaving out what is not known.
    [[nodiscard]] std::string text() const {
        std::string out;
        if (!file.empty()) {
            out += file;
            if (line != 0) out += ":" + std::to_string(line);
            if (column != 0) out += ":" + std::to_string(column);
            out += ": ";
        }
        return out + message;
    }
};

}  // namespace trimtab
