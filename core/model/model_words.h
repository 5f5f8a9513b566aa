// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of a model's text (model_text.h).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::model {

struct ModelWord {
    enum class Kind : std::uint8_t { name, number, sign, end_of_statement, end } kind = Kind::end;
    std::string_view text;  // of a name: with its dots, "device.sm_count"
    double number = 0;
    std::uint32_t line = 0, column = 0;
};

// A statement ends with its line, unless the next line begins with a space. # begins a comment. The last word is `end`.
[[nodiscard]] std::expected<std::vector<ModelWord>, Error> model_words(std::string_view text,
                                                                       const std::string& origin);

}  // namespace trimtab::model
