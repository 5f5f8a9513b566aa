#include <cassert>
#include <cstdio>

#include "kernels.h"

__constant__ float table[4];
__device__ float offset = 0.5f;

__global__ void scale_kernel(float* values, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= factor;
}
__global__ void add_table_kernel(float* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += table[i % 4] + offset;
}
__global__ void write_at_kernel(int* values, long index, int value) {
    values[index] = value;
}
__global__ void reverse_kernel(int* values) {
    extern __shared__ int staged[];
    staged[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(64) at_most_64_kernel(int* value) {
    if (threadIdx.x == 0) *value = blockDim.x;
}
__global__ void greet_kernel(int number) {
    printf("greetings from %d\n", number);
}
__global__ void refuse_kernel(int* value) {
    assert(*value == 0);
}
__global__ void spin_kernel(float* values, int n, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = values[i];
    for (int r = 0; r < rounds; ++r) v = v * 1.5f + 0.25f;
    values[i] = v;
}
__global__ void add_one_kernel(int* value) {
    *value += 1;
}

namespace kernels {
const void* const scale = reinterpret_cast<const void*>(&scale_kernel);
const void* const add_table = reinterpret_cast<const void*>(&add_table_kernel);
const void* const write_at = reinterpret_cast<const void*>(&write_at_kernel);
const void* const reverse = reinterpret_cast<const void*>(&reverse_kernel);
const void* const at_most_64 = reinterpret_cast<const void*>(&at_most_64_kernel);
const void* const greet = reinterpret_cast<const void*>(&greet_kernel);
const void* const refuse = reinterpret_cast<const void*>(&refuse_kernel);
const void* const spin = reinterpret_cast<const void*>(&spin_kernel);
const void* const add_one = reinterpret_cast<const void*>(&add_one_kernel);
const void* table_symbol() {
    return &table;
}
const void* offset_symbol() {
    return &offset;
}
}  // namespace kernels
