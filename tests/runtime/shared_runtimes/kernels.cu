// A library of kernels; what calls it has the memory.
__global__ void axpy(float* y, const float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

extern "C" void LAUNCH(float* y, const float* x, float a, int n) {
    axpy<<<(n + 1023) / 1024, 1024>>>(y, x, a, n);
}
