// Launches by pointer, by cudaLaunchKernel and by cudaLaunchKernelEx, of static, extern "C", nested and
// template kernels; occupancy.
#include <cstdio>
#include <vector>
__global__ void axpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void plain_name(float* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}
static __global__ void of_this_file(float* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 2;
}
namespace {
__global__ void unnamed(float* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 4;
}
}  // namespace
namespace outer::inner {
template <typename T, int K>
__global__ void add(T* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += T(K);
}
}  // namespace outer::inner
__global__ void reverse(float* p, int n) {
    extern __shared__ float buffer[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = p[i] + i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = buffer[n - 1 - i];
}
int main() {
    int n = 14003, least_grid = 0, block = 0;
    float *x, *y, three = 3;
    std::vector<float> host(n);
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    cudaOccupancyMaxPotentialBlockSize(&least_grid, &block, axpy, 0, 0);
    bool good = block >= 32 && least_grid > 0;
    typedef void (*Kernel)(float*, int);
    const Kernel kernels[] = {plain_name, of_this_file, unnamed, outer::inner::add<float, 8>};
    for (Kernel kernel : kernels) kernel<<<(n + block - 1) / block, block>>>(x, n);
    void* arguments[] = {&n, &three, &x, &y};
    if (cudaLaunchKernel((const void*)axpy, dim3((n + 127) / 128), dim3(128), arguments, 0, nullptr))
        good = false;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + 255) / 256);
    config.blockDim = dim3(256);
    if (cudaLaunchKernelEx(&config, axpy, n, 1.f, (const float*)x, y)) good = false;
    // More shared memory than a kernel has unless it asks, and than some devices have.
    const int bytes = n * sizeof(float);
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    reverse<<<1, 256, bytes>>>(y, n);
    if (cudaGetLastError() == cudaSuccess) good = false;
    const bool asked =
        cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess;
    if (asked != (bytes <= most)) good = false;
    cudaGetLastError();
    if (asked) reverse<<<1, 256, bytes>>>(y, n);
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) good = good && host[i] == 60 + (asked ? n - 1 - i : 0);
    puts(good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
