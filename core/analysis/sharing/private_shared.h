// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory that no thread shares: s[threadIdx.x], with a slot for each thread of the block. To the rest
// of the proof it is the thread's own stack; barriers around it order nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/values/function_values.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

struct PrivateShared {
    ptx::Function function;  // with slots in local memory, and no barriers
    std::uint32_t most_threads =
        0;  // that a block may have, so that each has slots of its own; 0: any number
    // There were barriers with accesses to other memory before and behind them. They are gone for nothing only if
    // threads do not talk through that memory either, which is for the caller to prove.
    bool had_barriers = false;
    // Of barriers of the block, the places of those that all of its threads meet: what loops over a block's threads do
    // in two phases still comes one after the other.
    std::vector<std::uint32_t> barriers;
};

// Nothing: there is neither shared memory nor a barrier, or some of it is not shown to be a thread's own, or
// a barrier is not met by every thread of the block that has not ended. The function has no calls.
[[nodiscard]] std::optional<PrivateShared> with_private_shared(SymbolTable& table, const ptx::Module& module,
                                                               const ptx::Function& function,
                                                               const LaunchReads& reads);

}  // namespace trimtab::analysis
