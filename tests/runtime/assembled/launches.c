// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* launches CUBIN: a kernel of a cubin, launched as CUDA 3 had it and as it is done now, on the emulator. Also asks for entry points by
   the version of CUDA that brought them, as programs of an older CUDA do. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void succeed(CUresult result, int line) {
    if (result == CUDA_SUCCESS) return;
    fprintf(stderr, "line %d: error %d\n", line, result);
    exit(result == CUDA_ERROR_NO_BINARY_FOR_GPU ? 9 : 1);
}
#define SUCCEED(call) succeed(call, __LINE__)
#define CHECK(condition) succeed((condition) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, __LINE__)

enum { n = 5000 };
static float x[n], y[n];

static void check(CUdeviceptr device_y, float factor) {
    SUCCEED(cuMemcpyDtoH(y, device_y, sizeof y));
    for (int i = 0; i < n; i++) CHECK(y[i] == factor * x[i]);
}

int main(int count, char** words) {
    if (count != 2) return 2;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction axpy;
    CUdeviceptr device_x, device_y;
    for (int i = 0; i < n; i++) x[i] = (float)(i % 100);
    SUCCEED(cuInit(0));
    SUCCEED(cuDeviceGet(&device, 0));
    SUCCEED(cuDevicePrimaryCtxRetain(&context, device));
    SUCCEED(cuCtxSetCurrent(context));
    SUCCEED(cuModuleLoad(&module, words[1]));
    SUCCEED(cuModuleGetFunction(&axpy, module, "axpy"));
    SUCCEED(cuMemAlloc(&device_x, sizeof x));
    SUCCEED(cuMemAlloc(&device_y, sizeof y));
    SUCCEED(cuMemcpyHtoD(device_x, x, sizeof x));
    SUCCEED(cuMemsetD32(device_y, 0, n));

    /* y += 2 x, of CUDA 3: every setting on its own */
    CHECK(cuFuncSetBlockShape(axpy, 0, 1, 1) == CUDA_ERROR_INVALID_VALUE);
    SUCCEED(cuFuncSetBlockShape(axpy, 128, 1, 1));
    SUCCEED(cuFuncSetSharedSize(axpy, 0));
    SUCCEED(cuParamSetSize(axpy, 24));
    SUCCEED(cuParamSetv(axpy, 0, &device_y, sizeof device_y));
    SUCCEED(cuParamSetv(axpy, 8, &device_x, sizeof device_x));
    SUCCEED(cuParamSetf(axpy, 16, 2));
    SUCCEED(cuParamSeti(axpy, 20, n));
    CHECK(cuParamSeti(axpy, -4, n) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuLaunchGrid(axpy, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    SUCCEED(cuLaunchGrid(axpy, (n + 127) / 128, 1));
    check(device_y, 2);

    /* and as it is done now */
    float a = 3;
    int items = n;
    void* arguments[] = {&device_y, &device_x, &a, &items};
    SUCCEED(cuLaunchKernel(axpy, (n + 15) / 16, 1, 1, 16, 1, 1, 0, NULL, arguments, NULL));
    check(device_y, 5);

    /* y = 5 x once more, by CUDA 12.8's batch of copies */
    CUresult (*batch)(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, void*, size_t*, size_t, size_t*, CUstream);
    CUdeviceptr to[2] = {device_x, device_y}, from[2] = {device_y, device_x};
    size_t sizes[2] = {sizeof x, 0}, failed = 0;
    SUCCEED(cuGetProcAddress("cuMemcpyBatchAsync", (void**)&batch, 12080, 0, NULL));
    SUCCEED(batch(to, from, sizes, 2, NULL, NULL, 0, &failed, NULL));
    check(device_x, 5);

    /* a driver that takes every PTX of its major version, and draws nothing */
    int version = 0;
    void* found = NULL;
    SUCCEED(cuDriverGetVersion(&version));
    CHECK(version >= CUDA_VERSION && version / 1000 == CUDA_VERSION / 1000);
    SUCCEED(cuGetProcAddress("cuStreamUpdateCaptureDependencies", &found, 11030, 0, NULL));
    SUCCEED(cuGetProcAddress("cuGraphNodeGetDependentNodes", &found, 10000, 0, NULL));
    SUCCEED(cuGetProcAddress("cuOccupancyMaxActiveClusters", &found, 11070, 0, NULL));
    CUresult (*unregister)(void*);
    SUCCEED(cuGetProcAddress("cuGraphicsUnregisterResource", (void**)&unregister, 3000, 0, NULL));
    CHECK(unregister(NULL) == CUDA_ERROR_INVALID_HANDLE);
    /* by both names of the driver's library, one driver; its device has a name of sixteen letters, for those who read it as text */
    void* by_link = dlopen("libcuda.so", RTLD_LAZY);
    CHECK(by_link != NULL && dlsym(by_link, "cuInit") == dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuInit"));
    CUuuid uuid;
    SUCCEED(cuDeviceGetUuid(&uuid, device));
    CHECK(memchr(uuid.bytes, 0, sizeof uuid.bytes) == NULL);
    puts("PASS");
    return 0;
}
