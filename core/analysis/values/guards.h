// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions that take a thread to its exit before it does anything (re-blocking, rule 3).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/analysis/values/function_values.h"

namespace trimtab::analysis {

// Where true, control goes from the kernel's entry to an exit with no call, trap or loop, and no memory access
// but loads that every thread of the launch makes of the same place.
struct ExitCondition {
    Symbolic predicate;
    std::uint32_t instruction = 0;  // the branch that decides
};

// By dimension: a branch on the way that tests the index against what a load brings.
using UnknownTests = std::array<std::optional<std::uint32_t>, 3>;

// All such conditions that the paths from the entry show, each sufficient by itself.
[[nodiscard]] std::vector<ExitCondition> exit_conditions(SymbolTable& table, const FunctionValues& kernel,
                                                         UnknownTests* unknown = nullptr);

// How a value moves with a global index. A predicate that rises turns true and stays so as the index grows: a
// guard against indices past the extent. Truncation, select, remainder, min and phi make it `unknown`.
enum class Trend : std::uint8_t { none, rises, falls, unknown };
[[nodiscard]] Trend trend(const SymbolTable& table, const Symbolic& value, Dimension dimension);

// Of global indices, parameters and operators alone.
[[nodiscard]] bool is_expressible(const SymbolTable& table, const Symbolic& value);

// The same value as an expression; nothing where other values are in it.
[[nodiscard]] std::optional<Expression> to_expression(const SymbolTable& table, const Symbolic& value,
                                                      ptx::Type type);

// index + ... < bound: a comparison of one dimension's index, alone and unscaled, with one parameter, give or
// take constants.
struct IndexBound {
    Dimension dimension = Dimension::x;
    AtomIndex parameter = 0;
    bool counts_warps = false;  // it is the index of a warp
};
[[nodiscard]] std::optional<IndexBound> index_bound(const SymbolTable& table, const Symbolic& predicate);

}  // namespace trimtab::analysis
