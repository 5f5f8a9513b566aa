// Static shared memory with padding, templates, two-dimensional copies.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>
template <int tile, int rows>
__global__ void transpose(const float* in, float* out, int width, int height) {
    __shared__ float t[tile][tile + 1];
    int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    for (int j = 0; j < tile; j += rows)
        if (x < width && y + j < height) t[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * tile + threadIdx.x;
    y = blockIdx.x * tile + threadIdx.y;
    for (int j = 0; j < tile; j += rows)
        if (x < height && y + j < width) out[(y + j) * height + x] = t[threadIdx.x][threadIdx.y + j];
}
int main() {
    const int w = 101, h = 67;
    std::vector<float> a(w * h), b(w * h);
    for (int i = 0; i < w * h; ++i) a[i] = i;
    float *da, *db;
    size_t pitch = w * sizeof(float);
    cudaMalloc(&da, w * h * 4);
    cudaMalloc(&db, w * h * 4);
    cudaMemcpy2D(da, pitch, a.data(), pitch, pitch, h, cudaMemcpyHostToDevice);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 31) / 32);
    transpose<32, 8><<<grid, block>>>(da, db, w, h);
    cudaMemcpy(b.data(), db, w * h * 4, cudaMemcpyDeviceToHost);
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
            if (b[x * h + y] != a[y * w + x]) return puts("FAIL"), 1;
    puts("PASS");
}
