// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of runtime calls that CUDA 13 dropped and programs still use.
#pragma once
#pragma clang system_header

#if CUDART_VERSION >= 13000
// The device by its number; cudaCpuDeviceId is the host (CUDA 12 and older).
static inline cudaMemLocation trimtab_location_of(int device) {
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}
static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                               cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(pointer, bytes, trimtab_location_of(device), 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                        int device) {
    return cudaMemAdvise(pointer, bytes, advice, trimtab_location_of(device));
}

// Removed after years of deprecation: each is another call by now.
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadGetLimit cudaDeviceGetLimit
#define cudaThreadSetLimit cudaDeviceSetLimit
#define cudaThreadGetCacheConfig cudaDeviceGetCacheConfig
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#endif

#if CUDART_VERSION >= 13000
// The members that cudaDeviceProp lost, filled from the attributes that still tell them.
struct trimtab_device_properties : cudaDeviceProp {
    int clockRate = 0;  // kHz, as memoryClockRate
    int memoryClockRate = 0;
    int deviceOverlap = 0;
    int kernelExecTimeoutEnabled = 0;
    int computeMode = 0;
    int singleToDoublePrecisionPerfRatio = 0;
    int cooperativeMultiDeviceLaunch = 0;
    size_t maxTexture1DLinear = 0;
};
static inline cudaError_t cudaGetDeviceProperties(trimtab_device_properties* properties, int device) {
    const cudaError_t error = cudaGetDeviceProperties(static_cast<cudaDeviceProp*>(properties), device);
    if (error != cudaSuccess) return error;
    // An attribute that this device does not have stays 0 and is no error of the program's.
    auto read = [device](int* value, cudaDeviceAttr attribute) {
        if (cudaDeviceGetAttribute(value, attribute, device) != cudaSuccess) (void)cudaGetLastError();
    };
    read(&properties->clockRate, cudaDevAttrClockRate);
    read(&properties->memoryClockRate, cudaDevAttrMemoryClockRate);
    read(&properties->deviceOverlap, cudaDevAttrGpuOverlap);
    read(&properties->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout);
    read(&properties->computeMode, cudaDevAttrComputeMode);
    read(&properties->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio);
    properties->maxTexture1DLinear = 1U << 28;
    return cudaSuccess;
}
#define cudaDeviceProp trimtab_device_properties
#endif
