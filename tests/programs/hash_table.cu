// Open addressing with 64-bit atomicCAS, a spin lock taken by every thread, and the last block that finishes.
#include <cstdint>
#include <cstdio>
#include <vector>
__host__ __device__ uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}
const uint64_t empty = ~0ULL;
__global__ void insert(unsigned long long* keys, uint32_t* values, uint32_t capacity, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned long long key = mix(i + 1);
    for (uint32_t slot = key & (capacity - 1);; slot = (slot + 1) & (capacity - 1)) {
        unsigned long long before = atomicCAS(&keys[slot], empty, key);
        if (before == empty || before == key) {
            values[slot] = i;
            return;
        }
    }
}
__global__ void look_up(const unsigned long long* keys, const uint32_t* values, uint32_t capacity, int n,
                        int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint64_t key = mix(i + 1);
    uint32_t slot = key & (capacity - 1);
    while (keys[slot] != key && keys[slot] != empty) slot = (slot + 1) & (capacity - 1);
    out[i] = keys[slot] == key ? (int)values[slot] : -1;
}
__device__ int lock = 0;
__device__ unsigned finished = 0;
__global__ void locked(volatile int* sum, int* result) {
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) != 0) continue;
        __threadfence();
        *sum = *sum + 1;
        __threadfence();
        atomicExch(&lock, 0);
        done = true;
    }
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&finished, gridDim.x) == gridDim.x - 1) *result = *sum;
}
int main() {
    const int n = 900, absent = 60;
    const uint32_t capacity = 1024;
    unsigned long long* keys;
    uint32_t* values;
    int *out, counters[2];
    cudaMalloc(&keys, capacity * 8);
    cudaMalloc(&values, capacity * 4);
    cudaMalloc(&out, (n + absent) * 4);
    cudaMemset(keys, 0xff, capacity * 8);
    insert<<<(n + 63) / 64, 64>>>(keys, values, capacity, n);
    look_up<<<(n + absent + 63) / 64, 64>>>(keys, values, capacity, n + absent, out);
    std::vector<int> got(n + absent);
    cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int i = 0; i < n + absent; i++) good = good && got[i] == (i < n ? i : -1);
    cudaMemset(out, 0, 8);
    locked<<<6, 48>>>(out, out + 1);
    cudaMemcpy(counters, out, 8, cudaMemcpyDeviceToHost);
    good = good && counters[0] == 6 * 48 && counters[1] == 6 * 48;
    puts(good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
