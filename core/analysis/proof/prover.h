// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One try of the re-blocking proof, for launches of which something is assumed. proof.cpp goes through the tries.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/launches/parameters.h"
#include "core/analysis/proof/proof.h"
#include "core/analysis/values/inlined_calls.h"

namespace trimtab::analysis {

// A kernel with the calls that could be written out in place, and what it calls otherwise.
struct Code {
    const ptx::Module& module;
    const ptx::Function& kernel;
    Inlined inlined;
    std::vector<const ptx::Function*> reachable;

    Code(const ptx::Module& of, const ptx::Function& entry)
        : module(of),
          kernel(entry),
          inlined(with_inlined_calls(of, entry)),
          reachable(reachable_functions(of, inlined.function)) {}
};

// What a try makes of shared memory.
enum class Sharing : std::uint8_t {
    nothing,    // there is none
    own_slots,  // each thread has slots of its own
    tables,     // tables and bins that are no block's own
    sums,       // sums over the launch that blocks or warps bring together
    of_blocks   // what the threads of a block share is looked at as a whole
};

// For launches of which `assumed` holds.
[[nodiscard]] Proof try_proof(SymbolTable& table, const Code& code, const LaunchAssumption& assumed,
                              Sharing sharing);

}  // namespace trimtab::analysis
