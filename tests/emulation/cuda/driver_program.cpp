// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of the driver API and NVRTC alone, as a C++ compiler builds it: contexts, modules of PTX made
// while it runs, launches with both forms of arguments, links, entry points by name, errors.
#include <cuda.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(bool ok, const char* what, int line) {
    if (ok) return;
    std::printf("line %d: %s\n", line, what);
    std::exit(1);
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define SUCCEEDS(call) check((call) == 0, #call, __LINE__)

constexpr const char* source = R"(
__device__ int counter;
__constant__ float scale;
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = a * scale * x[i] + y[i];
    atomicAdd(&counter, 1);
}
template <typename T> __global__ void fill(T* p, T value, int n) {
    extern __shared__ T staged[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    staged[threadIdx.x] = value;
    __syncthreads();
    if (i < n) p[i] = staged[threadIdx.x];
})";

struct Compiled {
    std::string ptx, fill_name;
};

Compiled compile() {
    nvrtcProgram program = nullptr;
    SUCCEEDS(nvrtcCreateProgram(&program, source, "source.cu", 0, nullptr, nullptr));
    SUCCEEDS(nvrtcAddNameExpression(program, "fill<double>"));
    const char* options[] = {"--gpu-architecture=compute_75"};
    SUCCEEDS(nvrtcCompileProgram(program, 1, options));
    std::size_t bytes = 0;
    SUCCEEDS(nvrtcGetPTXSize(program, &bytes));
    Compiled out;
    out.ptx.resize(bytes);
    SUCCEEDS(nvrtcGetPTX(program, out.ptx.data()));
    const char* name = nullptr;
    SUCCEEDS(nvrtcGetLoweredName(program, "fill<double>", &name));
    out.fill_name = name;
    SUCCEEDS(nvrtcDestroyProgram(&program));
    return out;
}

void refuses_before_there_is_a_context() {
    CUdeviceptr pointer = 0;
    CHECK(cuMemAlloc(&pointer, 4) == CUDA_ERROR_NOT_INITIALIZED);
    SUCCEEDS(cuInit(0));
    CHECK(cuMemAlloc(&pointer, 4) == CUDA_ERROR_INVALID_CONTEXT);
    const char* name = nullptr;
    SUCCEEDS(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &name));
    CHECK(std::string(name) == "CUDA_ERROR_INVALID_CONTEXT");
}

void bad_ptx_is_explained() {
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUmodule module = nullptr;
    const char* bad = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { bogus.u32 %r1; }";
    CHECK(cuModuleLoadDataEx(&module, bad, 2, options, values) == CUDA_ERROR_INVALID_PTX);
    CHECK(std::string(log).find(":4:") != std::string::npos);
    CHECK(cuModuleLoad(&module, "/no/such/file.ptx") == CUDA_ERROR_FILE_NOT_FOUND);
}

constexpr int n = 1000;

void launches_with_separate_arguments(CUmodule module) {
    CUfunction axpy = nullptr;
    SUCCEEDS(cuModuleGetFunction(&axpy, module, "axpy"));
    CUdeviceptr symbol = 0;
    std::size_t bytes = 0;
    SUCCEEDS(cuModuleGetGlobal(&symbol, &bytes, module, "scale"));
    const float two = 2;
    CHECK(bytes == sizeof two);
    SUCCEEDS(cuMemcpyHtoD(symbol, &two, sizeof two));
    std::vector<float> x(n, 1.5f), y(n, 1.0f);
    CUdeviceptr device_x = 0, device_y = 0;
    SUCCEEDS(cuMemAlloc(&device_x, n * sizeof(float)));
    SUCCEEDS(cuMemAlloc(&device_y, n * sizeof(float)));
    CUstream stream = nullptr;
    CUevent begin = nullptr, end = nullptr;
    SUCCEEDS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEEDS(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    SUCCEEDS(cuEventCreate(&end, CU_EVENT_DEFAULT));
    SUCCEEDS(cuMemcpyHtoDAsync(device_x, x.data(), n * sizeof(float), stream));
    SUCCEEDS(cuMemcpyHtoDAsync(device_y, y.data(), n * sizeof(float), stream));
    float a = 3;
    int count = n;
    void* arguments[] = {&a, &device_x, &device_y, &count};
    SUCCEEDS(cuEventRecord(begin, stream));
    SUCCEEDS(cuLaunchKernel(axpy, (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
    SUCCEEDS(cuEventRecord(end, stream));
    SUCCEEDS(cuStreamSynchronize(stream));
    float milliseconds = 0;
    SUCCEEDS(cuEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds > 0);
    SUCCEEDS(cuMemcpyDtoH(y.data(), device_y, n * sizeof(float)));
    CHECK(std::all_of(y.begin(), y.end(), [](float value) { return value == 10.0f; }));
    int counted = 0;
    SUCCEEDS(cuModuleGetGlobal(&symbol, &bytes, module, "counter"));
    SUCCEEDS(cuMemcpyDtoH(&counted, symbol, sizeof counted));
    CHECK(counted == n);
    int registers = 0, grid = 0, block = 0;
    SUCCEEDS(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, axpy));
    CHECK(registers > 0 && registers < 256);
    SUCCEEDS(cuOccupancyMaxPotentialBlockSize(&grid, &block, axpy, nullptr, 0, 0));
    CHECK(grid > 0 && block % 32 == 0 && block > 0);
    CHECK(cuLaunchKernel(axpy, 1, 1, 1, 2048, 1, 1, 0, stream, arguments, nullptr) ==
          CUDA_ERROR_INVALID_VALUE);
}

void launches_with_packed_arguments(CUmodule module, const std::string& name) {
    CUfunction fill = nullptr;
    CHECK(cuModuleGetFunction(&fill, module, "no_such_kernel") == CUDA_ERROR_NOT_FOUND);
    SUCCEEDS(cuModuleGetFunction(&fill, module, name.c_str()));
    CUdeviceptr output = 0;
    SUCCEEDS(cuMemAlloc(&output, n * sizeof(double)));
    struct {
        CUdeviceptr output;
        double value;
        int count;
    } packed{output, 4.5, n};
    std::size_t bytes = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    constexpr unsigned block = 128;
    SUCCEEDS(cuLaunchKernel(fill, (n + block - 1) / block, 1, 1, block, 1, 1, block * sizeof(double), nullptr,
                            nullptr, extra));
    std::vector<double> values(n);
    SUCCEEDS(cuMemcpyDtoH(values.data(), output, n * sizeof(double)));
    CHECK(std::all_of(values.begin(), values.end(), [](double value) { return value == 4.5; }));
    SUCCEEDS(cuMemsetD32(output, 7, n));
    std::vector<int> words(n);
    SUCCEEDS(cuMemcpyDtoH(words.data(), output, n * sizeof(int)));
    CHECK(std::all_of(words.begin(), words.end(), [](int value) { return value == 7; }));
    CUdeviceptr base = 0;
    SUCCEEDS(cuMemGetAddressRange(&base, &bytes, output + 40));
    CHECK(base == output && bytes == n * sizeof(double));
}

void replays_graphs(CUmodule module, const std::string& name) {
    CUfunction fill = nullptr;
    SUCCEEDS(cuModuleGetFunction(&fill, module, name.c_str()));
    CUdeviceptr output = 0;
    SUCCEEDS(cuMemAlloc(&output, n * sizeof(double)));
    double value = 1.25;
    int count = n;
    void* arguments[] = {&output, &value, &count};
    CUDA_KERNEL_NODE_PARAMS call{};
    call.func = fill;
    call.gridDimX = (n + 63) / 64;
    call.blockDimX = 64;
    call.gridDimY = call.gridDimZ = call.blockDimY = call.blockDimZ = 1;
    call.sharedMemBytes = 64 * sizeof(double);
    call.kernelParams = arguments;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    SUCCEEDS(cuGraphCreate(&graph, 0));
    SUCCEEDS(cuGraphAddKernelNode(&node, graph, nullptr, 0, &call));
    SUCCEEDS(cuGraphInstantiate(&exec, graph, 0));
    for (const double expected : {1.25, 2.5}) {
        value = expected;
        SUCCEEDS(cuGraphExecKernelNodeSetParams(exec, node, &call));
        SUCCEEDS(cuGraphLaunch(exec, nullptr));
        std::vector<double> values(n);
        SUCCEEDS(cuMemcpyDtoH(values.data(), output, n * sizeof(double)));
        CHECK(std::all_of(values.begin(), values.end(), [=](double v) { return v == expected; }));
    }
    SUCCEEDS(cuGraphExecDestroy(exec));
    SUCCEEDS(cuGraphDestroy(graph));
}

void links(const std::string& ptx) {
    CUlinkState link = nullptr;
    SUCCEEDS(cuLinkCreate(0, nullptr, nullptr, &link));
    SUCCEEDS(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size(), "a", 0,
                           nullptr, nullptr));
    void* image = nullptr;
    std::size_t bytes = 0;
    SUCCEEDS(cuLinkComplete(link, &image, &bytes));
    CUmodule module = nullptr;
    SUCCEEDS(cuModuleLoadData(&module, image));
    SUCCEEDS(cuLinkDestroy(link));
    CUfunction axpy = nullptr;
    SUCCEEDS(cuModuleGetFunction(&axpy, module, "axpy"));
    SUCCEEDS(cuModuleUnload(module));
    CHECK(cuModuleGetFunction(&axpy, module, "axpy") == CUDA_ERROR_INVALID_HANDLE);
}

void finds_entry_points() {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    SUCCEEDS(cuGetProcAddress("cuMemAlloc", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
    CUdeviceptr pointer = 0;
    SUCCEEDS(reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(found)(&pointer, 64));
    SUCCEEDS(cuMemFree(pointer));
    CHECK(cuGetProcAddress("cuNoSuchCall", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status) ==
          CUDA_ERROR_NOT_FOUND);
}

// A fault stays with the context and ends with it.
void faults_are_told(CUmodule module, CUcontext context, CUdevice device) {
    CUfunction axpy = nullptr;
    SUCCEEDS(cuModuleGetFunction(&axpy, module, "axpy"));
    float a = 1;
    int count = 32;
    CUdeviceptr wrong = 16;
    void* arguments[] = {&a, &wrong, &wrong, &count};
    SUCCEEDS(cuLaunchKernel(axpy, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuMemAlloc(&wrong, 4) == CUDA_ERROR_ILLEGAL_ADDRESS);
    SUCCEEDS(cuCtxDestroy(context));
    CHECK(cuMemAlloc(&wrong, 4) == CUDA_ERROR_INVALID_CONTEXT);
    SUCCEEDS(cuDevicePrimaryCtxRetain(&context, device));
    SUCCEEDS(cuCtxPushCurrent(context));
    SUCCEEDS(cuMemAlloc(&wrong, 4));
    CUcontext popped = nullptr;
    SUCCEEDS(cuCtxPopCurrent(&popped));
    CHECK(popped == context);
    SUCCEEDS(cuDevicePrimaryCtxRelease(device));
}

}  // namespace

int main() {
    refuses_before_there_is_a_context();
    CUdevice device = 0;
    char name[100] = "";
    SUCCEEDS(cuDeviceGet(&device, 0));
    SUCCEEDS(cuDeviceGetName(name, sizeof name, device));
    std::puts(name);
    CHECK(cuDeviceGet(&device, 99) == CUDA_ERROR_INVALID_DEVICE);
    CUcontext context = nullptr;
    SUCCEEDS(cuCtxCreate(&context, nullptr, 0, device));
    bad_ptx_is_explained();
    const Compiled compiled = compile();
    CUmodule module = nullptr;
    SUCCEEDS(cuModuleLoadData(&module, compiled.ptx.c_str()));
    launches_with_separate_arguments(module);
    launches_with_packed_arguments(module, compiled.fill_name);
    replays_graphs(module, compiled.fill_name);
    links(compiled.ptx);
    finds_entry_points();
    faults_are_told(module, context, device);
    std::puts("PASS");
}
