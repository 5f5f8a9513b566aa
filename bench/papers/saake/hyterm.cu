// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hyperbolic terms of the compressible Navier-Stokes equations: for density, three momenta and energy, the divergence
// of the flux by central differences of eighth order, one stencil for each direction. STENCILS is a mask of the fifteen
// (bit 3 m + d: quantity m, direction d), so that one source gives any fusion of them. The first stencil that a quantity
// meets writes, later kernels add (ADDS is the mask of quantities that an earlier kernel has written).
#ifndef ADDS
#define ADDS 0
#endif

__device__ constexpr double weights[4] = {0.8, -0.2, 4.0 / 105.0, -1.0 / 280.0};

constexpr bool has(int quantity, int direction) {
    return STENCILS >> (3 * quantity + direction) & 1;
}
constexpr bool any(int quantity) {
    return STENCILS >> (3 * quantity) & 7;
}

// u, v, w and p follow one another in `flow`, density, momenta and energy in `state`.
template <int quantity, int direction>
__device__ double flux(const double* state, const double* flow, int at, int cells) {
    if constexpr (quantity == 0) return state[(1 + direction) * cells + at];
    const double speed = flow[direction * cells + at], carried = state[quantity * cells + at] * speed;
    if constexpr (quantity == 1 + direction) return carried + flow[3 * cells + at];
    if constexpr (quantity == 4) return carried + flow[3 * cells + at] * speed;
    return carried;
}

template <int quantity, int direction>
__device__ double derivative(const double* state, const double* flow, int at, int step, int cells,
                             double scale) {
    double sum = 0;
#pragma unroll
    for (int k = 1; k <= 4; ++k)
        sum += weights[k - 1] * (flux<quantity, direction>(state, flow, at + k * step, cells) -
                                 flux<quantity, direction>(state, flow, at - k * step, cells));
    return sum * scale;
}

template <int quantity>
__device__ void one(double* out, const double* state, const double* flow, int at, int nx, int ny, int cells,
                    double scale) {
    if constexpr (any(quantity)) {
        double sum = 0;
        if constexpr (has(quantity, 0)) sum += derivative<quantity, 0>(state, flow, at, 1, cells, scale);
        if constexpr (has(quantity, 1)) sum += derivative<quantity, 1>(state, flow, at, nx, cells, scale);
        if constexpr (has(quantity, 2))
            sum += derivative<quantity, 2>(state, flow, at, nx * ny, cells, scale);
        double& place = out[quantity * cells + at];
        place = (ADDS >> quantity & 1 ? place : 0.0) - sum;
    }
}

__global__ void hyterm(double* __restrict__ out, const double* __restrict__ state,
                       const double* __restrict__ flow, int nx, int ny, int nz, double scale) {
    const int x = 4 + blockIdx.x * blockDim.x + threadIdx.x, y = 4 + blockIdx.y * blockDim.y + threadIdx.y,
              z = 4 + blockIdx.z;
    if (x >= nx - 4 || y >= ny - 4 || z >= nz - 4) return;
    const int at = x + nx * (y + ny * z), cells = nx * ny * nz;
    one<0>(out, state, flow, at, nx, ny, cells, scale);
    one<1>(out, state, flow, at, nx, ny, cells, scale);
    one<2>(out, state, flow, at, nx, ny, cells, scale);
    one<3>(out, state, flow, at, nx, ny, cells, scale);
    one<4>(out, state, flow, at, nx, ny, cells, scale);
}
