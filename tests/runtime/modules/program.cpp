// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// modules WAY FILE: kernels that are loaded while the program runs, one way a run, and their results as
// bytes.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nvrtc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

#define SUCCEEDS(call)                                                       \
    do {                                                                     \
        if (const int status_ = static_cast<int>(call); status_ != 0) {      \
            std::printf("line %d: %s gives %d\n", __LINE__, #call, status_); \
            std::exit(1);                                                    \
        }                                                                    \
    } while (false)
#define CHECK(condition)                                        \
    do {                                                        \
        if (!(condition)) {                                     \
            std::printf("line %d: %s\n", __LINE__, #condition); \
            std::exit(1);                                       \
        }                                                       \
    } while (false)

constexpr int n = 100000;

// Another factor makes another module, with a kernel of the same name.
std::string source(const std::string& factor) {
    return "extern \"C\" __global__ void combine(float a, const float* x, float* y, int n) {\n"
           "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) y[i] = a * x[i] + " +
           factor + " * y[i];\n}\n";
}

std::string compile(const std::string& text) {
    nvrtcProgram program = nullptr;
    SUCCEEDS(nvrtcCreateProgram(&program, text.c_str(), "combine.cu", 0, nullptr, nullptr));
    const char* options[] = {"--gpu-architecture=compute_75"};
    SUCCEEDS(nvrtcCompileProgram(program, 1, options));
    std::size_t bytes = 0;
    SUCCEEDS(nvrtcGetPTXSize(program, &bytes));
    std::string ptx(bytes, '\0');
    SUCCEEDS(nvrtcGetPTX(program, ptx.data()));
    SUCCEEDS(nvrtcDestroyProgram(&program));
    return ptx;
}

struct Buffers {
    CUdeviceptr x = 0, y = 0;
    Buffers() {
        std::vector<float> host(n);
        for (int i = 0; i < n; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i % 1000) / 7;
        SUCCEEDS(cuMemAlloc(&x, n * sizeof(float)));
        SUCCEEDS(cuMemAlloc(&y, n * sizeof(float)));
        SUCCEEDS(cuMemcpyHtoD(x, host.data(), n * sizeof(float)));
        SUCCEEDS(cuMemcpyHtoD(y, host.data(), n * sizeof(float)));
    }
};

constexpr unsigned block = 32, grid = (n + block - 1) / block;

void launch(CUfunction function, Buffers& buffers, int times) {
    float a = 0.5f;
    int count = n;
    void* arguments[] = {&a, &buffers.x, &buffers.y, &count};
    for (int i = 0; i < times; ++i)
        SUCCEEDS(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr));
}

void launch_packed(CUfunction function, Buffers& buffers) {
    struct {
        float a;
        int gap;
        CUdeviceptr x, y;
        int count;
    } packed{0.5f, 0, buffers.x, buffers.y, n};
    std::size_t bytes = 28;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    SUCCEEDS(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, nullptr, extra));
    SUCCEEDS(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, nullptr, extra));
}

void launch_ex(CUfunction function, Buffers& buffers, bool cooperative) {
    float a = 0.5f;
    int count = cooperative ? 64 : n;
    void* arguments[] = {&a, &buffers.x, &buffers.y, &count};
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = cooperative ? 1 : 0;
    CUlaunchConfig config{};
    config.gridDimX = cooperative ? 2 : grid;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = block;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    SUCCEEDS(cuLaunchKernelEx(&config, function, arguments, nullptr));
}

CUfunction function_of(CUmodule module) {
    CUfunction function = nullptr;
    SUCCEEDS(cuModuleGetFunction(&function, module, "combine"));
    return function;
}

CUmodule load(const std::string& ptx) {
    CUmodule module = nullptr;
    SUCCEEDS(cuModuleLoadData(&module, ptx.c_str()));
    return module;
}

void run(const std::string& way, const std::string& ptx, Buffers& buffers) {
    if (way == "data") {
        launch(function_of(load(ptx)), buffers, 3);
    } else if (way == "file") {
        std::ofstream("combine.ptx") << ptx.c_str();
        CUmodule module = nullptr;
        SUCCEEDS(cuModuleLoad(&module, "combine.ptx"));
        launch(function_of(module), buffers, 1);
    } else if (way == "packed") {
        launch_packed(function_of(load(ptx)), buffers);
    } else if (way == "ex") {
        launch_ex(function_of(load(ptx)), buffers, false);
        launch_ex(function_of(load(ptx)), buffers, true);
    } else if (way == "library") {
        CUlibrary library = nullptr;
        CUkernel kernel = nullptr;
        CUfunction function = nullptr;
        CUmodule module = nullptr;
        SUCCEEDS(cuLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        SUCCEEDS(cuLibraryGetKernel(&kernel, library, "combine"));
        launch(reinterpret_cast<CUfunction>(kernel), buffers, 1);
        SUCCEEDS(cuKernelGetFunction(&function, kernel));
        launch(function, buffers, 1);
        SUCCEEDS(cuLibraryGetModule(&module, library));
        launch(function_of(module), buffers, 1);
        SUCCEEDS(cuLibraryUnload(library));
    } else if (way == "runtime") {
        cudaLibrary_t library = nullptr;
        cudaKernel_t kernel = nullptr;
        SUCCEEDS(cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        SUCCEEDS(cudaLibraryGetKernel(&kernel, library, "combine"));
        float a = 0.5f;
        int count = n;
        void* arguments[] = {&a, &buffers.x, &buffers.y, &count};
        SUCCEEDS(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(grid), dim3(block), arguments,
                                  0, nullptr));
        SUCCEEDS(cudaLibraryUnload(library));
    } else if (way == "link") {
        CUlinkState link = nullptr;
        void* image = nullptr;
        std::size_t bytes = 0;
        SUCCEEDS(cuLinkCreate(0, nullptr, nullptr, &link));
        SUCCEEDS(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size(), "combine",
                               0, nullptr, nullptr));
        SUCCEEDS(cuLinkComplete(link, &image, &bytes));
        CUmodule module = nullptr;
        SUCCEEDS(cuModuleLoadData(&module, image));
        SUCCEEDS(cuLinkDestroy(link));
        launch(function_of(module), buffers, 1);
    } else if (way == "by-name") {
        void* load_data = nullptr;
        void* get_function = nullptr;
        void* launch_kernel = nullptr;
        CUdriverProcAddressQueryResult found{};
        SUCCEEDS(cuGetProcAddress("cuModuleLoadData", &load_data, 13000, 0, &found));
        SUCCEEDS(cuGetProcAddress("cuModuleGetFunction", &get_function, 13000, 0, &found));
        cudaDriverEntryPointQueryResult runtime_found{};
        SUCCEEDS(
            cudaGetDriverEntryPointByVersion("cuLaunchKernel", &launch_kernel, 13000, 0, &runtime_found));
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        SUCCEEDS(reinterpret_cast<decltype(&cuModuleLoadData)>(load_data)(&module, ptx.c_str()));
        SUCCEEDS(
            reinterpret_cast<decltype(&cuModuleGetFunction)>(get_function)(&function, module, "combine"));
        float a = 0.5f;
        int count = n;
        void* arguments[] = {&a, &buffers.x, &buffers.y, &count};
        SUCCEEDS(reinterpret_cast<decltype(&cuLaunchKernel)>(launch_kernel)(function, grid, 1, 1, block, 1, 1,
                                                                            0, nullptr, arguments, nullptr));
    } else if (way == "wrong") {
        const CUfunction function = function_of(load(ptx));
        CHECK(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, nullptr, nullptr) !=
              CUDA_SUCCESS);
        CHECK(cuLaunchKernel(function, grid, 1, 1, 0, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS);
        CHECK(cuLaunchKernel(nullptr, grid, 1, 1, block, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS);
        launch(function, buffers, 1);
    } else if (way == "reload") {
        // The handles' addresses come again, for another kernel of that name.
        const std::string other = compile(source("3.0f"));
        for (int i = 0; i < 40; ++i) {
            const CUmodule module = load(i % 2 == 0 ? ptx : other);
            launch(function_of(module), buffers, 1);
            SUCCEEDS(cuModuleUnload(module));
        }
    } else if (way == "until-ready") {
        // Prepared meanwhile, and no child of this program's.
        const CUfunction function = function_of(load(ptx));
        launch(function, buffers, 1);
        CHECK(waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD);
        const char* prepared = std::getenv("PREPARED");
        for (int i = 0; i < 600; ++i) {
            usleep(100000);
            if (std::system(prepared) == 0) break;
        }
        usleep(200000);
        launch(function, buffers, 1);
    } else {
        std::printf("there is no way %s\n", way.c_str());
        std::exit(2);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    SUCCEEDS(cuInit(0));
    CUdevice device = 0;
    CUcontext context = nullptr;
    SUCCEEDS(cuDeviceGet(&device, 0));
    SUCCEEDS(cuDevicePrimaryCtxRetain(&context, device));
    SUCCEEDS(cuCtxSetCurrent(context));
    Buffers buffers;
    run(argv[1], compile(source("0.25f")), buffers);
    std::vector<float> host(n);
    SUCCEEDS(cuMemcpyDtoH(host.data(), buffers.y, n * sizeof(float)));
    std::ofstream(argv[2], std::ios::binary)
        .write(reinterpret_cast<const char*>(host.data()), n * sizeof(float));
    std::puts("PASS");
}
