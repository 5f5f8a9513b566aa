// Mathematical functions on mixed types, and host min and max.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
// host code using CUDA's global min/max with mixed types
__global__ void k(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = powf(x[i], 2) + pow(x[i], 2) + pow(2, x[i]) + abs(x[i]) + fabs(x[i]) + exp(x[i]) * 0 +
               sqrt(x[i]) + isnan(x[i]) + isinf(x[i]) + floor(x[i]) + abs(-3) + abs(-3l) + abs(-3ll) +
               abs(-2.5) + pow(2, 2) + signbit(x[i]) + isfinite(x[i]) + round(x[i]) + fmod(x[i], 3) +
               atan2(x[i], 1) + log2(1) + exp2(2) + cbrt(8) + rsqrt(4.0) + rsqrtf(4.f) + rcbrt(8.0) +
               hypot(3, 4) + normf(1, &x[0]) * 0 + erfcinv(1.0) + sinpi(0.5) + cospi(1.0) + lrint(2.5) +
               llrint(2.5) + rint(2.5) + trunc(1.5) + ldexp(1.0, 3) + scalbn(1.0, 2) + copysign(1.0, -1.0f) +
               fdim(3, 1) + fma(1.f, 2, 3) + logb(8) + ilogb(8) + tgamma(3) + lgamma(3) * 0 + j0(0.) +
               y0(1.) * 0 + cyl_bessel_i0(0.) + normcdf(0.) + nextafter(1.0f, 2.0f) * 0 + remainder(5, 3);
}
int main(int argc, char** argv) {
    unsigned int a = argc;
    int b = 3;
    size_t s = 5;
    long l = 2;
    int n = 256;
    int blocks = min(1024, (n + 255) / 256);
    int m = max(b, (int)a);
    double d = max(2.0, 3.0);
    float f = max(1.f, (float)b);
    unsigned u = min(a, 5u);
    size_t t = max(s, (size_t)7);
    unsigned u2 = min(a, b);
    long long ll = max((long long)b, 3ll);
    double dd = max(1.f, 2.0);
    int e = max(b, a);
    float* x;
    cudaMallocManaged((void**)&x, n * 4);
    for (int i = 0; i < n; i++) x[i] = i * 0.01f;
    k<<<blocks, 256>>>(x, n);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    printf("%.3f %d %g %g %u %zu %u %lld %g %d\n", sum, m, d, f, u, t, u2, ll, dd, e);
    puts("PASS");
}
