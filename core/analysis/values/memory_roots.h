// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which pointers an address comes from.
#pragma once

#include <set>

#include "core/analysis/values/function_values.h"

namespace trimtab::analysis {

struct MemoryRoots {
    std::set<AtomIndex> bases;  // pointer parameters and module variables
    bool is_unknown = false;    // a pointer that was itself loaded, or passed to a function
    bool is_private = false;    // the thread's own stack

    void join(const MemoryRoots& other);
};

[[nodiscard]] MemoryRoots memory_roots(const SymbolTable& table, const FunctionValues& values,
                                       const Symbolic& address);
// Of a load's, store's or atomic's address; nothing known for other instructions.
[[nodiscard]] MemoryRoots memory_roots(const SymbolTable& table, const FunctionValues& values,
                                       std::uint32_t instruction);

// No thread writes what the load reads: constant and parameter space, ld.global.nc.
[[nodiscard]] bool reads_constant_memory(const FunctionValues& values, std::uint32_t instruction);

}  // namespace trimtab::analysis
