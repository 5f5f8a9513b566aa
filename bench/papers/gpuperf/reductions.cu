// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's sum of integers, in the seven ways of table 4; KIND 0 to 6. BLOCK is a power of two, at least 64.
__device__ void add(volatile int* part, int to, int from) {
    part[to] = part[to] + part[from];
}

__global__ void reduce(const int* in, int* out, unsigned n) {
    __shared__ int part[BLOCK];
    const unsigned t = threadIdx.x;
    int sum = 0;
    if (KIND <= 2) {
        const unsigned i = blockIdx.x * BLOCK + t;
        sum = i < n ? in[i] : 0;
    } else if (KIND <= 5) {  // the first addition as values are read
        const unsigned i = blockIdx.x * (2 * BLOCK) + t;
        sum = (i < n ? in[i] : 0) + (i + BLOCK < n ? in[i + BLOCK] : 0);
    } else {  // many values for each thread
        for (unsigned i = blockIdx.x * (2 * BLOCK) + t; i < n; i += 2 * BLOCK * gridDim.x)
            sum += in[i] + (i + BLOCK < n ? in[i + BLOCK] : 0);
    }
    part[t] = sum;
    __syncthreads();
    if (KIND == 0) {  // neighbours first: threads of each warp part ways
#pragma unroll 1
        for (unsigned s = 1; s < BLOCK; s *= 2) {
            if (t % (2 * s) == 0) part[t] += part[t + s];
            __syncthreads();
        }
    } else if (KIND ==
               1) {  // the first threads do the work, at places a power of two apart: the banks collide
#pragma unroll 1
        for (unsigned s = 1; s < BLOCK; s *= 2) {
            const unsigned at = 2 * s * t;
            if (at < BLOCK) part[at] += part[at + s];
            __syncthreads();
        }
    } else {
        if (KIND >= 5) {
#pragma unroll
            for (unsigned s = BLOCK / 2; s > 32; s /= 2) {
                if (t < s) part[t] += part[t + s];
                __syncthreads();
            }
        } else {
#pragma unroll 1
            for (unsigned s = BLOCK / 2; s > (KIND >= 4 ? 32 : 0); s /= 2) {
                if (t < s) part[t] += part[t + s];
                __syncthreads();
            }
        }
        if (KIND >= 4 && t < 32)  // the last warp needs no barrier
#pragma unroll
            for (unsigned s = 32; s > 0; s /= 2) add(part, t, t + s);
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
