// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Near-field phase of a fast multipole method: each target point of a box sums charge over distance of all source points of
// the 27 boxes around it. A block has a box of TARGETS points; boxes are a grid with a border.
// LAYOUT 0: four arrays. 1: one of float4, read at once. 2: one of float4, read by word. SHMEM 1: a box's sources pass
// through shared memory, as four arrays. 2: as one of float4. UJAM: targets per thread. PREF: the next source is read
// ahead. RSQRT: one reciprocal square root instead of a root and a division.
struct Source {
    float x, y, z, charge;
};

#if LAYOUT == 0
struct Sources {
    const float *x, *y, *z, *charge;
    __device__ Source operator[](int s) const { return {x[s], y[s], z[s], charge[s]}; }
};
#elif LAYOUT == 1
struct Sources {
    const float4* at;
    __device__ Source operator[](int s) const {
        const float4 v = at[s];
        return {v.x, v.y, v.z, v.w};
    }
};
#else
struct Sources {
    const float* at;
    __device__ Source operator[](int s) const {
        return {at[4 * s], at[4 * s + 1], at[4 * s + 2], at[4 * s + 3]};
    }
};
#endif

__device__ void add(float& sum, Source t, Source s) {
    const float x = s.x - t.x, y = s.y - t.y, z = s.z - t.z, square = x * x + y * y + z * z;
#if RSQRT
    const float part = s.charge * rsqrtf(square);
#else
    const float part = s.charge / sqrtf(square);
#endif
    sum += square > 0 ? part : 0.0f;
}

__global__ void fmm(float* __restrict__ out, const float* __restrict__ a, const float* __restrict__ b,
                    const float* __restrict__ c, const float* __restrict__ d, int side) {
    constexpr int threads = TARGETS / UJAM;
#if LAYOUT == 0
    const Sources all{a, b, c, d};
#elif LAYOUT == 1
    const Sources all{(const float4*)a};
#else
    const Sources all{a};
#endif
    const int t = threadIdx.x, box = blockIdx.x + 1 + side * (blockIdx.y + 1 + side * (blockIdx.z + 1));
    Source target[UJAM];
    float sum[UJAM] = {};
#pragma unroll
    for (int u = 0; u < UJAM; ++u) target[u] = all[box * TARGETS + t + u * threads];
#if SHMEM == 1
    __shared__ float xs[TARGETS], ys[TARGETS], zs[TARGETS], charges[TARGETS];
#elif SHMEM == 2
    __shared__ float4 part[TARGETS];
#endif
#pragma unroll 1
    for (int n = 0; n < 27; ++n) {
        const int first = (box + n % 3 - 1 + side * (n / 3 % 3 - 1 + side * (n / 9 - 1))) * TARGETS;
#if SHMEM
        __syncthreads();
#pragma unroll
        for (int u = 0; u < UJAM; ++u) {
            const int at = t + u * threads;
            const Source s = all[first + at];
#if SHMEM == 1
            xs[at] = s.x, ys[at] = s.y, zs[at] = s.z, charges[at] = s.charge;
#else
            part[at] = make_float4(s.x, s.y, s.z, s.charge);
#endif
        }
        __syncthreads();
#endif
        const auto source = [&](int s) -> Source {
#if SHMEM == 1
            return {xs[s], ys[s], zs[s], charges[s]};
#elif SHMEM == 2
            const float4 v = part[s];
            return {v.x, v.y, v.z, v.w};
#else
            return all[first + s];
#endif
        };
#if PREF
        Source next = source(0);
#endif
#pragma unroll 1
        for (int s = 0; s < TARGETS; ++s) {
#if PREF
            const Source now = next;
            next = source(s + 1 < TARGETS ? s + 1 : s);
#else
            const Source now = source(s);
#endif
#pragma unroll
            for (int u = 0; u < UJAM; ++u) add(sum[u], target[u], now);
        }
    }
#pragma unroll
    for (int u = 0; u < UJAM; ++u) out[box * TARGETS + t + u * threads] = sum[u];
}
