// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/driver_api/call.h"

namespace trimtab::cuda::driver {

CUresult to_result(cudaError_t status) {
    switch (status) {
        // Errors of arguments that the runtime tells apart and the driver does not.
        case cudaErrorInvalidConfiguration:
        case cudaErrorInvalidPitchValue:
        case cudaErrorInvalidHostPointer:
        case cudaErrorInvalidDevicePointer:
        case cudaErrorInvalidChannelDescriptor:
        case cudaErrorInvalidMemcpyDirection:
        case cudaErrorInvalidFilterSetting:
        case cudaErrorInvalidNormSetting:
        case cudaErrorMissingConfiguration:
            return CUDA_ERROR_INVALID_VALUE;
        case cudaErrorInvalidSymbol:
            return CUDA_ERROR_NOT_FOUND;
        case cudaErrorInvalidDeviceFunction:
            return CUDA_ERROR_INVALID_HANDLE;
        default:
            return static_cast<CUresult>(status);
    }
}

}  // namespace trimtab::cuda::driver
