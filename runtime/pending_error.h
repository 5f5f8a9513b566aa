// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's last error, as cudaGetLastError tells it: calls that Trimtab makes may neither show there nor
// push out what the program has not asked for yet.
#pragma once

#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// Made before a call that may fail.
class PendingError {
  public:
    explicit PendingError(const BackendCalls& calls) : calls_(calls), pending_(calls.peek_at_last_error()) {}
    // The call has failed: its error is taken away, and the one before it is the program's next.
    void restore() const;

  private:
    const BackendCalls& calls_;
    cudaError_t pending_;
};

// What cudaPeekAtLastError and cudaGetLastError tell: the runtime's error, else one that was restored.
[[nodiscard]] cudaError_t peek_at_last_error(const BackendCalls& calls);
[[nodiscard]] cudaError_t take_last_error(const BackendCalls& calls);

}  // namespace trimtab::runtime
