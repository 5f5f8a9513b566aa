// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CHAINS chains of multiply-adds, each dependent on itself alone, and SPECIAL special functions after every eighth.
__global__ void chains(float* out, float factor, float term, int turns) {
    float value[CHAINS], other = factor;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) value[c] = threadIdx.x + c;
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < 8; ++step)
#pragma unroll
            for (int c = 0; c < CHAINS; ++c) value[c] = value[c] * factor + term;
#pragma unroll
        for (int k = 0; k < SPECIAL; ++k) asm volatile("ex2.approx.f32 %0, %0;" : "+f"(other));
    }
    float sum = other;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) sum += value[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
