// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, events, graphs, stream-ordered memory and libraries of the emulated CUDA runtime. The test's
// environment names two devices: rtx2070super and k20c.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/emulation/cuda/kernels.h"
#include "tests/emulation/cuda/runtime_api.h"

namespace {

using kernels::launch;
using ::testing::HasSubstr;

TEST_F(RuntimeApi, ACallbackMayDestroyItsStream) {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    cudaError_t destroyed = cudaErrorUnknown;
    EXPECT_EQ(cudaStreamAddCallback(
                  stream,
                  [](cudaStream_t own, cudaError_t, void* status) {
                      *static_cast<cudaError_t*>(status) = cudaStreamDestroy(own);
                  },
                  &destroyed, 0),
              cudaSuccess);
    EXPECT_EQ(destroyed, cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(RuntimeApi, ModelledTimeAddsUpAlongAStreamAndOverlapsBetweenStreams) {
    float* values = on_device(std::vector<float>(256));
    cudaStream_t streams[2] = {};
    cudaEvent_t begin = nullptr;
    cudaEvent_t ends[2] = {};
    ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(cudaStreamCreate(&streams[i]), cudaSuccess);
        ASSERT_EQ(cudaEventCreate(&ends[i]), cudaSuccess);
    }
    const auto milliseconds = [&](cudaEvent_t from, cudaEvent_t to) {
        float time = -1;
        EXPECT_EQ(cudaEventElapsedTime(&time, from, to), cudaSuccess);
        return time;
    };
    // One launch, then four of the same, in one stream.
    ASSERT_EQ(cudaEventRecord(begin, streams[0]), cudaSuccess);
    launch(kernels::spin, 2, 128, streams[0], values, 256, 1000);
    ASSERT_EQ(cudaEventRecord(ends[0], streams[0]), cudaSuccess);
    const float one = milliseconds(begin, ends[0]);
    EXPECT_GT(one, 0.0f);
    cudaEventRecord(begin, streams[0]);
    for (int i = 0; i < 4; ++i) launch(kernels::spin, 2, 128, streams[0], values, 256, 1000);
    cudaEventRecord(ends[0], streams[0]);
    EXPECT_NEAR(milliseconds(begin, ends[0]), 4 * one, 1e-3 * one);
    // A grid of two blocks leaves room on a device of 40 SMs: two streams run side by side.
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    cudaEventRecord(begin, streams[0]);
    for (int i = 0; i < 2; ++i) {
        launch(kernels::spin, 2, 128, streams[i], values, 256, 1000);
        cudaEventRecord(ends[i], streams[i]);
    }
    EXPECT_NEAR(milliseconds(begin, ends[1]), one, 1e-3 * one);
    // An event makes the second stream wait for the first.
    cudaDeviceSynchronize();
    cudaEventRecord(begin, streams[0]);
    launch(kernels::spin, 2, 128, streams[0], values, 256, 1000);
    cudaEventRecord(ends[0], streams[0]);
    ASSERT_EQ(cudaStreamWaitEvent(streams[1], ends[0], 0), cudaSuccess);
    launch(kernels::spin, 2, 128, streams[1], values, 256, 1000);
    cudaEventRecord(ends[1], streams[1]);
    EXPECT_NEAR(milliseconds(begin, ends[1]), 2 * one, 1e-3 * one);
    // Twice the bytes take longer over the bus.
    void* large = nullptr;
    ASSERT_EQ(cudaMalloc(&large, 32 << 20), cudaSuccess);
    std::vector<char> host(32 << 20);
    float times[2] = {};
    for (int i = 0; i < 2; ++i) {
        cudaEventRecord(begin, nullptr);
        cudaMemcpy(large, host.data(), static_cast<std::size_t>(16 << 20) << i, cudaMemcpyHostToDevice);
        cudaEventRecord(ends[0], nullptr);
        times[i] = milliseconds(begin, ends[0]);
    }
    EXPECT_GT(times[1], 1.8f * times[0]);
    cudaEvent_t untimed = nullptr;
    ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
    cudaEventRecord(untimed, nullptr);
    EXPECT_EQ(cudaEventElapsedTime(times, begin, untimed), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaStreamDestroy(streams[0]), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(streams[0]), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

TEST_F(RuntimeApi, CapturedWorkRunsAtEachLaunchOfItsGraph) {
    std::vector<int> host(1, 0);
    int* value = on_device(host);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    cudaStreamCaptureStatus status{};
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    ASSERT_EQ(launch(kernels::add_one, 1, 1, stream, value), cudaSuccess);
    ASSERT_EQ(launch(kernels::add_one, 1, 1, stream, value), cudaSuccess);
    int calls = 0;
    ASSERT_EQ(
        cudaLaunchHostFunc(stream, [](void* count) { ++*static_cast<int*>(count); }, &calls), cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(from_device(value, 1)[0], 0) << "nothing runs while it is recorded";
    EXPECT_EQ(calls, 0);
    std::size_t nodes = 0;
    ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    EXPECT_EQ(nodes, 3u);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(from_device(value, 1)[0], 6);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    // Waiting for a capturing stream spoils the capture.
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
}

TEST_F(RuntimeApi, ACaptureIntoAGivenGraphNeedNotTellItAtTheEnd) {
    int* device = on_device(std::vector<int>(4, 7));
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal),
              cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(device, 0, 4 * sizeof(int), stream), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(stream, nullptr), cudaSuccess);
    std::size_t nodes = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    EXPECT_EQ(nodes, 1u);
    EXPECT_EQ(from_device(device, 1), std::vector{7});
    // A graph that only the capture knows would be lost.
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(stream, nullptr), cudaErrorInvalidValue);
    cudaGraph_t captured = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &captured), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(captured), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(RuntimeApi, GraphsBuiltByHandRunInDependencyOrder) {
    std::vector<int> host(1, 5);
    int* value = on_device(host);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    int result = 0;
    cudaGraphNode_t copy = nullptr;
    ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, &result, value, 4, cudaMemcpyDeviceToHost),
              cudaSuccess);
    void* arguments[] = {&value};
    const cudaKernelNodeParams parameters{.func = const_cast<void*>(kernels::add_one),
                                          .gridDim = 1,
                                          .blockDim = 1,
                                          .sharedMemBytes = 0,
                                          .kernelParams = arguments,
                                          .extra = nullptr};
    cudaGraphNode_t kernel = nullptr;
    ASSERT_EQ(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &parameters), cudaSuccess);
    // The copy was added first and waits for the kernel.
    ASSERT_EQ(cudaGraphAddDependencies(graph, &kernel, &copy, nullptr, 1), cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    EXPECT_EQ(result, 6);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_F(RuntimeApi, LibrariesLoadPtxText) {
    constexpr char ptx[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 added = 3;
.visible .entry add(.param .u64 p) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [added];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
)";
    cudaLibrary_t library = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
    cudaKernel_t kernel = nullptr;
    ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "add"), cudaSuccess);
    EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "subtract"), cudaErrorSymbolNotFound);
    int* value = on_device(std::vector<int>(1, 4));
    ASSERT_EQ(launch(reinterpret_cast<const void*>(kernel), 1, 1, nullptr, value), cudaSuccess);
    EXPECT_EQ(from_device(value, 1)[0], 7);
    EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cudaLibraryLoadData(&library, ".version nonsense", nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorInvalidPtx);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("library loaded from memory"));
    cudaGetLastError();
}

TEST_F(RuntimeApi, StreamOrderedMemoryAndHintsWork) {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    int* value = nullptr;
    ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&value), sizeof(int), stream), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(value, 0, sizeof(int), stream), cudaSuccess);
    ASSERT_EQ(launch(kernels::add_one, 1, 1, stream, value), cudaSuccess);
    int result = 0;
    ASSERT_EQ(cudaMemcpyAsync(&result, value, sizeof(int), cudaMemcpyDeviceToHost, stream), cudaSuccess);
    cudaMemPool_t pool = nullptr;
    ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    unsigned long long used = 0;
    ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
    EXPECT_EQ(used, sizeof(int));
    ASSERT_EQ(cudaFreeAsync(value, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(result, 1);
    ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
    EXPECT_EQ(used, 0u);
    EXPECT_EQ(cudaFreeAsync(value, stream), cudaErrorInvalidValue);

    int* managed = nullptr;
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed), 400, cudaMemAttachGlobal), cudaSuccess);
    const cudaMemLocation device{.type = cudaMemLocationTypeDevice, .id = 0};
    EXPECT_EQ(cudaMemPrefetchAsync(managed, 400, device, 0, stream), cudaSuccess);
    EXPECT_EQ(cudaMemPrefetchAsync(managed, 401, device, 0, stream), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemAdvise(managed, 400, cudaMemAdviseSetReadMostly, device), cudaSuccess);
    cudaGetLastError();
}

}  // namespace
