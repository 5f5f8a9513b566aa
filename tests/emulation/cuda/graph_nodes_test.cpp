// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs built and changed node by node: what nodes were made with, edges, memory, events, user objects; and
// a thread's own default stream.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/emulation/cuda/kernels.h"
#include "tests/emulation/cuda/runtime_api.h"

namespace {

cudaKernelNodeParams call_of(void** arguments) {
    cudaKernelNodeParams call{};
    call.func = const_cast<void*>(kernels::add_one);
    call.gridDim = call.blockDim = dim3(1);
    call.kernelParams = arguments;
    return call;
}

int value_of(const int* pointer) {
    int value = 0;
    EXPECT_EQ(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
}

TEST_F(RuntimeApi, GraphNodesTellWhatTheyWereMadeWith) {
    int* counter = on_device(std::vector<int>{5});
    int* other = on_device(std::vector<int>{50});
    void* arguments[] = {&counter};
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t first = nullptr, second = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    const cudaKernelNodeParams call = call_of(arguments);
    ASSERT_EQ(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &call), cudaSuccess);
    ASSERT_EQ(cudaGraphAddKernelNode(&second, graph, &first, 1, &call), cudaSuccess);
    cudaKernelNodeParams told{};
    ASSERT_EQ(cudaGraphKernelNodeGetParams(second, &told), cudaSuccess);
    EXPECT_EQ(told.func, kernels::add_one);
    EXPECT_EQ(*static_cast<int**>(told.kernelParams[0]), counter);
    std::size_t edges = 1;
    cudaGraphNode_t from = nullptr, to = nullptr;
    ASSERT_EQ(cudaGraphGetEdges(graph, &from, &to, nullptr, &edges), cudaSuccess);
    EXPECT_EQ(edges, 1U);
    EXPECT_EQ(from, first);
    EXPECT_EQ(to, second);
    cudaMemsetParams none{};
    EXPECT_EQ(cudaGraphMemsetNodeGetParams(first, &none), cudaErrorInvalidValue);

    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    EXPECT_EQ(value_of(counter), 7);
    // What was read back, changed, is taken again.
    *static_cast<int**>(told.kernelParams[0]) = other;
    ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec, second, &told), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    EXPECT_EQ(value_of(counter), 8);
    EXPECT_EQ(value_of(other), 51);
    EXPECT_EQ(cudaGraphDestroyNode(first), cudaSuccess);
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetRootNodes(graph, nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(RuntimeApi, GraphsOwnTheirMemoryAndRecordEvents) {
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    cudaMemAllocNodeParams memory{};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location = {.type = cudaMemLocationTypeDevice, .id = 0};
    memory.bytesize = sizeof(int);
    cudaGraphNode_t allocation = nullptr, cleared = nullptr, added = nullptr, recorded = nullptr,
                    freed = nullptr;
    ASSERT_EQ(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory), cudaSuccess);
    cudaMemsetParams clear{};
    clear.dst = memory.dptr;
    clear.elementSize = sizeof(int);
    clear.value = 41;
    clear.width = clear.height = 1;
    ASSERT_EQ(cudaGraphAddMemsetNode(&cleared, graph, &allocation, 1, &clear), cudaSuccess);
    void* arguments[] = {&memory.dptr};
    const cudaKernelNodeParams call = call_of(arguments);
    ASSERT_EQ(cudaGraphAddKernelNode(&added, graph, &cleared, 1, &call), cudaSuccess);
    cudaEvent_t before = nullptr, after = nullptr;
    ASSERT_EQ(cudaEventCreate(&before), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&after), cudaSuccess);
    ASSERT_EQ(cudaGraphAddEventRecordNode(&recorded, graph, &added, 1, after), cudaSuccess);
    int result = 0;
    cudaGraphNode_t copied = nullptr;
    ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copied, graph, &added, 1, &result, memory.dptr, sizeof result,
                                       cudaMemcpyDeviceToHost),
              cudaSuccess);
    ASSERT_EQ(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, memory.dptr), cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int launch = 0; launch < 2; ++launch) {
        result = 0;
        ASSERT_EQ(cudaEventRecord(before, nullptr), cudaSuccess);
        ASSERT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
        EXPECT_EQ(result, 42);
    }
    float milliseconds = 0;
    ASSERT_EQ(cudaEventElapsedTime(&milliseconds, before, after), cudaSuccess);
    EXPECT_GT(milliseconds, 0);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    int destroyed = 0;
    cudaUserObject_t object = nullptr;
    ASSERT_EQ(cudaUserObjectCreate(
                  &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1,
                  cudaUserObjectNoDestructorSync),
              cudaSuccess);
    ASSERT_EQ(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), cudaSuccess);
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(destroyed, 1);
}

TEST_F(RuntimeApi, AThreadsOwnStreamCanCapture) {
    int* counter = on_device(std::vector<int>{0});
    void* arguments[] = {&counter};
    ASSERT_EQ(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ASSERT_EQ(cudaLaunchKernel(kernels::add_one, dim3(1), dim3(1), arguments, 0, cudaStreamPerThread),
              cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(cudaStreamPerThread, &graph), cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, cudaStreamPerThread), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
    EXPECT_EQ(value_of(counter), 1);
}

TEST_F(RuntimeApi, AFaultShowsWhenTheHostWaits) {
    int* values = on_device(std::vector<int>(4));
    long index = 1 << 20;
    int value = 1;
    void* arguments[] = {&values, &index, &value};
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cudaLaunchKernel(kernels::write_at, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("illegal address"), std::string::npos);
}

}  // namespace
