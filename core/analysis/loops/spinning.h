// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that wait for other threads (re-blocking, rule 2).
#pragma once

#include "core/analysis/values/function_values.h"
#include "core/analysis/values/memory_roots.h"

namespace trimtab::analysis {

// What the kernel's own stores and atomics write, over all functions that it reaches.
[[nodiscard]] MemoryRoots written_memory(const SymbolTable& table,
                                         const std::vector<FunctionValues>& functions);

// Faults in functions that may come back to themselves by calls: whether they do it once more may depend on
// what they load.
[[nodiscard]] std::vector<Fault> waiting_by_recursion(const SymbolTable& table,
                                                      const std::vector<FunctionValues>& functions,
                                                      std::size_t function, const MemoryRoots& written);

// One fault for each loop whose exit depends on memory that may be in `written`.
[[nodiscard]] std::vector<Fault> spinning_loops(SymbolTable& table, const FunctionValues& values,
                                                const MemoryRoots& written);

}  // namespace trimtab::analysis
