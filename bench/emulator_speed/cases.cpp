// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/emulator_speed/cases.h"

namespace trimtab::bench {
namespace {

constexpr const char* cuda = R"(
extern "C" __global__ void matrix_product(const float* a, const float* b, float* c, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
extern "C" __global__ void convolution(const float* in, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    out[y * n + x] = 0.2f * in[(y - 1) * n + x - 1] - 0.3f * in[(y - 1) * n + x] +
                     0.4f * in[(y - 1) * n + x + 1] + 0.5f * in[y * n + x - 1] + 0.6f * in[y * n + x] +
                     0.7f * in[y * n + x + 1] - 0.8f * in[(y + 1) * n + x - 1] -
                     0.9f * in[(y + 1) * n + x] + 0.1f * in[(y + 1) * n + x + 1];
}
extern "C" __global__ void row_sums(const float* a, const float* x, float* y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * x[k];
    y[row] = sum;
}
extern "C" __global__ void tiled_product(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[ty][tx] = a[row * n + tile + tx];
        right[ty][tx] = b[(tile + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += left[ty][k] * right[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void mandelbrot(float* out, int n, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float cr = 3.0f * x / n - 2.0f, ci = 2.0f * y / n - 1.0f, zr = 0, zi = 0;
    int i = 0;
    while (i < most && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        i++;
    }
    out[y * n + x] = i;
}
)";

constexpr const char* opencl = R"(
__kernel void matrix_product(__global const float* a, __global const float* b, __global float* c, int n) {
    int column = get_global_id(0), row = get_global_id(1);
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
__kernel void convolution(__global const float* in, __global float* out, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    out[y * n + x] = 0.2f * in[(y - 1) * n + x - 1] - 0.3f * in[(y - 1) * n + x] +
                     0.4f * in[(y - 1) * n + x + 1] + 0.5f * in[y * n + x - 1] + 0.6f * in[y * n + x] +
                     0.7f * in[y * n + x + 1] - 0.8f * in[(y + 1) * n + x - 1] -
                     0.9f * in[(y + 1) * n + x] + 0.1f * in[(y + 1) * n + x + 1];
}
__kernel void row_sums(__global const float* a, __global const float* x, __global float* y, int n) {
    int row = get_global_id(0);
    if (row >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * x[k];
    y[row] = sum;
}
__kernel void tiled_product(__global const float* a, __global const float* b, __global float* c, int n) {
    __local float left[16][16], right[16][16];
    int tx = get_local_id(0), ty = get_local_id(1), column = get_group_id(0) * 16 + tx,
        row = get_group_id(1) * 16 + ty;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[ty][tx] = a[row * n + tile + tx];
        right[ty][tx] = b[(tile + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) sum += left[ty][k] * right[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
__kernel void mandelbrot(__global float* out, int n, int most) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    float cr = 3.0f * x / n - 2.0f, ci = 2.0f * y / n - 1.0f, zr = 0, zi = 0;
    int i = 0;
    while (i < most && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        i++;
    }
    out[y * n + x] = i;
}
)";

Case square(const std::string& name, const std::string& kernel, unsigned n, unsigned buffers) {
    Case made{name, kernel, cuda, opencl, {n / 16, n / 16}, {16, 16}, {}, buffers - 1, 1e-4};
    for (unsigned i = 0; i < buffers; i++) made.arguments.emplace_back(Case::Buffer{std::size_t{n} * n});
    made.arguments.emplace_back(static_cast<int>(n));
    return made;
}

}  // namespace

std::vector<Case> cases() {
    std::vector<Case> all;
    all.push_back(square("matrix_product_512", "matrix_product", 512, 3));
    all.push_back(square("matrix_product_1024", "matrix_product", 1024, 3));
    all.push_back(square("convolution_2048", "convolution", 2048, 2));
    const std::size_t n = 4096;
    Case rows{"row_sums_4096", "row_sums", cuda, opencl, {n / 256, 1}, {256, 1}, {}, 2, 1e-4};
    rows.arguments = {Case::Buffer{n * n}, Case::Buffer{n}, Case::Buffer{n}, static_cast<int>(n)};
    all.push_back(rows);
    all.push_back(square("tiled_product_512", "tiled_product", 512, 3));
    Case fractal = square("mandelbrot_1024", "mandelbrot", 1024, 1);
    fractal.arguments.emplace_back(256);
    fractal.tolerance = 0;
    all.push_back(fractal);
    return all;
}

std::vector<float> initial_values(std::size_t index, std::size_t floats) {
    std::vector<float> values(floats);
    unsigned state = 12345u + static_cast<unsigned>(index);
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(state >> 8) / 16777216.0f;
    }
    return values;
}

}  // namespace trimtab::bench
