// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/moved_variables.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trimtab::analysis {
namespace {

void rename(ptx::Operand& operand, const std::string& from, const std::string& to) {
    if (operand.text == from) operand.text = to;
    for (ptx::Operand& element : operand.elements) rename(element, from, to);
}

}  // namespace

void move_access(ptx::Instruction& access, ptx::Space space) {
    constexpr std::string_view shared = "shared";
    const std::string_view name = space == ptx::Space::constant ? "const" : "global";
    access.modifiers.space = space;
    for (std::string& suffix : access.suffixes)
        if (suffix == shared) suffix = name;
    if (const auto at = access.mnemonic.find(shared); at != std::string::npos)
        access.mnemonic.replace(at, shared.size(), name);
}

void move_variable(ptx::Function& function, const ptx::Variable& variable, ptx::Space space) {
    const std::string old_name = variable.name;
    ptx::Variable moved = variable;
    moved.name = "$block$" + old_name;
    moved.space = space;
    for (ptx::Instruction& made : function.body)
        for (ptx::Operand& operand : made.operands) rename(operand, old_name, moved.name);
    std::erase_if(function.variables, [&](const ptx::Variable& own) { return own.name == old_name; });
    function.variables.push_back(std::move(moved));
}

}  // namespace trimtab::analysis
