// What one thread alone does, under conditions that go with the number of threads: the launch's own number stays.
// Flags: -O2
// Verify: --blocks all
#include <cstdio>

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }

// A row a block: its first thread notes whether what it took itself was much.
__global__ void busy_rows(int* out, int* note, const int* __restrict__ load, int columns) {
    int own = 0;
    for (int k = threadIdx.x; k < columns; k += blockDim.x) {
        out[blockIdx.x * columns + k] = k;
        own += load[k];
    }
    if (threadIdx.x == 0 && own > 6000) note[blockIdx.x] = 1;
}
// The same of a bit of it, without a branch between the two conditions.
__global__ void odd_rows(int* out, int* note, const int* __restrict__ load, int columns) {
    int own = 0;
    for (int k = threadIdx.x; k < columns; k += blockDim.x) {
        out[blockIdx.x * columns + k] = k;
        own += load[k];
    }
    if ((threadIdx.x | (own & 4096)) == 0) note[blockIdx.x] = 1;
}
// Every index once; the first thread notes whether some threads have several of them.
__global__ void several_each(int* out, int* note, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int total = gridDim.x * blockDim.x;
    if (i == 0 && n > total) note[0] = 1;
    for (; i < n; i += total) out[i] = 3 * i;
}
// The first thread notes how much it took, and none other that it did.
__global__ void own_part(int* out, int* note, const int* __restrict__ load, int n) {
    int own = 0;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += gridDim.x * blockDim.x) {
        out[i] = i;
        own += load[i % 500];
    }
    if (first == 0 && own > 7000) note[0] = own;
}

constexpr int rows = 4, columns = 500, n = 2000, threads = 64;

int main() {
    int load[columns], note[rows], *out = nullptr, *on_device = nullptr, *loads = nullptr;
    for (int& one : load) one = 500;
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaMalloc(&on_device, sizeof note));
    CHECK(cudaMalloc(&loads, sizeof load));
    CHECK(cudaMemcpy(loads, load, sizeof load, cudaMemcpyHostToDevice));
    // Threads 0 to 51 of 64 take 8 of 500 columns, 4000 in all.
    const int of_rows = (columns + threads - 1) / threads * 500,
              of_first = (n + 2 * threads - 1) / (2 * threads) * 500;
    const int expected[4] = {of_rows > 6000 ? 1 : 0, (of_rows & 4096) == 0 ? 1 : 0, 1,
                             of_first > 7000 ? of_first : 0};
    bool right = true;
    for (int kernel = 0; kernel < 4; kernel++) {
        CHECK(cudaMemset(on_device, 0, sizeof note));
        if (kernel == 0) busy_rows<<<rows, threads>>>(out, on_device, loads, columns);
        if (kernel == 1) odd_rows<<<rows, threads>>>(out, on_device, loads, columns);
        if (kernel == 2) several_each<<<2, threads>>>(out, on_device, n);
        if (kernel == 3) own_part<<<2, threads>>>(out, on_device, loads, n);
        CHECK(cudaMemcpy(note, on_device, sizeof note, cudaMemcpyDeviceToHost));
        const int noted = kernel < 2 ? rows : 1;
        std::printf("kernel %d:", kernel);
        for (int i = 0; i < noted; i++) {
            std::printf(" %d", note[i]);
            right = right && note[i] == expected[kernel];
        }
        std::printf("\n");
    }
    std::puts(right ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
