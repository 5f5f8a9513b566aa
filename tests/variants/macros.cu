// Kernels whose blocks are a macro, in a program that checks itself: macros.sh compiles it for several values, and
// reads the report of its launches.
#include <trimtab/annotate.h>
#ifdef WITHOUT_ANNOTATIONS
#undef TRIMTAB_TUNE
#define TRIMTAB_TUNE(...)
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HALF_OF_BLOCK 128
#ifndef BLOCK
#define BLOCK (2 * HALF_OF_BLOCK)
#endif
#define TILE 8
// Annotations may say the macro, or whatever value a body has; that only where there are bodies.
#ifdef SAY_VARIANT
#define SIDE_OF_BLOCK variant
#define SIDE_OF_TILE variant
#else
#define SIDE_OF_BLOCK BLOCK
#define SIDE_OF_TILE TILE
#endif

// All bodies add to it, and read the host's table: there is one of each.
static __device__ int counted;
__constant__ int weights[4];

struct Bounds {
    int first, end;
};

// A sum of each block, in shared memory of just its size, by a helper of the macro's.
namespace {
__device__ int of_block(int* sums) {
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}
}  // namespace
__global__ void __launch_bounds__(BLOCK) TRIMTAB_TUNE(block(bx == SIDE_OF_BLOCK), grid(ceil(n / bx)))
    reduce(const int* in, int* total, int n) {
    __shared__ int sums[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] * weights[i % 4] : 0;
    __syncthreads();
    const int sum = of_block(sums);
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
        atomicAdd(&counted, min(BLOCK, max(n - int(blockIdx.x) * BLOCK, 0)));
    }
}

// A grid of the macro's value; memory of the launch's; a template.
template <typename Number>
__global__ void TRIMTAB_TUNE(block(bx == BLOCK), grid(ceil(n / BLOCK)), dynamic_shared(4 * BLOCK))
    reversed(const Number* in, Number* out, int n) {
    extern __shared__ int values[];
    const int from = blockIdx.x * BLOCK, i = from + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    const int mirrored = from + BLOCK - 1 - threadIdx.x;
    if (mirrored < n) out[mirrored] = values[BLOCK - 1 - threadIdx.x] + 1;
}

// Of another macro.
extern "C" __global__ void TRIMTAB_TUNE(block(bx == SIDE_OF_TILE, by == SIDE_OF_TILE),
                                        grid(ceil(n / bx), ceil(n / by)))
    transposed(const int* in, int* out, int n) {
    __shared__ int tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// Of neither: it has one body.
__device__ int twice(const Bounds& bounds, int i) {
    return i >= bounds.first && i < bounds.end ? 2 : 1;
}
__global__ void scaled(int* values, Bounds bounds, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= twice(bounds, i);
}

// It reads one, and is the same code whatever it says.
__global__ void indifferent(int* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, unused = i % BLOCK;
    if (i < n && unused < BLOCK) values[i] += 1;
}

#ifdef WITH_FALSE_BODY
// One of its bodies counts the last element twice.
__global__ void TRIMTAB_TUNE(block(bx == SIDE_OF_BLOCK), grid(ceil(n / bx)))
    doubled(const int* in, int* out, int n) {
    __shared__ int values[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = values[threadIdx.x] * 2 + (BLOCK == 128 && i == n - 1 ? in[i] : 0);
}
#endif

#ifdef WITH_ODD_CODE
// By value: does not compile with 32, needs more shared memory than a block has with 512, has another signature and
// another table with 128, and is of both macros.
#if BLOCK == 32
#error "no blocks of 32"
#endif
__device__ int table[BLOCK == 128 ? 3 : 2];
__global__ void other_table(int* out) {
    out[threadIdx.x] = table[0] + BLOCK;
}
__global__ void large(int* out) {
    __shared__ int values[BLOCK == 512 ? 20000 : BLOCK];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[BLOCK - 1 - threadIdx.x];
}
__global__ void of_both(int* out) {
    out[threadIdx.x] = BLOCK * TILE;
}
#endif

#include "tests/annotated/host_arrays.h"

static void sums() {
    const int weight[4] = {1, 3, -2, 5};
    check(cudaMemcpyToSymbol(weights, weight, sizeof weight));
    const int none = 0;
    check(cudaMemcpyToSymbol(counted, &none, sizeof none));
    for (int n : {5000, 50000}) {
        const std::vector<int> in = numbers(n);
        int sum = 0;
        for (int i = 0; i < n; i++) sum += in[i] * weight[i % 4];
        Array d_in(in), total({0}), unlike({0}), of_graph({0});
        reduce<<<above(n, BLOCK), BLOCK>>>(d_in.data, total.data, n);
        expect("reduced", total.host()[0], sum);
        // More blocks than the annotation states: a launch of its own.
        reduce<<<above(n, BLOCK) + 3, BLOCK>>>(d_in.data, unlike.data, n);
        expect("reduced by more blocks", unlike.host()[0], sum);

        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        check(cudaStreamCreate(&stream));
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        reduce<<<above(n, BLOCK), BLOCK, 0, stream>>>(d_in.data, of_graph.data, n);
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&executable, graph, 0));
        check(cudaGraphLaunch(executable, stream));
        check(cudaStreamSynchronize(stream));
        expect("reduced by a graph", of_graph.host()[0], sum);
        check(cudaGraphExecDestroy(executable));
        check(cudaGraphDestroy(graph));
        check(cudaStreamDestroy(stream));

        Array out(std::vector<int>(n, -1));
        reversed<int><<<above(n, BLOCK), BLOCK, 4 * BLOCK>>>(d_in.data, out.data, n);
        const std::vector<int> found = out.host();
        long wrong = 0;
        for (int i = 0; i < n; i++) wrong += found[i] != in[i] + 1;
        expect("wrong values of reversed", wrong, 0);
    }
    int elements = 0;
    check(cudaMemcpyFromSymbol(&elements, counted, sizeof elements));
    expect("counted", elements, 3 * (5000 + 50000));
}

static void tiles() {
    for (int n : {40, 515}) {
        const std::vector<int> in = numbers(std::size_t(n) * n);
        Array d_in(in), out(std::vector<int>(in.size(), -1));
        transposed<<<dim3(above(n, TILE), above(n, TILE)), dim3(TILE, TILE)>>>(d_in.data, out.data, n);
        const std::vector<int> found = out.host();
        long wrong = 0;
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) wrong += found[x * n + y] != in[y * n + x];
        expect("wrong elements of the transposed", wrong, 0);
        scaled<<<above(n, 64), 64>>>(out.data, Bounds{3, 7}, n);
        const std::vector<int> after = out.host();
        indifferent<<<above(n, 64), 64>>>(out.data, n);
        expect("one more", out.host()[0], after[0] + 1);
        for (int i = 0; i < n; i++) wrong += after[i] != found[i] * (i >= 3 && i < 7 ? 2 : 1);
        expect("wrong scaled", wrong, 0);
    }
}

#ifdef WITH_FALSE_BODY
static void falsehoods() {
    const int n = 4000;
    const std::vector<int> in = numbers(n);
    Array d_in(in), out(std::vector<int>(n, 0));
    doubled<<<above(n, BLOCK), BLOCK>>>(d_in.data, out.data, n);
    std::printf("doubled: %d\n", out.host()[0]);
}
#endif
#ifdef WITH_ODD_CODE
static void oddities() {
    Array out(std::vector<int>(BLOCK, 0));
    other_table<<<1, BLOCK>>>(out.data);
    large<<<1, BLOCK>>>(out.data);
    of_both<<<1, BLOCK>>>(out.data);
    expect("of both", out.host()[0], BLOCK * TILE);
}
#endif

int main() {
    sums();
    tiles();
#ifdef WITH_FALSE_BODY
    falsehoods();
#endif
#ifdef WITH_ODD_CODE
    oddities();
#endif
    check(cudaDeviceSynchronize());
    std::puts(passes ? "PASS" : "FAIL");
    return passes ? 0 : 1;
}
