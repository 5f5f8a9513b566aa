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
FORM_KERNEL(in_node)
FORM_KERNEL(in_child)
FORM_KERNEL(in_updated)
FORM_KERNEL(in_set)
FORM_KERNEL(in_cooperative_node)
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

// What a graph holds is what was written, whatever its executable graphs launch.
void expect_as_written(cudaGraphNode_t node) {
    cudaKernelNodeParams params{};
    FORM_CHECK(cudaGraphKernelNodeGetParams(node, &params));
    if (params.gridDim.x == form_grid && params.blockDim.x == form_block) return;
    std::fprintf(stderr, "a node tells blocks of %u\n", params.blockDim.x);
    std::exit(1);
}

void run_once(cudaGraphExec_t executable) {
    FORM_CHECK(cudaGraphLaunch(executable, nullptr));
    FORM_CHECK(cudaGraphExecDestroy(executable));
}

void in_graphs() {
    int n = form_count;
    const auto node_of = [&](Kernel kernel, cudaGraph_t graph, float* in, float* out) {
        void* arguments[] = {&in, &out, &n};
        cudaKernelNodeParams params{};
        params.func = reinterpret_cast<void*>(kernel);
        params.gridDim = dim3(form_grid);
        params.blockDim = dim3(form_block);
        params.kernelParams = arguments;
        cudaGraphNode_t node;
        FORM_CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        return node;
    };
    cudaGraph_t graph, other;
    cudaGraphExec_t executable;
    check_form("node", [&](float* in, float* out) {
        FORM_CHECK(cudaGraphCreate(&graph, 0));
        cudaGraphNode_t node = node_of(in_node, graph, in, out);
        FORM_CHECK(cudaGraphInstantiate(&executable, graph, 0));
        expect_as_written(node);
        run_once(executable);
    });
    check_form("clone", [&](float* in, float* out) {
        FORM_CHECK(cudaGraphDestroy(graph));
        FORM_CHECK(cudaGraphCreate(&graph, 0));
        node_of(in_node, graph, in, out);
        FORM_CHECK(cudaGraphClone(&other, graph));
        cudaGraphInstantiateParams params{};
        FORM_CHECK(cudaGraphInstantiateWithParams(&executable, other, &params));
        run_once(executable);
        FORM_CHECK(cudaGraphDestroy(other));
    });
    check_form("child", [&](float* in, float* out) {
        FORM_CHECK(cudaGraphCreate(&other, 0));
        node_of(in_child, other, in, out);
        cudaGraph_t parent;
        FORM_CHECK(cudaGraphCreate(&parent, 0));
        cudaGraphNode_t node;
        FORM_CHECK(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, other));
        FORM_CHECK(cudaGraphInstantiate(&executable, parent, 0));
        run_once(executable);
        FORM_CHECK(cudaGraphDestroy(parent));
        FORM_CHECK(cudaGraphDestroy(other));
    });
    // The executable graph is given other arrays: by another graph, and for one node.
    check_form("update", [&](float* in, float* out) {
        FORM_CHECK(cudaGraphCreate(&other, 0));
        node_of(in_updated, other, in, in);
        FORM_CHECK(cudaGraphInstantiate(&executable, other, 0));
        FORM_CHECK(cudaGraphDestroy(other));
        FORM_CHECK(cudaGraphCreate(&other, 0));
        cudaGraphNode_t node = node_of(in_updated, other, in, out);
        cudaGraphExecUpdateResultInfo info{};
        FORM_CHECK(cudaGraphExecUpdate(executable, other, &info));
        expect_as_written(node);
        run_once(executable);
        FORM_CHECK(cudaGraphDestroy(other));
    });
    check_form("set", [&](float* in, float* out) {
        FORM_CHECK(cudaGraphCreate(&other, 0));
        cudaGraphNode_t node = node_of(in_set, other, in, in);
        FORM_CHECK(cudaGraphInstantiate(&executable, other, 0));
        cudaKernelNodeParams params{};
        FORM_CHECK(cudaGraphKernelNodeGetParams(node, &params));
        void* arguments[] = {&in, &out, &n};
        params.kernelParams = arguments;
        FORM_CHECK(cudaGraphExecKernelNodeSetParams(executable, node, &params));
        cudaGraphNodeParams generic{};
        generic.type = cudaGraphNodeTypeKernel;
        generic.kernel.func = params.func;
        generic.kernel.gridDim = params.gridDim;
        generic.kernel.blockDim = params.blockDim;
        generic.kernel.kernelParams = arguments;
        FORM_CHECK(cudaGraphExecNodeSetParams(executable, node, &generic));
        expect_as_written(node);
        run_once(executable);
        FORM_CHECK(cudaGraphDestroy(other));
    });
    FORM_CHECK(cudaGraphDestroy(graph));
    // Few enough blocks to be on the device at once.
    float *in = nullptr, *out = nullptr;
    FORM_CHECK(cudaMalloc(&in, form_count * sizeof(float)));
    FORM_CHECK(cudaMalloc(&out, form_count * sizeof(float)));
    FORM_CHECK(cudaGraphCreate(&graph, 0));
    n = 512;
    cudaGraphNode_t node = node_of(in_cooperative_node, graph, in, out);
    cudaKernelNodeParams params{};
    FORM_CHECK(cudaGraphKernelNodeGetParams(node, &params));
    params.gridDim = dim3(16);
    FORM_CHECK(cudaGraphKernelNodeSetParams(node, &params));
    cudaLaunchAttributeValue value{};
    value.cooperative = 1;
    FORM_CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
    FORM_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    run_once(executable);
    FORM_CHECK(cudaDeviceSynchronize());
    FORM_CHECK(cudaGraphDestroy(graph));
    FORM_CHECK(cudaFree(in));
    FORM_CHECK(cudaFree(out));
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
        in_graphs();
        in_threads_on_devices();
        run_library();
        from_plugin(argv[1]);
    }
    std::printf("PASS\n");
}
