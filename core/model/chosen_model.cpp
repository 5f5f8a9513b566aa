// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/chosen_model.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/base/read_text.h"
#include "core/model/model_text.h"
#include "core/model/performance_model.h"

namespace trimtab::model {

namespace {

// Built-in models live as long as the process.
std::shared_ptr<const RationalProgram> borrowed(const RationalProgram* program) {
    return {std::shared_ptr<const RationalProgram>(), program};
}

}  // namespace

ChosenModel::ChosenModel() : program(borrowed(*performance_model(default_model))) {}

std::expected<ChosenModel, Error> recorded_model(std::string_view name, std::string text,
                                                 const std::string& origin) {
    ChosenModel chosen;
    if (text.empty()) {
        const auto program = performance_model(name);
        if (!program) return std::unexpected(Error{.message = program.error().message, .file = origin});
        chosen.program = borrowed(*program);
        return chosen;
    }
    auto program = parse_model(text, origin, name);
    if (!program) return std::unexpected(program.error());
    chosen.program = std::make_shared<const RationalProgram>(std::move(*program));
    chosen.text = std::move(text);
    return chosen;
}

std::expected<ChosenModel, Error> choose_model(std::string_view name_or_file) {
    if (name_or_file.find_first_of("./") == std::string_view::npos)
        return recorded_model(name_or_file, {}, {});
    const std::string path(name_or_file);
    auto text = base::read_text(path);
    if (!text) return std::unexpected(Error{.message = "cannot read the model", .file = path});
    if (text->empty()) return std::unexpected(Error{.message = "is empty", .file = path});
    return recorded_model(std::filesystem::path(path).stem().string(), std::move(*text), path);
}

}  // namespace trimtab::model
