// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory and events of other processes, in the driver API.
#include <cstring>

#include "emulation/cuda/driver_api/call.h"

using namespace trimtab::cuda::driver;

namespace {

template <typename To, typename From>
To same(const From& handle) {
    static_assert(sizeof(To) == sizeof(From));
    To out;
    std::memcpy(&out, &handle, sizeof out);
    return out;
}

}  // namespace

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
    return forward(cudaIpcGetMemHandle, reinterpret_cast<cudaIpcMemHandle_t*>(pHandle), host(dptr));
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned flags) {
    return forward(cudaIpcOpenMemHandle, reinterpret_cast<void**>(pdptr), same<cudaIpcMemHandle_t>(handle),
                   flags);
}
CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    return forward(cudaIpcCloseMemHandle, host(dptr));
}
CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
    return forward(cudaIpcGetEventHandle, reinterpret_cast<cudaIpcEventHandle_t*>(pHandle), event);
}
CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) {
    return forward(cudaIpcOpenEventHandle, phEvent, same<cudaIpcEventHandle_t>(handle));
}

}  // extern "C"
