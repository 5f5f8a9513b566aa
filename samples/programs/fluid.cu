// Steps of an incompressible flow in a box whose lid moves (Chorin's projection on a staggered grid): the step's length from
// the largest speed, advection and diffusion, pressure by Jacobi iterations, correction; and a dye that is carried along.
// N is the number of cells on an edge.
#include <algorithm>
#include <cmath>

#include "../common/sample.h"

// Cell (i, j) is i + j * pitch of each array, with a border of one: u is the velocity through its left side, v through
// its lower one.
struct Grid {
    int nx, ny, pitch;
    float h;
    __host__ __device__ int at(int i, int j) const { return j * pitch + i; }
    __host__ __device__ std::size_t size() const { return static_cast<std::size_t>(pitch) * (ny + 2); }
};

struct Fluid {
    float viscosity, lid;
};

constexpr int tile_x = 32, tile_y = 8;

// ---- what both the device and the reference compute of one cell

template <typename T>
__host__ __device__ inline T advected_u(const T* u, const T* v, Grid g, Fluid f, T dt, int i, int j) {
    const int c = g.at(i, j), e = c + 1, w = c - 1, n = c + g.pitch, s = c - g.pitch;
    const T v_here = (v[c] + v[w] + v[n] + v[n - 1]) * T(0.25);
    const T along = u[c] * (u[e] - u[w]), across = v_here * (u[n] - u[s]);
    const T laplacian = (u[e] + u[w] + u[n] + u[s] - T(4) * u[c]) / (g.h * g.h);
    return u[c] + dt * (f.viscosity * laplacian - (along + across) / (T(2) * g.h));
}

template <typename T>
__host__ __device__ inline T advected_v(const T* u, const T* v, Grid g, Fluid f, T dt, int i, int j) {
    const int c = g.at(i, j), e = c + 1, w = c - 1, n = c + g.pitch, s = c - g.pitch;
    const T u_here = (u[c] + u[e] + u[s] + u[s + 1]) * T(0.25);
    const T along = v[c] * (v[n] - v[s]), across = u_here * (v[e] - v[w]);
    const T laplacian = (v[e] + v[w] + v[n] + v[s] - T(4) * v[c]) / (g.h * g.h);
    return v[c] + dt * (f.viscosity * laplacian - (along + across) / (T(2) * g.h));
}

template <typename T>
__host__ __device__ inline T outflow(const T* u, const T* v, Grid g, int i, int j) {
    const int c = g.at(i, j);
    return (u[c + 1] - u[c] + v[c + g.pitch] - v[c]) / g.h;
}

// By the bilinear interpolation at the place that flowed here; values are those of centres of cells.
template <typename T>
__host__ __device__ inline T carried(const T* dye, const T* u, const T* v, Grid g, T dt, int i, int j) {
    const int c = g.at(i, j);
    T x = i - dt * (u[c] + u[c + 1]) / (T(2) * g.h), y = j - dt * (v[c] + v[c + g.pitch]) / (T(2) * g.h);
    x = x < T(0.5) ? T(0.5) : x > g.nx + T(0.5) ? g.nx + T(0.5) : x;
    y = y < T(0.5) ? T(0.5) : y > g.ny + T(0.5) ? g.ny + T(0.5) : y;
    const int left = static_cast<int>(x), below = static_cast<int>(y);
    const int at = g.at(left, below);
    const T fx = x - left, fy = y - below;
    return (T(1) - fy) * ((T(1) - fx) * dye[at] + fx * dye[at + 1]) +
           fy * ((T(1) - fx) * dye[at + g.pitch] + fx * dye[at + g.pitch + 1]);
}

// ---- kernels

// No slip at the walls: what lies beyond them mirrors what lies before. A thread for each cell of an edge.
__global__ void velocity_borders(float* u, float* v, Grid g, Fluid f) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= max(g.nx, g.ny) + 2) return;
    if (k >= 2 && k <= g.nx) {
        u[g.at(k, 0)] = -u[g.at(k, 1)];
        u[g.at(k, g.ny + 1)] = 2.0f * f.lid - u[g.at(k, g.ny)];
    }
    if (k >= 2 && k <= g.ny) {
        v[g.at(0, k)] = -v[g.at(1, k)];
        v[g.at(g.nx + 1, k)] = -v[g.at(g.nx, k)];
    }
    if (k < g.nx + 2) v[g.at(k, 1)] = v[g.at(k, g.ny + 1)] = 0.0f;
    if (k < g.ny + 2) u[g.at(1, k)] = u[g.at(g.nx + 1, k)] = 0.0f;
}

__global__ void scalar_borders(float* a, Grid g) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < g.nx + 2) {
        const int inner = min(max(k, 1), g.nx);
        a[g.at(k, 0)] = a[g.at(inner, 1)];
        a[g.at(k, g.ny + 1)] = a[g.at(inner, g.ny)];
    }
    if (k >= 1 && k <= g.ny) {
        a[g.at(0, k)] = a[g.at(1, k)];
        a[g.at(g.nx + 1, k)] = a[g.at(g.nx, k)];
    }
}

// Each block's largest speed.
__global__ void largest_speed(float* most, const float* u, const float* v, int n) {
    extern __shared__ float shared[];
    float own = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        own = fmaxf(own, fmaxf(fabsf(u[i]), fabsf(v[i])));
    shared[threadIdx.x] = own;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) most[blockIdx.x] = shared[0];
}

__global__ void advect(float* __restrict__ new_u, float* __restrict__ new_v, const float* __restrict__ u,
                       const float* __restrict__ v, Grid g, Fluid f, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i > g.nx || j > g.ny) return;
    if (i > 1) new_u[g.at(i, j)] = advected_u(u, v, g, f, dt, i, j);
    if (j > 1) new_v[g.at(i, j)] = advected_v(u, v, g, f, dt, i, j);
}

__global__ void divergence(float* __restrict__ out, const float* __restrict__ u, const float* __restrict__ v,
                           Grid g, float scale) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i <= g.nx && j <= g.ny) out[g.at(i, j)] = scale * outflow(u, v, g, i, j);
}

// One iteration, through a tile with a border of one; neighbours beyond a wall are the cell itself.
__global__ void jacobi(float* __restrict__ next, const float* __restrict__ p,
                       const float* __restrict__ source, Grid g) {
    __shared__ float tile[tile_y + 2][tile_x + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int i = blockIdx.x * tile_x + tx, j = blockIdx.y * tile_y + ty;
    const bool inside = i <= g.nx && j <= g.ny;
    if (inside) {
        const int c = g.at(i, j);
        tile[ty][tx] = p[c];
        if (tx == 1) tile[ty][0] = i > 1 ? p[c - 1] : p[c];
        if (tx == tile_x || i == g.nx) tile[ty][tx + 1] = i < g.nx ? p[c + 1] : p[c];
        if (ty == 1) tile[0][tx] = j > 1 ? p[c - g.pitch] : p[c];
        if (ty == tile_y || j == g.ny) tile[ty + 1][tx] = j < g.ny ? p[c + g.pitch] : p[c];
    }
    __syncthreads();
    if (inside)
        next[g.at(i, j)] = 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] +
                                    tile[ty + 1][tx] - g.h * g.h * source[g.at(i, j)]);
}

__global__ void project(float* u, float* v, const float* p, Grid g, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i > g.nx || j > g.ny) return;
    const int c = g.at(i, j);
    if (i > 1) u[c] -= dt / g.h * (p[c] - p[c - 1]);
    if (j > 1) v[c] -= dt / g.h * (p[c] - p[c - g.pitch]);
}

__global__ void carry(float* __restrict__ out, const float* __restrict__ dye, const float* __restrict__ u,
                      const float* __restrict__ v, Grid g, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i > g.nx || j > g.ny) return;
    out[g.at(i, j)] = carried(dye, u, v, g, dt, i, j);
}

// Each row's sum of squares: a block of 128 threads a row.
__global__ void row_energy(float* energy, const float* __restrict__ u, const float* __restrict__ v, Grid g) {
    __shared__ float partial[128];
    const int j = blockIdx.x + 1;
    float sum = 0.0f;
    for (int i = 1 + threadIdx.x; i <= g.nx; i += blockDim.x) {
        const int c = g.at(i, j);
        sum += u[c] * u[c] + v[c] * v[c];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) energy[j - 1] = 0.5f * partial[0] * g.h * g.h;
}

// The image of the dye, four cells a thread.
__global__ void image(uchar4* out, const float* dye, Grid g) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (4 * x >= g.nx || j > g.ny) return;
    unsigned char shade[4];
    for (int k = 0; k < 4; ++k) {
        const int i = min(4 * x + k + 1, g.nx);
        shade[k] = static_cast<unsigned char>(255.0f * fminf(fmaxf(dye[g.at(i, j)], 0.0f), 1.0f));
    }
    out[(j - 1) * ((g.nx + 3) / 4) + x] = make_uchar4(shade[0], shade[1], shade[2], shade[3]);
}

// ---- the steps, on both

constexpr int iterations = 20;

float step_length(float most, Grid g, Fluid f) {
    return std::min(0.4f * g.h / std::max(most, f.lid), 0.2f * g.h * g.h / f.viscosity);
}

struct State {
    std::vector<float> u, v, p, dye, energy;
    std::vector<uchar4> image;
    std::vector<float> divergence;
};

State on_device(Grid g, Fluid f, const std::vector<float>& first_dye, int steps) {
    const std::size_t size = g.size();
    sample::DeviceArray<float> u(size), v(size), new_u(size), new_v(size), p(size), next(size), source(size),
        dye(first_dye), next_dye(size), most(64), energy(g.ny);
    sample::DeviceArray<uchar4> pixels(static_cast<std::size_t>((g.nx + 3) / 4) * g.ny);
    const dim3 block(tile_x, tile_y), grid((g.nx + tile_x - 1) / tile_x, (g.ny + tile_y - 1) / tile_y);
    const int border = std::max(g.nx, g.ny) + 2, border_blocks = (border + 127) / 128;
    float *pu = u.data(), *pv = v.data(), *qu = new_u.data(), *qv = new_v.data(), *pp = p.data(),
          *qp = next.data(), *pd = dye.data(), *qd = next_dye.data();
    sample::KernelTimers timers;
    const auto borders = [&](float* a, float* b) {
        timers.time("velocity_borders", [&] { velocity_borders<<<border_blocks, 128>>>(a, b, g, f); });
    };
    borders(pu, pv);
    for (int step = 0; step < steps; ++step) {
        timers.time("largest_speed", [&] {
            largest_speed<<<64, 256, 256 * sizeof(float)>>>(most.data(), pu, pv, static_cast<int>(size));
        });
        const std::vector<float> speeds = most.to_host();
        const float dt = step_length(*std::max_element(speeds.begin(), speeds.end()), g, f);
        timers.time("advect", [&] { advect<<<grid, block>>>(qu, qv, pu, pv, g, f, dt); });
        borders(qu, qv);
        timers.time("divergence", [&] { divergence<<<grid, block>>>(source.data(), qu, qv, g, 1.0f / dt); });
        for (int k = 0; k < iterations; ++k) {
            timers.time("jacobi", [&] { jacobi<<<grid, block>>>(qp, pp, source.data(), g); });
            std::swap(pp, qp);
        }
        timers.time("project", [&] { project<<<grid, block>>>(qu, qv, pp, g, dt); });
        borders(qu, qv);
        timers.time("scalar_borders", [&] { scalar_borders<<<border_blocks, 128>>>(pd, g); });
        timers.time("carry", [&] { carry<<<grid, dim3(16, 16)>>>(qd, pd, qu, qv, g, dt); });
        std::swap(pu, qu);
        std::swap(pv, qv);
        std::swap(pd, qd);
    }
    timers.time("divergence", [&] { divergence<<<grid, block>>>(source.data(), pu, pv, g, 1.0f); });
    timers.time("row_energy", [&] { row_energy<<<g.ny, 128>>>(energy.data(), pu, pv, g); });
    timers.time("image", [&] {
        image<<<dim3(((g.nx + 3) / 4 + 15) / 16, (g.ny + 15) / 16), dim3(16, 16)>>>(pixels.data(), pd, g);
    });
    timers.print();
    const auto copied = [&](const float* from) {
        std::vector<float> out(size);
        CUDA_CHECK(cudaMemcpy(out.data(), from, size * sizeof(float), cudaMemcpyDeviceToHost));
        return out;
    };
    return {copied(pu),       copied(pv),       copied(pp),           copied(pd),
            energy.to_host(), pixels.to_host(), copied(source.data())};
}

// In double precision, but for the length of steps.
struct Reference {
    std::vector<double> u, v, p, dye, divergence;
};

Reference on_host(Grid g, Fluid f, const std::vector<float>& dye, int steps) {
    const std::size_t size = g.size();
    std::vector<double> u(size), v(size), new_u, new_v, p(size), next(size), source(size),
        d(dye.begin(), dye.end()), moved(size);
    const auto each = [&](auto&& visit) {
        for (int j = 1; j <= g.ny; ++j)
            for (int i = 1; i <= g.nx; ++i) visit(i, j, g.at(i, j));
    };
    const auto borders = [&](std::vector<double>& a, std::vector<double>& b) {
        for (int k = 2; k <= g.nx; ++k) {
            a[g.at(k, 0)] = -a[g.at(k, 1)];
            a[g.at(k, g.ny + 1)] = 2.0 * f.lid - a[g.at(k, g.ny)];
        }
        for (int k = 2; k <= g.ny; ++k) {
            b[g.at(0, k)] = -b[g.at(1, k)];
            b[g.at(g.nx + 1, k)] = -b[g.at(g.nx, k)];
        }
        for (int k = 0; k < g.nx + 2; ++k) b[g.at(k, 1)] = b[g.at(k, g.ny + 1)] = 0.0;
        for (int k = 0; k < g.ny + 2; ++k) a[g.at(1, k)] = a[g.at(g.nx + 1, k)] = 0.0;
    };
    const auto dye_borders = [&](std::vector<double>& a) {
        for (int j = 0; j < g.ny + 2; ++j)
            for (int i = 0; i < g.nx + 2; ++i)
                a[g.at(i, j)] = a[g.at(std::clamp(i, 1, g.nx), std::clamp(j, 1, g.ny))];
    };
    borders(u, v);
    for (int step = 0; step < steps; ++step) {
        double most = 0.0;
        for (std::size_t i = 0; i < size; ++i) most = std::max({most, std::fabs(u[i]), std::fabs(v[i])});
        const double dt = step_length(static_cast<float>(most), g, f);
        new_u = u;
        new_v = v;
        each([&](int i, int j, int c) {
            if (i > 1) new_u[c] = advected_u(u.data(), v.data(), g, f, dt, i, j);
            if (j > 1) new_v[c] = advected_v(u.data(), v.data(), g, f, dt, i, j);
        });
        borders(new_u, new_v);
        each([&](int i, int j, int c) { source[c] = outflow(new_u.data(), new_v.data(), g, i, j) / dt; });
        for (int k = 0; k < iterations; ++k) {
            each([&](int i, int j, int c) {
                next[c] =
                    0.25 * (p[i > 1 ? c - 1 : c] + p[i < g.nx ? c + 1 : c] + p[j > 1 ? c - g.pitch : c] +
                            p[j < g.ny ? c + g.pitch : c] - double(g.h) * g.h * source[c]);
            });
            std::swap(p, next);
        }
        each([&](int i, int j, int c) {
            if (i > 1) new_u[c] -= dt / g.h * (p[c] - p[c - 1]);
            if (j > 1) new_v[c] -= dt / g.h * (p[c] - p[c - g.pitch]);
        });
        borders(new_u, new_v);
        dye_borders(d);
        each([&](int i, int j, int c) {
            moved[c] = carried(d.data(), new_u.data(), new_v.data(), g, dt, i, j);
        });
        std::swap(d, moved);
        std::swap(u, new_u);
        std::swap(v, new_v);
    }
    each([&](int i, int j, int c) { source[c] = outflow(u.data(), v.data(), g, i, j); });
    return {u, v, p, d, source};
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 8192, 10, 100000});
    const int n = std::max(options.n, 8);
    const Grid g{n, n, (n + 2 + 31) / 32 * 32, 1.0f / n};
    const Fluid f{0.01f, 1.0f};
    std::vector<float> dye(g.size());
    for (int j = 1; j <= n; ++j)
        for (int i = 1; i <= n; ++i)
            dye[g.at(i, j)] = std::hypot(i - 0.5f * n, j - 0.8f * n) < 0.15f * n ? 1.0f : 0.0f;
    sample::Outputs outputs(options.dump_path);

    const State got = on_device(g, f, dye, options.steps);
    outputs.add(got.u);
    outputs.add(got.v);
    outputs.add(got.p);
    outputs.add(got.dye);
    outputs.add(got.energy);
    outputs.add(got.image);
    outputs.print();

    sample::Verifier verifier;
    const Reference expected = on_host(g, f, dye, options.steps);
    double largest_p = 0.0, largest_divergence = 0.0;
    for (const double p : expected.p) largest_p = std::fmax(largest_p, std::fabs(p));
    for (const double d : expected.divergence)
        largest_divergence = std::fmax(largest_divergence, std::fabs(d));
    for (int j = 1; j <= n; ++j) {
        double energy = 0.0;
        for (int i = 1; i <= n; ++i) {
            const int c = g.at(i, j);
            verifier.within("u", c, got.u[c], expected.u[c], 1e-4);
            verifier.within("v", c, got.v[c], expected.v[c], 1e-4);
            verifier.within("p", c, got.p[c], expected.p[c], 1e-3 * largest_p);
            verifier.within("dye", c, got.dye[c], expected.dye[c], 1e-2);
            verifier.within("divergence", c, got.divergence[c], expected.divergence[c],
                            1e-2 * largest_divergence);
            energy += 0.5 * (double(got.u[c]) * got.u[c] + double(got.v[c]) * got.v[c]) * g.h * g.h;
            const uchar4 four = got.image[std::size_t(j - 1) * ((n + 3) / 4) + (i - 1) / 4];
            const int shades[] = {four.x, four.y, four.z, four.w};
            verifier.within("image", c, shades[(i - 1) % 4],
                            std::floor(255.0f * std::fmin(std::fmax(got.dye[c], 0.0f), 1.0f)), 0.0);
        }
        verifier.within("energy", j - 1, got.energy[j - 1], energy, 1e-5 * energy + 1e-12);
    }
    return verifier.finish();
}
