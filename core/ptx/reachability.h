// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function's body names, in the order of the text.
#pragma once

#include <functional>
#include <string_view>

#include "core/ptx/module.h"

namespace trimtab::ptx {

// Calls visit(name, is_called) for every symbol outside `function` that it names: functions and variables of
// the module; `is_called` where it is the target of a direct call.
void for_each_outer_name(const Function& function, const std::function<void(std::string_view, bool)>& visit);

// Everything that `kernel` can lead to: what it calls, functions and variables whose address it or an initial
// value takes, and so on. The kernel first.
struct Closure {
    std::vector<const Function*> functions;
    std::vector<const Variable*> variables;
};
[[nodiscard]] Closure closure(const Module& module, const Function& kernel);

}  // namespace trimtab::ptx
