// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// a(i, j) = sum over k of b(i, k) * c(k, j), i fastest. A block has BLOCK values of i and COARSE of j; a thread one of i
// and all COARSE of j. A stretch of BLOCK values of k of those columns of c passes through shared memory.
__global__ void product(float* a, const float* b, const float* c, int p, int pitch) {
    __shared__ float part[COARSE][BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x, first_j = blockIdx.y * COARSE;
    float sum[COARSE] = {};
    for (int first = 0; first < p; first += BLOCK) {
#pragma unroll
        for (int j = 0; j < COARSE; ++j)
            part[j][threadIdx.x] = c[first + threadIdx.x + pitch * (first_j + j)];
        __syncthreads();
        for (int k = 0; k < BLOCK; ++k) {
            const float element = b[i + pitch * (first + k)];
#pragma unroll
            for (int j = 0; j < COARSE; ++j) sum[j] += element * part[j][k];
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < COARSE; ++j) a[i + pitch * (first_j + j)] = sum[j];
}
