// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two-point angular correlation: for each pair of directions, the bin of the cosine between them is counted. A thread has one
// direction, and a histogram of its own. STEP 0: histograms and the other directions are in global memory. STEP 1: in shared
// memory, the others BLOCK at a time.
__global__ void tpacf(int* __restrict__ counts, const float* __restrict__ x, const float* __restrict__ y,
                      const float* __restrict__ z, const float* __restrict__ limits, int points) {
    constexpr int bins = 20;
    const int t = threadIdx.x, i = blockIdx.x * BLOCK + t, all = gridDim.x * BLOCK;
    const float own_x = x[i], own_y = y[i], own_z = z[i];
    const auto bin_of = [&](float cosine) {
        int low = 0, high = bins;
#pragma unroll 1
        while (high > low + 1) {
            const int middle = (low + high) / 2;
            if (cosine >= limits[middle])
                high = middle;
            else
                low = middle;
        }
        return low;
    };
#if STEP == 0
    for (int b = 0; b < bins; ++b) counts[b * all + i] = 0;
#pragma unroll 1
    for (int j = 0; j < points; ++j) ++counts[bin_of(own_x * x[j] + own_y * y[j] + own_z * z[j]) * all + i];
#else
    __shared__ float other_x[BLOCK], other_y[BLOCK], other_z[BLOCK];
    __shared__ int own[bins][BLOCK];
    for (int b = 0; b < bins; ++b) own[b][t] = 0;
#pragma unroll 1
    for (int first = 0; first < points; first += BLOCK) {
        __syncthreads();
        other_x[t] = x[first + t], other_y[t] = y[first + t], other_z[t] = z[first + t];
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < BLOCK; ++j)
            ++own[bin_of(own_x * other_x[j] + own_y * other_y[j] + own_z * other_z[j])][t];
    }
    for (int b = 0; b < bins; ++b) counts[b * all + i] = own[b][t];
#endif
}
