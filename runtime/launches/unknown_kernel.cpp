// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/unknown_kernel.h"

#include <dlfcn.h>

#include <string>

#include "runtime/stand_in/shared_runtime.h"

namespace trimtab::runtime {

void say_if_unknown(Process& process, const void* function) {
    Dl_info place{};
    if (!was_redirected() || process.loaded().backend.kind() != BackendKind::emulator ||
        process.registrations().find(function) != nullptr || dladdr(function, &place) == 0 ||
        place.dli_fname == nullptr)
        return;
    process.log().warn_once(
        std::string(place.dli_fname) +
        ": its kernels were registered with CUDA's own runtime before Trimtab was loaded, and fail on the "
        "emulator: run the program under `trimtab run`");
}

}  // namespace trimtab::runtime
