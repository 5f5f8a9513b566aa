// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One Jacobi step of the heat equation: a point and its six neighbours, weighed. STEP 0: a thread writes one point. STEP 1:
// a thread writes two columns of z, blockDim.x apart; the plane is in shared memory, those above and below in registers.
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))
__global__ void stencil(float* __restrict__ next, const float* __restrict__ now, int nx, int ny, int nz,
                        float c0, float c1) {
#if STEP == 0
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1, z = blockIdx.z + 1;
    if (x < 1 || x >= nx - 1) return;
    next[AT(x, y, z)] = c1 * (now[AT(x + 1, y, z)] + now[AT(x - 1, y, z)] + now[AT(x, y + 1, z)] +
                              now[AT(x, y - 1, z)] + now[AT(x, y, z + 1)] + now[AT(x, y, z - 1)]) -
                        c0 * now[AT(x, y, z)];
#else
    constexpr int width = 32, height = 4, columns = 2;
    __shared__ float plane[height][columns * width];
    const int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * height + y;
    float below[columns], middle[columns], above[columns];
    int left[columns];
    bool inside[columns];
#pragma unroll
    for (int c = 0; c < columns; ++c) {
        left[c] = (blockIdx.x * columns + c) * width + x;
        inside[c] = left[c] > 0 && left[c] < nx - 1 && top > 0 && top < ny - 1;
        below[c] = now[AT(left[c], top, 0)];
        middle[c] = now[AT(left[c], top, 1)];
    }
    for (int z = 1; z < nz - 1; ++z) {
#pragma unroll
        for (int c = 0; c < columns; ++c) {
            plane[y][c * width + x] = middle[c];
            above[c] = now[AT(left[c], top, z + 1)];
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < columns; ++c) {
            const int here = c * width + x;
            if (inside[c]) {
                const float west = here > 0 ? plane[y][here - 1] : now[AT(left[c] - 1, top, z)];
                const float east =
                    here < columns * width - 1 ? plane[y][here + 1] : now[AT(left[c] + 1, top, z)];
                const float north = y > 0 ? plane[y - 1][here] : now[AT(left[c], top - 1, z)];
                const float south = y < height - 1 ? plane[y + 1][here] : now[AT(left[c], top + 1, z)];
                next[AT(left[c], top, z)] =
                    c1 * (west + east + north + south + below[c] + above[c]) - c0 * middle[c];
            }
            below[c] = middle[c];
            middle[c] = above[c];
        }
        __syncthreads();
    }
#endif
}
