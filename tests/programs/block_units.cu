// Kernels whose blocks work as units: rows in turn, tables in shared memory, exact reductions by trees, slots of
// warps and atomics. What they leave is compared with the host's.
#include <cstdio>
#include <cstdlib>
#include <vector>
__device__ __forceinline__ float largest_of_warp(float v) {
    for (int w = 16; w > 0; w >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, w));
    return v;
}
__device__ float largest_of_block(float v) {
    __shared__ float slots[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = largest_of_warp(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? slots[lane] : -1e30f;
    if (warp == 0) v = largest_of_warp(v);
    if (threadIdx.x == 0) slots[0] = v;
    __syncthreads();
    return slots[0];
}
// Tuned: whole warps.
__global__ void quantise_rows(signed char* out, float* scale, const float* __restrict__ in, int rows, int d) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float most = 0;
        for (int k = threadIdx.x; k < d; k += blockDim.x) most = fmaxf(most, fabsf(in[row * d + k]));
        most = largest_of_block(most);
        if (threadIdx.x == 0) scale[row] = most / 127;
        for (int k = threadIdx.x; k < d; k += blockDim.x)
            out[row * d + k] = (signed char)(in[row * d + k] * 127 / most);
        __syncthreads();
    }
}
// Tuned: powers of two.
__global__ void sum_of_rows(int* out, const int* in, int d) {
    __shared__ int s[1024];
    int sum = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) sum += in[blockIdx.x * d + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
// Tuned: any block.
__global__ void histogram_of_rows(int* out, const int* __restrict__ in, int d) {
    __shared__ int bins[64];
    for (int k = threadIdx.x; k < 64; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < d; k += blockDim.x) atomicAdd(&bins[in[blockIdx.x * d + k] & 63], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 64; k += blockDim.x) out[blockIdx.x * 64 + k] = bins[k];
}
// Tuned: any block.
__global__ void reverse_rows(float* out, const float* in, int d) {
    __shared__ float row[8192];
    for (int k = threadIdx.x; k < d; k += blockDim.x) row[k] = in[blockIdx.x * d + k];
    __syncthreads();
    for (int k = threadIdx.x; k < d; k += blockDim.x) out[blockIdx.x * d + k] = row[d - 1 - k];
}
// Left alone: floating-point sums go with the block.
__global__ void normalise_rows(float* out, const float* __restrict__ in, int d) {
    __shared__ float s[1024];
    float sum = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) sum += in[blockIdx.x * d + k] * in[blockIdx.x * d + k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    const float by = rsqrtf(s[0] / d + 1e-5f);
    for (int k = threadIdx.x; k < d; k += blockDim.x) out[blockIdx.x * d + k] = in[blockIdx.x * d + k] * by;
}
// Left alone: the largest and its place are a pair.
__global__ void largest_of_rows(int* out, const float* __restrict__ in, int d) {
    __shared__ float most[256];
    __shared__ int at[256];
    float v = -1e30f;
    int p = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x)
        if (in[blockIdx.x * d + k] > v) v = in[blockIdx.x * d + k], p = k;
    most[threadIdx.x] = v;
    at[threadIdx.x] = p;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (threadIdx.x < w) {
            const bool takes =
                most[threadIdx.x + w] > most[threadIdx.x] ||
                (most[threadIdx.x + w] == most[threadIdx.x] && at[threadIdx.x + w] < at[threadIdx.x]);
            if (takes) most[threadIdx.x] = most[threadIdx.x + w], at[threadIdx.x] = at[threadIdx.x + w];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = at[0];
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
    const int rows = 60, d = 900;
    std::vector<float> in(rows * d);
    std::vector<int> counts(rows * d);
    srand(5);
    for (float& x : in) x = rand() % 2000 / 1000.0f - 1;
    for (int& i : counts) i = rand() % 1000;
    const float* d_in = on_device(in);
    const int* d_counts = on_device(counts);
    signed char* bytes = on_device(std::vector<signed char>(rows * d));
    float *scale = on_device(std::vector<float>(rows)), *turned = on_device(in), *normal = on_device(in);
    int *sums = on_device(std::vector<int>(rows)), *bins = on_device(std::vector<int>(rows * 64)),
        *places = on_device(std::vector<int>(rows));
    quantise_rows<<<20, 512>>>(bytes, scale, d_in, rows, d);
    sum_of_rows<<<rows, 1024>>>(sums, d_counts, d);
    histogram_of_rows<<<rows, 1024>>>(bins, d_counts, d);
    reverse_rows<<<rows, 96>>>(turned, d_in, d);
    normalise_rows<<<rows, 256>>>(normal, d_in, d);
    largest_of_rows<<<rows, 256>>>(places, d_in, d);
    const auto got_bytes = back(bytes, rows * d);
    const auto got_turned = back(turned, rows * d), got_normal = back(normal, rows * d);
    const auto got_sums = back(sums, rows), got_bins = back(bins, rows * 64), got_places = back(places, rows);
    int wrong = 0;
    unsigned hash = 17;
    for (int r = 0; r < rows; r++) {
        float most = 0;
        int sum = 0, place = 0;
        std::vector<int> count(64);
        for (int k = 0; k < d; k++) {
            const float x = in[r * d + k];
            most = x < 0 ? (-x > most ? -x : most) : (x > most ? x : most);
            sum += counts[r * d + k];
            count[counts[r * d + k] & 63]++;
            if (x > in[r * d + place]) place = k;
            wrong += got_turned[r * d + k] != in[r * d + d - 1 - k];
        }
        for (int k = 0; k < d; k++) {
            const int byte = (int)(in[r * d + k] * 127 / most);
            wrong += got_bytes[r * d + k] < byte - 1 || got_bytes[r * d + k] > byte + 1;
            hash = hash * 31 + (unsigned)(got_normal[r * d + k] * 1e6f);
        }
        wrong += got_sums[r] != sum;
        wrong += got_places[r] != place;
        for (int b = 0; b < 64; b++) wrong += got_bins[r * 64 + b] != count[b];
    }
    printf("%d wrong, hash %u\n", wrong, hash);
    printf(wrong ? "FAIL\n" : "PASS\n");
    return wrong != 0;
}
