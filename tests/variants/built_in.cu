// Kernels whose block is built in, launched with it and without.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int block = 512;

__global__ void scale(float* x, float a, int n) {
    const int i = blockIdx.x * block + threadIdx.x;
    if (i < n) x[i] = a * x[i] + 1;
}

template <int BLOCK>
__global__ void add(const int* a, const int* b, int* c, size_t n) {
    const size_t i = static_cast<size_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void __launch_bounds__(256) bounded(int* x, int n) {
    const int i = (blockIdx.x << 8) | threadIdx.x;
    if (i < n) x[i] += i;
}

// Tiles of 16 x 16.
__global__ void transpose(const int* a, int* b, int rows, int columns) {
    const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
}

__global__ void stride(int* x, int n) {
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 128 * gridDim.x) x[i] = 3 * x[i] + 1;
}

// One block a row.
__global__ void rows(const int* a, int* b, int d) {
    const int row = blockIdx.x;
    for (int k = threadIdx.x; k < d; k += 128) b[row * d + k] = a[row * d + k] + row;
}

// Two elements a thread, a block apart.
__global__ void pairs(int* x, int n) {
    const int i = blockIdx.x * (2 * 128) + threadIdx.x;
    if (i < n) x[i] += 1;
    if (i + 128 < n) x[i + 128] += 2;
}

// Four elements a thread, a warp a row, pointers that are moved on: constants that are a multiple of the block's size
// or a part of it.
__global__ void quads(int* x, int n) {
    const int i = blockIdx.x * 512 + threadIdx.x * 4;
    for (int k = 0; k < 4; k++)
        if (i + k < n) x[i + k] += k;
}
__global__ void warp_rows(const int* a, int* b, int rows, int d) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= rows) return;
    int sum = 0;
    for (int k = threadIdx.x % 32; k < d; k += 32) sum += a[row * d + k];
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(~0u, sum, w);
    if (threadIdx.x % 32 == 0) b[row] = sum;
}
__global__ void moved(int* x, const int* y, int n) {
    x += blockIdx.x * 256;
    y += blockIdx.x * 256;
    if (blockIdx.x * 256 + threadIdx.x < n) x[threadIdx.x] += y[threadIdx.x];
}
__global__ void moved_bytes(char* x, unsigned n) {
    int* mine = reinterpret_cast<int*>(x + size_t{blockIdx.x} * 512);
    if (blockIdx.x * 128 + threadIdx.x < n) mine[threadIdx.x] += 3;
}

// One thread a block: the CUDA books' first kernels.
__global__ void add_by_blocks(const int* a, const int* b, int* c, int n) {
    const int i = blockIdx.x;
    if (i < n) c[i] = 2 * a[i] + b[i];
}
__global__ void add_in_turns(const int* a, int* c, int n) {
    for (int i = blockIdx.x; i < n; i += gridDim.x) c[i] += a[i];
}
__global__ void plane_of_blocks(int* c, int rows, int columns) {
    const int column = blockIdx.x, row = blockIdx.y, at = column + row * gridDim.x;
    if (row < rows && column < columns) c[at] = c[at] * 3 + row;
}
// ... and some whose blocks do what threads cannot.
__global__ void by_blocks_in_order(int* c, int n) {
    __shared__ int kept[4];
    kept[blockIdx.x % 4] = c[blockIdx.x];
    __syncthreads();
    if (blockIdx.x < n) c[blockIdx.x] = kept[blockIdx.x % 4] + 1;
}
__global__ void number_of_blocks(int* c, int n) {
    if (blockIdx.x < n) c[blockIdx.x] += gridDim.x / 3;
}

// Constants that are no block's, and what the block reaches beside the constant: none may get another block.
__global__ void place(int* x, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) x[i] += threadIdx.x;
}
__global__ void first_hundred(int* x, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n && threadIdx.x < 100) x[i] += 5;
}
__global__ void neighbours(int* x, int n) {
    __shared__ int shared[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    shared[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) x[i] = shared[(threadIdx.x + 1) % 128];
}
__global__ void both(int* x, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) x[i] += blockDim.x;
}
__global__ void blocks_of(int* x, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) x[i] += blockIdx.x % 7;
}
__global__ void warp_of_block(int* x, int rows) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row < rows && threadIdx.x % 32 == 0) x[row] += threadIdx.x / 32;
}
__global__ void bits_of_both(int* x, int rows) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row < rows && threadIdx.x % 32 == 0) x[row] += (blockIdx.x * 8) | threadIdx.x;
}
__global__ void moved_by_bytes_that_wrap(char* x, unsigned n) {
    int* mine = reinterpret_cast<int*>(x + blockIdx.x * 512);
    if (blockIdx.x * 128 + threadIdx.x < n) mine[threadIdx.x] += 3;
}
__global__ void moved_apart(int* x, int n) {
    int* other = x + blockIdx.x * 256;
    if (blockIdx.x * 128 + threadIdx.x < n / 2) other[threadIdx.x] += 1;
}

template <typename T>
struct Array {
    T* data = nullptr;
    size_t n;
    explicit Array(size_t count) : n(count) {
        std::vector<T> host(n);
        for (size_t i = 0; i < n; i++) host[i] = static_cast<T>(i % 1000);
        cudaMalloc(&data, n * sizeof(T));
        cudaMemcpy(data, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    void print(const char* what) const {
        std::vector<T> host(n);
        if (cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) exit(1);
        unsigned long long sum = 5381;
        for (const T& value : host) {
            unsigned bits;
            std::memcpy(&bits, &value, 4);
            sum = sum * 33 + bits;
        }
        std::printf("%s %llx\n", what, sum);
    }
};

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 100000;
    const unsigned blocks = (n + block - 1) / block;
    Array<float> x(n);
    scale<<<blocks, block>>>(x.data, 2, n);
    x.print("scale");
    scale<<<blocks, 256>>>(x.data, 2, n);  // half of the elements
    x.print("scale of half");
    scale<<<dim3(blocks, 1), dim3(block, 2)>>>(x.data, 2, n);  // a race that all lose alike: refused
    x.print("scale of two rows");
    Array<int> a(n), b(n), c(n);
    add<256><<<(n + 255) / 256, 256>>>(a.data, b.data, c.data, n);
    c.print("add");
    bounded<<<(n + 255) / 256, 256>>>(c.data, n);
    c.print("bounded");
    transpose<<<dim3((n / 100 + 15) / 16, 7), dim3(16, 16)>>>(a.data, b.data, 100, n / 100);
    b.print("transpose");
    stride<<<40, 128>>>(c.data, n);
    c.print("stride");
    stride<<<40, 64>>>(c.data, n);
    c.print("stride of half");
    rows<<<100, 128>>>(a.data, b.data, n / 100);
    b.print("rows");
    rows<<<100, 256>>>(a.data, b.data, n / 100);  // elements are written more than once, the same
    b.print("rows again");
    pairs<<<(n + 255) / 256, 128>>>(c.data, n);
    c.print("pairs");
    quads<<<(n + 511) / 512, 128>>>(c.data, n);
    c.print("quads");
    warp_rows<<<13, 256>>>(a.data, c.data, 100, n / 100);
    c.print("rows of warps");
    warp_rows<<<25, 128>>>(a.data, c.data, 100, n / 100);  // warps of half a block do as those of others
    c.print("rows of warps, half a block");
    moved<<<(n + 255) / 256, 256>>>(c.data, a.data, n);
    moved_bytes<<<(n + 127) / 128, 128>>>(reinterpret_cast<char*>(c.data), n);
    c.print("moved");
    add_by_blocks<<<n, 1>>>(a.data, b.data, c.data, n);
    c.print("blocks of one");
    add_by_blocks<<<n, 32>>>(a.data, b.data, c.data, n);  // 32 threads do the same
    add_in_turns<<<96, 1>>>(a.data, c.data, n);
    plane_of_blocks<<<dim3(n / 100, 50), 1>>>(c.data, 50, n / 100);
    by_blocks_in_order<<<96, 1>>>(c.data, 96);
    number_of_blocks<<<96, 1>>>(c.data, 100);
    c.print("blocks of one again");
    const unsigned small = (n + 127) / 128;
    place<<<small, 128>>>(c.data, n);
    first_hundred<<<small, 128>>>(c.data, n);
    neighbours<<<small, 128>>>(c.data, n);
    both<<<small, 128>>>(c.data, n);
    blocks_of<<<small, 128>>>(c.data, n);
    warp_of_block<<<13, 256>>>(c.data, 100);
    bits_of_both<<<13, 256>>>(c.data, 100);
    moved_by_bytes_that_wrap<<<small, 128>>>(reinterpret_cast<char*>(c.data), n);
    moved_apart<<<(n / 2 + 127) / 128, 128>>>(c.data, n);
    c.print("others");

    // A node holds what the program wrote; what it runs may be another body.
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    transpose<<<dim3((n / 100 + 15) / 16, 7), dim3(16, 16), 0, stream>>>(c.data, b.data, 100, n / 100);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphNode_t node;
    size_t count = 1;
    cudaKernelNodeParams parameters{};
    if (cudaGraphGetNodes(graph, &node, &count) != cudaSuccess || count != 1 ||
        cudaGraphKernelNodeGetParams(node, &parameters) != cudaSuccess ||
        parameters.func != reinterpret_cast<void*>(transpose) || parameters.blockDim.x != 16)
        return 1;
    if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess ||
        cudaGraphLaunch(executable, stream) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess)
        return 1;
    b.print("transpose in a graph");
    for (int k = 0; k < 3; k++)  // remembered
        transpose<<<dim3((n / 100 + 15) / 16, 7), dim3(16, 16)>>>(b.data, a.data, 100, n / 100);
    a.print("transpose again");

    // By the driver's handle.
    cudaFunction_t function;
    int rows_of = 100, columns = n / 100;
    void* arguments[] = {&b.data, &c.data, &rows_of, &columns};
    if (cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(transpose)) != cudaSuccess ||
        cuLaunchKernel(function, (n / 100 + 15) / 16, 7, 1, 16, 16, 1, 0, nullptr, arguments, nullptr) !=
            CUDA_SUCCESS)
        return 1;
    c.print("transpose by the driver");
    std::puts("PASS");
    return 0;
}
