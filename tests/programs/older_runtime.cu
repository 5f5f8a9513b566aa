// Runtime calls and properties that CUDA 13 dropped.
#include <cstdio>
// CUDA 13 dropped: prefetch with an int device, advise with an int, properties such as clockRate
int main() {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    printf("%d\n", p.multiProcessorCount > 0);
    float* x;
    cudaMallocManaged(&x, 4096);
    int dev = 0;
    cudaMemPrefetchAsync(x, 4096, dev, 0);
    cudaMemAdvise(x, 4096, cudaMemAdviseSetReadMostly, dev);
    cudaMemPrefetchAsync(x, 4096, cudaCpuDeviceId);
    printf("%d %d %d\n", p.clockRate >= 0, p.memoryClockRate >= 0, p.computeMode >= 0);
    printf("%d %d %d\n", p.deviceOverlap >= 0, p.kernelExecTimeoutEnabled >= 0,
           p.singleToDoublePrecisionPerfRatio >= 0);
    puts("PASS");
}
