// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the enumerators of types.h are spelt in PTX, both ways.
#pragma once

#include <optional>
#include <string_view>

#include "core/ptx/types.h"

namespace trimtab::ptx {

[[nodiscard]] std::optional<Type> find_type(std::string_view spelling);    // "f32"
[[nodiscard]] std::optional<Space> find_space(std::string_view spelling);  // "shared::cta", "const"
[[nodiscard]] Opcode find_opcode(std::string_view base);                   // unknown if it is none
[[nodiscard]] std::optional<SpecialRegister> find_special_register(std::string_view spelling);  // "%tid.x"

}  // namespace trimtab::ptx
