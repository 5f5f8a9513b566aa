// min and max of mixed types in device and host code, as nvcc overloads them.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
typedef unsigned int uint;
__global__ void k(int* o, float* f, double* d, int n, unsigned m, long long ll, size_t s) {
    int i = threadIdx.x;
    o[0] = min(i, m);
    o[1] = max(n, m);
    o[5] = max(s, (size_t)4);
    o[7] = 1;
    o[8] = max((unsigned long)n, 3ul);
    o[9] = min((short)3, n);
    o[10] = max('a', 3);
    o[11] = min(blockDim.x, n);
    o[12] = max(ll, (long long)4);
    f[0] = min(1.0f, f[0]);
    f[4] = fmin(f[4], 2.0);
    f[5] = fmaxf(f[5], 0);
    f[6] = fmax(f[6], 1);
    f[7] = max(1.0, f[7]);
    d[1] = max(d[1], 1.f);
    d[2] = fmax(d[2], 1.f);
    d[3] = min(d[3], (double)n);
    f[8] = ::min(f[8], 3.f);
    f[9] = ::max(n, (int)m);
    f[10] = fminf(n, 3);
    f[11] = std::max(f[11], 3.f);
    f[12] = std::min(n, 3);
}
int main() {
    int* o;
    float* f;
    double* d;
    cudaMallocManaged(&o, 64 * 4);
    cudaMallocManaged(&f, 64 * 4);
    cudaMallocManaged(&d, 64 * 8);
    for (int i = 0; i < 64; i++) {
        f[i] = i;
        d[i] = i;
    }
    int h = min(3, 4) + max(3u, 2u);
    unsigned hu = 5;
    size_t hs = 4;
    int a = 7;
    h += min(a, (int)hu) + max(a, 3);
    double q = max(1.0, 2.0);
    float qq = min(2.f, 1.f);
    k<<<1, 1>>>(o, f, d, 5, 7, 9, 11);
    cudaDeviceSynchronize();
    for (int i = 0; i < 14; i++) printf("%d ", o[i]);
    for (int i = 0; i < 13; i++) printf("%g ", f[i]);
    for (int i = 0; i < 5; i++) printf("%g ", d[i]);
    printf("%d %g %g\n", h, q, qq);
    printf("PASS\n");
}
