// Kernels whose launches are timed with every block: one that leaves the same however often it runs, one that does not,
// one that counts in a variable, one that keeps its block.
#include <cstdio>
#include <vector>

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }

__device__ int counted;

__global__ void scale(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
__global__ void add_up(int* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] += x + y;
}
__global__ void count(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counted, 1);
}
__global__ void place_in_block(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = threadIdx.x;
}

int main() {
    constexpr int n = 3000, width = 60, height = 50;
    float *in = nullptr, *out = nullptr;
    int* sums = nullptr;
    CHECK(cudaMalloc(&in, n * sizeof(float)));
    CHECK(cudaMalloc(&out, n * sizeof(float)));
    CHECK(cudaMalloc(&sums, n * sizeof(int)));
    CHECK(cudaMemset(sums, 0, n * sizeof(int)));
    std::vector<float> numbers(n, 3);
    CHECK(cudaMemcpy(in, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    scale<<<(n + 255) / 256, 256>>>(out, in, n);
    for (int step = 0; step < 3; ++step)
        add_up<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(sums, width, height);
    count<<<(n + 127) / 128, 128>>>(n);
    place_in_block<<<(n + 63) / 64, 64>>>(reinterpret_cast<int*>(out), n / 2);
    std::vector<int> found(n);
    int total = 0;
    CHECK(cudaMemcpy(found.data(), sums, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&total, counted, sizeof total));
    for (int i = 0; i < n; ++i)
        if (found[i] != 3 * (i % width + i / width)) {
            std::printf("FAIL: %d is %d\n", i, found[i]);
            return 1;
        }
    if (total != n) {
        std::printf("FAIL: %d counted\n", total);
        return 1;
    }
    std::printf("PASS\n");
}
