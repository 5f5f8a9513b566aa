// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA's own libcudart.so.13 in a process where the emulator stands in for the GPU: there it can only fail, so each of its
// functions is made to jump to Trimtab's of the same name.
#pragma once

#include "runtime/stand_in/loaded_library.h"

namespace trimtab::runtime {

// By the name that it was built under: programs open it by others.
[[nodiscard]] bool is_real_runtime(const LoadedLibrary& library);

// false: its code is not writable. Kernels that were registered with it before stay unknown to Trimtab's.
[[nodiscard]] bool redirect(const LoadedLibrary& real, const LoadedLibrary& stand_in);
inline constexpr const char* not_redirected_text =
    "CUDA's own runtime cannot be replaced (its code is not writable), and its calls fail without a GPU: "
    "link the program with "
    "trimtab++";

// Has any been redirected by this library?
[[nodiscard]] bool was_redirected();

}  // namespace trimtab::runtime
