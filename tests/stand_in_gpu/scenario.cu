// Every call on a launch's path, one a step: what it answers, what the last error is then, and what the memory holds in the
// end. The program counts its steps for the stand-in GPU, and runs itself again for each fault that it is asked for.
//
//   scenario                 the steps, once
//   scenario calls           and which functions were called in which step
//   scenario faults FILE     for each line "WHEN STEP FUNCTION ERROR", in a process of its own
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/stand_in_gpu/gpu.h"

using stand_in_gpu::control;
using stand_in_gpu::When;

__global__ void scale(float* out, const float* in, float factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}

__global__ void product(float* c, const float* a, const float* b, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}

namespace {

const char add_one[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<3>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %d2, %d1;
    mul.wide.s32 %d3, %r5, 4;
    add.s64 %d4, %d2, %d3;
    ld.global.f32 %f1, [%d4];
    add.f32 %f2, %f1, 0f3F800000;
    st.global.f32 [%d4], %f2;
done:
    ret;
}
)";

constexpr int n = 4096, side = 48;

class Scenario {
  public:
    explicit Scenario(std::FILE* out) : out_(out) {}

    void run() {
        int count = 0, device = -1;
        say("cudaGetDeviceCount", [&] { return cudaGetDeviceCount(&count); });
        cudaDeviceProp properties{};
        say("cudaGetDeviceProperties", [&] { return cudaGetDeviceProperties(&properties, 0); });
        say("cudaSetDevice", [&] { return cudaSetDevice(0); });
        for (float*& buffer : buffers_)
            say("cudaMalloc", [&] { return cudaMalloc(&buffer, n * sizeof(float)); });
        std::vector<float> values(n);
        for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i % 17);
        for (float* buffer : buffers_)
            say("cudaMemcpy",
                [&] { return cudaMemcpy(buffer, values.data(), n * sizeof(float), cudaMemcpyHostToDevice); });
        // The first launch of a kernel, one of another size, one that is remembered.
        launch_scale(buffers_[1], buffers_[0], n, 64);
        launch_scale(buffers_[1], buffers_[0], 1000, 64);
        launch_scale(buffers_[1], buffers_[0], n, 64);
        launch_product();
        say("cudaDeviceSynchronize", [&] { return cudaDeviceSynchronize(); });
        // An error of the program's own stays, whatever Trimtab asks CUDA for meanwhile.
        say("cudaLaunchKernel of too many threads", [&] {
            written(4096);
            scale<<<1, 4096>>>(buffers_[1], buffers_[0], 1.0f, n);
            return cudaPeekAtLastError();
        });
        say("cudaLaunchKernel with an error pending", [&] {
            written(32);
            scale<<<(2000 + 31) / 32, 32>>>(buffers_[1], buffers_[2], 3.0f, 2000);
            return cudaPeekAtLastError();
        });
        say("cudaGetLastError", [&] { return cudaGetLastError(); });
        in_stream();
        with_events();
        as_graph();
        by_driver();
        say("cudaSetDevice", [&] { return cudaSetDevice(1); });
        say("cudaGetDevice", [&] { return cudaGetDevice(&device); });
        float* elsewhere = nullptr;
        say("cudaMalloc", [&] { return cudaMalloc(&elsewhere, n * sizeof(float)); });
        say("cudaMemset", [&] { return cudaMemset(elsewhere, 0, n * sizeof(float)); });
        launch_scale(elsewhere, elsewhere, n, 64);
        show("elsewhere", elsewhere);
        say("cudaFree", [&] { return cudaFree(elsewhere); });
        say("cudaSetDevice", [&] { return cudaSetDevice(0); });
        for (float* buffer : buffers_) show("a buffer", buffer);
        for (float* buffer : buffers_) say("cudaFree", [&] { return cudaFree(buffer); });
        std::fprintf(out_, "devices %d, current %d, name %s\n", count, device, properties.name);
    }

  private:
    template <typename Call>
    void say(const char* name, const Call& call) {
        ++control().step;
        const int status = static_cast<int>(call());
        std::fprintf(out_, "%s: %d, last error %d\n", name, status, static_cast<int>(cudaPeekAtLastError()));
    }

    static void written(unsigned x, unsigned y = 1, unsigned z = 1) { control().written_block = {x, y, z}; }

    void launch_scale(float* out, const float* in, int count, int block) {
        say("cudaLaunchKernel", [&] {
            written(static_cast<unsigned>(block));
            scale<<<(count + block - 1) / block, block>>>(out, in, 2.0f, count);
            return cudaGetLastError();
        });
    }

    void launch_product() {
        say("cudaLaunchKernel in two dimensions", [&] {
            written(16, 16);
            product<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(buffers_[2], buffers_[0], buffers_[1],
                                                                  side);
            return cudaGetLastError();
        });
    }

    void in_stream() {
        cudaStream_t stream = nullptr;
        say("cudaStreamCreate", [&] { return cudaStreamCreate(&stream); });
        say("cudaLaunchKernelExC", [&] {
            cudaLaunchConfig_t config{};
            config.gridDim = dim3(n / 64);
            config.blockDim = dim3(64);
            config.stream = stream;
            written(64);
            return cudaLaunchKernelEx(&config, scale, buffers_[1], static_cast<const float*>(buffers_[2]),
                                      0.5f, static_cast<int>(n));
        });
        say("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream); });
        say("cudaStreamDestroy", [&] { return cudaStreamDestroy(stream); });
    }

    void with_events() {
        cudaEvent_t begin = nullptr, end = nullptr;
        float milliseconds = -1;
        say("cudaEventCreate", [&] { return cudaEventCreate(&begin); });
        say("cudaEventCreate", [&] { return cudaEventCreate(&end); });
        say("cudaEventRecord", [&] { return cudaEventRecord(begin); });
        launch_scale(buffers_[0], buffers_[1], n, 64);
        say("cudaEventRecord", [&] { return cudaEventRecord(end); });
        say("cudaEventSynchronize", [&] { return cudaEventSynchronize(end); });
        say("cudaEventQuery", [&] { return cudaEventQuery(end); });
        say("cudaEventElapsedTime", [&] { return cudaEventElapsedTime(&milliseconds, begin, end); });
        std::fprintf(out_, "a time: %s\n", milliseconds >= 0 ? "yes" : "no");
        say("cudaEventDestroy", [&] { return cudaEventDestroy(begin); });
        say("cudaEventDestroy", [&] { return cudaEventDestroy(end); });
    }

    void as_graph() {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        say("cudaStreamCreate", [&] { return cudaStreamCreate(&stream); });
        say("cudaStreamBeginCapture",
            [&] { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); });
        say("cudaLaunchKernel in a capture", [&] {
            written(64);
            scale<<<n / 64, 64, 0, stream>>>(buffers_[1], buffers_[0], 4.0f, n);
            return cudaGetLastError();
        });
        say("cudaStreamEndCapture", [&] { return cudaStreamEndCapture(stream, &graph); });
        if (graph != nullptr) {
            say("cudaGraphInstantiate", [&] { return cudaGraphInstantiate(&executable, graph, 0); });
            say("cudaGraphLaunch", [&] { return cudaGraphLaunch(executable, stream); });
            say("cudaGraphExecDestroy", [&] { return cudaGraphExecDestroy(executable); });
            say("cudaGraphDestroy", [&] { return cudaGraphDestroy(graph); });
        }
        say("cudaStreamDestroy", [&] { return cudaStreamDestroy(stream); });
    }

    void by_driver() {
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        say("cuInit", [&] { return cuInit(0); });
        say("cuModuleLoadData", [&] { return cuModuleLoadData(&module, add_one); });
        say("cuModuleGetFunction", [&] { return cuModuleGetFunction(&function, module, "add_one"); });
        for (const int count : {n, 1000, n}) {
            say("cuLaunchKernel", [&] {
                written(64);
                int length = count;
                void* arguments[] = {&buffers_[2], &length};
                return cuLaunchKernel(function, static_cast<unsigned>(count + 63) / 64, 1, 1, 64, 1, 1, 0,
                                      nullptr, arguments, nullptr);
            });
        }
        say("cuCtxSynchronize", [&] { return cuCtxSynchronize(); });
        say("cuModuleUnload", [&] { return cuModuleUnload(module); });
    }

    void show(const char* name, const float* buffer) {
        std::vector<float> values(n, -1.0f);
        say("cudaMemcpy back",
            [&] { return cudaMemcpy(values.data(), buffer, n * sizeof(float), cudaMemcpyDeviceToHost); });
        std::uint64_t hash = 14695981039346656037u;
        for (const float value : values) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
        std::fprintf(out_, "%s: %016llx\n", name, static_cast<unsigned long long>(hash));
    }

    std::FILE* out_;
    float* buffers_[3] = {};
};

void show_calls() {
    for (std::size_t i = 0; i < control().functions; ++i)
        for (int step = 1; step < 64; ++step)
            if ((control().steps[i] >> step & 1) != 0) std::printf("call %d %s\n", step, control().names[i]);
}

int run_faults(const char* path) {
    std::FILE* cases = std::fopen(path, "r");
    if (cases == nullptr) return 2;
    char when[32], function[stand_in_gpu::most_name];
    int step = 0, error = 0;
    while (std::fscanf(cases, "%31s %d %63s %d", when, &step, function, &error) == 4) {
        std::printf("== %s %d %s %d\n", when, step, function, error);
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            std::fclose(cases);
            alarm(120);
            auto& fault = control().fault;
            fault.when = std::strcmp(when, "call") == 0      ? When::each_call
                         : std::strcmp(when, "changed") == 0 ? When::changed_launch
                                                             : When::afterwards;
            fault.step = step;
            fault.error = error;
            std::snprintf(fault.function.data(), fault.function.size(), "%s", function);
            Scenario(stdout).run();
            std::fflush(stdout);
            std::exit(0);  // what is to be done at the end is done
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) std::printf("ends with %d\n", status);
        std::fflush(stdout);
    }
    std::fclose(cases);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "faults") == 0) return run_faults(argv[2]);
    Scenario(stdout).run();
    if (argc == 2 && std::strcmp(argv[1], "calls") == 0) show_calls();
    return 0;
}
