// Kernels that must keep their blocks, each by another rule, and one that need not.
#include <cstdio>

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }

constexpr int count = 1000, threads = 64;

// Rule 1: the place in the block reaches a result.
__global__ void place_in_block(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = threadIdx.x;
}
// Rule 3: threads past the end work on element 0.
__global__ void clamped(int* out, int n) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[g < n ? g : 0], 1);
}
// Rule 3: another grid, another number of steps.
__global__ void number_of_threads(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gridDim.x * blockDim.x;
}
// Rule 6: a thread reads what its neighbour writes.
__global__ void neighbour(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) out[i] = out[i - 1] + 1;
}
// Rule 1: the step, which is the number of threads, reaches a result.
__global__ void step_in_result(int* out, int n) {
    const int total = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += total) out[i] = total;
}
__global__ void sound_loop(int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = i + 1;
}
__global__ void sound(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i * i;
}

int main() {
    int* out = nullptr;
    CHECK(cudaMalloc(&out, (count + 24) * sizeof(int)));
    const int blocks = (count + threads - 1) / threads;
    for (void (*kernel)(int*, int) : {place_in_block, clamped, number_of_threads, neighbour, sound}) {
        CHECK(cudaMemset(out, 0, (count + 24) * sizeof(int)));
        kernel<<<blocks, threads>>>(out, count);
        CHECK(cudaDeviceSynchronize());
    }
    // Few threads for many turns: those that another number of threads suits.
    for (void (*kernel)(int*, int) : {step_in_result, sound_loop}) {
        kernel<<<1, threads>>>(out, count);
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaFree(out));
    std::printf("PASS\n");
}
