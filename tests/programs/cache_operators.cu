// Loads and stores with cache operators.
// Flags: -O3
#include <stdio.h>
typedef struct __align__(8) {
    float x, y;
} pr;
struct __builtin_align__(16) q4 {
    float a, b, c, d;
};
typedef struct __device_builtin__ {
    int a;
} zz;
__global__ void k(const float* __restrict__ a, const int4* __restrict__ b, float* __restrict__ c, pr* p,
                  q4* q, const double2* d, const unsigned char* u, const long long* ll) {
    int i = threadIdx.x;
    c[i] = __ldg(a + i) + __ldg(&b[i]).y + __ldg(&d[i]).x + __ldg(u + i) + __ldg(ll + i);
    p[i].x = 1;
    q[i].d = 2;
    c[i] += __ldcg(a + i) + __ldcs(a + i) + __ldca(a + i) + __ldcv(a + i);
    __stcg(c + i, c[i]);
    __stwt(c + i, c[i] + 1);
    __stcs(c + i, c[i]);
}
int main() {
    float *a, *c;
    int4* b;
    pr* p;
    q4* q;
    double2* d;
    unsigned char* u;
    long long* l;
    cudaMallocManaged(&a, 1024);
    cudaMallocManaged(&c, 1024);
    cudaMallocManaged(&b, 1024);
    cudaMallocManaged(&p, 1024);
    cudaMallocManaged(&q, 1024);
    cudaMallocManaged(&d, 1024);
    cudaMallocManaged(&u, 1024);
    cudaMallocManaged(&l, 1024);
    for (int i = 0; i < 32; i++) {
        a[i] = i;
        b[i].y = 1;
        d[i].x = 2;
        u[i] = 3;
        l[i] = 4;
    }
    k<<<1, 32>>>(a, b, c, p, q, d, u, l);
    cudaDeviceSynchronize();
    printf("%g\n", c[5]);
    puts(c[5] == 5 * 5 + 10 + 1 ? "PASS" : "FAIL");
}
