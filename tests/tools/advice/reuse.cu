// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads load the same bytes, and what was made of them. SIZE is of a matrix's row.
extern "C" __global__ void product(const float* __restrict__ a, const float* __restrict__ b,
                                   float* __restrict__ c, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];  // here: product
    c[row * n + column] = sum;
}

// A block of 16 x 16 threads, a tile of each factor in shared memory, one result per thread.
extern "C" __global__ void product_in_tiles(const float* __restrict__ a, const float* __restrict__ b,
                                            float* __restrict__ c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int start = 0; start < n; start += 16) {
        left[y][x] = a[row * n + start + x];
        right[y][x] = b[(start + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// The same block for 64 x 64 results, 4 x 4 in the registers of a thread.
extern "C" __global__ void product_in_registers(const float* __restrict__ a, const float* __restrict__ b,
                                                float* __restrict__ c, int n) {
    constexpr int side = 64, depth = 16, own = 4;
    __shared__ float left[depth][side], right[depth][side];
    int x = threadIdx.x, y = threadIdx.y, at = y * 16 + x;
    int top = blockIdx.y * side, first = blockIdx.x * side;
    float sum[own][own] = {};
    for (int start = 0; start < n; start += depth) {
        for (int i = 0; i < side * depth / 256; ++i) {
            int place = at + i * 256;
            left[place % depth][place / depth] = a[(top + place / depth) * n + start + place % depth];
            right[place / side][place % side] = b[(start + place / side) * n + first + place % side];
        }
        __syncthreads();
        for (int k = 0; k < depth; ++k) {
            float column[own], row[own];
            for (int i = 0; i < own; ++i) column[i] = left[k][y + 16 * i], row[i] = right[k][x + 16 * i];
            for (int i = 0; i < own; ++i)
                for (int j = 0; j < own; ++j) sum[i][j] += column[i] * row[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < own; ++i)
        for (int j = 0; j < own; ++j) c[(top + y + 16 * i) * n + first + x + 16 * j] = sum[i][j];
}

// Each result from a window of its row.
extern "C" __global__ void windows(const float* __restrict__ in, const float* __restrict__ weights,
                                   float* __restrict__ out, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += in[i + k] * weights[k];  // here: windows
    out[i] = sum;
}

// Each thread's own sixteen values, again and again, as a state's rates are; and the same once they are in shared memory.
extern "C" __global__ void repeated(const float* __restrict__ in, float* __restrict__ out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < turns * 16; ++k) sum = sum * 0.5f + in[i * 16 + k % 16];  // here: repeated
    out[i] = sum;
}
extern "C" __global__ void repeated_in_tiles(const float* __restrict__ in, float* __restrict__ out, int n,
                                             int turns) {
    __shared__ float own[16][65];
    int first = blockIdx.x * 64, x = threadIdx.x;
    for (int i = 0; i < 16; ++i) {
        int place = i * 64 + x;
        own[place % 16][place / 16] = in[first * 16 + place];
    }
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < turns * 16; ++k) sum = sum * 0.5f + own[k % 16][x];
    out[first + x] = sum;
}

// Every byte once; and through an index, so that nobody knows who loads what.
extern "C" __global__ void added(const float* __restrict__ a, const float* __restrict__ b,
                                 float* __restrict__ c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void gathered(const float* __restrict__ a, const int* __restrict__ from,
                                    float* __restrict__ c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[from[i]];
}
