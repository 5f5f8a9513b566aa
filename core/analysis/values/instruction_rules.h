// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions a re-blocked kernel may have (re-blocking, rule 2).
#pragma once

#include <optional>
#include <string>

#include "core/analysis/values/function_values.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

// No memory access, call, trap or synchronisation: what may stand before a guard (rule 3). Branches and
// returns too.
[[nodiscard]] bool is_pure(const ptx::Instruction& instruction);

// Does it no more than have the threads of a warp tell each other something, or ask which lane it is?
[[nodiscard]] bool is_warp_exchange(const ptx::Instruction& instruction);

// A barrier of all threads of the block, or of the warp, for nothing but to wait: no count, no result, no mask
// of some.
[[nodiscard]] bool is_block_barrier(const FunctionValues& values, std::uint32_t instruction);
[[nodiscard]] bool is_warp_barrier(const FunctionValues& values, std::uint32_t instruction);
// Loads, stores and atomics of shared memory by name of the space.
[[nodiscard]] bool is_shared_access(const ptx::Instruction& instruction);
// The variable in shared memory of that name, of the function or of the module; null: there is none.
[[nodiscard]] const ptx::Variable* shared_variable(const ptx::Function& function, const ptx::Module& module,
                                                   const std::string& name);

// Why the instruction refuses the kernel; nothing where it is on the list.
[[nodiscard]] std::optional<std::string> refusal(const FunctionValues& values, const ptx::Module& module,
                                                 std::uint32_t instruction);

// atom, red and surface reductions; and whether a floating-point one.
[[nodiscard]] bool is_reduction(const ptx::Instruction& instruction);
[[nodiscard]] bool is_float_reduction(const ptx::Instruction& instruction);
[[nodiscard]] bool is_store(const ptx::Instruction& instruction);

}  // namespace trimtab::analysis
