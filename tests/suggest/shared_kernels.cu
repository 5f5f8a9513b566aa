// Kernels as real programs have them: shared memory whose size goes with the block, barriers, one block a row.
// No proof lets their blocks go. `trimtab suggest` finds what grid and shared memory go with another one.
#include <algorithm>
#include <numeric>
#include <string>

#include "tried.h"

// --- sums ---

__global__ void tree_sum(const int* in, int* total, int n) {
    extern __shared__ int partial[];
    const unsigned i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

// The blocks' sums meet in one number, in any order: how they round is open as it is.
__global__ void dot_product(const float* a, const float* b, float* total, int n) {
    extern __shared__ float terms[];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    terms[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) terms[threadIdx.x] += terms[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, terms[0]);
}

bool run_sums(int n) {
    constexpr int threads = 256, blocks = 8;
    const std::vector<int> numbers = whole_numbers(n, 1000);
    Array<int> in(numbers), total(1);
    tree_sum<<<blocks_of(n, 2 * threads), threads, threads * sizeof(int)>>>(in, total, n);
    const std::vector<float> values = reals(n);
    Array<float> a(values), b(values), sum(1);
    dot_product<<<blocks, threads, threads * sizeof(float)>>>(a, b, sum, n);
    const std::vector<double> dot{std::inner_product(values.begin(), values.end(), values.begin(), 0.0)};
    return check(total.read()[0] == std::accumulate(numbers.begin(), numbers.end(), 0), "tree_sum") &
           check(near(sum.read(), dot, 1e-4), "dot_product");
}

// --- tiles as wide as the block ---

__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
    extern __shared__ float tiles[];
    float *left = tiles, *right = tiles + blockDim.x * blockDim.y;
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    const int width = blockDim.x;
    float sum = 0;
    for (int start = 0; start < n; start += width) {
        const int k = start + threadIdx.x, l = start + threadIdx.y;
        left[threadIdx.y * width + threadIdx.x] = row < n && k < n ? a[row * n + k] : 0;
        right[threadIdx.y * width + threadIdx.x] = l < n && column < n ? b[l * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < width; i++) sum += left[threadIdx.y * width + i] * right[i * width + threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void tiled_transpose(const float* in, float* out, int rows, int columns) {
    extern __shared__ float tile[];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y * (blockDim.x + 1) + threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * blockDim.y + threadIdx.x;
    y = blockIdx.x * blockDim.x + threadIdx.y;
    if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x * (blockDim.x + 1) + threadIdx.y];
}

__global__ void convolution(const float* in, const float* weights, float* out, int width, int height) {
    extern __shared__ float tile[];
    const int pitch = blockDim.x + 2;
    const int left = blockIdx.x * blockDim.x - 1, top = blockIdx.y * blockDim.y - 1;
    for (int j = threadIdx.y; j < blockDim.y + 2; j += blockDim.y)
        for (int i = threadIdx.x; i < pitch; i += blockDim.x) {
            const int x = left + i, y = top + j;
            tile[j * pitch + i] = x >= 0 && y >= 0 && x < width && y < height ? in[y * width + x] : 0;
        }
    __syncthreads();
    const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            sum += weights[3 * j + i] * tile[(threadIdx.y + j) * pitch + threadIdx.x + i];
    out[y * width + x] = sum;
}

__global__ void halo_stencil(const float* in, float* out, int n) {
    extern __shared__ float cells[];
    constexpr int radius = 3;
    const int first = blockIdx.x * blockDim.x - radius;
    for (int i = threadIdx.x; i < blockDim.x + 2 * radius; i += blockDim.x) {
        const int at = first + i;
        cells[i] = at >= 0 && at < n ? in[at] : 0;
    }
    __syncthreads();
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    float sum = 0;
    for (int i = 0; i <= 2 * radius; i++) sum += cells[threadIdx.x + i];
    out[at] = sum / (2 * radius + 1);
}

bool run_tiles(int width, int height) {
    constexpr int side = 16;
    const int n = width, all = width * height;
    const dim3 block(side, side), square(blocks_of(n, side), blocks_of(n, side)),
        plane(blocks_of(width, side), blocks_of(height, side));
    const std::vector<float> values = reals(std::max(n * n, all));
    const std::vector<float> weights{.1f, .2f, .1f, .2f, -.3f, .2f, .1f, .2f, .1f};
    Array<float> a(values), b(values), c(n * n), turned(all), smooth(all), line(all), w(weights);
    tiled_product<<<square, block, 2 * side * side * sizeof(float)>>>(a, b, c, n);
    tiled_transpose<<<plane, block, side*(side + 1) * sizeof(float)>>>(a, turned, height, width);
    convolution<<<plane, block, (side + 2) * (side + 2) * sizeof(float)>>>(a, w, smooth, width, height);
    constexpr int threads = 128;
    halo_stencil<<<blocks_of(all, threads), threads, (threads + 6) * sizeof(float)>>>(a, line, all);

    const auto at = [&](int x, int y) {
        return x < 0 || y < 0 || x >= width || y >= height ? 0.0 : values[y * width + x];
    };
    std::vector<double> product(n * n), transposed(all), convolved(all), stencil(all);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            for (int k = 0; k < n; k++) product[y * n + x] += double(values[y * n + k]) * values[k * n + x];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            transposed[x * height + y] = at(x, y);
            for (int j = 0; j < 9; j++)
                convolved[y * width + x] += weights[j] * at(x + j % 3 - 1, y + j / 3 - 1);
        }
    for (int i = 0; i < all; i++)
        for (int k = -3; k <= 3; k++)
            if (i + k >= 0 && i + k < all) stencil[i] += values[i + k] / 7.0;
    return check(near(c.read(), product, 1e-3), "tiled_product") &
           check(near(turned.read(), transposed, 0), "tiled_transpose") &
           check(near(smooth.read(), convolved, 1e-4), "convolution") &
           check(near(line.read(), stencil, 1e-4), "halo_stencil");
}

// --- one block a row ---

__global__ void row_scan(const int* in, int* out, int columns) {
    extern __shared__ int sums[];
    const int* row = in + blockIdx.x * columns;
    int before = 0;
    for (int start = 0; start < columns; start += blockDim.x) {
        const int at = start + threadIdx.x;
        sums[threadIdx.x] = at < columns ? row[at] : 0;
        __syncthreads();
        for (unsigned step = 1; step < blockDim.x; step *= 2) {
            const int add = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
            __syncthreads();
            sums[threadIdx.x] += add;
            __syncthreads();
        }
        if (at < columns) out[blockIdx.x * columns + at] = before + sums[threadIdx.x];
        before += sums[blockDim.x - 1];
        __syncthreads();
    }
}

__global__ void softmax(const float* in, float* out, int columns) {
    extern __shared__ float parts[];
    const float* row = in + blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, row[i]);
    parts[threadIdx.x] = most;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    most = parts[0];
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - most);
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[blockIdx.x * columns + i] = expf(row[i] - most) / parts[0];
}

bool rows(int count, int columns) {
    constexpr int threads = 128;
    const std::vector<int> numbers = whole_numbers(count * columns, 50);
    Array<int> in(numbers), scanned(count * columns);
    row_scan<<<count, threads, threads * sizeof(int)>>>(in, scanned, columns);
    const std::vector<float> values = reals(count * columns);
    Array<float> scores(values), shares(count * columns);
    softmax<<<count, threads, threads * sizeof(float)>>>(scores, shares, columns);
    std::vector<int> prefixes(count * columns);
    std::vector<double> expected(count * columns);
    for (int row = 0; row < count; row++) {
        const auto first = row * columns;
        std::partial_sum(numbers.begin() + first, numbers.begin() + first + columns,
                         prefixes.begin() + first);
        double sum = 0;
        for (int i = 0; i < columns; i++) sum += std::exp(values[first + i]);
        for (int i = 0; i < columns; i++) expected[first + i] = std::exp(values[first + i]) / sum;
    }
    return check(scanned.read() == prefixes, "row_scan") &
           check(near(shares.read(), expected, 1e-4), "softmax");
}

// --- tables ---

__global__ void histogram(const int* keys, int* counts, int n, int bins) {
    extern __shared__ int bins_here[];
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) bins_here[bin] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins_here[keys[i]], 1);
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (bins_here[bin] != 0) atomicAdd(&counts[bin], bins_here[bin]);
}

// As many threads as places: in pairs that lie `step` apart.
__global__ void bitonic_step(int* values, int step, int length) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ step;
    if (other <= i) return;
    const bool rises = (i & length) == 0;
    const int a = values[i], b = values[other];
    if (a > b != rises) return;
    values[i] = b;
    values[other] = a;
}

bool tables(int n) {
    constexpr int threads = 128, bins = 64;
    const std::vector<int> numbers = whole_numbers(n, bins);
    Array<int> keys(numbers), counts(bins), values(numbers);
    histogram<<<blocks_of(n, threads), threads, bins * sizeof(int)>>>(keys, counts, n, bins);
    std::vector<int> expected(bins);
    for (int key : numbers) expected[key]++;
    int power = threads;
    while (2 * power <= n) power *= 2;
    for (int length = 2; length <= power; length *= 2)
        for (int step = length / 2; step > 0; step /= 2)
            bitonic_step<<<power / threads, threads>>>(values, step, length);
    std::vector<int> sorted(numbers.begin(), numbers.begin() + power);
    std::sort(sorted.begin(), sorted.end());
    const std::vector<int>& found = values.read();
    return check(counts.read() == expected, "histogram") &
           check(std::equal(sorted.begin(), sorted.end(), found.begin()), "bitonic_step");
}

// --- bodies and clusters ---

__global__ void nbody_tiles(const float4* bodies, float4* accelerations, int n) {
    extern __shared__ float4 bodies_here[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = i < n ? bodies[i] : float4{0, 0, 0, 0};
    float4 sum{0, 0, 0, 0};
    for (int start = 0; start < n; start += blockDim.x) {
        const int at = start + threadIdx.x;
        bodies_here[threadIdx.x] = at < n ? bodies[at] : float4{0, 0, 0, 0};
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) {
            const float4 other = bodies_here[k];
            const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
            const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
            const float pull = other.w * inverse * inverse * inverse;
            sum.x += x * pull;
            sum.y += y * pull;
            sum.z += z * pull;
        }
        __syncthreads();
    }
    if (i < n) accelerations[i] = sum;
}

__global__ void kmeans_assign(const float* points, const float* centres, int* nearest, int n, int k, int d) {
    extern __shared__ float table[];
    for (int i = threadIdx.x; i < k * d; i += blockDim.x) table[i] = centres[i];
    __syncthreads();
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n) return;
    float least = 1e30f;
    int best = 0;
    for (int c = 0; c < k; c++) {
        float distance = 0;
        for (int j = 0; j < d; j++) {
            const float apart = points[point * d + j] - table[c * d + j];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[point] = best;
}

__global__ void kmeans_update(const int* nearest, int* counts, int n, int k) {
    extern __shared__ int members[];
    for (int i = threadIdx.x; i < k; i += blockDim.x) members[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&members[nearest[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += blockDim.x) atomicAdd(&counts[i], members[i]);
}

bool bodies(int n) {
    constexpr int threads = 64, k = 5, d = 3;
    const std::vector<float> values = reals(4 * n), starts = reals(k * d);
    std::vector<float4> places(n);
    for (int i = 0; i < n; i++) places[i] = {values[4 * i], values[4 * i + 1], values[4 * i + 2], 1};
    Array<float4> in(places), out(n);
    nbody_tiles<<<blocks_of(n, threads), threads, threads * sizeof(float4)>>>(in, out, n);
    Array<float> points(values), centres(starts);
    Array<int> nearest(n), counts(k);
    kmeans_assign<<<blocks_of(n, threads), threads, k * d * sizeof(float)>>>(points, centres, nearest, n, k,
                                                                             d);
    kmeans_update<<<4, threads, k * sizeof(int)>>>(nearest, counts, n, k);
    std::vector<double> expected(n), found(n);
    for (int i = 0; i < n; i++) {
        found[i] = out.read()[i].x;
        for (int j = 0; j < n; j++) {
            const double x = places[j].x - places[i].x, y = places[j].y - places[i].y,
                         z = places[j].z - places[i].z;
            const double square = x * x + y * y + z * z + 0.01;
            expected[i] += x / (square * std::sqrt(square));
        }
    }
    std::vector<int> belongs(n), members(k);
    for (int i = 0; i < n; i++) {
        float least = 1e30f;
        for (int c = 0; c < k; c++) {
            float distance = 0;
            for (int j = 0; j < d; j++) {
                const float apart = values[i * d + j] - starts[c * d + j];
                distance = std::fma(apart, apart, distance);
            }
            if (distance < least) {
                least = distance;
                belongs[i] = c;
            }
        }
        members[belongs[i]]++;
    }
    return check(near(found, expected, 1e-3), "nbody_tiles") &
           check(nearest.read() == belongs, "kmeans_assign") &
           check(counts.read() == members, "kmeans_update");
}

// shared_kernels SCALE GROUP...: all groups where none is named.
int main(int argc, char** argv) {
    const int scale = argc > 1 ? std::atoi(argv[1]) : 1;
    const auto wants = [&](const std::string& group) {
        return argc < 3 || std::find(argv + 2, argv + argc, group) != argv + argc;
    };
    bool holds = true;
    for (int turn = 0; turn < 2; turn++) {
        const int n = scale * (turn == 0 ? 1500 : 2100);
        if (wants("sums")) holds &= run_sums(n);
        if (wants("tables")) holds &= tables(n);
        if (wants("bodies")) holds &= bodies(n / 8);
        if (wants("rows")) holds &= rows(5 + 2 * turn, n / 6);
        if (wants("tiles")) holds &= run_tiles(40 + 24 * turn, 56 + 8 * turn);
    }
    if (holds) std::printf("PASS\n");
    return holds ? 0 : 1;
}
