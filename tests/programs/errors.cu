// What programs ask of the runtime's error handling: bad launches, bad arguments, an illegal address that
// sticks.
#include <cstdio>
#include <cstring>
__global__ void touch(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i;
}
#define WANT(expression, value)                                                                          \
    do {                                                                                                 \
        auto got = (expression);                                                                         \
        if (got != (value)) {                                                                            \
            printf("FAIL line %d: %s (%d)\n", __LINE__, cudaGetErrorString((cudaError_t)got), (int)got); \
            return 1;                                                                                    \
        }                                                                                                \
    } while (0)
int main() {
    int* p = nullptr;
    WANT(cudaMalloc(&p, 400), cudaSuccess);
    touch<<<1, 2048>>>(p, 100);
    WANT(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    WANT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    WANT(cudaGetLastError(), cudaSuccess);
    touch<<<0, 32>>>(p, 100);
    WANT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    WANT(cudaSetDevice(99), cudaErrorInvalidDevice);
    cudaGetLastError();
    WANT(cudaMalloc(&p + 0, (size_t)1 << 60), cudaErrorMemoryAllocation);
    cudaGetLastError();
    if (strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") != 0)
        return puts("FAIL name"), 1;
    WANT(cudaMalloc(&p, 400), cudaSuccess);
    touch<<<1, 128>>>(p, 100);
    WANT(cudaDeviceSynchronize(), cudaSuccess);
    WANT(cudaFree(nullptr), cudaSuccess);
    int devices = 0;
    WANT(cudaGetDeviceCount(&devices), cudaSuccess);
    cudaDeviceProp prop;
    WANT(cudaGetDeviceProperties(&prop, 0), cudaSuccess);
    if (devices < 1 || prop.warpSize != 32 || prop.multiProcessorCount < 1 || prop.maxThreadsPerBlock != 1024)
        return puts("FAIL properties"), 1;
    touch<<<1, 32>>>((int*)8, 32);
    WANT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    WANT(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
    puts("PASS");
}
