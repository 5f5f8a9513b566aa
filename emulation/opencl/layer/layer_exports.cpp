// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the loader asks of a layer (OPENCL_LAYERS, CL/cl_layer.h).
#include <CL/cl_layer.h>

#include <cstring>

#include "emulation/opencl/layer/layer.h"

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void* value,
                                               size_t* size_back) {
    const auto answer = [&](const void* data, size_t bytes) -> cl_int {
        if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
        if (value != nullptr) std::memcpy(value, data, bytes);
        if (size_back != nullptr) *size_back = bytes;
        return CL_SUCCESS;
    };
    constexpr cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    constexpr char layer_name[] = "Trimtab";
    switch (name) {
        case CL_LAYER_API_VERSION:
            return answer(&version, sizeof version);
        case CL_LAYER_NAME:
            return answer(layer_name, sizeof layer_name);
        default:
            return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_back,
                                            const cl_icd_dispatch** table_back) {
    return trimtab::opencl::put_layer(count, target, count_back, table_back);
}
