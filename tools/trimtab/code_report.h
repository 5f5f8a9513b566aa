// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ptxas made of a kernel, for people and as JSON: size, mix, spills, loops; with the counts of a launch where
// there are some.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/ptx/module.h"
#include "core/sass/counted_code.h"

namespace trimtab::tools {

// `module`: the PTX, for source lines. Lines end in '\n' and are indented by two.
[[nodiscard]] std::string code_text(const sass::Assembly& assembly, const ptx::Module& module);
[[nodiscard]] std::string code_text(const sass::CountedCode& code, const ptx::Module& module);
[[nodiscard]] nlohmann::ordered_json code_json(const sass::Assembly& assembly, const ptx::Module& module);
[[nodiscard]] nlohmann::ordered_json code_json(const sass::CountedCode& code, const ptx::Module& module);

}  // namespace trimtab::tools
