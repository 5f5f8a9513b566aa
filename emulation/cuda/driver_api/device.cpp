// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, as the driver API tells of them.
#include "emulation/cuda/device.h"

#include <algorithm>
#include <cstring>

#include "emulation/cuda/driver_api/call.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::emulated_driver_version;
using trimtab::cuda::properties_of;

namespace {

template <typename Body>
CUresult on_device(CUdevice ordinal, const Body& body) {
    return initialised_call([&](State& state) {
        Device* device = device_at(state, ordinal);
        return device == nullptr ? CUDA_ERROR_INVALID_DEVICE : body(state, *device);
    });
}

// A call of the runtime's that needs no context.
template <typename Function, typename... Arguments>
CUresult ask_runtime(Function function, Arguments... arguments) {
    return initialised_call([&](State&) {
        const cudaError_t last_error = this_thread().last_error;
        const CUresult result = to_result(function(arguments...));
        this_thread().last_error = last_error;
        return result;
    });
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    State& state = State::instance();
    if (state.devices.empty()) return CUDA_ERROR_NO_DEVICE;
    state.initialised = true;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* driverVersion) {
    if (driverVersion == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = emulated_driver_version;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return on_device(ordinal, [=](State&, const Device&) {
        if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *device = ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetCount(int* count) {
    return initialised_call([=](const State& state) {
        if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *count = static_cast<int>(state.devices.size());
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
    return on_device(dev, [=](State&, const Device& device) {
        if (name == nullptr || len <= 0) return CUDA_ERROR_INVALID_VALUE;
        const std::string& text = device.description.name;
        const std::size_t length = std::min(text.size(), static_cast<std::size_t>(len) - 1);
        std::memcpy(name, text.data(), length);
        name[length] = '\0';
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
    return on_device(dev, [=](State&, const Device& device) {
        if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *uuid = properties_of(device).uuid;
        return CUDA_SUCCESS;
    });
}
#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
    return cuDeviceGetUuid_v2(uuid, dev);
}

// Locally unique identifiers are Windows'.
CUresult cuDeviceGetLuid(char*, unsigned*, CUdevice dev) {
    return on_device(dev, [](State&, const Device&) { return CUDA_ERROR_NOT_SUPPORTED; });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
    return on_device(dev, [=](State&, const Device& device) {
        if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *bytes = device.total_bytes();
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
    return on_device(dev, [=](State&, const Device& device) {
        if (pi == nullptr || attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        switch (attrib) {
            case CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER:
            case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
            case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
                *pi = 1;
                return CUDA_SUCCESS;
            default:
                break;
        }
        // Both interfaces number the attributes alike; the others that the driver alone has are of features that the
        // emulator has not.
        if (!attribute_of(device, static_cast<cudaDeviceAttr>(attrib), *pi)) *pi = 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
    return on_device(dev, [=](State&, const Device& device) {
        if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const cudaDeviceProp properties = properties_of(device);
        *major = properties.major;
        *minor = properties.minor;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
    return on_device(dev, [=](State&, const Device& device) {
        if (prop == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const cudaDeviceProp properties = properties_of(device);
        *prop = {};
        prop->maxThreadsPerBlock = properties.maxThreadsPerBlock;
        std::copy_n(properties.maxThreadsDim, 3, prop->maxThreadsDim);
        std::copy_n(properties.maxGridSize, 3, prop->maxGridSize);
        prop->sharedMemPerBlock = static_cast<int>(properties.sharedMemPerBlock);
        prop->totalConstantMemory = static_cast<int>(properties.totalConstMem);
        prop->SIMDWidth = properties.warpSize;
        prop->memPitch = static_cast<int>(properties.memPitch);
        prop->regsPerBlock = properties.regsPerBlock;
        prop->textureAlign = static_cast<int>(properties.textureAlignment);
        static_cast<void>(attribute_of(device, cudaDevAttrClockRate, prop->clockRate));
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
    return ask_runtime(cudaDeviceGetPCIBusId, pciBusId, len, dev);
}
CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
    return ask_runtime(cudaDeviceGetByPCIBusId, dev, pciBusId);
}
CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
    return ask_runtime(cudaDeviceCanAccessPeer, canAccessPeer, dev, peerDev);
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) {
    return ask_runtime(cudaDeviceGetP2PAttribute, value, static_cast<cudaDeviceP2PAttr>(attrib), srcDevice,
                       dstDevice);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
    return ask_runtime(cudaDeviceGetDefaultMemPool, pool_out, dev);
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
    return ask_runtime(cudaDeviceGetMemPool, pool, dev);
}
CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    return ask_runtime(cudaDeviceSetMemPool, dev, pool);
}

// How many SMs a context may use: none can be restricted.
CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType, CUdevice dev) {
    return on_device(dev, [=](State&, const Device&) {
        if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *pi = 0;
        return CUDA_SUCCESS;
    });
}

}  // extern "C"
