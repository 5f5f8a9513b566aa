// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches as CUDA 3 had them: a kernel's block, shared memory and parameters are set one by one, then a grid is launched. Some
// programs still set the block so, PyCUDA among them.
#include <cuda.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "emulation/cuda/driver_api/call.h"

using namespace trimtab::cuda::driver;

namespace {

struct Setting {
    unsigned block[3] = {1, 1, 1};
    unsigned shared_bytes = 0;
    std::vector<std::byte> parameters;
};

// A kernel's parameters take no more.
constexpr std::size_t most_parameter_bytes = 32764;

struct Settings {
    std::mutex mutex;
    std::map<CUfunction, Setting> of;
};
Settings& settings() {
    static Settings all;
    return all;
}

template <typename Body>
CUresult set(CUfunction f, const Body& body) {
    return context_call([&](State&) {
        if (f == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        const std::lock_guard lock(settings().mutex);
        return body(settings().of[f]);
    });
}

CUresult set_parameter(CUfunction f, int offset, const void* value, std::size_t bytes) {
    return set(f, [=](Setting& setting) {
        if (offset < 0 || value == nullptr || bytes > most_parameter_bytes - std::size_t(offset) ||
            std::size_t(offset) > most_parameter_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        if (setting.parameters.size() < offset + bytes) setting.parameters.resize(offset + bytes);
        std::memcpy(setting.parameters.data() + offset, value, bytes);
        return CUDA_SUCCESS;
    });
}

CUresult launch(CUfunction f, int width, int height, CUstream stream) {
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    Setting setting;
    const CUresult result = set(f, [&](const Setting& found) {
        setting = found;
        return CUDA_SUCCESS;
    });
    if (result != CUDA_SUCCESS) return result;
    std::size_t bytes = setting.parameters.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, setting.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(f, width, height, 1, setting.block[0], setting.block[1], setting.block[2],
                          setting.shared_bytes, stream, nullptr, bytes == 0 ? nullptr : extra);
}

}  // namespace

extern "C" {

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
    return set(hfunc, [=](Setting& setting) {
        if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
        setting.block[0] = static_cast<unsigned>(x);
        setting.block[1] = static_cast<unsigned>(y);
        setting.block[2] = static_cast<unsigned>(z);
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
    return set(hfunc, [=](Setting& setting) {
        setting.shared_bytes = bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
    return set(hfunc, [=](Setting& setting) {
        if (numbytes > most_parameter_bytes) return CUDA_ERROR_INVALID_VALUE;
        setting.parameters.resize(numbytes);
        return CUDA_SUCCESS;
    });
}
CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
    return set_parameter(hfunc, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
    return set_parameter(hfunc, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction hfunc, int offset, void* ptr, unsigned int numbytes) {
    return set_parameter(hfunc, offset, ptr, numbytes);
}

CUresult cuLaunch(CUfunction f) {
    return launch(f, 1, 1, nullptr);
}
CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
    return launch(f, grid_width, grid_height, nullptr);
}
CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
    return launch(f, grid_width, grid_height, hStream);
}

}  // extern "C"
