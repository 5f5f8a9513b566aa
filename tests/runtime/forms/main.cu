// Every form of launch, each with a kernel of its own.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "forms.h"

FORM_KERNEL(in_initialiser)
FORM_KERNEL(in_brackets)
FORM_KERNEL(by_call)
FORM_KERNEL(by_config)
FORM_KERNEL(by_config_cooperative)
FORM_KERNEL(cooperative)
FORM_KERNEL(with_shared)
FORM_KERNEL(in_stream)
FORM_KERNEL(captured)
FORM_KERNEL(in_thread)
FORM_KERNEL(after_fork)

extern "C" void run_library();

namespace {

using Kernel = void (*)(const float*, float*, int);

void by_entry_points() {
    check_form("brackets",
               [](float* in, float* out) { in_brackets<<<form_grid, form_block>>>(in, out, form_count); });
    int n = form_count;
    check_form("call", [&](float* in, float* out) {
        void* arguments[] = {&in, &out, &n};
        FORM_CHECK(cudaLaunchKernel(by_call, dim3(form_grid), dim3(form_block), arguments, 0, nullptr));
    });
    const auto launch_config = [&](Kernel kernel, cudaLaunchAttribute attribute) {
        check_form("config", [&](float* in, float* out) {
            cudaLaunchConfig_t config{};
            config.gridDim = dim3(form_grid);
            config.blockDim = dim3(form_block);
            config.attrs = &attribute;
            config.numAttrs = 1;
            void* arguments[] = {&in, &out, &n};
            FORM_CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments));
        });
    };
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    launch_config(by_config, attribute);
    check_form("shared", [](float* in, float* out) {
        with_shared<<<form_grid, form_block, 256>>>(in, out, form_count);
    });
}

// Few enough blocks to be on the device at once.
void cooperatively() {
    int n = 512;
    float *in = nullptr, *out = nullptr;
    FORM_CHECK(cudaMalloc(&in, n * sizeof(float)));
    FORM_CHECK(cudaMalloc(&out, n * sizeof(float)));
    void* arguments[] = {&in, &out, &n};
    FORM_CHECK(cudaLaunchCooperativeKernel(cooperative, dim3(16), dim3(32), arguments, 0, nullptr));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(16);
    config.blockDim = dim3(32);
    config.attrs = &attribute;
    config.numAttrs = 1;
    FORM_CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(by_config_cooperative), arguments));
    FORM_CHECK(cudaDeviceSynchronize());
    FORM_CHECK(cudaFree(in));
    FORM_CHECK(cudaFree(out));
}

void in_streams() {
    cudaStream_t stream;
    FORM_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check_form("stream", [&](float* in, float* out) {
        in_stream<<<form_grid, form_block, 0, stream>>>(in, out, form_count);
    });
    check_form("graph", [&](float* in, float* out) {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        FORM_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        captured<<<form_grid, form_block, 0, stream>>>(in, out, form_count);
        FORM_CHECK(cudaStreamEndCapture(stream, &graph));
        FORM_CHECK(cudaGraphInstantiate(&executable, graph, 0));
        for (int i = 0; i < 3; ++i) FORM_CHECK(cudaGraphLaunch(executable, stream));
        FORM_CHECK(cudaStreamSynchronize(stream));
        FORM_CHECK(cudaGraphExecDestroy(executable));
        FORM_CHECK(cudaGraphDestroy(graph));
    });
    FORM_CHECK(cudaStreamDestroy(stream));
}

void in_threads_on_devices() {
    int devices = 0;
    FORM_CHECK(cudaGetDeviceCount(&devices));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([=] {
            FORM_CHECK(cudaSetDevice(t % devices));
            for (int i = 0; i < 3; ++i) {
                check_form("thread", [](float* in, float* out) {
                    in_thread<<<form_grid, form_block>>>(in, out, form_count);
                });
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

// Loaded, used, gone, and loaded again.
void from_plugin(const char* path) {
    for (int i = 0; i < 2; ++i) {
        void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (plugin == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            std::exit(1);
        }
        reinterpret_cast<void (*)()>(dlsym(plugin, "run_plugin"))();
        dlclose(plugin);
    }
}

}  // namespace

void launch_in_initialiser() {
    if (getenv("FORMS_FORK") != nullptr) return;  // whose child is the first to use CUDA
    check_form("initialiser",
               [](float* in, float* out) { in_initialiser<<<form_grid, form_block>>>(in, out, form_count); });
}

int main(int, char** argv) {
    if (getenv("FORMS_FORK") != nullptr) {
        const pid_t child = fork();
        if (child == 0) {
            check_form("fork", [](float* in, float* out) {
                after_fork<<<form_grid, form_block>>>(in, out, form_count);
            });
            exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        if (status != 0) return 1;
    } else {
        by_entry_points();
        cooperatively();
        in_streams();
        in_threads_on_devices();
        run_library();
        from_plugin(argv[1]);
    }
    std::printf("PASS\n");
}
