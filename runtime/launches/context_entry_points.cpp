// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that end a context: what Trimtab has recorded in it is forgotten first.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "runtime/process.h"

// The header makes other names of these.
#undef cuCtxDestroy
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset

namespace trimtab::runtime {
namespace {

Loaded& with_nothing_recorded() {
    Loaded& loaded = Process::instance().loaded();
    loaded.launcher.context_ends();
    return loaded;
}

}  // namespace
}  // namespace trimtab::runtime

using trimtab::runtime::with_nothing_recorded;

extern "C" {

cudaError_t cudaDeviceReset() {
    return with_nothing_recorded().backend.calls().device_reset();
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
    return with_nothing_recorded().backend.calls().driver.context_destroy(ctx);
}
CUresult cuCtxDestroy(CUcontext ctx) {
    return cuCtxDestroy_v2(ctx);
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    return with_nothing_recorded().backend.calls().driver.primary_context_reset(dev);
}
CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    return cuDevicePrimaryCtxReset_v2(dev);
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    return with_nothing_recorded().backend.calls().driver.primary_context_release(dev);
}
CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    return cuDevicePrimaryCtxRelease_v2(dev);
}

}  // extern "C"
