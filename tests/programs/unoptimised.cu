// No -O flag: variables live in local memory, reached through generic addresses; helpers stay calls.
// Flags: -O0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__device__ int wrapped(int v, int n) {
    return (v + n) % n;
}
__global__ void generation(const int* now, int* next, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int around[8], k = 0, alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) around[k++] = now[wrapped(y + dy, h) * w + wrapped(x + dx, w)];
    for (k = 0; k < 8; k++) alive += around[k];
    next[y * w + x] = alive == 3 || (alive == 2 && now[y * w + x]);
}
int main(void) {
    const int w = 43, h = 29, n = w * h, rounds = 12;
    int *a = (int*)malloc(n * sizeof(int)), *b = (int*)malloc(n * sizeof(int)), *da, *db;
    for (int i = 0; i < n; i++) a[i] = (i * 7919) % 5 < 2;
    cudaMalloc((void**)&da, n * sizeof(int));
    cudaMalloc((void**)&db, n * sizeof(int));
    cudaMemcpy(da, a, n * sizeof(int), cudaMemcpyHostToDevice);
    dim3 block(8, 8), grid((w + 7) / 8, (h + 7) / 8);
    for (int r = 0; r < rounds; r++) {
        generation<<<grid, block>>>(da, db, w, h);
        int* t = da;
        da = db;
        db = t;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int alive = -a[y * w + x];
                for (int k = 0; k < 9; k++) alive += a[(y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w];
                b[y * w + x] = alive == 3 || (alive == 2 && a[y * w + x]);
            }
        t = a;
        a = b;
        b = t;
    }
    cudaMemcpy(b, da, n * sizeof(int), cudaMemcpyDeviceToHost);
    puts(memcmp(a, b, n * sizeof(int)) ? "FAIL" : "PASS");
    return 0;
}
