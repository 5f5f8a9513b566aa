// Events measure modelled device time: positive, additive over a stream, larger for more work.
#include <cuda_runtime.h>

#include <cstdio>
__global__ void work(float* x, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int r = 0; r < rounds; ++r) v = v * 1.0001f + 0.5f;
    x[i] = v;
}
static float time_of(float* x, int n, int rounds, int launches) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreateWithFlags(&end, cudaEventDefault);
    cudaEventRecord(begin);
    for (int l = 0; l < launches; ++l) work<<<(n + 255) / 256, 256>>>(x, n, rounds);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = -1;
    cudaEventElapsedTime(&ms, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return ms;
}
int main() {
    float* x;
    const int n = 1 << 16;
    cudaMalloc(&x, n * 4);
    cudaMemset(x, 0, n * 4);
    float one = time_of(x, n, 10, 1), many = time_of(x, n, 10, 10), more = time_of(x, n, 2000, 1);
    if (!(one > 0) || !(many > 5 * one) || !(more > one))
        return printf("FAIL %g %g %g\n", one, many, more), 1;
    puts("PASS");
}
