// The transformer's size, the layout of its parameters, and its kernels.
#pragma once

#include <cstddef>
#include <vector>

constexpr int batch = 2, channels = 64, heads = 4, head_size = channels / heads, layers = 2, vocabulary = 96;
constexpr int tile = 16;

// Where each tensor begins in the one array of all parameters; the gradients and AdamW's moments are laid out alike.
struct Layout {
    std::size_t wte, wpe, ln1w[layers], ln1b[layers], qkvw[layers], qkvb[layers], projw[layers],
        projb[layers], ln2w[layers], ln2b[layers], fcw[layers], fcb[layers], fcprojw[layers], fcprojb[layers],
        lnfw, lnfb, total;
    std::vector<std::size_t> begins;

    explicit Layout(int tokens) : total(0) {
        const auto take = [&](std::size_t& begin, std::size_t count) {
            begins.push_back(begin = total);
            total += count;
        };
        const std::size_t c = channels;
        take(wte, vocabulary * c);
        take(wpe, tokens * c);
        for (int l = 0; l < layers; ++l) {
            take(ln1w[l], c), take(ln1b[l], c);
            take(qkvw[l], 3 * c * c), take(qkvb[l], 3 * c);
            take(projw[l], c * c), take(projb[l], c);
            take(ln2w[l], c), take(ln2b[l], c);
            take(fcw[l], 4 * c * c), take(fcb[l], 4 * c);
            take(fcprojw[l], 4 * c * c), take(fcprojb[l], c);
        }
        take(lnfw, c), take(lnfb, c);
    }
};

struct AdamW {
    float rate, beta1, beta2, epsilon, decay, correction1, correction2, largest_norm;
};

__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

__device__ float warp_max(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    return value;
}

// Sum over a block of `size` threads, in all of them.
template <int size>
__device__ float block_sum(float value) {
    __shared__ float partial[size / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < size / 32; ++warp) sum += partial[warp];
    __syncthreads();
    return sum;
}

// ---- forward

__global__ void encoder_forward(float* out, const int* ids, const float* wte, const float* wpe, int tokens) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * tokens * channels) return;
    const int row = i / channels, c = i % channels;
    out[i] = wte[ids[row] * channels + c] + wpe[row % tokens * channels + c];
}

// A warp a row.
__global__ void layernorm_forward(float* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd,
                                  const float* __restrict__ in, const float* __restrict__ weight,
                                  const float* __restrict__ bias, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* x = in + row * channels;
    float sum = 0.0f, squares = 0.0f;
    for (int c = lane; c < channels; c += 32) sum += x[c];
    const float m = warp_sum(sum) / channels;
    for (int c = lane; c < channels; c += 32) squares += (x[c] - m) * (x[c] - m);
    const float s = rsqrtf(warp_sum(squares) / channels + 1e-5f);
    if (lane == 0) {
        mean[row] = m;
        rstd[row] = s;
    }
    for (int c = lane; c < channels; c += 32) out[row * channels + c] = (x[c] - m) * s * weight[c] + bias[c];
}

// out(rows, outs) = in(rows, ins) weight(outs, ins)' + bias, by tiles in shared memory.
template <bool has_bias>
__global__ void matmul_forward(float* out, const float* in, const float* weight, const float* bias, int rows,
                               int ins, int outs) {
    __shared__ float a[tile][tile], b[tile][tile + 1];
    const int o = blockIdx.x * tile + threadIdx.x, row = blockIdx.y * tile + threadIdx.y;
    const int weight_row = blockIdx.x * tile + threadIdx.y;
    float sum = 0.0f;
    for (int begin = 0; begin < ins; begin += tile) {
        const int c = begin + threadIdx.x;
        a[threadIdx.y][threadIdx.x] = row < rows && c < ins ? in[row * ins + c] : 0.0f;
        b[threadIdx.y][threadIdx.x] = weight_row < outs && c < ins ? weight[weight_row * ins + c] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; ++k) sum += a[threadIdx.y][k] * b[threadIdx.x][k];
        __syncthreads();
    }
    if (row >= rows || o >= outs) return;
    if constexpr (has_bias) sum += bias[o];
    out[row * outs + o] = sum;
}

// qkv is (batch, tokens, 3, heads, head_size); scores are (batch, heads, tokens, tokens).
__global__ void attention_scores(float* scores, const float* qkv, int tokens) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * heads * tokens * tokens) return;
    const int t2 = i % tokens, t = i / tokens % tokens, h = i / tokens / tokens % heads,
              b = i / tokens / tokens / heads;
    if (t2 > t) return;
    const float* query = qkv + (b * tokens + t) * 3 * channels + h * head_size;
    const float* key = qkv + (b * tokens + t2) * 3 * channels + channels + h * head_size;
    float dot = 0.0f;
    for (int k = 0; k < head_size; ++k) dot += query[k] * key[k];
    scores[i] = dot * rsqrtf(static_cast<float>(head_size));
}

// A warp a row, of which the first row % tokens + 1 are in the past.
__global__ void attention_softmax(float* __restrict__ out, const float* __restrict__ scores, int rows,
                                  int tokens) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int own = row % tokens + 1;
    const float* x = scores + static_cast<std::size_t>(row) * tokens;
    float* y = out + static_cast<std::size_t>(row) * tokens;
    float most = -INFINITY, sum = 0.0f;
    for (int t = lane; t < own; t += 32) most = fmaxf(most, x[t]);
    most = warp_max(most);
    for (int t = lane; t < own; t += 32) sum += expf(x[t] - most);
    const float scale = 1.0f / warp_sum(sum);
    for (int t = lane; t < tokens; t += 32) y[t] = t < own ? expf(x[t] - most) * scale : 0.0f;
}

__global__ void attention_values(float* out, const float* weights, const float* qkv, int tokens) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * tokens * channels) return;
    const int c = i % channels, h = c / head_size, t = i / channels % tokens, b = i / channels / tokens;
    const float* row = weights + ((b * heads + h) * tokens + t) * tokens;
    float sum = 0.0f;
    for (int t2 = 0; t2 <= t; ++t2) sum += row[t2] * qkv[(b * tokens + t2) * 3 * channels + 2 * channels + c];
    out[i] = sum;
}

__global__ void residual_forward(float* out, const float* a, const float* b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

constexpr float gelu_factor = 0.7978845608f;

__global__ void gelu_forward(float* out, const float* in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float x = in[i];
        out[i] = 0.5f * x * (1.0f + tanhf(gelu_factor * (x + 0.044715f * x * x * x)));
    }
}

// A block a row: the losses, and the gradient of their mean in place of the logits.
template <int size>
__global__ void classifier(float* __restrict__ losses, float* logits, const int* __restrict__ targets,
                           int rows) {
    __shared__ float shared[size];
    float* x = logits + static_cast<std::size_t>(blockIdx.x) * vocabulary;
    const int target = targets[blockIdx.x];
    float most = -INFINITY, sum = 0.0f;
    for (int v = threadIdx.x; v < vocabulary; v += size) most = fmaxf(most, x[v]);
    shared[threadIdx.x] = most;
    __syncthreads();
    for (int half = size / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    most = shared[0];
    for (int v = threadIdx.x; v < vocabulary; v += size) sum += expf(x[v] - most);
    sum = block_sum<size>(sum);
    if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + most - x[target];
    __syncthreads();
    for (int v = threadIdx.x; v < vocabulary; v += size)
        x[v] = (expf(x[v] - most) / sum - (v == target ? 1.0f : 0.0f)) / rows;
}

// One block: the sum of n numbers.
template <int size>
__global__ void sum_of(float* out, const float* in, int n, float factor) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += size) sum += in[i];
    sum = block_sum<size>(sum);
    if (threadIdx.x == 0) *out = sum * factor;
}

// ---- backward; what is added to begins with zeros

__global__ void matmul_backward_input(float* din, const float* dout, const float* weight, int rows, int ins,
                                      int outs) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= ins || row >= rows) return;
    float sum = 0.0f;
    for (int o = 0; o < outs; ++o) sum += dout[row * outs + o] * weight[o * ins + c];
    din[row * ins + c] = sum;
}

__global__ void matmul_backward_weight(float* dweight, const float* dout, const float* in, int rows, int ins,
                                       int outs) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= ins || o >= outs) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row) sum += dout[row * outs + o] * in[row * ins + c];
    dweight[o * ins + c] += sum;
}

// Blocks of 32 x 8: a column for each x, whose rows are shared out over y.
__global__ void matmul_backward_bias(float* dbias, const float* dout, int rows, int outs) {
    __shared__ float partial[8][32];
    const int o = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (o < outs)
        for (int row = threadIdx.y; row < rows; row += 8) sum += dout[row * outs + o];
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || o >= outs) return;
    for (int y = 1; y < 8; ++y) sum += partial[y][threadIdx.x];
    dbias[o] += sum;
}

// A warp a row.
__global__ void layernorm_backward_input(float* __restrict__ din, const float* __restrict__ dout,
                                         const float* __restrict__ in, const float* __restrict__ weight,
                                         const float* __restrict__ mean, const float* __restrict__ rstd,
                                         int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* x = in + row * channels;
    const float* dy = dout + row * channels;
    const float m = mean[row], s = rstd[row];
    float sum = 0.0f, with_norm = 0.0f;
    for (int c = lane; c < channels; c += 32) {
        const float d = weight[c] * dy[c];
        sum += d;
        with_norm += d * (x[c] - m) * s;
    }
    sum = warp_sum(sum) / channels;
    with_norm = warp_sum(with_norm) / channels;
    for (int c = lane; c < channels; c += 32)
        din[row * channels + c] += (weight[c] * dy[c] - sum - (x[c] - m) * s * with_norm) * s;
}

__global__ void layernorm_backward_weights(float* dweight, float* dbias, const float* dout, const float* in,
                                           const float* mean, const float* rstd, int rows) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float weight = 0.0f, bias = 0.0f;
    for (int row = 0; row < rows; ++row) {
        const float d = dout[row * channels + c];
        weight += d * (in[row * channels + c] - mean[row]) * rstd[row];
        bias += d;
    }
    dweight[c] += weight;
    dbias[c] += bias;
}

__global__ void gelu_backward(float* dinout, const float* in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float x = in[i], t = tanhf(gelu_factor * (x + 0.044715f * x * x * x));
        const float slope = gelu_factor * (1.0f + 3.0f * 0.044715f * x * x);
        dinout[i] *= 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * slope;
    }
}

// Of the weights of attention: one thread a pair of tokens.
__global__ void attention_backward_weights(float* dweights, const float* dout, const float* qkv, int tokens) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * heads * tokens * tokens) return;
    const int t2 = i % tokens, t = i / tokens % tokens, h = i / tokens / tokens % heads,
              b = i / tokens / tokens / heads;
    if (t2 > t) return;
    float dot = 0.0f;
    for (int k = h * head_size; k < (h + 1) * head_size; ++k)
        dot +=
            dout[(b * tokens + t) * channels + k] * qkv[(b * tokens + t2) * 3 * channels + 2 * channels + k];
    dweights[i] = dot;
}

// A warp a row, in place.
__global__ void softmax_backward(float* __restrict__ dscores, const float* __restrict__ weights, int rows,
                                 int tokens) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int own = row % tokens + 1;
    float* d = dscores + static_cast<std::size_t>(row) * tokens;
    const float* w = weights + static_cast<std::size_t>(row) * tokens;
    float sum = 0.0f;
    for (int t = lane; t < own; t += 32) sum += w[t] * d[t];
    sum = warp_sum(sum);
    const float scale = rsqrtf(static_cast<float>(head_size));
    for (int t = lane; t < own; t += 32) d[t] = scale * w[t] * (d[t] - sum);
}

// Of queries, keys and values: x is the channel, y the token of the batch.
__global__ void attention_backward_qkv(float* dqkv, const float* dscores, const float* weights,
                                       const float* dout, const float* qkv, int tokens) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= channels || row >= batch * tokens) return;
    const int b = row / tokens, t = row % tokens;
    const std::size_t matrix = static_cast<std::size_t>(b * heads + c / head_size) * tokens * tokens;
    float query = 0.0f, key = 0.0f, value = 0.0f;
    for (int t2 = 0; t2 <= t; ++t2)
        query += dscores[matrix + t * tokens + t2] * qkv[(b * tokens + t2) * 3 * channels + channels + c];
    for (int t2 = t; t2 < tokens; ++t2) {
        key += dscores[matrix + t2 * tokens + t] * qkv[(b * tokens + t2) * 3 * channels + c];
        value += weights[matrix + t2 * tokens + t] * dout[(b * tokens + t2) * channels + c];
    }
    float* d = dqkv + static_cast<std::size_t>(row) * 3 * channels;
    d[c] = query;
    d[channels + c] = key;
    d[2 * channels + c] = value;
}

// Gathers, so that the order of additions is always the same: x is the channel, y the token's number.
__global__ void encoder_backward_wte(float* dwte, const float* dout, const int* ids, int rows) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= channels || v >= vocabulary) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row)
        if (ids[row] == v) sum += dout[row * channels + c];
    dwte[v * channels + c] += sum;
}

__global__ void encoder_backward_wpe(float* dwpe, const float* dout, int tokens) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * channels) return;
    float sum = 0.0f;
    for (int b = 0; b < batch; ++b) sum += dout[b * tokens * channels + i];
    dwpe[i] += sum;
}

// ---- the step

// Each block's sum of squares.
template <int size>
__global__ void squares(float* sums, const float* in, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * size + threadIdx.x; i < n; i += gridDim.x * size) sum += in[i] * in[i];
    sum = block_sum<size>(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void adamw(float* parameters, const float* gradients, float* first, float* second, int n,
                      AdamW how, const float* squared_norm) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float norm = sqrtf(*squared_norm);
    const float g = gradients[i] * (norm > how.largest_norm ? how.largest_norm / norm : 1.0f);
    const float m = how.beta1 * first[i] + (1.0f - how.beta1) * g;
    const float v = how.beta2 * second[i] + (1.0f - how.beta2) * g * g;
    first[i] = m;
    second[i] = v;
    const float update = m / how.correction1 / (sqrtf(v / how.correction2) + how.epsilon);
    parameters[i] -= how.rate * (update + how.decay * parameters[i]);
}
