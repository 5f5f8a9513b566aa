// Kernels with annotations, right and wrong, that check themselves: annotated.sh reads the report of their
// launches.
#include <trimtab/annotate.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

extern __shared__ int shared[];

#define MOST_THREADS 512

// A block reduction, macros in its annotation and all.
__global__ void TRIMTAB_TUNE(block(ispow2(bx), bx >= 64, bx <= MOST_THREADS), grid(ceil(n / (2 * bx))),
                             dynamic_shared(4 * bx), sizes(n)) reduced(const int* in, int* total, int n) {
    int i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    shared[threadIdx.x] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, shared[0]);
}

// A tile that is turned over in shared memory, a column of padding and all: 4 (bx + 1) by bytes.
__global__ void TRIMTAB_TUNE(block(bx == by, bx % 8 == 0), grid(ceil(n / bx), ceil(n / by)),
                             dynamic_shared(4 * (bx + 1) * by)) turned(const int* in, int* out, int n) {
    int tile = blockDim.x, x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    if (x < n && y < n) shared[threadIdx.y * (tile + 1) + threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * tile + threadIdx.x, y = blockIdx.x * tile + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = shared[threadIdx.x * (tile + 1) + threadIdx.y];
}

// The block's size is a number in the code, and the annotation claims that any will do.
__global__ void TRIMTAB_TUNE(block(bx % 32 == 0), grid(ceil(n / bx))) claimed(int* out, int n) {
    __shared__ int row[1024];
    row[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = row[255 - threadIdx.x % 256];
}

// KLARAPTOR's example: a kernel of order N in two dimensions.
__global__ void TRIMTAB_TUNE(block(bx < by * by, bx < n, by < n), grid(ceil(n / bx), ceil(n / by)), sizes(n))
    Sample(int* a, int n) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < n && y < n) a[y * n + x] = 2 * a[y * n + x] + x - y;
}

// 256 bytes of shared memory a thread.
__global__ void TRIMTAB_TUNE(block(bx % 32 == 0), grid(ceil(n / bx)), dynamic_shared(256 * bx))
    hungry(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* mine = shared + 64 * threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 64; k++) mine[k] = in[i] * k;
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += mine[63 - k] % 7;
    out[i] = sum;
}

#include "host_arrays.h"

int main(int argc, char**) {
    const bool with_false_claim = argc > 1;
    for (int n : {5000, 300000}) {
        const std::vector<int> in = numbers(n);
        long sum = 0;
        for (int value : in) sum += value;
        Array d_in(in), total({0});
        reduced<<<above(n, 512), 256, 1024>>>(d_in.data, total.data, n);
        expect("reduced", total.host()[0], static_cast<int>(sum));
        Array small({0});
        reduced<<<above(n, 128), 64, 256>>>(d_in.data, small.data, n);
        expect("reduced by small blocks", small.host()[0], static_cast<int>(sum));
        // More blocks, and more shared memory, than the annotation states: a launch of its own.
        Array again({0});
        reduced<<<above(n, 512) + 1, 256, 1024>>>(d_in.data, again.data, n);
        expect("reduced by more blocks", again.host()[0], static_cast<int>(sum));
        Array more({0});
        reduced<<<above(n, 512), 256, 2048>>>(d_in.data, more.data, n);
        expect("reduced with more memory", more.host()[0], static_cast<int>(sum));
        Array ruled_out({0});
        reduced<<<above(n, 2048), 1024, 4096>>>(d_in.data, ruled_out.data, n);
        expect("reduced by larger blocks", ruled_out.host()[0], static_cast<int>(sum));
    }
    for (int n : {100, 500}) {
        const std::vector<int> in = numbers(std::size_t(n) * n);
        Array d_in(in), out(std::vector<int>(in.size(), -1)), a(in);
        turned<<<dim3(above(n, 8), above(n, 8)), dim3(8, 8), 4 * 9 * 8>>>(d_in.data, out.data, n);
        Sample<<<dim3(above(n, 8), above(n, 4)), dim3(8, 4)>>>(a.data, n);
        const std::vector<int> found = out.host(), doubled = a.host();
        long wrong = 0;
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                wrong += found[y * n + x] != in[x * n + y];
                wrong += doubled[y * n + x] != 2 * in[y * n + x] + x - y;
            }
        expect("wrong elements", wrong, 0);
    }
    for (int opt_in : {0, 65536}) {
        const int n = 4096;
        if (opt_in != 0)
            check(cudaFuncSetAttribute(hungry, cudaFuncAttributeMaxDynamicSharedMemorySize, opt_in));
        const std::vector<int> in = numbers(n + opt_in / 64);
        Array d_in(in), out(std::vector<int>(in.size(), -1));
        hungry<<<above(in.size(), 128), 128, 256 * 128>>>(d_in.data, out.data, static_cast<int>(in.size()));
        long sum = 0, expected = 0;
        for (int value : out.host()) sum += value;
        for (int value : in)
            for (int k = 0; k < 64; k++) expected += value * k % 7;
        expect("hungry", sum, expected);
    }
    if (with_false_claim) {
        const int n = 2048;
        Array out(std::vector<int>(n, 0));
        claimed<<<n / 256, 256>>>(out.data, n);
        long wrong = 0, i = 0;
        for (int value : out.host()) wrong += value != 255 - i++ % 256;
        // What a false claim does is the claimant's to answer for.
        std::printf("claimed\n");
    }
    check(cudaDeviceSynchronize());
    std::puts(passes ? "PASS" : "FAIL");
    return passes ? 0 : 1;
}
