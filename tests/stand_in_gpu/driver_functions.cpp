// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of libcuda.so.1: what is more than a call that is handed on.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/stand_in_gpu/call.h"

#undef cuEventElapsedTime
#undef cuEventRecord
#undef cuLaunchKernel
#undef cuLaunchKernelEx

using namespace stand_in_gpu;

namespace {

using Launch = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            CUstream, void**, void**);
using LaunchEx = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);
using Record = CUresult (*)(CUevent, CUstream);
using Elapsed = CUresult (*)(float*, CUevent, CUevent);

CUresult launch_ex(const char* name, const CUlaunchConfig* config, CUfunction f, void** params,
                   void** extra) {
    if (config != nullptr)
        if (const int error = fault_of_changed(name, config->blockDimX, config->blockDimY, config->blockDimZ))
            return static_cast<CUresult>(error);
    return forward<LaunchEx>(name, config, f, params, extra);
}

CUresult record(const char* name, CUevent event, CUstream stream) {
    event_recorded(event);
    return forward<Record>(name, event, stream);
}

CUresult elapsed(const char* name, float* ms, CUevent start, CUevent end) {
    if (!event_is_ready(start) || !event_is_ready(end)) return CUDA_ERROR_NOT_READY;
    const CUresult status = forward<Elapsed>(name, ms, start, end);
    if (status == CUDA_SUCCESS) *ms = measured_ms(*ms);
    return status;
}

// As CUDA's driver does where a profiler or a checker asks for it: its library is loaded, and told once.
void inject_tool() {
    static const bool done = [] {
        const char* path = std::getenv("CUDA_INJECTION64_PATH");
        if (path == nullptr) return true;
        void* tool = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (tool == nullptr) return true;
        if (const auto initialise = reinterpret_cast<int (*)()>(dlsym(tool, "InitializeInjection")))
            static_cast<void>(initialise());
        return true;
    }();
    static_cast<void>(done);
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
    inject_tool();
    return forward<CUresult (*)(unsigned)>("cuInit", flags);
}

CUresult cuDriverGetVersion(int* version) {
    const CUresult status = forward<CUresult (*)(int*)>("cuDriverGetVersion", version);
    if (status == CUDA_SUCCESS && control().driver_version != 0) *version = control().driver_version;
    return status;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    const CUresult status =
        forward<CUresult (*)(char*, int, CUdevice)>("cuDeviceGetName", name, length, device);
    const Control& gpu = control();
    if (status == CUDA_SUCCESS && device == 0 && length > 0 && gpu.name_of_first[0] != '\0')
        std::snprintf(name, static_cast<std::size_t>(length), "%s", gpu.name_of_first.data());
    return status;
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                        void** params, void** extra) {
    if (const int error = fault_of_changed("cuLaunchKernel", block_x, block_y, block_z))
        return static_cast<CUresult>(error);
    return forward<Launch>("cuLaunchKernel", f, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                           shared_bytes, stream, params, extra);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** params, void** extra) {
    return launch_ex("cuLaunchKernelEx", config, f, params, extra);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return record("cuEventRecord", event, stream);
}
CUresult cuEventRecord_ptsz(CUevent event, CUstream stream) {
    return record("cuEventRecord_ptsz", event, stream);
}
CUresult cuEventQuery(CUevent event) {
    const CUresult status = forward<CUresult (*)(CUevent)>("cuEventQuery", event);
    return status == CUDA_SUCCESS && !event_is_ready(event) ? CUDA_ERROR_NOT_READY : status;
}
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
    return elapsed("cuEventElapsedTime", ms, start, end);
}
CUresult cuEventElapsedTime_v2(float* ms, CUevent start, CUevent end) {
    return elapsed("cuEventElapsedTime_v2", ms, start, end);
}

}  // extern "C"
