// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// coarsened [SIZE]: kernels whose threads may do the work of several, in all the ways in which they end, and kernels of which
// nothing of the kind may be made. Prints what each leaves.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// --- further bodies ---

__global__ void scale(float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}

__global__ void early_returns(const int* in, int* out, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    if (v > limit) return;
    if (v % 3 == 0) return;
    out[i] = v * 2;
}

__global__ void stencil(const float* in, float* out, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < n - 1 && j > 0 && j < m - 1)
        out[i * m + j] = 0.2f * (in[i * m + j] + in[(i - 1) * m + j] + in[(i + 1) * m + j] +
                                 in[i * m + j - 1] + in[i * m + j + 1]);
}

__global__ void product(const float* a, const float* b, float* c, int n, int m, int depth) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m) return;
    float sum = 0;
    for (int k = 0; k < depth; k++) sum += a[i * depth + k] * b[k * m + j];
    c[i * m + j] = sum;
}

// The branch comes behind a store: one element after the other.
__global__ void branch_behind(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[2 * i] += in[i] + 1;
    if (in[i] & 1) out[2 * i + 1] -= in[i];
}

// Each goes around as often as its number asks for.
__global__ void steps(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i] + 1, count = 0;
    while (v != 1 && count < 200) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        count++;
    }
    out[i] = count;
}

// Both ways of a branch work.
__global__ void two_ways(const int* in, int* out, int n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < size_t(n)) {
        if (i < size_t(n) / 3)
            out[i] = in[i] * 5;
        else
            out[i] = in[i] - in[i + 1];
    }
}

__global__ void modes(const int* in, int* out, int n, int mode) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    switch (mode) {
        case 1:
            out[i] = in[i] + 1;
            break;
        case 2:
            out[i] = in[i] * 3;
            break;
        case 5:
            out[i] = -in[i];
            return;
        default:
            out[i] = i;
    }
    out[i] ^= mode;
}

__global__ void histogram(const int* in, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&bins[in[i] & 63], 1);
    if (in[i] > 900) atomicAdd(&bins[64], in[i]);
}
__global__ void counted(int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(count, 1);
}

// An array of the thread's own.
__global__ void sorted(const int* in, int* out, int n, int rank) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int own[8];
    for (int k = 0; k < 8; k++) own[k] = in[(i * 8 + k) % n];
    for (int k = 1; k < 8; k++)
        for (int l = k; l > 0 && own[l] < own[l - 1]; l--) {
            int t = own[l];
            own[l] = own[l - 1];
            own[l - 1] = t;
        }
    out[i] = own[rank & 7];
}

// Products that are fused with sums, of what is the same for all threads, and that of neighbours.
__global__ void fused(const float* in, float* out, float a, float b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = in[i] * a;
    out[i] = in[i] > 1 ? p + in[i + 1] : p - a * b;
}
__global__ void box(const float* in, float* out, float w, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 2 || i >= n - 2 || j < 2 || j >= m - 2) return;
    float sum = 0;
    for (int k = -2; k <= 2; k++)
        for (int l = -2; l <= 2; l++) sum += w * in[(i + k) * m + j + l];
    out[i * m + j] = sum;
}

// Rows of blocks of one thread in y, and planes.
__global__ void rows(const int* in, int* out, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j < m && i < n) out[i * m + j] = in[i * m + j] + i;
}
__global__ void volume(int* out, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < nx && j < ny && k < nz) out[(k * ny + j) * nx + i] = i + 2 * j + 3 * k;
}

// No test: only where the threads come out even.
__global__ void untested(int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 3 * i;
}
// A test whose arithmetic may overflow beyond the last thread.
__global__ void scaled_test(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) out[i] = 4 * i;
}
// The bound is in memory.
__global__ void loaded_bound(int* out, const int* n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < *n) out[i] = i + 7;
}
// Beyond the end they work on the first element.
__global__ void clamped(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    i = i < n ? i : 0;
    if (i < n) out[i] = i + 1;
}
__global__ void truncated(int* out, int n) {
    unsigned char i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i + 1;
}

// --- none ---

__global__ void no_shared(const int* in, int* out, int n) {
    __shared__ int own[64][9];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 9; k++) own[threadIdx.x & 63][k] = in[i] * k;
    out[i] = own[threadIdx.x & 63][in[i] % 9];
}
__global__ void no_barrier(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = v;
}
__global__ void no_shuffle(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = __shfl_xor_sync(~0u, i < n ? in[i] : 0, 1);
    if (i < n) out[i] = v;
}
__global__ void no_vote(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = __ballot_sync(~0u, i < n && in[i] > 3);
    if (i < n) out[i] = v;
}
__global__ void no_active_mask(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __popc(__activemask()) > 0;
}
__global__ void no_lane(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (i < n) out[i] = lane < 32;
}
__global__ void no_ticket(int* count, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && atomicAdd(count, 1) >= 0) out[i] = 1;
}
__global__ void no_exchange(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicExch(&out[i], i);
}
__global__ void no_compare(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicCAS(&out[i], 0, i);
}
__global__ void no_clock(long long* t, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = clock64() != 0;
}
__global__ void no_volatile(volatile int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
__global__ void no_fence(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
    __threadfence();
}
__global__ void no_sleep(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
    __nanosleep(1);
}
__global__ void no_stride(int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * i;
}
__global__ void no_print(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
    if (i < 0) printf("never\n");
}
__global__ void no_trap(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < 0) __trap();
    if (i < n) out[i] = i;
}
__device__ __noinline__ int twice(int v) {
    return 2 * v;
}
__global__ void no_call(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = twice(i);
}
// The block decides: the verdict says so.
__global__ void no_place(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = threadIdx.x;
}
__global__ void no_other_block(int* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x + 0 * blockDim.x;
    if (i < n) out[i] = i;
}
__global__ void no_index(int* out) {
    out[blockIdx.x] = blockIdx.x;
}

int main(int argc, char** argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 5000, room = 1 << 18;
    const int m = 77, height = n / m + 1;
    int *in, *out, *number;
    float *a, *b;
    for (void** memory : {(void**)&in, (void**)&out, (void**)&a, (void**)&b}) cudaMalloc(memory, room * 4);
    cudaMalloc(&number, 4);
    std::vector<int> numbers(room), got(room);
    std::vector<float> reals(room);
    const auto sum = [&](const char* name, const void* from) {
        cudaMemcpy(got.data(), from, room * 4, cudaMemcpyDeviceToHost);
        std::uint64_t hash = 1469598103934665603u;
        for (int v : got) hash = (hash ^ std::uint32_t(v)) * 1099511628211u;
        printf("%s %016llx\n", name, (unsigned long long)hash);
        cudaMemset(out, 0, room * 4);
        cudaMemset(number, 0, 4);
    };
    for (int i = 0; i < room; i++) numbers[i] = i * 7919 % 1009, reals[i] = numbers[i] / 512.0f;
    cudaMemcpy(in, numbers.data(), room * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(a, reals.data(), room * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(b, reals.data(), room * 4, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, room * 4);
    cudaMemset(number, 0, 4);
    const int blocks = (n + 63) / 64;
    const dim3 tile(16, 8), grid((m + 15) / 16, (height + 7) / 8);
    scale<<<blocks, 64>>>(a, 1.5f, n), sum("scale", a);
    scale<<<blocks + 3, 64>>>(a, 1.5f, n), sum("scale beyond", a);
    scale<<<blocks, 64>>>(a, 1.5f, n - 1000), sum("scale less", a);
    scale<<<blocks, 64>>>(a, 1.5f, n + 5),
        sum("scale more", a);  // fewer threads than elements, or just as many
    scale<<<blocks, 64>>>(a, 1.5f, -1), sum("scale none", a);
    early_returns<<<blocks, 64>>>(in, out, n, 700), sum("early_returns", out);
    stencil<<<grid, tile>>>(a, b, height, m), sum("stencil", b);
    stencil<<<dim3(5, 3), tile>>>(a, b, 23, m), sum("stencil of few rows", b);
    product<<<grid, tile>>>(a, b, (float*)out, height, m, 19), sum("product", out);
    fused<<<blocks, 64>>>(a, (float*)out, 0.1f, 0.3f, n), sum("fused", out);
    box<<<grid, tile>>>(a, (float*)out, 0.04f, height, m), sum("box", out);
    branch_behind<<<blocks, 64>>>(in, out, n), sum("branch_behind", out);
    steps<<<blocks, 64>>>(in, out, n), sum("steps", out);
    two_ways<<<blocks, 64>>>(in, out, n), sum("two_ways", out);
    for (int mode : {1, 2, 5, 9}) modes<<<blocks, 64>>>(in, out, n, mode), sum("modes", out);
    histogram<<<blocks, 64>>>(in, out, n), sum("histogram", out);
    counted<<<blocks, 64>>>(out, n), sum("counted", out);
    sorted<<<blocks, 64>>>(in, out, n, 3), sum("sorted", out);
    rows<<<dim3(2, height), 64>>>(in, out, height, m), sum("rows", out);
    volume<<<dim3(2, 3, 5), dim3(16, 4, 2)>>>(out, 31, 11, 9), sum("volume", out);
    untested<<<16, 64>>>(out), sum("untested even", out);
    untested<<<15, 96>>>(out), sum("untested", out);
    untested<<<13, 32>>>(out), sum("untested odd", out);
    scaled_test<<<blocks, 64>>>(out, 4 * n), sum("scaled_test", out);
    cudaMemcpy(number, &n, 4, cudaMemcpyHostToDevice);
    loaded_bound<<<blocks, 64>>>(out, number), sum("loaded_bound", out);
    clamped<<<blocks, 64>>>(out, n), sum("clamped", out);
    truncated<<<2, 64>>>(out, 100), sum("truncated", out);
    no_shared<<<blocks, 64>>>(in, out, n), sum("no_shared", out);
    no_barrier<<<blocks, 64>>>(in, out, n), sum("no_barrier", out);
    no_shuffle<<<blocks, 64>>>(in, out, n), sum("no_shuffle", out);
    no_vote<<<blocks, 64>>>(in, out, n), sum("no_vote", out);
    no_active_mask<<<blocks, 64>>>(out, n), sum("no_active_mask", out);
    no_lane<<<blocks, 64>>>(out, n), sum("no_lane", out);
    no_ticket<<<blocks, 64>>>(number, out, n), sum("no_ticket", out);
    no_exchange<<<blocks, 64>>>(out, n), sum("no_exchange", out);
    no_compare<<<blocks, 64>>>(out, n), sum("no_compare", out);
    no_clock<<<blocks, 64>>>(nullptr, out, n), sum("no_clock", out);
    no_volatile<<<blocks, 64>>>(out, n), sum("no_volatile", out);
    no_fence<<<blocks, 64>>>(out, n), sum("no_fence", out);
    no_sleep<<<blocks, 64>>>(out, n), sum("no_sleep", out);
    no_stride<<<2, 64>>>(out, n), sum("no_stride", out);
    no_print<<<blocks, 64>>>(out, n), sum("no_print", out);
    no_trap<<<blocks, 64>>>(out, n), sum("no_trap", out);
    no_call<<<blocks, 64>>>(out, n), sum("no_call", out);
    no_place<<<blocks, 64>>>(out, n), sum("no_place", out);
    no_other_block<<<blocks, 64>>>(out, n), sum("no_other_block", out);
    no_index<<<blocks, 1>>>(out), sum("no_index", out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
