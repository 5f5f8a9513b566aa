// A two-dimensional convolution with compile-time block and tile sizes, as autotuners know it: a block loads
// its part of the input, border included, into shared memory, and every thread sums TILE_Y x TILE_X outputs
// that lie a block's height and width apart.
//
//     clang++ -x cuda --cuda-device-only -S -O3 -DBLOCK_X=32 -DBLOCK_Y=4 -DTILE_X=2 -DTILE_Y=1
//     convolution_tiled.cu
//
// launched with ceil(IMAGE_WIDTH / (BLOCK_X TILE_X)) by ceil(IMAGE_HEIGHT / (BLOCK_Y TILE_Y)) blocks.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif
#ifndef TILE_X
#define TILE_X 1
#endif
#ifndef TILE_Y
#define TILE_Y 1
#endif
#ifndef READ_ONLY
#define READ_ONLY 0
#endif
#ifndef USE_PADDING
#define USE_PADDING 0
#endif
#ifndef IMAGE_WIDTH
#define IMAGE_WIDTH 4096
#endif
#ifndef IMAGE_HEIGHT
#define IMAGE_HEIGHT 4096
#endif

#if defined(__clang__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
// Compiled with -nocudainc: a thousand configurations need not read CUDA's headers a thousand times.
#include <__clang_cuda_builtin_vars.h>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __ldg(pointer) __nvvm_ldg_f(pointer)
extern "C" __device__ void __syncthreads(void);
#endif

constexpr int filter_size = 15;
constexpr int border = filter_size / 2 * 2;
constexpr int input_width = IMAGE_WIDTH + border, input_height = IMAGE_HEIGHT + border;
constexpr int tile_width = BLOCK_X * TILE_X, tile_height = BLOCK_Y * TILE_Y;
// Whether some thread of the last blocks lies outside the image.
constexpr bool covers_exactly = IMAGE_WIDTH % tile_width == 0 && IMAGE_HEIGHT % tile_height == 0;

// Rows of a block that is no multiple of a warp wide would meet each other in the banks.
constexpr int row_excess = border + tile_width - BLOCK_X;
constexpr bool pads = USE_PADDING && BLOCK_X % 32 != 0 && row_excess % 32 != 0;
constexpr int padding = pads ? (32 - row_excess % 32) % 32 : 0;

__constant__ float filter[filter_size * filter_size];

extern "C" __global__ void convolution_tiled(float* output, const float* input) {
    __shared__ float tile[tile_height + border][tile_width + border + padding];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int left = blockIdx.x * tile_width, top = blockIdx.y * tile_height;

#pragma unroll
    for (int i = ty; i < tile_height + border; i += BLOCK_Y) {
#pragma unroll
        for (int j = tx; j < tile_width + border; j += BLOCK_X) {
            const int y = top + i, x = left + j;
            if (covers_exactly || (x < input_width && y < input_height)) {
                const float* pixel = input + y * input_width + x;
                tile[i][j] = READ_ONLY ? __ldg(pixel) : *pixel;
            }
        }
    }
    __syncthreads();

    float sum[TILE_Y][TILE_X] = {};
#pragma unroll
    for (int i = 0; i < filter_size; i++) {
#pragma unroll
        for (int j = 0; j < filter_size; j++) {
#pragma unroll
            for (int y = 0; y < TILE_Y; y++) {
#pragma unroll
                for (int x = 0; x < TILE_X; x++)
                    sum[y][x] +=
                        tile[ty + i + y * BLOCK_Y][tx + j + x * BLOCK_X] * filter[i * filter_size + j];
            }
        }
    }

#pragma unroll
    for (int y = 0; y < TILE_Y; y++) {
#pragma unroll
        for (int x = 0; x < TILE_X; x++) {
            const int row = top + ty + y * BLOCK_Y, column = left + tx + x * BLOCK_X;
            if (covers_exactly || (row < IMAGE_HEIGHT && column < IMAGE_WIDTH))
                output[row * IMAGE_WIDTH + column] = sum[y][x];
        }
    }
}
