// Kernels of numerical programs: products, sparse rows, stencils, bodies, clusters, finance.
// By one thread an element, by tiles in shared memory, by one warp a row.
#include "real_kernels.h"

template <int Tile>
__global__ void gemm_tiled(float* c, const float* a, const float* b, int n) {
    __shared__ float left[Tile][Tile], right[Tile][Tile];
    const int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += Tile) {
        left[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0;
        right[threadIdx.y][threadIdx.x] =
            column < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < Tile; k++) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void gemm(float* c, const float* a, const float* b, int n) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

__global__ void matrix_vector(float* y, const float* a, const float* x, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * x[k];
    y[row] = sum;
}

__global__ void spmv_rows(float* y, const int* first, const int* column, const float* value, const float* x,
                          int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int k = first[row]; k < first[row + 1]; k++) sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

__global__ void spmv_warps(float* y, const int* first, const int* column, const float* value, const float* x,
                           int rows) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 32, lane = thread % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += value[k] * x[column[k]];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) y[row] = sum;
}

__global__ void jacobi(float* out, const float* in, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    out[y * width + x] = 0.25f * (in[y * width + x - 1] + in[y * width + x + 1] + in[(y - 1) * width + x] +
                                  in[(y + 1) * width + x]);
}

__global__ void stencil_shared(float* out, const float* in, int n) {
    __shared__ float tile[256 + 6];
    const int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x + 3] = i < n ? in[i] : 0;
    if (threadIdx.x < 3) {
        tile[threadIdx.x] = i >= 3 ? in[i - 3] : 0;
        tile[threadIdx.x + 259] = i + 256 < n ? in[i + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 7; k++) sum += tile[threadIdx.x + k];
    if (i < n) out[i] = sum / 7;
}

__global__ void stencil_layers(float* out, const float* in, int nx, int ny, int nz) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    const int layer = nx * ny, at = y * nx + x;
    float below = in[at], here = in[layer + at];
    for (int z = 1; z < nz - 1; z++) {
        const float above = in[(z + 1) * layer + at];
        out[z * layer + at] = below + above + in[z * layer + at - 1] + in[z * layer + at + 1] +
                              in[z * layer + at - nx] + in[z * layer + at + nx] - 6 * here;
        below = here;
        here = above;
    }
}

__constant__ float weights[9];
__global__ void convolve_rows(float* out, const float* in, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -4; k <= 4; k++) sum += weights[k + 4] * in[y * width + min(max(x + k, 0), width - 1)];
    out[y * width + x] = sum;
}

__global__ void bodies(float4* force, const float4* body, int n) {
    __shared__ float4 tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = body[min(i, n - 1)];
    float3 sum = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += blockDim.x) {
        if (first + threadIdx.x < n) tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < min((int)blockDim.x, n - first); k++) {
            const float x = tile[k].x - own.x, y = tile[k].y - own.y, z = tile[k].z - own.z;
            const float near = rsqrtf(x * x + y * y + z * z + 0.01f), pull = tile[k].w * near * near * near;
            sum.x += x * pull;
            sum.y += y * pull;
            sum.z += z * pull;
        }
        __syncthreads();
    }
    if (i < n) force[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

__global__ void move_bodies(float4* body, float4* speed, const float4* force, float step, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    speed[i].x += step * force[i].x;
    speed[i].y += step * force[i].y;
    speed[i].z += step * force[i].z;
    body[i].x += step * speed[i].x;
    body[i].y += step * speed[i].y;
    body[i].z += step * speed[i].z;
}

__global__ void nearest_centre(int* nearest, const float* point, const float* centre, int points, int centres,
                               int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points) return;
    float least = 1e30f;
    int best = 0;
    for (int c = 0; c < centres; c++) {
        float sum = 0;
        for (int d = 0; d < size; d++) {
            const float away = point[d * points + i] - centre[c * size + d];
            sum += away * away;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    nearest[i] = best;
}

__global__ void sum_clusters(int* sums, int* counts, const int* nearest, const float* point, int points,
                             int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, d = blockIdx.y;
    if (i >= points) return;
    atomicAdd(&sums[nearest[i] * size + d], (int)rintf(point[d * points + i] * 4096));
    if (d == 0) atomicAdd(&counts[nearest[i]], 1);
}

__device__ float normal_below(float x) {
    return 0.5f * erfcf(-x * 0.70710678f);
}
__global__ void black_scholes(float* call, float* put, const float* price, const float* strike,
                              const float* years, float rate, float volatility, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const float root = sqrtf(years[i]), spread = volatility * root;
        const float d1 =
            (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread;
        const float d2 = d1 - spread, discounted = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * normal_below(d1) - discounted * normal_below(d2);
        put[i] = discounted * normal_below(-d2) - price[i] * normal_below(-d1);
    }
}

__global__ void inside_circle(unsigned* inside, unsigned seed, int tries, int n) {
    unsigned found = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = seed + i * 747796405u;
        for (int t = 0; t < tries; t++) {
            x = x * 1664525u + 1013904223u;
            const float a = (x >> 8) * 5.9604645e-8f;
            x = x * 1664525u + 1013904223u;
            const float b = (x >> 8) * 5.9604645e-8f;
            found += a * a + b * b < 1;
        }
    }
    atomicAdd(inside, found);
}

__global__ void shortest_paths(int* distance, int by, int n) {
    const int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
    if (to >= n || from >= n || from == by || to == by) return;
    distance[from * n + to] = min(distance[from * n + to], distance[from * n + by] + distance[by * n + to]);
}

int main() {
    const int n = 100, nn = n * n;
    Array<float> a(nn, floats(1)), b(nn, floats(2)), c(nn);
    const std::vector<float> ha = a.host, hb = b.host;
    std::vector<double> product(nn);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) product[i * n + j] += double(ha[i * n + k]) * hb[k * n + j];
    const auto entry = [&](std::size_t i) { return product[i]; };
    gemm_tiled<16><<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(c, a, b, n);
    compare("gemm_tiled", c, nn, entry, 1e-4);
    gemm<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(c, a, b, n);
    compare("gemm", c, nn, entry, 1e-4);
    Array<float> y(5000);
    matrix_vector<<<1, 128>>>(y, a, b, n);
    compare(
        "matrix_vector", y, n,
        [&](std::size_t i) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += double(ha[i * n + k]) * hb[k];
            return sum;
        },
        1e-4);

    const int rows = 1500;
    std::vector<int> starts(rows + 1), columns;
    for (int r = 0; r < rows; r++) {
        for (unsigned k = 0; k < scrambled(r) % 60; k++) columns.push_back(scrambled(r * 64 + k) % nn);
        starts[r + 1] = int(columns.size());
    }
    Array<int> first(rows + 1, [&](unsigned i) { return starts[i]; }),
        column(columns.size(), [&](unsigned i) { return columns[i]; });
    Array<float> value(columns.size(), floats(3));
    const std::vector<float> hv = value.host;
    const auto sparse = [&](std::size_t r) {
        double sum = 0;
        for (int k = starts[r]; k < starts[r + 1]; k++) sum += double(hv[k]) * ha[columns[k]];
        return sum;
    };
    spmv_rows<<<(rows + 255) / 256, 256>>>(y, first, column, value, a, rows);
    compare("spmv_rows", y, rows, sparse, 1e-4);
    check(cudaMemset(y, 0, rows * sizeof(float)));
    spmv_warps<<<(rows + 7) / 8, 256>>>(y, first, column, value, a, rows);
    compare("spmv_warps", y, rows, sparse, 1e-4);

    const int width = 333, height = 200, pixels = width * height;
    Array<float> image(pixels, floats(4)), out(pixels);
    const std::vector<float> in = image.host;
    const dim3 tiles((width + 31) / 32, (height + 7) / 8), tile(32, 8);
    jacobi<<<tiles, tile>>>(out, image, width, height);
    compare(
        "jacobi", out, pixels,
        [&](std::size_t i) {
            const int x = i % width, yy = i / width;
            if (x < 1 || yy < 1 || x >= width - 1 || yy >= height - 1) return 0.0f;
            return 0.25f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
        },
        1e-6);
    stencil_shared<<<(pixels + 255) / 256, 256>>>(out, image, pixels);
    compare(
        "stencil_shared", out, pixels,
        [&](std::size_t i) {
            double sum = 0;
            for (int k = -3; k <= 3; k++)
                if (int(i) + k >= 0 && int(i) + k < pixels) sum += in[i + k];
            return sum / 7;
        },
        1e-5);
    check(cudaMemset(out, 0, pixels * sizeof(float)));
    const int nx = 60, ny = 50, nz = 22;
    stencil_layers<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(out, image, nx, ny, nz);
    compare(
        "stencil_layers", out, nx * ny * nz,
        [&](std::size_t i) {
            const int x = i % nx, yy = i / nx % ny, z = i / (nx * ny);
            if (x < 1 || yy < 1 || z < 1 || x >= nx - 1 || yy >= ny - 1 || z >= nz - 1) return 0.0;
            return double(in[i - nx * ny]) + in[i + nx * ny] + in[i - 1] + in[i + 1] + in[i - nx] +
                   in[i + nx] - 6.0 * in[i];
        },
        1e-5);
    float filter[9];
    for (int k = 0; k < 9; k++) filter[k] = 1.0f / (1 + k);
    check(cudaMemcpyToSymbol(weights, filter, sizeof filter));
    convolve_rows<<<tiles, tile>>>(out, image, width, height);
    compare(
        "convolve_rows", out, pixels,
        [&](std::size_t i) {
            const int x = i % width;
            double sum = 0;
            for (int k = -4; k <= 4; k++)
                sum += filter[k + 4] * in[i - x + std::min(std::max(x + k, 0), width - 1)];
            return sum;
        },
        1e-5);

    const int stars = 500;
    const auto star = [](unsigned i) {
        const auto number = floats(5);
        return make_float4(number(4 * i), number(4 * i + 1), number(4 * i + 2), 1 + number(4 * i + 3));
    };
    Array<float4> body(stars, star), force(stars), speed(stars);
    const std::vector<float4> placed = body.host;
    bodies<<<(stars + 127) / 128, 128>>>(force, body, stars);
    force.back();
    for (int i = 0; i < stars; i++) {
        double sum = 0;
        for (const float4& other : placed) {
            const double dx = other.x - placed[i].x, dy = other.y - placed[i].y, dz = other.z - placed[i].z;
            sum += dx * other.w * std::pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
        }
        if (std::abs(force.host[i].x - sum) > 1e-3 * (1 + std::abs(sum))) all_right() = false;
    }
    move_bodies<<<(stars + 63) / 64, 64>>>(body, speed, force, 0.5f, stars);
    body.back();
    for (int i = 0; i < stars; i++)
        if (std::abs(body.host[i].y - (placed[i].y + 0.25 * force.host[i].y)) > 1e-3) all_right() = false;

    const int points = 4000, centres = 12, size = 5;
    Array<int> nearest(points), sums(centres * size), counts(centres);
    nearest_centre<<<(points + 127) / 128, 128>>>(nearest, image, b, points, centres, size);
    std::vector<int> chosen(points), wanted(centres * size);
    for (int i = 0; i < points; i++) {
        float least = 1e30f;
        for (int k = 0; k < centres; k++) {
            float sum = 0;
            for (int d = 0; d < size; d++)
                sum += (in[d * points + i] - hb[k * size + d]) * (in[d * points + i] - hb[k * size + d]);
            if (sum < least - 1e-5f) least = sum, chosen[i] = k;
        }
    }
    nearest.back();
    int unlike = 0;
    for (int i = 0; i < points; i++) unlike += nearest.host[i] != chosen[i];
    if (unlike > 4) all_right() = false;
    sum_clusters<<<dim3((points + 255) / 256, size), 256>>>(sums, counts, nearest, image, points, size);
    for (int i = 0; i < points; i++)
        for (int d = 0; d < size; d++)
            wanted[nearest.host[i] * size + d] += int(std::rint(in[d * points + i] * 4096));
    compare("sum_clusters", sums, wanted.size(), [&](std::size_t i) { return wanted[i]; });

    const int options = 20000;
    const auto positive = [](unsigned seed) { return [seed](unsigned i) { return 2 + floats(seed)(i); }; };
    Array<float> price(options, positive(6)), strike(options, positive(7)), years(options, positive(8)),
        call(options), put(options);
    const std::vector<float> p = price.host, s = strike.host, t = years.host;
    black_scholes<<<60, 128>>>(call, put, price, strike, years, 0.02f, 0.3f, options);
    call.back();
    compare(
        "black_scholes", put, options,
        [&](std::size_t i) { return call.host[i] - p[i] + s[i] * std::exp(-0.02 * t[i]); }, 1e-4);
    Array<unsigned> inside(1);
    inside_circle<<<16, 128>>>(inside, 11u, 10, options);
    unsigned found = 0;
    for (int i = 0; i < options; i++) {
        unsigned x = 11u + i * 747796405u;
        for (int k = 0; k < 10; k++) {
            x = x * 1664525u + 1013904223u;
            const float u = (x >> 8) * 5.9604645e-8f;
            x = x * 1664525u + 1013904223u;
            const float v = (x >> 8) * 5.9604645e-8f;
            found += std::fma(u, u, v * v) < 1;
        }
    }
    compare("inside_circle", inside, 1, [&](std::size_t) { return found; }, 1e-4);

    const int towns = 64;
    Array<int> distance(towns * towns,
                        [](unsigned i) { return i / towns == i % towns ? 0 : 1 + below(1000)(i); });
    std::vector<int> road = distance.host;
    for (int by = 0; by < towns; by++) {
        shortest_paths<<<dim3(towns / 16, towns / 8), dim3(16, 8)>>>(distance, by, towns);
        for (int i = 0; i < towns * towns; i++)
            road[i] = std::min(road[i], road[i / towns * towns + by] + road[by * towns + i % towns]);
    }
    compare("shortest_paths", distance, road.size(), [&](std::size_t i) { return road[i]; });
    return finish();
}
