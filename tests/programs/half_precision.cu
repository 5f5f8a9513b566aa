// half and bfloat16 arithmetic and conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
__global__ void compute(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half h = __float2half(x[i]);
    __half2 h2 = __floats2half2_rn(x[i], 2.f);
    y[4 * i] = __half2float(__hadd(__hmul(h, __float2half(0.5f)), __float2half(1.f)));
    y[4 * i + 1] = __low2float(__hmul2(h2, h2)) + __high2float(__hmul2(h2, h2));
    y[4 * i + 2] = __bfloat162float(__float2bfloat16(x[i]));
    y[4 * i + 3] = __hgt(h, __float2half(1.f)) ? 1.f : 0.f;
}
int main() {
    const int n = 100;
    float x[n], y[4 * n], *dx, *dy;
    for (int i = 0; i < n; ++i) x[i] = 0.125f * i;
    cudaMalloc(&dx, sizeof x);
    cudaMalloc(&dy, sizeof y);
    cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
    compute<<<4, 32>>>(dx, dy, n);
    cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
        if (std::fabs(y[4 * i] - (x[i] * .5f + 1)) > 0.01f ||
            std::fabs(y[4 * i + 1] - (x[i] * x[i] + 4)) > 0.15f || std::fabs(y[4 * i + 2] - x[i]) > 0.05f ||
            y[4 * i + 3] != (x[i] > 1))
            return printf("FAIL %d %g %g %g\n", i, y[4 * i], y[4 * i + 1], y[4 * i + 2]), 1;
    puts("PASS");
}
