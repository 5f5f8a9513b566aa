// An annotated kernel, whose grid and dynamic shared memory follow from its block, launched in every way that
// the runtime and the driver API have. Each way's sum is checked.
#include <cuda.h>
#include <trimtab/annotate.h>

#include <cstdio>
#include <cstdlib>

extern __shared__ int partial[];

__global__ void TRIMTAB_TUNE(block(ispow2(bx), bx >= 64), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx))
    block_sum(const int* in, int* total, int n) {
    unsigned i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

#define CHECK(call)                                                         \
    do {                                                                    \
        if (const int status = static_cast<int>(call); status != 0) {       \
            std::printf("line %d: %s gives %d\n", __LINE__, #call, status); \
            std::exit(1);                                                   \
        }                                                                   \
    } while (false)

constexpr int threads = 1024, shared_bytes = threads * sizeof(int);
// The way itself is the size, so that each is a choice of its own, and the report tells them apart.
constexpr int first_n = 1000000;

int *in, *total;

template <typename Launch>
void check(int way, const Launch& launch) {
    int n = first_n + way, sum = 0;
    const unsigned blocks = (n + 2 * threads - 1) / (2 * threads);
    CHECK(cudaMemset(total, 0, sizeof(int)));
    void* arguments[] = {&in, &total, &n};
    launch(blocks, arguments, n);
    CHECK(cudaMemcpy(&sum, total, sizeof(int), cudaMemcpyDeviceToHost));
    if (sum == n) return;
    std::printf("way %d: the sum is %d\n", way, sum);
    std::exit(1);
}

int main() {
    constexpr int most = first_n + 100;
    CHECK(cudaMalloc(&in, most * sizeof(int)));
    CHECK(cudaMalloc(&total, sizeof(int)));
    int* ones = new int[most];
    for (int i = 0; i < most; i++) ones[i] = 1;
    CHECK(cudaMemcpy(in, ones, most * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cuInit(0));

    CUfunction function = nullptr;
    cudaKernel_t kernel = nullptr;
    cudaStream_t stream = nullptr;
    CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(block_sum)));
    CHECK(cudaGetKernel(&kernel, reinterpret_cast<const void*>(block_sum)));
    CHECK(cudaStreamCreate(&stream));

    check(0,
          [](unsigned blocks, void**, int n) { block_sum<<<blocks, threads, shared_bytes>>>(in, total, n); });
    check(1, [&](unsigned blocks, void** arguments, int) {
        CHECK(
            cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, nullptr, arguments, nullptr));
    });
    check(2, [&](unsigned blocks, void**, int n) {
        struct {
            int *in, *total;
            int n;
        } packed{in, total, n};
        std::size_t bytes = sizeof packed;
        void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                         CU_LAUNCH_PARAM_END};
        CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, nullptr, nullptr, extra));
    });
    check(3, [&](unsigned blocks, void** arguments, int) {
        CUlaunchConfig config{};
        config.gridDimX = blocks;
        config.blockDimX = threads;
        config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
        config.sharedMemBytes = shared_bytes;
        config.hStream = stream;
        CHECK(cuLaunchKernelEx(&config, function, arguments, nullptr));
        CHECK(cuStreamSynchronize(stream));
    });
    check(4, [&](unsigned blocks, void** arguments, int) {
        CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), arguments,
                               shared_bytes, nullptr));
    });
    check(5, [&](unsigned blocks, void** arguments, int) {
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(threads);
        config.dynamicSmemBytes = shared_bytes;
        CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(block_sum), arguments));
    });
    check(6, [&](unsigned blocks, void** arguments, int) {
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CHECK(
            cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, arguments, nullptr));
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&executable, graph, 0));
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
    });
    // Through what cuGetProcAddress gives out.
    check(7, [&](unsigned blocks, void** arguments, int) {
        void* entry = nullptr;
        CHECK(cuGetProcAddress("cuLaunchKernel", &entry, 12000, 0, nullptr));
        CHECK(reinterpret_cast<decltype(&cuLaunchKernel)>(entry)(function, blocks, 1, 1, threads, 1, 1,
                                                                 shared_bytes, nullptr, arguments, nullptr));
    });
    // A cudaKernel_t as the driver's function.
    check(8, [&](unsigned blocks, void** arguments, int) {
        CUfunction of_kernel = nullptr;
        CHECK(cuKernelGetFunction(&of_kernel, reinterpret_cast<CUkernel>(kernel)));
        CHECK(cuLaunchKernel(of_kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, nullptr, arguments,
                             nullptr));
    });
    // Not as the annotation says: more shared memory, one block more, a block that it does not allow.
    check(90, [&](unsigned blocks, void** arguments, int) {
        CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 2 * shared_bytes, nullptr, arguments,
                             nullptr));
    });
    check(91, [&](unsigned blocks, void** arguments, int) {
        CHECK(cuLaunchKernel(function, blocks + 1, 1, 1, threads, 1, 1, shared_bytes, nullptr, arguments,
                             nullptr));
    });
    check(92, [&](unsigned, void** arguments, int n) {
        CHECK(cuLaunchKernel(function, (n + 63) / 64, 1, 1, 32, 1, 1, 128, nullptr, arguments, nullptr));
    });
    std::puts("PASS");
}
