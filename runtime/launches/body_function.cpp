// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/body_function.h"

#include "runtime/pending_error.h"

namespace trimtab::runtime {

cudaError_t function_of_body(const BackendCalls& calls, const RegisteredKernel& body, CUfunction& function) {
    CUfunction found = nullptr;
    const PendingError pending(calls);
    const cudaError_t status = calls.get_func_by_symbol(&found, body.host_function);
    // The launcher keeps no error of driver-API launches: this is the one call of the runtime among theirs.
    if (status != cudaSuccess)
        pending.restore();
    else
        function = found;
    return status;
}

}  // namespace trimtab::runtime
