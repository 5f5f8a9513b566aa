// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// c = a * b^T of floats, column by column: c(i, j) = sum over k of a(i, k) * b(j, k). STEP 0: a thread sums one element
// and has few registers.
// STEP 1: a thread sums 16 columns of its row in registers, and the block's 8 x 16 elements of b pass through shared memory.
__global__ void sgemm(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int k,
                      int lda, int ldb, int ldc) {
#if STEP == 0
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
#pragma unroll 1
    for (int at = 0; at < k; ++at) sum += a[i + at * lda] * b[j + at * ldb];
    c[i + j * ldc] = sum;
#else
    constexpr int columns = 16, depth = 8;  // blocks of 16 x 8 threads, for 128 rows and 16 columns
    __shared__ float tile[depth][columns];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.x * columns * depth + y * columns + x, first = blockIdx.y * columns;
    float sum[columns] = {};
    for (int start = 0; start < k; start += depth) {
        tile[y][x] = b[first + x + (start + y) * ldb];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < depth; ++d) {
            const float element = a[i + (start + d) * lda];
#pragma unroll
            for (int j = 0; j < columns; ++j) sum[j] += element * tile[d][j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < columns; ++j) c[i + (first + j) * ldc] = sum[j];
#endif
}
