// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model of a build's driver programs: a built-in one by name, or a file's (model_text.h).
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "core/model/rational_program.h"
#include "trimtab/error.h"

namespace trimtab::model {

struct ChosenModel {
    ChosenModel();  // Trimtab's own

    std::shared_ptr<const RationalProgram> program;  // never null
    std::string text;                                // of a model that is not built in
};

// Names come before files; what holds a . or a / is a file.
[[nodiscard]] std::expected<ChosenModel, Error> choose_model(std::string_view name_or_file);
// As a record of driver programs holds it: without a text, the name is a built-in model's. `origin` is for errors.
[[nodiscard]] std::expected<ChosenModel, Error> recorded_model(std::string_view name, std::string text,
                                                               const std::string& origin);

}  // namespace trimtab::model
