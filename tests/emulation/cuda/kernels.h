// Kernels to launch from host code that another compiler builds, and how.
#pragma once

#include <cuda_runtime_api.h>

namespace kernels {

extern const void* const scale;       // (float* values, int n, float factor)
extern const void* const add_table;   // (float* values, int n): adds table[i % 4] + offset
extern const void* const write_at;    // (int* values, long index, int value), one thread writes
extern const void* const reverse;     // (int* values): one block, through dynamic shared memory
extern const void* const at_most_64;  // (int* value), __launch_bounds__(64)
extern const void* const greet;       // (int number): printf
extern const void* const refuse;      // (int* value): assert(*value == 0)
extern const void* const spin;        // (float* values, int n, int rounds): work without memory
extern const void* const add_one;     // (int* value), one thread adds
extern const void* table_symbol();    // __constant__ float table[4]
extern const void* offset_symbol();   // __device__ float offset

template <typename... Arguments>
cudaError_t launch(const void* kernel, dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments) {
    void* pointers[] = {&arguments...};
    return cudaLaunchKernel(kernel, grid, block, pointers, 0, stream);
}

}  // namespace kernels
