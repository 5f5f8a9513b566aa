// Layers of neural networks, as libraries and hand-written code have them.
// Kernels of rows: by one block with shared memory, by one warp with shuffles; elementwise ones; optimisers.
#include <cfloat>

#include "real_kernels.h"

#define KERNEL_LOOP(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__global__ void softmax_block(float* out, const float* in, int columns) {
    __shared__ float partial[128];
    const float* row = in + blockIdx.x * columns;
    float most = -FLT_MAX;
    for (int k = threadIdx.x; k < columns; k += blockDim.x) most = fmaxf(most, row[k]);
    partial[threadIdx.x] = most;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
        __syncthreads();
    }
    most = partial[0];
    __syncthreads();
    float sum = 0;
    for (int k = threadIdx.x; k < columns; k += blockDim.x) sum += expf(row[k] - most);
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    sum = partial[0];
    for (int k = threadIdx.x; k < columns; k += blockDim.x)
        out[blockIdx.x * columns + k] = expf(row[k] - most) / sum;
}

__device__ float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}
__device__ float warp_most(float value) {
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}

__global__ void softmax_warp(float* out, const float* in, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* from = in + row * columns;
    float most = -FLT_MAX, sum = 0;
    for (int k = lane; k < columns; k += 32) most = fmaxf(most, from[k]);
    most = warp_most(most);
    for (int k = lane; k < columns; k += 32) sum += expf(from[k] - most);
    sum = warp_sum(sum);
    for (int k = lane; k < columns; k += 32) out[row * columns + k] = expf(from[k] - most) / sum;
}

__global__ void layernorm(float* out, const float* in, const float* scale, const float* shift, int columns) {
    __shared__ float sums[2][4];
    const float* row = in + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int k = threadIdx.x; k < columns; k += blockDim.x) {
        sum += row[k];
        squares += row[k] * row[k];
    }
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    if (threadIdx.x % 32 == 0) {
        sums[0][threadIdx.x / 32] = sum;
        sums[1][threadIdx.x / 32] = squares;
    }
    __syncthreads();
    sum = squares = 0;
    for (int w = 0; w < blockDim.x / 32; w++) {
        sum += sums[0][w];
        squares += sums[1][w];
    }
    const float mean = sum / columns, deviation = rsqrtf(squares / columns - mean * mean + 1e-5f);
    for (int k = threadIdx.x; k < columns; k += blockDim.x)
        out[blockIdx.x * columns + k] = (row[k] - mean) * deviation * scale[k] + shift[k];
}

__global__ void rmsnorm_warp(float* out, const float* in, const float* scale, int rows, int columns) {
    const int warps = blockDim.x / 32, row = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float squares = 0;
    for (int k = lane; k < columns; k += 32) squares += in[row * columns + k] * in[row * columns + k];
    const float factor = rsqrtf(warp_sum(squares) / columns + 1e-6f);
    for (int k = lane; k < columns; k += 32)
        out[row * columns + k] = in[row * columns + k] * factor * scale[k];
}

__global__ void layernorm_apply(float* __restrict__ out, const float* __restrict__ in,
                                const float* __restrict__ mean, const float* __restrict__ deviation,
                                const float* __restrict__ scale, int columns) {
    const int row = blockIdx.x;
    const float m = mean[row], d = deviation[row];
    for (int k = threadIdx.x; k < columns; k += blockDim.x)
        out[row * columns + k] = (in[row * columns + k] - m) * d * scale[k];
}

__global__ void gelu_bias(float* x, const float* __restrict__ bias, int n, int columns) {
    KERNEL_LOOP(i, n) {
        const float v = x[i] + bias[i % columns];
        x[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}

__global__ void add_residual4(float* __restrict__ out, const float* __restrict__ a,
                              const float* __restrict__ b, int n) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        const float4 x = *(const float4*)(a + i), y = *(const float4*)(b + i);
        *(float4*)(out + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (int k = i; k < n; k++) out[k] = a[k] + b[k];
    }
}

__global__ void embedding(float* out, const int* tokens, const float* table, int width) {
    const float* from = table + tokens[blockIdx.x] * width;
    for (int k = threadIdx.x; k < width; k += blockDim.x) out[blockIdx.x * width + k] = from[k];
}

__global__ void embedding_backward(int* gradient, const int* tokens, const int* out, int count, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count * width) return;
    atomicAdd(&gradient[tokens[i / width] * width + i % width], out[i]);
}

__global__ void rotary(float* x, int positions, int heads, int half) {
    const int position = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.x * blockDim.x + threadIdx.x;
    if (position >= positions || k >= heads * half) return;
    const float angle = position * powf(10000.0f, -(float)(k % half) / half);
    float* pair = x + (position * heads + k / half) * 2 * half + k % half;
    const float a = pair[0], b = pair[half];
    pair[0] = a * cosf(angle) - b * sinf(angle);
    pair[half] = a * sinf(angle) + b * cosf(angle);
}

__global__ void attention_scores(float* scores, const float* q, const float* k, int n, int width) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int d = 0; d < width; d++) sum += q[row * width + d] * k[column * width + d];
    scores[row * n + column] = column <= row ? sum * rsqrtf((float)width) : -1e9f;
}

__global__ void attention_values(float* out, const float* weights, const float* v, int n, int width) {
    const int row = blockIdx.x;
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
        float sum = 0;
        for (int k = 0; k <= row; k++) sum += weights[row * n + k] * v[k * width + d];
        out[row * width + d] = sum;
    }
}

__global__ void adam(float* weight, float* first, float* second, const float* gradient, int n, float rate,
                     float beta1, float beta2) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float g = gradient[i];
    first[i] = beta1 * first[i] + (1 - beta1) * g;
    second[i] = beta2 * second[i] + (1 - beta2) * g * g;
    weight[i] -= rate * first[i] / (sqrtf(second[i]) + 1e-8f);
}

__global__ void sgd_momentum(float* __restrict__ weight, float* __restrict__ velocity,
                             const float* __restrict__ gradient, size_t n, float rate) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float v = 0.9f * velocity[i] + gradient[i];
        velocity[i] = v;
        weight[i] -= rate * v;
    }
}

__global__ void max_pool(int n, const float* __restrict__ in, int height, int width,
                         float* __restrict__ out) {
    KERNEL_LOOP(i, n) {
        const int x = i % width, y = i / width % height, c = i / (width * height);
        float most = -FLT_MAX;
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                most = fmaxf(most, in[(c * 2 * height + 2 * y + a) * 2 * width + 2 * x + b]);
        out[i] = most;
    }
}

__global__ void im2col(int n, const float* image, int height, int width, int size, int pad, float* columns) {
    KERNEL_LOOP(i, n) {
        const int x = i % width, y = i / width % height, c = i / (width * height);
        const float* from = image + c * height * width;
        float* to = columns + (c * size * size * height + y) * width + x;
        for (int a = 0; a < size; a++)
            for (int b = 0; b < size; b++) {
                const int v = y - pad + a, h = x - pad + b;
                *to = v >= 0 && h >= 0 && v < height && h < width ? from[v * width + h] : 0;
                to += height * width;
            }
    }
}

__global__ void dropout(float* out, const float* in, unsigned seed, float keep, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = seed ^ i * 2654435761u;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    out[i] = x * 2.3283064e-10f < keep ? in[i] / keep : 0;
}

__global__ void argmax(int* best, const int* in, int columns) {
    __shared__ int values[128], places[128];
    int value = -1, place = 0;
    for (int k = threadIdx.x; k < columns; k += blockDim.x)
        if (in[blockIdx.x * columns + k] > value) {
            value = in[blockIdx.x * columns + k];
            place = k;
        }
    values[threadIdx.x] = value;
    places[threadIdx.x] = place;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const int other = values[threadIdx.x + half], at = places[threadIdx.x + half];
            if (other > values[threadIdx.x] || (other == values[threadIdx.x] && at < places[threadIdx.x])) {
                values[threadIdx.x] = other;
                places[threadIdx.x] = at;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) best[blockIdx.x] = places[0];
}

int main() {
    const int rows = 128, columns = 320, n = rows * columns, tokens = 96, heads = 4, half = 16;
    Array<float> in(n, floats(1)), other(n, floats(2)), scale(columns, floats(3)), shift(columns, floats(4)),
        out(n), weights(n), again(n, floats(1));
    const std::vector<float> a = in.host, b = other.host, s = scale.host, t = shift.host;
    const auto row_sum = [&](std::size_t row, auto term) {
        double sum = 0;
        for (int k = 0; k < columns; k++) sum += term(a[row * columns + k]);
        return sum;
    };
    std::vector<double> exponentials(rows), mean(rows), deviation(rows), root(rows);
    for (int r = 0; r < rows; r++) {
        exponentials[r] = row_sum(r, [](double x) { return std::exp(x); });
        mean[r] = row_sum(r, [](double x) { return x; }) / columns;
        root[r] = 1 / std::sqrt(row_sum(r, [](double x) { return x * x; }) / columns + 1e-6);
        deviation[r] =
            1 / std::sqrt(row_sum(r, [](double x) { return x * x; }) / columns - mean[r] * mean[r] + 1e-5);
    }
    const auto softmax = [&](std::size_t i) { return std::exp(double(a[i])) / exponentials[i / columns]; };
    const auto normal = [&](std::size_t i) { return (a[i] - mean[i / columns]) * deviation[i / columns]; };

    softmax_block<<<rows, 128>>>(out, in, columns);
    compare("softmax_block", out, n, softmax, 1e-4);
    softmax_warp<<<(rows + 3) / 4, 128>>>(out, in, rows, columns);
    compare("softmax_warp", out, n, softmax, 1e-4);
    layernorm<<<rows, 128>>>(out, in, scale, shift, columns);
    compare(
        "layernorm", out, n, [&](std::size_t i) { return normal(i) * s[i % columns] + t[i % columns]; },
        1e-3);
    rmsnorm_warp<<<(rows + 7) / 8, 256>>>(out, in, scale, rows, columns);
    compare(
        "rmsnorm_warp", out, n, [&](std::size_t i) { return a[i] * root[i / columns] * s[i % columns]; },
        1e-3);
    Array<float> means(rows, [&](unsigned r) { return float(mean[r]); }),
        deviations(rows, [&](unsigned r) { return float(deviation[r]); });
    layernorm_apply<<<rows, 64>>>(out, in, means, deviations, scale, columns);
    compare("layernorm_apply", out, n, [&](std::size_t i) { return normal(i) * s[i % columns]; }, 1e-3);

    gelu_bias<<<40, 256>>>(again, shift, n, columns);
    compare(
        "gelu_bias", again, n,
        [&](std::size_t i) {
            const double v = a[i] + t[i % columns];
            return 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
        },
        1e-4);
    add_residual4<<<(n / 4 + 128) / 128, 128>>>(out, in, other, n - 3);
    compare("add_residual4", out, n - 3, [&](std::size_t i) { return a[i] + b[i]; }, 1e-6);

    Array<int> words(tokens, below(rows)), counts(n, below(9)), gradient(n);
    const std::vector<int> word = words.host, count = counts.host;
    embedding<<<tokens, 32>>>(out, words, in, columns);
    compare("embedding", out, tokens * columns,
            [&](std::size_t i) { return a[word[i / columns] * columns + i % columns]; });
    embedding_backward<<<(tokens * columns + 511) / 512, 512>>>(gradient, words, counts, tokens, columns);
    std::vector<int> sums(n);
    for (int i = 0; i < tokens * columns; i++) sums[word[i / columns] * columns + i % columns] += count[i];
    compare("embedding_backward", gradient, n, [&](std::size_t i) { return sums[i]; });

    Array<float> turned(tokens * heads * 2 * half, floats(5));
    const std::vector<float> before = turned.host;
    rotary<<<dim3(heads * half / 16, tokens / 16), dim3(16, 16)>>>(turned, tokens, heads, half);
    compare(
        "rotary", turned, before.size(),
        [&](std::size_t i) {
            const std::size_t k = i % half, first = i - i % (2 * half) + k, p = i / (heads * 2 * half);
            const double angle = p * std::pow(10000.0, -double(k) / half);
            return i == first ? before[first] * std::cos(angle) - before[first + half] * std::sin(angle)
                              : before[first] * std::sin(angle) + before[first + half] * std::cos(angle);
        },
        1e-3);

    const int width = 64;
    Array<float> scores(rows * rows);
    attention_scores<<<dim3(rows / 16, rows / 16), dim3(16, 16)>>>(scores, in, other, rows, width);
    std::vector<float> score(rows * rows);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < rows; c++) {
            float sum = 0;
            for (int d = 0; d < width; d++) sum += a[r * width + d] * b[c * width + d];
            score[r * rows + c] = c <= r ? sum / 8 : -1e9f;
        }
    compare("attention_scores", scores, score.size(), [&](std::size_t i) { return score[i]; }, 1e-4);
    attention_values<<<rows, 128>>>(out, scores, other, rows, width);
    compare(
        "attention_values", out, rows * width,
        [&](std::size_t i) {
            double sum = 0;
            for (std::size_t k = 0; k <= i / width; k++)
                sum += double(score[i / width * rows + k]) * b[k * width + i % width];
            return sum;
        },
        1e-3);

    Array<float> weight(n, floats(6)), first(n), second(n), velocity(n, floats(7));
    const std::vector<float> w = weight.host, v = velocity.host;
    adam<<<(n + 255) / 256, 256>>>(weight, first, second, in, n, 0.01f, 0.9f, 0.999f);
    compare(
        "adam", weight, n,
        [&](std::size_t i) { return w[i] - 0.01 * 0.1 * a[i] / (std::sqrt(0.001 * a[i] * a[i]) + 1e-8); },
        1e-3);
    const std::vector<float> after = weight.host;
    sgd_momentum<<<30, 512>>>(weight, velocity, in, n, 0.1f);
    compare(
        "sgd_momentum", weight, n, [&](std::size_t i) { return after[i] - 0.1 * (0.9 * v[i] + a[i]); }, 1e-4);

    const int channels = 10, height = 32, across = 32, pooled = channels * height * across;
    max_pool<<<(pooled + 255) / 256, 256>>>(pooled, in, height, across, out);
    compare("max_pool", out, pooled, [&](std::size_t i) {
        const std::size_t x = i % across, y = i / across % height, c = i / (across * height);
        float most = -FLT_MAX;
        for (int k = 0; k < 4; k++)
            most = std::fmax(most, a[(c * 2 * height + 2 * y + k / 2) * 2 * across + 2 * x + k % 2]);
        return most;
    });
    const int patches = 2 * height * across;
    Array<float> patch(patches * 9);
    im2col<<<(patches + 127) / 128, 128>>>(patches, in, height, across, 3, 1, patch);
    compare("im2col", patch, patches * 9, [&](std::size_t i) {
        const int x = i % across, y = i / across % height, k = i / (across * height) % 9,
                  c = i / (9 * across * height);
        const int yy = y - 1 + k / 3, xx = x - 1 + k % 3;
        return yy >= 0 && xx >= 0 && yy < height && xx < across ? a[(c * height + yy) * across + xx] : 0.0f;
    });
    dropout<<<(n + 127) / 128, 128>>>(out, in, 99u, 0.75f, n);
    compare(
        "dropout", out, n,
        [&](std::size_t i) {
            unsigned x = 99u ^ unsigned(i) * 2654435761u;
            x ^= x >> 16;
            x *= 0x7feb352du;
            x ^= x >> 15;
            return x * 2.3283064e-10f < 0.75f ? a[i] / 0.75f : 0;
        },
        1e-6);
    Array<int> best(rows);
    argmax<<<rows, 128>>>(best, counts, columns);
    compare("argmax", best, rows, [&](std::size_t r) {
        int at = 0;
        for (int k = 1; k < columns; k++)
            if (count[r * columns + k] > count[r * columns + at]) at = k;
        return at;
    });
    return finish();
}
