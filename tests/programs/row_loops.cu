// One block a row, whose threads loop over its columns, as networks' layers do: any block is right for them.
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void gate(float* __restrict__ out, const float* __restrict__ in, int d) {
    const long long row = blockIdx.x;
    for (long long k = threadIdx.x; k < d; k += blockDim.x) {
        const float x = in[row * 2 * d + k];
        out[row * d + k] = x / (1.0f + x * x) * in[row * 2 * d + d + k];
    }
}
__global__ void add_bias(float* x, const float* bias, int d) {
    for (int k = threadIdx.x; k < d; k += blockDim.x) x[blockIdx.x * d + k] += bias[k];
}
__global__ void gather(float* __restrict__ out, const float* __restrict__ table,
                       const int* __restrict__ which, int d) {
    const int from = which[blockIdx.x];
    for (int k = threadIdx.x; k < d; k += blockDim.x) out[blockIdx.x * d + k] = table[from * d + k];
}
__global__ void flip_tile(int* out, const int* in, int w, int h) {
    const int at = blockIdx.x * w * h;
    for (int y = threadIdx.y; y < h; y += blockDim.y)
        for (int x = threadIdx.x; x < w; x += blockDim.x) out[at + y * w + x] = in[at + (h - 1 - y) * w + x];
}
__global__ void shift(int* row, int d) {
    for (int k = threadIdx.x; k < d; k += blockDim.x)
        row[blockIdx.x * (d + 1) + k + 1] = row[blockIdx.x * (d + 1) + k];
}
template <typename T>
T* on_device(const std::vector<T>& from) {
    T* p;
    cudaMalloc(&p, from.size() * sizeof(T));
    cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <typename T>
std::vector<T> back(const T* from, size_t n) {
    std::vector<T> to(n);
    cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
    return to;
}
int main() {
    const int rows = 53, d = 700, w = 45, h = 21;
    std::vector<float> in(rows * 2 * d), bias(d);
    std::vector<int> which(rows), tiles(rows * w * h);
    srand(3);
    for (float& x : in) x = rand() % 100 / 50.0f - 1;
    for (float& x : bias) x = rand() % 100 / 10.0f;
    for (int& i : which) i = rand() % rows;
    for (int& i : tiles) i = rand();
    float *d_in = on_device(in), *d_bias = on_device(bias), *a, *b;
    int *d_which = on_device(which), *d_tiles = on_device(tiles), *flipped;
    cudaMalloc(&a, rows * d * sizeof(float));
    cudaMalloc(&b, rows * d * sizeof(float));
    cudaMalloc(&flipped, tiles.size() * sizeof(int));
    gate<<<rows, 1024>>>(a, d_in, d);
    add_bias<<<rows, 32>>>(a, d_bias, d);
    gather<<<rows, 64>>>(b, a, d_which, d);
    flip_tile<<<rows, dim3(8, 4)>>>(flipped, d_tiles, w, h);
    const std::vector<float> got = back(b, rows * d);
    const std::vector<int> got_tiles = back(flipped, tiles.size());
    bool good = true;
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < d; k++) {
            const float x = in[which[r] * 2 * d + k];
            const float want = x / (1.0f + x * x) * in[which[r] * 2 * d + d + k] + bias[k];
            good = good && abs(got[r * d + k] - want) < 1e-4f;
        }
    for (int r = 0; r < rows; r++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                good = good && got_tiles[(r * h + y) * w + x] == tiles[(r * h + h - 1 - y) * w + x];
    // One thread a block goes through the row in order; more would not.
    std::vector<int> chain(rows * (d + 1), 0);
    for (int r = 0; r < rows; r++) chain[r * (d + 1)] = r + 1;
    int* d_chain = on_device(chain);
    shift<<<rows, 1>>>(d_chain, d);
    chain = back(d_chain, chain.size());
    for (int r = 0; r < rows; r++)
        for (int k = 0; k <= d; k++) good = good && chain[r * (d + 1) + k] == r + 1;
    puts(good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
