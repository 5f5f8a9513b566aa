// Kernels whose blocks are built in, several bodies of each, in programs that check themselves: variants.sh reads the
// report of their launches.
#include <trimtab/annotate.h>
#ifdef WITHOUT_ANNOTATIONS
#undef TRIMTAB_TUNE
#define TRIMTAB_TUNE(...)
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// A sum of each block, in shared memory of just its size.
template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx)))
    reduce(const int* in, int* total, int n) {
    __shared__ int sums[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, sums[0]);
}
TRIMTAB_VARIANTS(reduce, 64, 128, 256, 512);

// The product by tiles, of integers: the same bytes whatever the tile.
namespace matrix {
template <typename Number, int TILE>
__global__ void TRIMTAB_TUNE(block(bx == variant, by == variant), grid(ceil(n / bx), ceil(n / by)))
    product(const Number* a, const Number* b, Number* c, int n) {
    __shared__ Number tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    Number sum = 0;
    for (int from = 0; from < n; from += TILE) {
        const int k = from + threadIdx.x, l = from + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = y < n && k < n ? a[y * n + k] : 0;
        tile_b[threadIdx.y][threadIdx.x] = l < n && x < n ? b[l * n + x] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = sum;
}
TRIMTAB_VARIANT(product, 8, product<int, 8>);
TRIMTAB_VARIANT(product, 16, product<int, 16>);
TRIMTAB_VARIANT(product, 32, product<int, 32>);
}  // namespace matrix

#ifdef WITH_FALSE_VARIANT
// One of its bodies counts the last element twice.
template <int BLOCK>
__global__ void TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx)))
    doubled(const int* in, int* out, int n) {
    __shared__ int values[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = values[threadIdx.x] * 2 + (BLOCK == 128 && i == n - 1 ? in[i] : 0);
}
TRIMTAB_VARIANTS(doubled, 64, 128, 256);
#endif

#ifdef WITH_UNFIT_VARIANTS
// Another signature; no annotation; alone.
__global__ void TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx))) filled_64(int* out, int n) {
    __shared__ int values[64];
    values[threadIdx.x] = 1;
    __syncthreads();
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) out[i] = values[63 - threadIdx.x];
}
__global__ void TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx))) filled_128(int* out, long n) {
    __shared__ int values[128];
    values[threadIdx.x] = 1;
    __syncthreads();
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) out[i] = values[127 - threadIdx.x];
}
__global__ void filled_256(int* out, int n) {
    __shared__ int values[256];
    values[threadIdx.x] = 1;
    __syncthreads();
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = values[255 - threadIdx.x];
}
TRIMTAB_VARIANT(filled, 64, filled_64);
TRIMTAB_VARIANT(filled, 128, filled_128);
TRIMTAB_VARIANT(filled, 256, filled_256);
TRIMTAB_VARIANT(lonely, 64, filled_64);
#endif

#include "tests/annotated/host_arrays.h"

static void sums() {
    for (int n : {5000, 50000}) {
        const std::vector<int> in = numbers(n);
        int sum = 0;
        for (int value : in) sum += value;
        Array d_in(in), total({0}), again({0}), of_graph({0}), of_function({0}), unlike({0});
        reduce<64><<<above(n, 64), 64>>>(d_in.data, total.data, n);
        expect("reduced", total.host()[0], sum);
        reduce<512><<<above(n, 512), 512>>>(d_in.data, again.data, n);
        expect("reduced by the largest", again.host()[0], sum);
        // More blocks than the annotation states: a launch of its own.
        reduce<64><<<above(n, 64) + 3, 64>>>(d_in.data, unlike.data, n);
        expect("reduced by more blocks", unlike.host()[0], sum);

        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        check(cudaStreamCreate(&stream));
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        reduce<64><<<above(n, 64), 64, 0, stream>>>(d_in.data, of_graph.data, n);
        check(cudaStreamEndCapture(stream, &graph));
        cudaGraphNode_t node;
        std::size_t nodes = 1;
        check(cudaGraphGetNodes(graph, &node, &nodes));
        check(cudaGraphInstantiate(&executable, graph, 0));
        cudaKernelNodeParams written{};
        check(cudaGraphKernelNodeGetParams(node, &written));
        expect("the graph's block", written.blockDim.x, 64);
        for (int k = 0; k < 2; k++) check(cudaGraphLaunch(executable, stream));
        check(cudaStreamSynchronize(stream));
        expect("reduced twice by a graph", of_graph.host()[0], 2 * sum);
        check(cudaGraphExecDestroy(executable));
        check(cudaGraphDestroy(graph));
        check(cudaStreamDestroy(stream));

        cudaLaunchConfig_t config{};
        config.gridDim = dim3(above(n, 64));
        config.blockDim = dim3(64);
        check(cudaLaunchKernelEx(&config, reduce<64>, (const int*)d_in.data, of_function.data, n));
        expect("reduced by the extensible launch", of_function.host()[0], sum);
    }
}

static void products() {
    for (int n : {40, 130}) {
        const std::vector<int> a = numbers(std::size_t(n) * n), b = numbers(std::size_t(n) * n + 7);
        Array d_a(a), d_b(b), c(std::vector<int>(a.size(), -1));
        matrix::product<int, 8>
            <<<dim3(above(n, 8), above(n, 8)), dim3(8, 8)>>>(d_a.data, d_b.data, c.data, n);
        const std::vector<int> found = c.host();
        long wrong = 0;
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                int sum = 0;
                for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
                wrong += found[y * n + x] != sum;
            }
        expect("wrong products", wrong, 0);
    }
}

#ifdef WITH_FALSE_VARIANT
static void falsehoods() {
    const int n = 4000;
    const std::vector<int> in = numbers(n);
    Array d_in(in), out(std::vector<int>(n, 0));
    doubled<64><<<above(n, 64), 64>>>(d_in.data, out.data, n);
    std::printf("doubled: %d\n", out.host()[0]);
}
#endif
#ifdef WITH_UNFIT_VARIANTS
static void unfit() {
    const int n = 3000;
    Array out(std::vector<int>(n, 0));
    filled_64<<<above(n, 64), 64>>>(out.data, n);
    filled_128<<<above(n, 128), 128>>>(out.data, n);
    filled_256<<<above(n, 256), 256>>>(out.data, n);
    expect("filled", out.host()[n - 1], 1);
}
#endif

int main() {
    sums();
    products();
#ifdef WITH_FALSE_VARIANT
    falsehoods();
#endif
#ifdef WITH_UNFIT_VARIANTS
    unfit();
#endif
    check(cudaDeviceSynchronize());
    std::puts(passes ? "PASS" : "FAIL");
    return passes ? 0 : 1;
}
