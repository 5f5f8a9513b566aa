// A program that opens CUDA's driver by its name, as those do that must start without one.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>

__global__ void twice(int* value) {
    *value *= 2;
}

#define EXPECT(condition)                                   \
    if (!(condition)) {                                     \
        std::printf("line %d: %s\n", __LINE__, #condition); \
        return 1;                                           \
    }

int main() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) std::printf("%s\n", dlerror());
    EXPECT(driver != nullptr);
    const auto initialise = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
    const auto count_devices =
        reinterpret_cast<decltype(&cuDeviceGetCount)>(dlsym(driver, "cuDeviceGetCount"));
    const auto copy = reinterpret_cast<decltype(&cuMemcpyDtoH)>(dlsym(driver, "cuMemcpyDtoH_v2"));
    EXPECT(initialise != nullptr && count_devices != nullptr && copy != nullptr);
    int count = 0;
    EXPECT(initialise(0) == CUDA_SUCCESS);
    EXPECT(count_devices(&count) == CUDA_SUCCESS);
    EXPECT(count > 0);
    // Both interfaces are of one device.
    int value = 21, *on_device = nullptr;
    EXPECT(cudaMalloc(&on_device, sizeof value) == cudaSuccess);
    EXPECT(cudaMemcpy(on_device, &value, sizeof value, cudaMemcpyHostToDevice) == cudaSuccess);
    twice<<<1, 1>>>(on_device);
    EXPECT(copy(&value, reinterpret_cast<CUdeviceptr>(on_device), sizeof value) == CUDA_SUCCESS);
    EXPECT(value == 42);
    std::printf("PASS\n");
}
