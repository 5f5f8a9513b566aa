// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A variable of the program's device code, as it was registered.
#pragma once

#include <cstddef>

namespace trimtab::runtime {

// __device__ or __managed__, not __constant__.
struct ProgramVariable {
    const void* host = nullptr;  // what names it; of a managed one, the address of the pointer to it
    std::size_t size_bytes = 0;
    bool is_managed = false;
};

}  // namespace trimtab::runtime
