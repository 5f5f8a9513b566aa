// Kernels whose blocks are built in, as libraries have them: templates of a tile's or a block's size, several of each.
// A launch may become one of another instantiation.
#include <trimtab/annotate.h>

#include "real_kernels.h"

template <int TILE>
__global__ void TRIMTAB_TUNE(block(bx == variant, by == variant), grid(ceil(n / bx), ceil(n / by)))
    product_tile(float* c, const float* a, const float* b, int n) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        left[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0;
        right[threadIdx.y][threadIdx.x] =
            column < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
TRIMTAB_VARIANTS(product_tile, 8, 16, 32);

// A tile by a quarter as many rows of threads.
template <int TILE>
__global__ void TRIMTAB_TUNE(block(bx == variant, by == variant / 4),
                             grid(ceil(width / variant), ceil(height / variant)))
    transpose_tile(float* out, const float* in, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += TILE / 4)
        if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += TILE / 4)
        if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}
TRIMTAB_VARIANTS(transpose_tile, 16, 32, 64);

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx)))
    stencil_halo(float* out, const float* in, int n) {
    __shared__ float tile[BLOCK + 6];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x + 3] = i < n ? in[i] : 0;
    if (threadIdx.x < 3) {
        tile[threadIdx.x] = i >= 3 ? in[i - 3] : 0;
        tile[threadIdx.x + BLOCK + 3] = i + BLOCK < n ? in[i + BLOCK] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 7; k++) sum += tile[threadIdx.x + k];
    if (i < n) out[i] = sum / 7;
}
TRIMTAB_VARIANTS(stencil_halo, 64, 128, 256, 512);

template <int BLOCK>
__global__ void TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx)))
    bodies_tile(float4* force, const float4* body, int n) {
    __shared__ float4 tile[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const float4 own = body[min(i, n - 1)];
    float3 sum = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += BLOCK) {
        if (first + threadIdx.x < n) tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < min(BLOCK, n - first); k++) {
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
TRIMTAB_VARIANTS(bodies_tile, 64, 128, 256);

// 5 x 5, the image's tile and the two cells around it in shared memory.
template <int TILE>
__global__ void TRIMTAB_TUNE(block(bx == variant, by == variant), grid(ceil(width / bx), ceil(height / by)))
    convolve_tile(float* out, const float* in, const float* weight, int width, int height) {
    __shared__ float tile[TILE + 4][TILE + 4];
    const int left = blockIdx.x * TILE - 2, top = blockIdx.y * TILE - 2;
    for (int y = threadIdx.y; y < TILE + 4; y += TILE)
        for (int x = threadIdx.x; x < TILE + 4; x += TILE)
            tile[y][x] = in[min(max(top + y, 0), height - 1) * width + min(max(left + x, 0), width - 1)];
    __syncthreads();
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++) sum += weight[dy * 5 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    out[y * width + x] = sum;
}
TRIMTAB_VARIANTS(convolve_tile, 8, 16, 32);

// Eight elements a thread into bins of the block's own.
template <int BLOCK>
__global__ void TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / (8 * bx))))
    histogram_tile(unsigned* bins, const int* in, int n) {
    __shared__ unsigned own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        const int i = (blockIdx.x * 8 + k) * BLOCK + threadIdx.x;
        if (i < n) atomicAdd(&own[in[i] & 63], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64 && own[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
TRIMTAB_VARIANTS(histogram_tile, 64, 128, 256, 512);

// One block a row, whatever its size: floating-point sums in another order.
template <int BLOCK>
__global__ void TRIMTAB_TUNE(block(bx == variant), grid(as_written), sizes(columns), reassociate)
    attention_row(float* out, const float* in, int columns) {
    __shared__ float partial[BLOCK];
    const float* row = in + blockIdx.x * columns;
    float most = -1e30f;
    for (int k = threadIdx.x; k < columns; k += BLOCK) most = fmaxf(most, row[k]);
    partial[threadIdx.x] = most;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
        __syncthreads();
    }
    most = partial[0];
    __syncthreads();
    float sum = 0;
    for (int k = threadIdx.x; k < columns; k += BLOCK) sum += expf(row[k] - most);
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    for (int k = threadIdx.x; k < columns; k += BLOCK)
        out[blockIdx.x * columns + k] = expf(row[k] - most) / partial[0];
}
TRIMTAB_VARIANTS(attention_row, 32, 64, 128, 256);

int main() {
    const int n = 150, nn = n * n;
    Array<float> a(nn, floats(1)), b(nn, floats(2)), c(nn);
    const std::vector<float> ha = a.host, hb = b.host;
    const auto above = [](int x, int y) { return unsigned(x + y - 1) / y; };
    product_tile<8><<<dim3(above(n, 8), above(n, 8)), dim3(8, 8)>>>(c, a, b, n);
    compare(
        "product_tile", c, nn,
        [&](std::size_t at) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += double(ha[at / n * n + k]) * hb[k * n + at % n];
            return sum;
        },
        1e-4);

    const int width = 333, height = 200, pixels = width * height;
    Array<float> image(pixels, floats(4)), out(pixels), weight(25, floats(5));
    const std::vector<float> in = image.host, hw = weight.host;
    transpose_tile<16><<<dim3(above(width, 16), above(height, 16)), dim3(16, 4)>>>(out, image, width, height);
    compare("transpose_tile", out, pixels,
            [&](std::size_t i) { return in[i % height * width + i / height]; });
    stencil_halo<64><<<above(pixels, 64), 64>>>(out, image, pixels);
    compare(
        "stencil_halo", out, pixels,
        [&](std::size_t i) {
            double sum = 0;
            for (int k = -3; k <= 3; k++)
                if (int(i) + k >= 0 && int(i) + k < pixels) sum += in[i + k];
            return sum / 7;
        },
        1e-5);
    convolve_tile<8>
        <<<dim3(above(width, 8), above(height, 8)), dim3(8, 8)>>>(out, image, weight, width, height);
    compare(
        "convolve_tile", out, pixels,
        [&](std::size_t i) {
            const int x = i % width, y = i / width;
            double sum = 0;
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 5; dx++)
                    sum +=
                        double(hw[dy * 5 + dx]) * in[std::min(std::max(y + dy - 2, 0), height - 1) * width +
                                                     std::min(std::max(x + dx - 2, 0), width - 1)];
            return sum;
        },
        1e-4);

    const int stars = 700;
    const auto star = [](unsigned i) {
        const auto number = floats(6);
        return make_float4(number(4 * i), number(4 * i + 1), number(4 * i + 2), 1 + number(4 * i + 3));
    };
    Array<float4> body(stars, star), force(stars);
    const std::vector<float4> placed = body.host;
    bodies_tile<64><<<above(stars, 64), 64>>>(force, body, stars);
    force.back();
    for (int i = 0; i < stars; i++) {
        double sum = 0;
        for (const float4& other : placed) {
            const double dx = other.x - placed[i].x, dy = other.y - placed[i].y, dz = other.z - placed[i].z;
            sum += dx * other.w * std::pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
        }
        if (std::abs(force.host[i].x - sum) > 1e-3 * (1 + std::abs(sum))) all_right() = false;
    }

    const int many = 200000;
    Array<int> words(many, below(1000));
    Array<unsigned> bins(64);
    std::vector<unsigned> counted(64);
    for (int value : words.host) counted[value & 63]++;
    histogram_tile<512><<<above(many, 8 * 512), 512>>>(bins, words, many);
    compare("histogram_tile", bins, 64, [&](std::size_t i) { return counted[i]; });

    const int rows = 60, columns = pixels / rows;
    attention_row<256><<<rows, 256>>>(out, image, columns);
    compare(
        "attention_row", out, rows * columns,
        [&](std::size_t i) {
            static std::vector<double> sums(rows);
            double& sum = sums[i / columns];
            if (i % columns == 0)
                for (int k = 0; k < columns; k++) sum += std::exp(double(in[i + k]));
            return std::exp(double(in[i])) / sum;
        },
        1e-4);
    return finish();
}
