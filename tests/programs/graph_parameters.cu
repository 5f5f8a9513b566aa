// Kernel nodes read back, changed and set again, in every way: what a node says is what was written, and what
// it is given decides anew. Were a changed launch read back, other arguments would meet blocks made for
// these.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                          \
    do {                                                                     \
        if (const int status = static_cast<int>(call); status != 0) {        \
            std::printf("line %d: %s: error %d\n", __LINE__, #call, status); \
            std::exit(1);                                                    \
        }                                                                    \
    } while (0)

constexpr int room = 8192, threads = 100;

// Threads past the extent as written would write where the arguments let them.
__global__ void fill(int* out, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value + i;
}
// In any number of threads, unless its arrays lie over each other: then in one alone.
__global__ void shift(int* out, const int* in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] + 1;
}

int* out;
cudaStream_t stream;

std::vector<int> result_of(cudaGraphExec_t exec) {
    std::vector<int> found(room);
    CHECK(cudaMemset(out, 0, room * sizeof(int)));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(found.data(), out, room * sizeof(int), cudaMemcpyDeviceToHost));
    return found;
}

void expect(const char* what, cudaGraphExec_t exec, int extent, int n, int value) {
    const std::vector<int> found = result_of(exec);
    for (int i = 0; i < room; ++i) {
        const int wanted = i < n && i < extent ? value + i : 0;
        if (found[i] == wanted) continue;
        std::printf("%s: element %d is %d, not %d\n", what, i, found[i], wanted);
        std::exit(1);
    }
}

cudaGraphNode_t only_node(cudaGraph_t graph) {
    cudaGraphNode_t node;
    size_t count = 1;
    CHECK(cudaGraphGetNodes(graph, &node, &count));
    return node;
}

cudaKernelNodeParams expect_written(cudaGraphNode_t node, unsigned blocks) {
    cudaKernelNodeParams params{};
    CHECK(cudaGraphKernelNodeGetParams(node, &params));
    if (params.gridDim.x == blocks && params.blockDim.x == threads) return params;
    std::printf("a node tells %u blocks of %u\n", params.gridDim.x, params.blockDim.x);
    std::exit(1);
}

void arguments_change(int blocks, int first_n, int n) {
    const int extent = blocks * threads;
    cudaGraph_t graph, copy, parent;
    cudaGraphExec_t exec, other;
    cudaGraphNode_t child;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    fill<<<blocks, threads, 0, stream>>>(out, first_n, 7);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    expect("captured", exec, extent, first_n, 7);
    cudaGraphNode_t node = only_node(graph);
    cudaKernelNodeParams params = expect_written(node, blocks);
    int value = 9;
    void* arguments[] = {&out, &n, &value};
    params.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    expect("set in the executable graph", exec, extent, n, 9);
    // The graph itself is as it was.
    CHECK(cudaGraphClone(&copy, graph));
    CHECK(cudaGraphInstantiate(&other, copy, 0));
    expect("clone", other, extent, first_n, 7);
    value = 11;
    CHECK(cudaGraphKernelNodeSetParams(only_node(copy), &params));
    expect_written(only_node(copy), blocks);
    expect("clone, instantiated before", other, extent, first_n, 7);
    cudaGraphExecUpdateResultInfo info{};
    CHECK(cudaGraphExecUpdate(other, copy, &info));
    expect("updated", other, extent, n, 11);
    CHECK(cudaGraphExecDestroy(other));
    // In a child graph, and that exchanged for another.
    CHECK(cudaGraphCreate(&parent, 0));
    CHECK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
    CHECK(cudaGraphInstantiate(&other, parent, 0));
    expect("child", other, extent, first_n, 7);
    CHECK(cudaGraphExecChildGraphNodeSetParams(other, child, copy));
    expect("other child", other, extent, n, 11);
    CHECK(cudaGraphExecDestroy(other));
    // By the driver API.
    CHECK(cuGraphInstantiate(&other, graph, 0));
    expect("driver", other, extent, first_n, 7);
    CUDA_KERNEL_NODE_PARAMS of_driver{};
    CHECK(cuGraphKernelNodeGetParams(node, &of_driver));
    if (of_driver.gridDimX != unsigned(blocks) || of_driver.blockDimX != threads) std::exit(2);
    of_driver.kernelParams = arguments;
    value = 13;
    CHECK(cuGraphExecKernelNodeSetParams(other, node, &of_driver));
    expect("driver, set", other, extent, n, 13);
    CUgraphExecUpdateResultInfo driver_info{};
    CHECK(cuGraphExecUpdate(other, copy, &driver_info));
    expect("driver, updated", other, extent, n, 11);
    for (cudaGraphExec_t made : {exec, other}) CHECK(cudaGraphExecDestroy(made));
    for (cudaGraph_t made : {graph, copy, parent}) CHECK(cudaGraphDestroy(made));
}

void arrays_overlap() {
    constexpr int n = 3000;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int* in;
    CHECK(cudaMalloc(&in, room * sizeof(int)));
    CHECK(cudaMemset(in, 0, room * sizeof(int)));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    shift<<<1, 1, 0, stream>>>(out, in, n);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    if (result_of(exec)[n - 1] != 1) std::exit(3);
    cudaGraphNode_t node = only_node(graph);
    cudaKernelNodeParams params{};
    CHECK(cudaGraphKernelNodeGetParams(node, &params));
    int count = n, *next = out + 1;
    void* arguments[] = {&next, &out, &count};
    params.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    const std::vector<int> found = result_of(exec);
    for (int i = 0; i <= n; ++i) {
        if (found[i] == i) continue;
        std::printf("overlapping: element %d is %d\n", i, found[i]);
        std::exit(1);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(in));
}

int main() {
    CHECK(cudaMalloc(&out, room * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (const int n : {1013, 2000, 5000}) {
        arguments_change(10, 1000, n);
        arguments_change(27, 999, n);
        arguments_change(7, 700, n);
    }
    arrays_overlap();
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(out));
    std::printf("PASS\n");
}
