// A library with CUDA's runtime linked in: says on which device it works, and whether the results are right.
#include <cstdio>
#include <vector>

__global__ void axpy(float* y, const float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

extern "C" int work(int n) {
    cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return 1;
    std::vector<float> x(n), y(n, 1);
    for (int i = 0; i < n; i++) x[i] = float(i % 100);
    float *device_x, *device_y;
    if (cudaMalloc(&device_x, n * sizeof(float)) != cudaSuccess) return 1;
    if (cudaMalloc(&device_y, n * sizeof(float)) != cudaSuccess) return 1;
    cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    axpy<<<(n + 1023) / 1024, 1024>>>(device_y, device_x, 2, n);
    if (cudaMemcpy(y.data(), device_y, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    cudaFree(device_x);
    cudaFree(device_y);
    for (int i = 0; i < n; i++)
        if (y[i] != 1 + 2 * x[i]) return 1;
    std::printf("PASS on %s\n", device.name);
    return 0;
}
