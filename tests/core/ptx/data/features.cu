// What the front end must read of a CUDA program: memory spaces, calls, tables, inline assembly, warp operations.
// features_nvcc_*.ptx are what nvcc 13.0 makes of it: -ptx -arch=sm_75 -lineinfo, and -ptx -arch=sm_80 -G.
#include <cuda_runtime.h>
#include <stdio.h>

struct Settings {  // 16 bytes, aligned to 8: offsets 0, 8, 12
    double scale;
    int count;
    char tags[3];
};

__constant__ float coefficients[4] = {1.0f, 2.0f, 3.0f, -4.5f};
__device__ int counter = 7;
__device__ int* third_counter = &counter + 1;

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] * coefficients[i & 3];
}

__device__ __noinline__ float helper(float x, Settings s) { return sinf(x) * s.scale + s.tags[1]; }

__global__ void __launch_bounds__(256, 2) shared_and_calls(Settings s, float* out) {
    __shared__ float tile[256];
    extern __shared__ float dynamic[];
    tile[threadIdx.x] = helper(out[threadIdx.x], s);
    __syncthreads();
    dynamic[threadIdx.x] = tile[255 - threadIdx.x];
    __syncthreads();
    for (int k = 0; k < s.count; ++k) {
        out[threadIdx.x + k * blockDim.x] += dynamic[(threadIdx.x + k) % blockDim.x];
    }
    atomicAdd(&counter, 1);
    if (out[0] == 1.0f) printf("found %f\n", out[0]);
}

typedef float (*Operation)(float);
__device__ float increment(float x) { return x + 1; }
__device__ float twice(float x) { return x * 2; }
__device__ Operation operations[2] = {increment, twice};

__global__ void indirect(float* out, int k) {
    out[0] = operations[k](out[1]);
    *third_counter = 5;
}

__global__ void choose(int* out, int k) {
    switch (k) {
        case 0: out[0] = 3; break;
        case 1: out[1] = out[4] * 7; break;
        case 2: out[2] = out[0] / out[1]; break;
        case 3: out[3] = -9; out[7] = 1; break;
        case 4: out[5] = 11; break;
        case 5: out[9] = out[8] ^ 3; break;
        case 6: out[10] = __clz(out[3]); break;
        case 7: out[11] = __popc(out[2]); break;
    }
}

__global__ void warp_operations(int* out) {
    int v = out[threadIdx.x];
    v += __shfl_xor_sync(~0u, v, 1);
    v += __shfl_down_sync(~0u, v, 2);
    unsigned ballot = __ballot_sync(~0u, v > 3);
    out[threadIdx.x] = v + ballot + __any_sync(~0u, v == 2);
    // Two blocks that declare the same predicate.
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %1, 3; @p mov.u32 %0, %%laneid; }" : "+r"(out[3]) : "r"(v));
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %1, 4; @p mov.u32 %0, %%warpid; }" : "+r"(out[5]) : "r"(v));
}

__global__ void vectors(float4* a, double2* b, long long* l, unsigned char* bytes) {
    float4 v = a[threadIdx.x];
    v.x += b[1].x;
    a[threadIdx.x + 1] = v;
    l[0] = __mul64hi(l[1], l[2]);
    bytes[3] = bytes[1] + bytes[2];
    b[2] = make_double2(exp(b[0].x), b[0].y / 3.0);
}

template <class T>
__global__ void fill(T* out) {
    out[0] = T(3);
}
template __global__ void fill<double>(double*);
template __global__ void fill<short>(short*);
