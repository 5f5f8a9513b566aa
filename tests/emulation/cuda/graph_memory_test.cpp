// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that graphs allocate and free, captured or added by hand, and what a device tells of it.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/emulation/cuda/kernels.h"
#include "tests/emulation/cuda/runtime_api.h"

namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 20;

unsigned long long attribute(cudaGraphMemAttributeType type) {
    unsigned long long bytes = ~0ULL;
    EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, type, &bytes), cudaSuccess);
    return bytes;
}

class GraphMemory : public RuntimeApi {
  protected:
    void SetUp() override {
        RuntimeApi::SetUp();
        ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    }

    // Captures: allocate; 41; add one; copy to `result`; free, if it is to be.
    cudaGraph_t captured(int* result, bool frees) {
        cudaGraph_t graph = nullptr;
        EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
        EXPECT_EQ(cudaMallocAsync(&memory_, memory_bytes, stream_), cudaSuccess);
        EXPECT_EQ(cudaMemsetAsync(memory_, 0, memory_bytes, stream_), cudaSuccess);
        void* arguments[] = {&memory_};
        EXPECT_EQ(cudaLaunchKernel(kernels::add_one, dim3(1), dim3(1), arguments, 0, stream_), cudaSuccess);
        EXPECT_EQ(cudaMemcpyAsync(result, memory_, sizeof *result, cudaMemcpyDeviceToHost, stream_),
                  cudaSuccess);
        if (frees) EXPECT_EQ(cudaFreeAsync(memory_, stream_), cudaSuccess);
        EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
        return graph;
    }

    cudaStream_t stream_ = nullptr;
    void* memory_ = nullptr;
};

TEST_F(GraphMemory, CapturedAllocationsAreNodes) {
    int result = 0;
    cudaGraph_t graph = captured(&result, true);
    cudaGraphNode_t nodes[8] = {};
    std::size_t count = std::size(nodes);
    ASSERT_EQ(cudaGraphGetNodes(graph, nodes, &count), cudaSuccess);
    ASSERT_EQ(count, 5u);
    cudaGraphNodeType first{}, last{};
    ASSERT_EQ(cudaGraphNodeGetType(nodes[0], &first), cudaSuccess);
    ASSERT_EQ(cudaGraphNodeGetType(nodes[4], &last), cudaSuccess);
    EXPECT_EQ(first, cudaGraphNodeTypeMemAlloc);
    EXPECT_EQ(last, cudaGraphNodeTypeMemFree);
    cudaMemAllocNodeParams params{};
    ASSERT_EQ(cudaGraphMemAllocNodeGetParams(nodes[0], &params), cudaSuccess);
    EXPECT_EQ(params.dptr, memory_);
    EXPECT_EQ(params.bytesize, memory_bytes);
    void* freed = nullptr;
    ASSERT_EQ(cudaGraphMemFreeNodeGetParams(nodes[4], &freed), cudaSuccess);
    EXPECT_EQ(freed, memory_);

    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int launch = 0; launch < 3; ++launch) {
        result = 0;
        ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
        EXPECT_EQ(result, 1);
    }
    // It has been freed by the graph itself.
    EXPECT_EQ(cudaFree(memory_), cudaErrorInvalidValue);
    EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), 0u);
    EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemHigh), memory_bytes);
    EXPECT_EQ(attribute(cudaGraphMemAttrReservedMemCurrent), memory_bytes);
    ASSERT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
    EXPECT_EQ(attribute(cudaGraphMemAttrReservedMemCurrent), 0u);
    EXPECT_EQ(attribute(cudaGraphMemAttrReservedMemHigh), memory_bytes);
    unsigned long long zero = 0, one = 1;
    EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one), cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero), cudaSuccess);
    EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemHigh), 0u);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    // The executable graph needs it still.
    ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(result, 1);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphMemory, WhatALaunchLeavesIsFreedBeforeTheNext) {
    int result = 0;
    cudaGraph_t graph = captured(&result, false);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue) << "it would be allocated twice";
    EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), memory_bytes);
    // The program may use it until it frees it, now or in stream order.
    int seen = 0;
    ASSERT_EQ(cudaMemcpy(&seen, memory_, sizeof seen, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(seen, 1);
    ASSERT_EQ(cudaFreeAsync(memory_, stream_), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    ASSERT_EQ(cudaFree(memory_), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaErrorInvalidValue);
    EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), 0u);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    // Or the graph does, where it was instantiated so.
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch), cudaSuccess);
    for (int launch = 0; launch < 3; ++launch) ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), memory_bytes);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess) << "what is allocated outlives its graph";
}

TEST_F(GraphMemory, ManyCapturesDoNotUseUpTheDevice) {
    std::size_t before = 0, after = 0, total = 0;
    ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
    int result = 0;
    for (int i = 0; i < 100; ++i) {
        cudaGraph_t graph = captured(&result, true);
        cudaGraphExec_t exec = nullptr;
        ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
        ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
        ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
        ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    }
    ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
    EXPECT_EQ(before, after);
}

TEST_F(GraphMemory, MemoryOfOthersIsNotFreedByAGraph) {
    int* other = on_device(std::vector<int>(4));
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, other), cudaErrorInvalidValue);
    cudaMemAllocNodeParams nothing{};
    EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &nothing), cudaErrorInvalidValue);
    unsigned long long bytes = 0;
    EXPECT_EQ(cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &bytes),
              cudaErrorInvalidDevice);
    EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(RuntimeApi, AttributesOfNodesAndStreamsAreToldBack) {
    int* counter = on_device(std::vector<int>{0});
    void* arguments[] = {&counter};
    cudaKernelNodeParams call{};
    call.func = const_cast<void*>(kernels::add_one);
    call.gridDim = call.blockDim = dim3(1);
    call.kernelParams = arguments;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr, other = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &call), cudaSuccess);
    ASSERT_EQ(cudaGraphAddKernelNode(&other, graph, nullptr, 0, &call), cudaSuccess);
    cudaLaunchAttributeValue value{}, told{};
    value.cooperative = 1;
    ASSERT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value), cudaSuccess);
    ASSERT_EQ(cudaGraphKernelNodeCopyAttributes(other, node), cudaSuccess);
    ASSERT_EQ(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeCooperative, &told), cudaSuccess);
    EXPECT_EQ(told.cooperative, 1);
    ASSERT_EQ(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributePriority, &told), cudaSuccess);
    EXPECT_EQ(told.priority, 0);
    // Set anew, a node keeps them.
    ASSERT_EQ(cudaGraphKernelNodeSetParams(node, &call), cudaSuccess);
    ASSERT_EQ(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &told), cudaSuccess);
    EXPECT_EQ(told.cooperative, 1);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);

    // A window of persisting accesses in L2, as large as the device says that it may be.
    cudaDeviceProp properties{};
    ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    EXPECT_EQ(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize,
                                 static_cast<std::size_t>(properties.persistingL2CacheMaxSize)),
              cudaSuccess);
    cudaStream_t stream = nullptr, copy = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&copy), cudaSuccess);
    cudaStreamAttrValue window{};
    window.accessPolicyWindow.base_ptr = counter;
    window.accessPolicyWindow.num_bytes = static_cast<std::size_t>(properties.accessPolicyMaxWindowSize);
    window.accessPolicyWindow.hitRatio = 0.5f;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    ASSERT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window), cudaSuccess);
    ASSERT_EQ(cudaStreamCopyAttributes(copy, stream), cudaSuccess);
    cudaStreamAttrValue found{};
    ASSERT_EQ(cudaStreamGetAttribute(copy, cudaStreamAttributeAccessPolicyWindow, &found), cudaSuccess);
    EXPECT_EQ(found.accessPolicyWindow.base_ptr, counter);
    EXPECT_EQ(found.accessPolicyWindow.hitRatio, 0.5f);
    window.accessPolicyWindow.hitRatio = 2;
    EXPECT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaCtxResetPersistingL2Cache(), cudaSuccess);
}

}  // namespace
