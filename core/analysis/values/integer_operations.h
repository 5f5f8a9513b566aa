// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX instructions that are operators of the expression grammar.
#pragma once

#include <optional>

#include "core/analysis/launches/operation.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

// The operator, for an instruction that computes one integer (or predicate) result and nothing else; setp's
// second result and its combination with a predicate are left to the caller.
[[nodiscard]] std::optional<Operation> integer_operation(const ptx::Instruction& instruction);

}  // namespace trimtab::analysis
