// What programs do with arrays: histograms, transposes, scans, sorts, joins.
// Each as hand-written code has it, with blocks of the sizes that people take.
#include <algorithm>
#include <climits>

#include "real_kernels.h"

__global__ void histogram(int* bins, const int* in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1);
}

__global__ void histogram_shared(int* bins, const int* in, int n) {
    __shared__ int own[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) own[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&bins[k], own[k]);
}

__global__ void transpose(float* out, const float* in, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

__global__ void transpose_tiled(float* out, const float* in, int width, int height) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void sum_tree(int* sum, const int* in, int n) {
    __shared__ int partial[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

__global__ void sum_turns(int* sum, const int* __restrict__ in, int n) {
    int own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += in[i];
    atomicAdd(sum, own);
}

__global__ void sum_warps(int* sum, const int* in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int own = i < n ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffffu, own, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

__global__ void dot(double* partial, const float* a, const float* b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double own = 0;
    for (int k = i; k < n; k += gridDim.x * blockDim.x) own += (double)a[k] * b[k];
    partial[i] = own;
}

__global__ void scan_blocks(int* out, int* totals, const int* in, int n) {
    __shared__ int values[2][256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int from = 0;
    values[0][threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        values[1 - from][threadIdx.x] =
            values[from][threadIdx.x] + (threadIdx.x >= step ? values[from][threadIdx.x - step] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (i < n) out[i] = values[from][threadIdx.x];
    if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = values[from][threadIdx.x];
}
__global__ void add_totals(int* out, const int* totals, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    int before = 0;
    for (int b = 0; b < blockIdx.x; b++) before += totals[b];
    if (i < n) out[i] += before;
}

__global__ void compact(int* kept, int* count, const int* in, int least, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] >= least) kept[atomicAdd(count, 1)] = in[i];
}

__global__ void bitonic_step(int* values, int distance, int run, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (i >= n || other <= i) return;
    const int a = values[i], b = values[other];
    if ((a > b) == ((i & run) == 0)) {
        values[i] = b;
        values[other] = a;
    }
}

__global__ void bitonic_tile(int* values) {
    __shared__ int tile[512];
    tile[threadIdx.x] = values[blockIdx.x * 512 + threadIdx.x];
    tile[threadIdx.x + 256] = values[blockIdx.x * 512 + threadIdx.x + 256];
    for (int run = 2; run <= 512; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int i = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
            if ((tile[i] > tile[i + distance]) == ((i & run) == 0)) {
                const int t = tile[i];
                tile[i] = tile[i + distance];
                tile[i + distance] = t;
            }
        }
    __syncthreads();
    values[blockIdx.x * 512 + threadIdx.x] = tile[threadIdx.x];
    values[blockIdx.x * 512 + threadIdx.x + 256] = tile[threadIdx.x + 256];
}

template <int K>
__global__ void top_k(int* out, const int* in, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int best[K];
    for (int k = 0; k < K; k++) best[k] = INT_MIN;
    for (int c = 0; c < columns; c++) {
        int value = in[row * columns + c];
        for (int k = 0; k < K; k++)
            if (value > best[k]) {
                const int t = best[k];
                best[k] = value;
                value = t;
            }
    }
    for (int k = 0; k < K; k++) out[row * K + k] = best[k];
}

__device__ unsigned slot_of(unsigned key) {
    key *= 2654435761u;
    return key >> 20;
}
__global__ void hash_build(unsigned long long* table, const int* keys, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned long long entry = (unsigned long long)keys[i] << 32 | (i + 1);
    unsigned slot = slot_of(keys[i]);
    while (atomicCAS(&table[slot], 0ull, entry) != 0) slot = (slot + 1) & 4095;
}
__global__ void hash_probe(int* found, const unsigned long long* table, const int* keys, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = 0;
    for (unsigned slot = slot_of(keys[i]); table[slot] != 0; slot = (slot + 1) & 4095)
        if (table[slot] >> 32 == keys[i]) count++;
    found[i] = count;
}

__global__ void lower_bounds(int* place, const int* sorted, const int* keys, int size, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = 0, high = size;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < keys[i])
            low = middle + 1;
        else
            high = middle;
    }
    place[i] = low;
}

__global__ void run_heads(int* heads, const int* in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        heads[i] = i == 0 || in[i] != in[i - 1];
}

__global__ void gather(int* out, const int* in, const int* from, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[from[i]];
}

__global__ void recode(int* out, const int* in, const int* codes, int n) {
    __shared__ int table[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) table[k] = codes[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[in[i]];
}

int main() {
    const int n = 40000, width = 300, height = 130;
    Array<int> bytes(n, below(256)), bins(256), codes(256, below(1000, 5)), out(n);
    const std::vector<int> byte = bytes.host, code = codes.host;
    std::vector<int> counted(256), sums(n);
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        counted[byte[i]]++;
        sum += byte[i];
        sums[i] = static_cast<int>(sum);
    }
    const auto bin = [&](std::size_t i) { return counted[i]; };
    histogram<<<(n + 255) / 256, 256>>>(bins, bytes, n);
    compare("histogram", bins, 256, bin);
    check(cudaMemset(bins, 0, 256 * sizeof(int)));
    histogram_shared<<<32, 256>>>(bins, bytes, n);
    compare("histogram_shared", bins, 256, bin);

    Array<float> image(width * height, floats(1)), turned(width * height);
    const std::vector<float> pixel = image.host;
    const auto transposed = [&](std::size_t i) { return pixel[i % height * width + i / height]; };
    transpose<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(turned, image, width, height);
    compare("transpose", turned, pixel.size(), transposed);
    check(cudaMemset(turned, 0, pixel.size() * sizeof(float)));
    transpose_tiled<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 8)>>>(turned, image, width,
                                                                                  height);
    compare("transpose_tiled", turned, pixel.size(), transposed);

    Array<int> total(3);
    sum_tree<<<(n + 255) / 256, 256>>>(total, bytes, n);
    sum_turns<<<20, 256>>>(total + 1, bytes, n);
    sum_warps<<<(n + 511) / 512, 512>>>(total + 2, bytes, n);
    compare("sums", total, 3, [&](std::size_t) { return sum; });
    Array<double> partial(16 * 128);
    dot<<<16, 128>>>(partial, image, image, width * height);
    double product = 0, want = 0;
    for (const double part : partial.back()) product += part;
    for (const float value : pixel) want += double(value) * value;
    if (std::abs(product - want) > 1e-9 * want) all_right() = false;

    const int blocks = (n + 255) / 256;
    Array<int> totals(blocks);
    scan_blocks<<<blocks, 256>>>(out, totals, bytes, n);
    add_totals<<<blocks, 256>>>(out, totals, n);
    compare("scan", out, n, [&](std::size_t i) { return sums[i]; });

    Array<int> count(1), kept(n);
    compact<<<blocks, 256>>>(kept, count, bytes, 200, n);
    std::vector<int> large;
    std::copy_if(byte.begin(), byte.end(), std::back_inserter(large), [](int value) { return value >= 200; });
    std::sort(large.begin(), large.end());
    kept.back();
    std::sort(kept.host.begin(), kept.host.begin() + large.size());
    if (count.back()[0] != int(large.size()) || !std::equal(large.begin(), large.end(), kept.host.begin()))
        all_right() = false;

    const int power = 8192;
    Array<int> values(power, below(1 << 30)), tiles(power, below(1 << 30));
    std::vector<int> sorted = values.host, parts = tiles.host;
    std::sort(sorted.begin(), sorted.end());
    for (int run = 2; run <= power; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2)
            bitonic_step<<<power / 256, 256>>>(values, distance, run, power);
    compare("bitonic_step", values, power, [&](std::size_t i) { return sorted[i]; });
    bitonic_tile<<<power / 512, 256>>>(tiles);
    for (int t = 0; t < power; t += 512) std::sort(parts.begin() + t, parts.begin() + t + 512);
    compare("bitonic_tile", tiles, power, [&](std::size_t i) { return parts[i]; });

    const int rows = 400, columns = 100;
    Array<int> best(rows * 4);
    top_k<4><<<(rows + 63) / 64, 64>>>(best, bytes, rows, columns);
    std::vector<int> top;
    for (int r = 0; r < rows; r++) {
        std::vector<int> row(byte.begin() + r * columns, byte.begin() + (r + 1) * columns);
        std::partial_sort(row.begin(), row.begin() + 4, row.end(), std::greater<>());
        top.insert(top.end(), row.begin(), row.begin() + 4);
    }
    compare("top_k", best, top.size(), [&](std::size_t i) { return top[i]; });

    const int left = 2000, right = 20000;
    Array<int> build(left, below(5000, 3)), probe(right, below(5000, 4)), matches(right);
    const std::vector<int> built = build.host, probed = probe.host;
    Array<unsigned long long> table(4096);
    hash_build<<<(left + 127) / 128, 128>>>(table, build, left);
    hash_probe<<<(right + 127) / 128, 128>>>(matches, table, probe, right);
    std::vector<int> present(5000);
    for (const int key : built) present[key]++;
    compare("hash join", matches, right, [&](std::size_t i) { return present[probed[i]]; });

    Array<int> ordered(power, [&](unsigned i) { return sorted[i]; }), keys(n, below(1 << 30, 9));
    const std::vector<int> key = keys.host;
    lower_bounds<<<(n + 255) / 256, 256>>>(out, ordered, keys, power, n);
    compare("lower_bounds", out, n, [&](std::size_t i) {
        return std::lower_bound(sorted.begin(), sorted.end(), key[i]) - sorted.begin();
    });
    run_heads<<<24, 256>>>(out, bytes, n);
    compare("run_heads", out, n, [&](std::size_t i) { return i == 0 || byte[i] != byte[i - 1]; });
    gather<<<24, 256>>>(out, codes, bytes, n);
    compare("gather", out, n, [&](std::size_t i) { return code[byte[i]]; });
    check(cudaMemset(out, 0, n * sizeof(int)));
    recode<<<(n + 127) / 128, 128>>>(out, bytes, codes, n);
    compare("recode", out, n, [&](std::size_t i) { return code[byte[i]]; });
    return finish();
}
