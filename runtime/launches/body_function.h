// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver API's handle of another body, for a driver-API launch that is given its code.
#pragma once

#include "runtime/modules/registrations.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// Sets `function` on success alone. It asks the runtime, whose last error a failure leaves as the program had it.
[[nodiscard]] cudaError_t function_of_body(const BackendCalls& calls, const RegisteredKernel& body,
                                           CUfunction& function);

}  // namespace trimtab::runtime
