// Every kind of defect, each in a kernel of its own. Arguments: which.
#include <cstdio>
#include <cstring>

__global__ void past_the_end(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;  // FOUND memory
}
__global__ void neighbours(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];  // FOUND race
}
__global__ void unwritten(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x];  // FOUND init
}
__global__ void apart(int* out) {
    out[threadIdx.x] = __shfl_xor_sync(threadIdx.x < 16 ? 0xffffu : 0xffu, threadIdx.x, 1);  // FOUND sync
}
__global__ void half_of_a_warp(int* out) {
    if (threadIdx.x & 1) __syncthreads();  // FOUND barrier
    out[threadIdx.x] = 1;
}
__global__ void clean(int* out) {
    out[threadIdx.x] = threadIdx.x;
}

static int* allocate_numbers(int n) {
    int* numbers = nullptr;
    cudaMalloc(&numbers, n * sizeof(int));
    return numbers;
}

int main(int argc, char** argv) {
    const char* which = argc > 1 ? argv[1] : "";
    int* a = allocate_numbers(64);
    int* b = allocate_numbers(64);
    if (!strcmp(which, "memory")) past_the_end<<<3, 32>>>(a, 64);
    if (!strcmp(which, "race")) neighbours<<<1, 64>>>(a);
    if (!strcmp(which, "init")) unwritten<<<1, 64>>>(a, b);
    if (!strcmp(which, "sync")) apart<<<1, 32>>>(a);
    if (!strcmp(which, "barrier")) half_of_a_warp<<<1, 64>>>(a);
    if (!strcmp(which, "freed")) {
        cudaFree(a);
        clean<<<1, 64>>>(a);
    }
    if (!strcmp(which, "clean")) clean<<<1, 64>>>(a);
    cudaDeviceSynchronize();
    return 0;
}
