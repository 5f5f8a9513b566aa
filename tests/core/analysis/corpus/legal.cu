// What people write, and may be re-blocked: see README.md.
#include <algorithm>
#include <cstdint>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
#define GZ (blockIdx.z * blockDim.z + threadIdx.z)

//= covering
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = GX;
    if (i < n) c[i] = a[i] + b[i];
}
//= covering
__global__ void early_return(float* y, const float* x, float a, int n) {
    int t = threadIdx.x, b = blockIdx.x, s = blockDim.x;
    int i = t + b * s;
    if (i >= n) return;
    y[i] = a * x[i] + y[i];
}
//= covering
__global__ void unsigned_bound(float* o, unsigned n) {
    unsigned i = GX;
    if (i < n) o[i] += 1;
}
//= covering
__global__ void wide_index(double* o, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    o[i] *= 2;
}
//= covering
__global__ void widened_late(int* o, long long n) {
    long long i = GX;
    if (i < n) o[i]++;
}
//= covering
__global__ void plane(float* o, const float* a, int w, int h) {
    int x = GX, y = GY;
    if (x < w && y < h) o[y * w + x] = a[x * h + y];
}
//= covering
__global__ void swapped(float* o, int w, int h) {
    int row = GX, col = GY;
    if (row < h && col < w) o[row * w + col] = row - col;
}
//= covering
__global__ void volume(float* o, int nx, int ny, int nz) {
    int x = GX, y = GY, z = GZ;
    if (x >= nx || y >= ny || z >= nz) return;
    o[(z * ny + y) * nx + x] = x + y + z;
}
//= covering
__global__ void inner_points(float* o, const float* a, int w, int h) {
    int x = GX, y = GY;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        o[y * w + x] = a[y * w + x - 1] + a[y * w + x + 1] - 2 * a[y * w + x];
}
//= covering
__global__ void clamped_neighbours(float* o, const float* a, int w, int h) {
    int x = GX, y = GY;
    if (x >= w || y >= h) return;
    float s = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) s += a[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
    o[y * w + x] = s;
}
//= covering
__global__ void flat_over_plane(float* o, int w, int h) {
    int x = GX, y = GY, i = y * w + x;
    if (x < w && y < h) o[i] = i;
}
//= covering
__global__ void flat_divided(float* o, const float* a, int w, int h) {
    int i = GX;
    if (i >= w * h) return;
    int x = i % w, y = i / w;
    o[x * h + y] = a[i];
}
//= covering
__global__ void four_at_a_time(float* o, int n) {
    int i = GX * 4;
    if (i + 3 < n) {
        o[i] = 1;
        o[i + 1] = 2;
        o[i + 2] = 3;
        o[i + 3] = 4;
    }
}
//= covering
__global__ void four_and_a_rest(float4* o, float* rest, int n) {
    int i = GX;
    if (i < n / 4)
        o[i] = make_float4(1, 2, 3, i);
    else if (i < n / 4 + n % 4)
        rest[i] = 5;
}
//= covering
__global__ void four_in_a_loop(float* o, int n) {
    int first = GX * 4;
    for (int k = 0; k < 4; k++)
        if (first + k < n) o[first + k] = k;
}
//= covering
__global__ void ternary_after_guard(float* o, const float* x, int n) {
    int i = GX;
    if (i < n) o[i] = x[i > 0 ? i - 1 : 0] + x[i < n - 1 ? i + 1 : n - 1];
}
//= covering
__global__ void bound_by_minimum(float* o, int n, int m) {
    int i = GX, end = n < m ? n : m;
    if (i < end) o[i] = 1;
}
//= covering
__global__ void inner_loops(float* o, const float* a, int n, int m) {
    int i = GX;
    if (i < n) {
        float s = 0;
        for (int j = 0; j < m; j++)
            for (int k = 0; k < j; k++) s += a[j * m + k];
        o[i] = s;
    }
}
//= covering
__global__ void matrix_product(float* c, const float* a, const float* b, int n) {
    int r = GY, col = GX;
    if (r < n && col < n) {
        float s = 0;
        for (int k = 0; k < n; k++) s += a[r * n + k] * b[k * n + col];
        c[r * n + col] = s;
    }
}
//= covering
__global__ void sparse_rows(const int* rows, const int* cols, const float* v, float* y, int n) {
    int r = GX;
    if (r < n) {
        float s = 0;
        for (int k = rows[r]; k < rows[r] + 3; k++) s += v[k] * cols[k];
        y[r] = s;
    }
}
//= covering
__global__ void histogram(int* h, const int* x, int n) {
    int i = GX;
    if (i < n) atomicAdd(&h[x[i] & 15], 1);
}
//= covering
__global__ void extremes(int* least, int* greatest, const int* x, int n) {
    int i = GX;
    if (i >= n) return;
    atomicMin(least, x[i]);
    atomicMax(greatest, x[i]);
}
//= covering alone
__global__ void float_sum(float* s, const float* x, int n) {
    int i = GX;
    if (i < n) atomicAdd(s, x[i]);
}
//= covering
__global__ void mandelbrot(int* o, int w, int h, float scale) {
    int x = GX, y = GY;
    if (x >= w || y >= h) return;
    float cx = x * scale / w - 2, cy = y * scale / h - 1, zx = 0, zy = 0;
    int k = 0;
    for (; k < 40 && zx * zx + zy * zy < 4; k++) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
    }
    o[y * w + x] = k;
}
//= covering
__global__ void black_scholes(float* call, const float* s, const float* x, float r, int n) {
    int i = GX;
    if (i >= n) return;
    float d = (logf(s[i] / x[i]) + r) / sqrtf(x[i]);
    call[i] = s[i] * normcdff(d) - x[i] * expf(-r) * normcdff(d - 1);
}
//= covering
__global__ void bodies(float4* p, const float4* q, int n) {
    int i = GX;
    if (i >= n) return;
    float4 a = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; j++) {
        float dx = q[j].x - q[i].x;
        a.x += dx * rsqrtf(dx * dx + 1e-9f);
    }
    p[i] = a;
}
//= covering
__global__ void all_pairs_step(int* d, const int* from, int n, int k) {
    int i = GY, j = GX;
    if (i < n && j < n) d[i * n + j] = min(from[i * n + j], from[i * n + k] + from[k * n + j]);
}
//= covering
__global__ void nearest(int* best, const float* points, const float* centres, int n, int k) {
    int p = GX;
    if (p >= n) return;
    int at = 0;
    float least = 1e30f;
    for (int c = 0; c < k; c++) {
        float d = points[p] - centres[c];
        if (d * d < least) {
            least = d * d;
            at = c;
        }
    }
    best[p] = at;
}
//= covering
__global__ void modes(int* o, int mode, int n) {
    int i = GX;
    if (i >= n) return;
    switch (mode) {
        case 20:
            o[i] = 1;
            break;
        case 21:
            o[i] += i;
            break;
        case 22:
            o[i] *= 3;
            break;
        case 30:
            o[i] = -o[i];
            break;
        default:
            o[i] ^= i;
    }
}
template <typename T, int scale>
__global__ void by_template(T* o, const T* x, int n) {
    int i = GX;
    if (i < n) o[i] = x[i] * T(scale);
}
//= covering
template __global__ void by_template<double, 3>(double*, const double*, int);
//= covering
template __global__ void by_template<int, 5>(int*, const int*, int);
template <class F>
__global__ void for_each(int n, int* o, F f) {
    int i = GX;
    if (i < n) o[i] = f(i);
}
struct Square {
    int add;
    __device__ int operator()(int i) const { return i * i + add; }
};
//= covering
template __global__ void for_each<Square>(int, int*, Square);
struct Grid {
    int w, h;
    __device__ bool holds(int x, int y) const { return x < w && y < h; }
    __device__ int at(int x, int y) const { return y * w + x; }
};
//= covering
__global__ void by_struct(Grid g, float* o) {
    int x = GX, y = GY;
    if (g.holds(x, y)) o[g.at(x, y)] = 1;
}
//= covering
__global__ void __launch_bounds__(256) bounded_block(float* o, int n) {
    int i = GX;
    if (i < n) o[i] = 1;
}
__device__ __noinline__ int index_of() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __noinline__ bool inside(int i, int n) {
    return i >= 0 && i < n;
}
__device__ __noinline__ void put(float* o, int i, float v) {
    o[i] = v;
}
//= covering
__global__ void calls_that_stay(float* o, int n) {
    int i = index_of();
    if (inside(i, n)) put(o, i, 2);
}
//= covering
__global__ void rows_by_block(float* o, const float* a, int w, int h) {
    int y = blockIdx.x;
    if (y < h)
        for (int x = 0; x < w; x++) o[y * w + x] = a[x];
}
//= covering
__global__ void planes_by_block(float* o, int w, int h) {
    int x = GX, y = GY;
    if (x < w && y < h) o[(blockIdx.z * h + y) * w + x] = blockIdx.z;
}
// A grid of one dimension makes nothing of gridDim.
//= covering
__global__ void flattened_over_all(int* o, int n) {
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
    if (i < n) o[i] = i;
}
//= covering
__global__ void reversed(float* o, int n) {
    int i = n - 1 - (int)GX;
    if (i >= 0) o[i] = i;
}
//= covering
__global__ void from_an_offset(float* o, int lo, int n) {
    int i = lo + GX;
    if (i < n) o[i] = 1;
}
//= covering
__global__ void either_bound(int* o, int n, int m) {
    int i = GX;
    if (i < n || i < m) o[i] = 1;
}
//= covering
__global__ void two_parts(int* o, int n, int m) {
    int i = GX;
    if (i < n) o[i] = 1;
    if (i < m) o[i] += 2;
}
//= covering; -O0 dividing
__global__ void local_table(float* o, const float* x, int n, int k) {
    int i = GX;
    if (i >= n) return;
    float t[8];
    for (int j = 0; j < 8; j++) t[j] = x[i + j];
    o[i] = t[k & 7];
}
//= covering
__global__ void sums_in_128_bits(uint64_t* high, uint64_t* low, const uint64_t* a, uint64_t k, int n) {
    int i = GX;
    if (i >= n) return;
    unsigned __int128 sum = ((unsigned __int128)k << 64 | a[i]) + ((unsigned __int128)a[i] << 64 | k);
    sum -= (unsigned __int128)i << 60;
    sum *= a[i] | 1;
    high[i] = sum >> 64;
    low[i] = sum;
}
// What every thread loads of one place, one more may load.
//= covering
__global__ void unless_done(int* o, const int* done, int n) {
    if (*done == 12345) return;
    int i = GX;
    if (i < n) o[i] = i;
}
//= covering
__global__ void by_a_factor(int* o, const int* factors, int k, int n) {
    const int factor = factors[k & 3];
    int i = GX;
    if (i < n) o[i] *= factor;
}
__constant__ int table_of_constants[4];
//= covering; -O0 dividing
__global__ void by_a_constant(int* o, int n) {
    const int least = table_of_constants[2];
    int i = GX;
    if (i < n && o[i] > least) o[i] = least - 1;
}
// Guards that a value picks.
//= covering
__global__ void one_of_two_bounds(int* o, int n, int m, int which) {
    int bound = which > 2 ? n : m;
    int i = GX;
    if (i < bound) o[i] = i;
}
//= covering
__global__ void within_reach(int* o, int centre, int reach) {
    int i = GX, away = i - centre;
    if ((away < 0 ? -away : away) <= reach) o[i] = away;
}
// Loops that count, to bounds that are read again where something was written.
//= covering
__global__ void last_of_a_list(int* o, const int* first, int n) {
    int v = GX;
    if (v >= n) return;
    for (int e = first[v]; e < first[v + 1]; e++)
        if (o[v] < e) o[v] = e;
}
//= covering
__global__ void list_from_its_end(int* o, const unsigned* first, int n) {
    int v = GX;
    if (v >= n) return;
    for (unsigned e = first[v + 1]; e > first[v]; --e) {
        if (o[v] > 5) o[v]--;
        o[v] += e & 1;
    }
}
//= covering alone
__global__ void marks_neighbours(int* level, int* found, const int* first, const int* to, int n, int now) {
    int v = GX;
    if (v >= n || level[v] != now) return;
    for (int e = first[v]; e < first[v + 1]; e++)
        if (level[to[e]] < 0) {
            level[to[e]] = now + 1;
            *found = 1;
        }
}
// Grids of more blocks go out as written.
//= covering
__global__ void twenty_four_bits(int* o, unsigned n) {
    unsigned i = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    if (i < n) o[i] = 1;
}
