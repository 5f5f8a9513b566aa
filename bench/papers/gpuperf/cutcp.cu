// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Electric potential of atoms on a lattice, cut off at a distance: charge / r * (1 - r^2 / cutoff^2)^2. STEP 0: a thread has
// one point and looks at every atom. STEP 1: atoms lie in bins of 8; a block has 8 x 8 x 8 points, one bin's cube, and
// looks at the 5 x 5 x 5 bins around it, 16 of them at a time in shared memory; a thread has 4 points.
__device__ float potential(float4 atom, float x, float y, float z, float cutoff2, float per_cutoff2) {
    const float dx = atom.x - x, dy = atom.y - y, dz = atom.z - z, r2 = dx * dx + dy * dy + dz * dz;
    const float s = 1 - r2 * per_cutoff2;
    return r2 < cutoff2 ? atom.w * rsqrtf(r2) * s * s : 0.0f;
}

__global__ void cutcp(float* __restrict__ out, const float4* __restrict__ atoms, int side, int count,
                      float spacing, float cutoff2, float per_cutoff2) {
#if STEP == 0
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
              z = blockIdx.z;
    float sum = 0;
#pragma unroll 1
    for (int a = 0; a < count; ++a)
        sum += potential(atoms[a], x * spacing, y * spacing, z * spacing, cutoff2, per_cutoff2);
    out[x + side * (y + side * z)] = sum;
#else
    constexpr int points = 4, threads = 128, bins = 5 * 5 * 5, in_bin = 8, together = threads / in_bin;
    __shared__ float4 part[threads];
    const int t = threadIdx.x + 8 * (threadIdx.y + 8 * threadIdx.z), bins_a_side = side / 8 + 4;
    const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y,
              z = blockIdx.z * 8 + points * threadIdx.z;
    float sum[points] = {};
    for (int first = 0; first < bins; first += together) {
        const int bin = min(first + t / in_bin, bins - 1);
        const int at = blockIdx.x + bin % 5 +
                       bins_a_side * (blockIdx.y + bin / 5 % 5 + bins_a_side * (blockIdx.z + bin / 25));
        __syncthreads();
        part[t] = atoms[at * in_bin + t % in_bin];
        __syncthreads();
        const int there = min(together, bins - first) * in_bin;
#pragma unroll 1
        for (int a = 0; a < there; ++a) {
            const float4 atom = part[a];
#pragma unroll
            for (int p = 0; p < points; ++p)
                sum[p] += potential(atom, x * spacing, y * spacing, (z + p) * spacing, cutoff2, per_cutoff2);
        }
    }
#pragma unroll
    for (int p = 0; p < points; ++p) out[x + side * (y + side * (z + p))] = sum[p];
#endif
}
