// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A performance model as a text: what docs/model.md, "A model of your own", describes. The rational program that it gives is
// interpreted and printed as C like those that are built in.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "core/model/rational_program.h"
#include "trimtab/error.h"

namespace trimtab::model {

// `origin` names the text in errors, which give line and column. `name` is the program's.
[[nodiscard]] std::expected<RationalProgram, Error> parse_model(std::string_view text,
                                                                const std::string& origin,
                                                                std::string_view name);

}  // namespace trimtab::model
