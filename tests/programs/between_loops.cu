// What a thread's first loop leaves goes into its second: where the first one ended goes with the number of threads.
// Flags: -O2
// Verify: --blocks all
#include <cstdio>

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }

__global__ void hashed_last(int* out, unsigned* mixed, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
    if (first >= n) return;
    int last = 0;
    for (int i = first; i < n; i += total) {
        out[i] = i;
        last = i;
    }
    const unsigned hash = (last * 2654435761u) >> 20;
    for (int i = first; i < n; i += total) mixed[i] = hash ^ i;
}
__global__ void count_of_iterations(int* out, unsigned* mixed, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
    unsigned count = 0;
    for (int i = first; i < n; i += total) {
        out[i] = i;
        count++;
    }
    for (int i = first; i < n; i += total) mixed[i] = count ^ i;
}
__global__ void flag_of_any(int* out, unsigned* mixed, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
    bool any = false;
    for (int i = first; i < n; i += total) {
        out[i] = i;
        any = any || i % 200 == 77;
    }
    for (int i = first; i < n; i += total) mixed[i] = any;
}
// The tail of a vectorised loop.
__global__ void last_into_tail(int* out, unsigned* mixed, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
    int last = 0;
    for (int i = first; i < n / 4; i += total) {
        out[i] = i;
        last = i;
    }
    for (int i = n / 4 * 4 + first; i < n; i += total) mixed[i] = last;
}

constexpr int n = 2003, blocks = 2, threads = 64, total = blocks * threads;
unsigned found[n];

int main() {
    int* out = nullptr;
    unsigned* mixed = nullptr;
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    CHECK(cudaMalloc(&mixed, sizeof found));
    bool right = true;
    int number = 0;
    for (void (*kernel)(int*, unsigned*, int) :
         {hashed_last, count_of_iterations, flag_of_any, last_into_tail}) {
        CHECK(cudaMemset(mixed, 0, sizeof found));
        kernel<<<blocks, threads>>>(out, mixed, n);
        CHECK(cudaMemcpy(found, mixed, sizeof found, cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = number == 3 ? n / 4 * 4 : 0; i < n; i++) {
            const int first = (number == 3 ? i - n / 4 * 4 : i) % total, bound = number == 3 ? n / 4 : n;
            unsigned count = 0, any = 0;
            int last = 0;
            for (int k = first; k < bound; k += total) {
                last = k;
                count++;
                any = any || k % 200 == 77;
            }
            const unsigned expected[4] = {((last * 2654435761u) >> 20) ^ i, count ^ i, any, unsigned(last)};
            wrong += found[i] != expected[number];
        }
        std::printf("kernel %d: %d wrong\n", number++, wrong);
        right = right && wrong == 0;
    }
    std::puts(right ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
