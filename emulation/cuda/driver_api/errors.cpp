// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and texts of the driver's error codes.
#include "emulation/cuda/errors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "emulation/cuda/driver_api/call.h"

namespace {

constexpr auto names = std::to_array<std::pair<CUresult, const char*>>({
#define CUDA_RESULT(code) {code, #code},
#include "emulation/cuda/driver_api/result_names.inc"
#undef CUDA_RESULT
});

const char* name_of(CUresult code) {
    const auto* place =
        std::find_if(names.begin(), names.end(), [code](const auto& entry) { return entry.first == code; });
    return place == names.end() ? nullptr : place->second;
}

}  // namespace

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** pStr) {
    if (pStr == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pStr = name_of(error);
    return *pStr == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** pStr) {
    if (pStr == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // Both interfaces have the same texts for the same numbers.
    *pStr = name_of(error) == nullptr ? nullptr : trimtab::cuda::error_text(static_cast<cudaError_t>(error));
    return *pStr == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // extern "C"
