// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with what it calls written out in place, so that values, guards and effects are followed through
// device functions that the compiler left as calls.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/module.h"

namespace trimtab::analysis {

struct Inlined {
    ptx::Function function;
    // By instruction of `function`: the function that it comes from, and the index in the kernel's own body
    // of it, or of the call through which it came.
    struct Origin {
        const ptx::Function* function = nullptr;
        std::uint32_t kernel_instruction = 0;
    };
    std::vector<Origin> origins;
};

// Calls that are recursive, indirect, guarded, to code that is elsewhere, or of a shape that the PTX calling
// convention does not use, stay calls; so does what would make the kernel very large.
[[nodiscard]] Inlined with_inlined_calls(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace trimtab::analysis
