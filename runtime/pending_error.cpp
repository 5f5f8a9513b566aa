// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/pending_error.h"

#include <utility>

namespace trimtab::runtime {
namespace {

// CUDA's runtime has no call that sets its last error: a restored one waits here.
cudaError_t& restored() {
    thread_local cudaError_t error = cudaSuccess;
    return error;
}

}  // namespace

void PendingError::restore() const {
    static_cast<void>(calls_.get_last_error());
    if (pending_ != cudaSuccess) restored() = pending_;
}

cudaError_t peek_at_last_error(const BackendCalls& calls) {
    const cudaError_t error = calls.peek_at_last_error();
    return error != cudaSuccess ? error : restored();
}

cudaError_t take_last_error(const BackendCalls& calls) {
    const cudaError_t earlier = std::exchange(restored(), cudaSuccess);
    const cudaError_t error = calls.get_last_error();
    return error != cudaSuccess ? error : earlier;
}

}  // namespace trimtab::runtime
