// Macros of the command line whose names the toolkit's and clang's headers use as names of their own.
// Flags: -O3 -DN=1000 -DX=2 -DWidth=3 -Dk=4 -Dactive=5 -DTYPE=float -DBLOCK_SIZE=128 -Dtid=index -lnvToolsExt
#include <cuda.h>
#include <nvToolsExt.h>

#include <cstdio>
__global__ void fill(TYPE* out) {
    int tid = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    if (index < N) out[index] = index * X + Width + k * active;
}
int main() {
    TYPE* out;
    nvtxRangePushA("fill");
    cudaMallocManaged(&out, N * sizeof(TYPE));
    fill<<<(N + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(out);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < N; i++) good = good && out[i] == 2 * i + 23;
    nvtxRangePop();
    puts(good && CUDA_VERSION >= 12000 ? "PASS" : "FAIL");
}
