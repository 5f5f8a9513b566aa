// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "ld.global.nc.v4.f32" taken apart, once for every spelling.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/module.h"

namespace trimtab::ptx {

struct Mnemonic {
    Opcode opcode = Opcode::unknown;
    Type type = Type::none, source_type = Type::none;
    Modifiers modifiers;
    std::vector<std::string> suffixes;

    [[nodiscard]] bool has(std::string_view suffix) const;
};

[[nodiscard]] Mnemonic decode_mnemonic(std::string_view spelling);

// How many of the leading operands the instruction writes, given those that it has; `paired` is d|p.
[[nodiscard]] std::uint8_t count_destinations(const Mnemonic& mnemonic, const std::vector<Operand>& operands,
                                              bool paired);

}  // namespace trimtab::ptx
