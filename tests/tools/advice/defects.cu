// Small kernels, each with one planted defect, at the line that says so, and its mended twin.
extern "C" __global__ void row_sums(const float* a, float* out, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += a[i * columns + k];  // here: row_sums
    out[i] = sum;
}
extern "C" __global__ void row_sums_mended(const float* a, float* out, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += a[k * rows + i];
    out[i] = sum;
}

struct Particle {
    float x, y, z, mass, u, v, w, charge;
};
extern "C" __global__ void masses(const Particle* particles, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * particles[i].mass;  // here: masses
}
extern "C" __global__ void masses_mended(const float* mass, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * mass[i];
}

extern "C" __global__ void fill_rows(float* out, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    for (int k = 0; k < columns; ++k) out[i * columns + k] = k;  // here: fill_rows
}
extern "C" __global__ void fill_rows_mended(float* out, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    for (int k = 0; k < columns; ++k) out[k * rows + i] = k;
}

template <int Width>
__device__ float column_of_tile(const float* in, int turns) {
    __shared__ float tile[32 * Width];
    for (int k = 0; k < 32; ++k) tile[k * Width + threadIdx.x] = in[k * 32 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int turn = 0; turn < turns; ++turn)
        for (int k = 0; k < 32; ++k) sum += tile[threadIdx.x * Width + ((k + turn) & 31)];  // here: columns
    return sum;
}
extern "C" __global__ void columns(const float* in, float* out, int turns) {
    out[blockIdx.x * 32 + threadIdx.x] = column_of_tile<32>(in, turns);
}
extern "C" __global__ void columns_mended(const float* in, float* out, int turns) {
    out[blockIdx.x * 32 + threadIdx.x] = column_of_tile<33>(in, turns);
}

extern "C" __global__ void window(const float* in, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float w[8];
    for (int j = 0; j < 8; ++j) w[j] = in[i + j * n];
    float sum = 0;
    for (int k = 0; k < turns; ++k) sum = sum * 0.5f + w[(i + k) & 7];  // here: window
    out[i] = sum;
}
extern "C" __global__ void window_mended(const float* in, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float w[8];
    for (int j = 0; j < 8; ++j) w[j] = in[i + j * n];
    float sum = 0;
    for (int k = 0; k < turns; k += 8)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum = sum * 0.5f + w[j];
    out[i] = sum;
}

extern "C" __global__ void weighted(const float* a, const float* weights, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < turns; ++k) out[i] += a[k * n + i] * weights[k];  // here: weighted
}
extern "C" __global__ void weighted_mended(const float* __restrict__ a, const float* __restrict__ weights,
                                           float* __restrict__ out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < turns; ++k) out[i] += a[k * n + i] * weights[k];
}

extern "C" __global__ void ramps(const float* slope, const float* start, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < turns; ++k) out[k * n + i] = start[i] + k * slope[i];  // here: ramps
}
extern "C" __global__ void ramps_mended(const float* __restrict__ slope, const float* __restrict__ start,
                                        float* __restrict__ out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < turns; ++k) out[k * n + i] = start[i] + k * slope[i];
}

extern "C" __global__ void smoothed(const float* in, const float* weights, float* out, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += in[i + k] * weights[k];  // here: smoothed
    out[i] = sum;
}
extern "C" __global__ void smoothed_mended(const float* __restrict__ in, const float* __restrict__ weights,
                                           float* __restrict__ out, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += in[i + k] * weights[k];
    out[i] = sum;
}

extern "C" __global__ void relaxed(const float* in, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    for (int k = 0; k < turns; ++k) x = x * 0.75 + 0.1;  // here: relaxed
    out[i] = x;
}
extern "C" __global__ void relaxed_mended(const float* in, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    for (int k = 0; k < turns; ++k) x = x * 0.75f + 0.1f;
    out[i] = x;
}

__device__ float polynomial(float x, int turns, float a, float b) {
    for (int k = 0; k < turns; ++k) x = x * a + b;
    return x;
}
extern "C" __global__ void sides(const float* in, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    if (i & 1)  // here: sides
        for (int k = 0; k < turns; ++k) x = x * 0.5f + x * x;
    else
        for (int k = 0; k < turns; ++k) x = x * 0.25f - x * 0.75f;
    out[i] = x;
}
extern "C" __global__ void sides_mended(const float* in, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    if (i & 32)
        for (int k = 0; k < turns; ++k) x = x * 0.5f + x * x;
    else
        for (int k = 0; k < turns; ++k) x = x * 0.25f - x * 0.75f;
    out[i] = x;
}

template <int Size>
__device__ float far_sum(const int* next, int turns) {
    __shared__ float part[Size];
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < turns; ++k) place = next[place + k * 64 * 1024];
    part[threadIdx.x] = place;
    __syncthreads();
    return part[threadIdx.x ^ 1];
}
extern "C" __global__ void far_sums(const int* next, float* out, int turns) {  // here: far_sums
    out[blockIdx.x * blockDim.x + threadIdx.x] = far_sum<12000>(next, turns);
}
extern "C" __global__ void far_sums_mended(const int* next, float* out, int turns) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = far_sum<64>(next, turns);
}

// Launched in 8 blocks of 1024 threads, and in 128 of 64; in 44 of 1024 and in 704 of 64; 64 times, and once.
extern "C" __global__ void powers(const float* in, float* out, int n, int turns) {  // here: powers
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = polynomial(in[i], turns, 0.5f, 0.25f);
}

// Nothing is wrong with these.
extern "C" __global__ void clean_axpy(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// PolyBench's, a thread for each row, and one for each column.
extern "C" __global__ void atax_kernel1(const float* A, const float* x, float* tmp, int NX, int NY) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NX)
        for (int j = 0; j < NY; j++) tmp[i] += A[i * NY + j] * x[j];
}
