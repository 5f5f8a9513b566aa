// Pinned memory, streams, asynchronous copies, chunks with a tail.
#include <cuda_runtime.h>

#include <cstdio>
__global__ void add(const float* a, const float* b, float* c, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    const size_t n = 100003, chunk = 30000;
    float *a, *b, *c, *da, *db, *dc;
    cudaMallocHost((void**)&a, n * 4);
    cudaHostAlloc((void**)&b, n * 4, cudaHostAllocDefault);
    cudaMallocHost((void**)&c, n * 4);
    for (size_t i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
    cudaMalloc((void**)&da, n * 4);
    cudaMalloc((void**)&db, n * 4);
    cudaMalloc((void**)&dc, n * 4);
    cudaStream_t streams[2];
    for (auto& s : streams) cudaStreamCreate(&s);
    int turn = 0;
    for (size_t at = 0; at < n; at += chunk, turn ^= 1) {
        size_t m = n - at < chunk ? n - at : chunk;
        cudaMemcpyAsync(da + at, a + at, m * 4, cudaMemcpyHostToDevice, streams[turn]);
        cudaMemcpyAsync(db + at, b + at, m * 4, cudaMemcpyHostToDevice, streams[turn]);
        add<<<(m + 255) / 256, 256, 0, streams[turn]>>>(da + at, db + at, dc + at, m);
        cudaMemcpyAsync(c + at, dc + at, m * 4, cudaMemcpyDeviceToHost, streams[turn]);
    }
    for (auto& s : streams) cudaStreamSynchronize(s), cudaStreamDestroy(s);
    for (size_t i = 0; i < n; ++i)
        if (c[i] != a[i] + b[i]) return printf("FAIL at %zu\n", i), 1;
    cudaFreeHost(a);
    cudaFreeHost(b);
    cudaFreeHost(c);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    puts("PASS");
}
