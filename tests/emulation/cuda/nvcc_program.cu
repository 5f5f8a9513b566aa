// Built by nvcc, run without a GPU: managed memory, symbols of every kind, a stream and an event.
#include <cstdio>
#include <numeric>
#include <vector>

__device__ int device_value = 5;
__constant__ int constant_values[2] = {3, 4};
__managed__ int managed_value = 3;

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i] * constant_values[i % 2];
}

int main() {
    constexpr int n = 1000;
    float* values[3];
    for (float*& pointer : values) {
        if (cudaMallocManaged(&pointer, n * sizeof(float)) != cudaSuccess) return 1;
        std::iota(pointer, pointer + n, 1.0f);
    }
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaStreamCreate(&stream);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin, stream);
    add<<<(n + 255) / 256, 256, 0, stream>>>(values[0], values[1], values[2], n);
    cudaEventRecord(end, stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess) return 2;
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, begin, end) != cudaSuccess || milliseconds <= 0) return 3;
    for (int i = 0; i < n; ++i) {
        if (values[2][i] != (i + 1.0f) * (1 + 3 + i % 2)) return 4;
    }
    int read = 0;
    if (cudaMemcpyFromSymbol(&read, device_value, sizeof read) != cudaSuccess || read != 5) return 5;
    if (managed_value != 3) return 6;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    std::puts(properties.name);
    std::puts("PASS");
}
