// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the iterations of strided loops touch, and the rest of the kernel beside them: as addresses for the launch to
// compare, where pointers and bounds are known.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <vector>

#include "core/analysis/sharing/phases.h"
#include "core/analysis/sharing/strided_access.h"
#include "core/analysis/values/loop_indices.h"

namespace trimtab::analysis {

// By instruction: in which dimensions the thread of index 0 alone comes by.
using Once = std::map<std::uint32_t, std::array<bool, 3>>;

struct AccessRules {
    // The stack as memory of the thread's own; else it is what carries values from iteration to iteration.
    bool may_keep_stack = false;
    // What is read past the coherent caches is written by nobody, where no barrier was there to order it.
    bool trusts_read_only = false;
    // Where the blocks' shared memory is looked at too; else there is none.
    const ptx::Module* module = nullptr;
    // What barriers keep apart; null: nothing.
    const Phases* phases = nullptr;
    // The dimensions of the loops in all of which an instruction is of an iteration. Of such accesses the launch may
    // show what addresses do not: that as written each thread makes one iteration at most. Where none is set, it
    // may not.
    std::array<bool, 3> iterations_of{};
    // Of instructions that were looked at elsewhere.
    std::function<bool(std::uint32_t)> is_known = [](std::uint32_t) { return false; };
    // What blocks as wholes touch beside what is found, which must be shown to lie apart from it.
    std::vector<StridedAccess> beside;
    // What is found is compared with `beside` alone.
    bool only_beside = false;
};

struct StridedAccesses {
    std::vector<StridedAccess> known;  // empty where no order of iterations can matter
    // Iterations meet at places that are not known beforehand, unless the program has races where each of its
    // threads makes one iteration at most.
    bool need_one_iteration_a_thread = false;
};

// The fault is at what is not known beforehand.
[[nodiscard]] std::expected<StridedAccesses, Fault> strided_accesses(SymbolTable& table,
                                                                     const FunctionValues& kernel,
                                                                     const LoopIndices& indices,
                                                                     const Once& once,
                                                                     const AccessRules& rules);

// Parameters, constants, the stack as registers have none: what no iteration can tell from another.
[[nodiscard]] bool has_effect(const FunctionValues& kernel, std::uint32_t instruction);

// The variable in shared memory that an address is in, and what is added to where it begins; width 0: that is
// not known. A null variable: neither is.
struct SharedPlace {
    const ptx::Variable* variable = nullptr;
    Symbolic offset;
};
[[nodiscard]] SharedPlace shared_place(const SymbolTable& table, const FunctionValues& kernel,
                                       const ptx::Module& module, const LoopIndices& indices,
                                       std::uint32_t instruction);

}  // namespace trimtab::analysis
