// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's last error: not one of a call that Trimtab made.
#include <cuda_runtime_api.h>

#include "runtime/pending_error.h"
#include "runtime/process.h"

using trimtab::runtime::Process;

extern "C" {

cudaError_t cudaGetLastError() {
    return trimtab::runtime::take_last_error(Process::instance().loaded().backend.calls());
}
cudaError_t cudaPeekAtLastError() {
    return trimtab::runtime::peek_at_last_error(Process::instance().loaded().backend.calls());
}

}  // extern "C"
