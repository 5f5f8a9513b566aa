// Conditional nodes: bodies that run if, while or as a value says that kernels set.
// Flags: -O2 -rdc=true -arch=sm_75
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                        \
    do {                                                                                   \
        if (const cudaError_t status = (call); status != cudaSuccess) {                    \
            std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(status)); \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)
#define EXPECT(found, wanted)                                                              \
    do {                                                                                   \
        if (const int value = (found); value != (wanted)) {                                \
            std::printf("line %d: %s is %d, not %d\n", __LINE__, #found, value, (wanted)); \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)

__global__ void decide(cudaGraphConditionalHandle handle, const int* value) {
    cudaGraphSetConditional(handle, *value);
}
__global__ void add(int* sum, int amount) {
    *sum += amount;
}
__global__ void count_down(cudaGraphConditionalHandle handle, int* left, int* sum) {
    *sum += *left;
    cudaGraphSetConditional(handle, --*left > 0);
}

template <typename... Arguments>
cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t* after, void (*kernel)(Arguments...),
                           Arguments... arguments) {
    void* pointers[] = {&arguments...};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(kernel);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = pointers;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, after, after != nullptr, &params));
    return node;
}

cudaGraph_t* add_conditional(cudaGraph_t graph, const cudaGraphNode_t* after,
                             cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                             unsigned size, cudaGraphNode_t* node) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    CHECK(cudaGraphAddNode(node, graph, after, nullptr, after != nullptr, &params));
    return params.conditional.phGraph_out;
}

int *value, *sum, *left;  // managed

void run(cudaGraphExec_t exec) {
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
}

int sum_of(cudaGraphExec_t exec, int value_now) {
    *value = value_now;
    *sum = 0;
    run(exec);
    return *sum;
}

void branches(cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    cudaGraphNode_t first = add_kernel(graph, nullptr, decide, handle, const_cast<const int*>(value));
    cudaGraph_t* bodies = add_conditional(graph, &first, handle, type, size, &node);
    for (unsigned i = 0; i < size; ++i) add_kernel(bodies[i], nullptr, add, sum, int(10 + i));
    add_kernel(graph, &node, add, sum, 100);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    if (type == cudaGraphCondTypeIf) {
        EXPECT(sum_of(exec, 1), 110);
        EXPECT(sum_of(exec, 7), 110);
        EXPECT(sum_of(exec, 0), size == 2 ? 111 : 100);
    } else {
        for (int i = 0; i < int(size); ++i) EXPECT(sum_of(exec, i), 110 + i);
        EXPECT(sum_of(exec, int(size)), 100);
    }
    CHECK(cudaGraphExecDestroy(exec));
}

// 5 + 4 + 3 + 2 + 1, at each launch.
void loops() {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraph_t body = *add_conditional(graph, nullptr, handle, cudaGraphCondTypeWhile, 1, &node);
    // A stream may record a body, too.
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    count_down<<<1, 1, 0, stream>>>(handle, left, sum);
    CHECK(cudaStreamEndCapture(stream, &body));
    add_kernel(graph, &node, add, sum, 100);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 3; ++launch) {
        *left = 5;
        EXPECT(sum_of(exec, 0), 115);
        EXPECT(*left, 0);
    }
    cudaGraphNode_t none;
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 2;
    EXPECT(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &params), cudaErrorInvalidValue);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

int main() {
    CHECK(cudaMallocManaged(&value, sizeof *value));
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    CHECK(cudaMallocManaged(&left, sizeof *left));
    branches(cudaGraphCondTypeIf, 1);
    branches(cudaGraphCondTypeIf, 2);
    branches(cudaGraphCondTypeSwitch, 3);
    loops();
    std::printf("PASS\n");
}
