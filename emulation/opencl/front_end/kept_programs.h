// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled programs, kept from one run for later ones.
#pragma once

#include <optional>
#include <string>

#include "emulation/opencl/front_end/front_end.h"

namespace trimtab::opencl {

// `key` is all that the result depends on. nullopt: none is kept.
[[nodiscard]] std::optional<CompiledProgram> kept_program(const std::string& key);
// What cannot be kept is compiled again.
void keep_program(const std::string& key, const CompiledProgram& program);

}  // namespace trimtab::opencl
