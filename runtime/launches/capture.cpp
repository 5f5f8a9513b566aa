// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/capture.h"

#include "runtime/pending_error.h"

namespace trimtab::runtime {
namespace {

// Both interfaces number them alike.
bool is_of_capture(int error) {
    return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

}  // namespace

bool is_captured(const BackendCalls& calls, cudaStream_t stream) {
    auto of_driver = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = calls.driver.stream_is_capturing(stream, &of_driver);
    if (result == CUDA_SUCCESS) return of_driver != CU_STREAM_CAPTURE_STATUS_NONE;
    if (is_of_capture(result)) return true;
    // No context is current in this thread yet: the runtime makes its own so.
    const PendingError pending(calls);
    auto status = cudaStreamCaptureStatusNone;
    const cudaError_t error = calls.stream_is_capturing(stream, &status);
    if (error == cudaSuccess) return status != cudaStreamCaptureStatusNone;
    pending.restore();
    return is_of_capture(error);
}

}  // namespace trimtab::runtime
