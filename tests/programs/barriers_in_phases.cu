// nvcuda::experimental::awbarrier, whose arrivals wrap the barrier's count, over several phases.
// Flags: -O3 -arch=sm_80
#include <cuda_awbarrier.h>

#include <cstdio>
__global__ void rotate(int* out) {
    __shared__ nvcuda::experimental::awbarrier barrier;
    __shared__ int values[96];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int mine = threadIdx.x;
    for (int phase = 0; phase < 4; phase++) {
        values[threadIdx.x] = mine;
        barrier.arrive_and_wait();
        mine = values[(threadIdx.x + 1) % blockDim.x];
        auto token = barrier.arrive();
        barrier.wait(token);
    }
    out[threadIdx.x] = mine;
}
int main() {
    int* out;
    cudaMallocManaged(&out, 96 * sizeof(int));
    rotate<<<1, 96>>>(out);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 96; i++) good = good && out[i] == (i + 4) % 96;
    puts(good ? "PASS" : "FAIL");
}
