// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated CUDA runtime through libtrimtab.so, as programs use it; expected values are computed on the
// host, error codes are those of CUDA's documentation. The test's environment names two devices:
// rtx2070super and k20c.
#include "tests/emulation/cuda/runtime_api.h"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "tests/emulation/cuda/kernels.h"

namespace {

using kernels::launch;
using ::testing::HasSubstr;

TEST_F(RuntimeApi, DevicesAreThoseOfTheEnvironment) {
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
    ASSERT_EQ(count, 2);
    cudaDeviceProp first{};
    cudaDeviceProp second{};
    ASSERT_EQ(cudaGetDeviceProperties(&first, 0), cudaSuccess);
    ASSERT_EQ(cudaGetDeviceProperties(&second, 1), cudaSuccess);
    EXPECT_STREQ(first.name, "NVIDIA GeForce RTX 2070 SUPER");
    EXPECT_EQ(first.multiProcessorCount, 40);
    EXPECT_EQ(first.major, 7);
    EXPECT_EQ(first.minor, 5);
    EXPECT_EQ(first.warpSize, 32);
    EXPECT_EQ(second.major, 3);
    EXPECT_EQ(cudaGetDeviceProperties(&first, 2), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    int value = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0), cudaSuccess);
    EXPECT_EQ(value, 1024);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0), cudaErrorInvalidValue);
    int version = 0;
    EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
    EXPECT_EQ(version, 13000);
}

TEST_F(RuntimeApi, KernelsComputeWhatTheHostComputes) {
    std::vector<float> values(1000);
    std::iota(values.begin(), values.end(), 0.0f);
    float* device = on_device(values);
    ASSERT_EQ(launch(kernels::scale, 8, 128, nullptr, device, 1000, 3.0f), cudaSuccess);
    const float table[4] = {1, 2, 3, 4};
    const float offset = 10;
    ASSERT_EQ(cudaMemcpyToSymbol(kernels::table_symbol(), table, sizeof table, 0, cudaMemcpyHostToDevice),
              cudaSuccess);
    ASSERT_EQ(cudaMemcpyToSymbol(kernels::offset_symbol(), &offset, sizeof offset, 0, cudaMemcpyHostToDevice),
              cudaSuccess);
    ASSERT_EQ(launch(kernels::add_table, 8, 128, nullptr, device, 1000), cudaSuccess);
    const auto results = from_device(device, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(results[i], 3.0f * values[i] + table[i % 4] + offset) << i;
    float back[4] = {};
    EXPECT_EQ(cudaMemcpyFromSymbol(back, kernels::table_symbol(), 8, 8, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(back[0], 3.0f);
    EXPECT_EQ(back[1], 4.0f);
    std::size_t size = 0;
    EXPECT_EQ(cudaGetSymbolSize(&size, kernels::table_symbol()), cudaSuccess);
    EXPECT_EQ(size, 16u);
    EXPECT_EQ(cudaMemcpyToSymbol(kernels::table_symbol(), table, 16, 4, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetSymbolSize(&size, &table), cudaErrorInvalidSymbol);
}

TEST_F(RuntimeApi, DynamicSharedMemoryNeedsToBeOptedInto) {
    std::vector<int> values(256);
    std::iota(values.begin(), values.end(), 0);
    int* device = on_device(values);
    void* arguments[] = {&device};
    ASSERT_EQ(cudaLaunchKernel(kernels::reverse, 1, 256, arguments, 1024, nullptr), cudaSuccess);
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(from_device(device, 256), values);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cudaLaunchKernel(kernels::reverse, 1, 256, arguments, 50000, nullptr), cudaErrorInvalidValue);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("50000 bytes of dynamic shared memory"));
    EXPECT_EQ(cudaFuncSetAttribute(kernels::reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000),
              cudaSuccess);
    EXPECT_EQ(cudaLaunchKernel(kernels::reverse, 1, 256, arguments, 50000, nullptr), cudaSuccess);
    EXPECT_EQ(cudaFuncSetAttribute(kernels::reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
              cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_F(RuntimeApi, BadLaunchesFailBeforeTheyRun) {
    std::vector<int> one(1, 7);
    int* device = on_device(one);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(launch(kernels::at_most_64, 1, 65, nullptr, device), cudaErrorInvalidValue);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("launch bounds allow 64"));
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(launch(kernels::at_most_64, 1, 1025, nullptr, device), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch(kernels::at_most_64, 0, 32, nullptr, device), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch(kernels::at_most_64, dim3(1, 65536), 32, nullptr, device),
              cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch(&device, 1, 32, nullptr, device), cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(cudaLaunchKernel(kernels::at_most_64, 1, 32, nullptr, 0, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launch(kernels::at_most_64, 1, 32, reinterpret_cast<cudaStream_t>(&device), device),
              cudaErrorInvalidResourceHandle);
    EXPECT_EQ(from_device(device, 1)[0], 7);
    cudaGetLastError();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(RuntimeApi, AFaultShowsAtTheNextCallAndStays) {
    std::vector<int> values(100);
    int* device = on_device(values);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(launch(kernels::write_at, 1, 1, nullptr, device, 1L << 20, 1), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                HasSubstr(" bytes past the end of an allocation of "));
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    void* more = nullptr;
    EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorIllegalAddress);
    EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&more, 4), cudaSuccess);
}

TEST_F(RuntimeApi, AnAccessPastAnEndMeetsWhatTheDriverMapsThereAndIsWarnedOfOnce) {
    cudaDeviceReset();
    int* first = on_device(std::vector<int>(128, 1));
    int* second = on_device(std::vector<int>(100, 2));
    ::testing::internal::CaptureStderr();
    launch(kernels::write_at, 1, 1, nullptr, first, 130L, 5);
    launch(kernels::write_at, 1, 1, nullptr, second, 127L, 6);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    // The runtime may have something to say of the module, too.
    std::istringstream all(::testing::internal::GetCapturedStderr());
    std::string said;
    for (std::string line; std::getline(all, line);)
        if (line.contains("out of bounds")) said += line + "\n";
    EXPECT_THAT(said,
                ::testing::MatchesRegex(
                    "trimtab: kernel write_at.*: out of bounds: a write of 4 bytes at 0x[0-9a-f]+ .8 bytes "
                    "past the end of an allocation of 512 bytes at 0x[0-9a-f]+. by thread .0,0,0. of block "
                    ".0,0,0. at [^\n]*\n"));
    EXPECT_EQ(from_device(second, 3), (std::vector{2, 2, 5})) << "the driver puts it right behind";
    cudaFree(first);
    cudaFree(second);
}

TEST_F(RuntimeApi, FreedAndHostMemoryAreNotTheDevices) {
    int* device = on_device(std::vector<int>(1 << 20));
    ASSERT_EQ(cudaFree(device), cudaSuccess);
    EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
    ::testing::internal::CaptureStderr();
    launch(kernels::write_at, 1, 1, nullptr, device, 0L, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("that was freed"));
    cudaDeviceReset();
    int host = 0;
    ::testing::internal::CaptureStderr();
    launch(kernels::write_at, 1, 1, nullptr, &host, 0L, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("a host pointer?"));
    EXPECT_EQ(host, 0);
    cudaDeviceReset();
    ::testing::internal::CaptureStderr();
    device = on_device(std::vector<int>(1, 1));
    launch(kernels::refuse, 1, 1, nullptr, device);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
    ::testing::internal::GetCapturedStderr();
}

TEST_F(RuntimeApi, PinnedRegisteredAndManagedMemoryAreBoth) {
    int* pinned = nullptr;
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned), 4), cudaSuccess);
    *pinned = 1;
    int* managed = nullptr;
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed), 4, cudaMemAttachGlobal), cudaSuccess);
    *managed = 2;
    int own = 3;
    ASSERT_EQ(cudaHostRegister(&own, sizeof own, cudaHostRegisterDefault), cudaSuccess);
    EXPECT_EQ(cudaHostRegister(&own, sizeof own, cudaHostRegisterDefault),
              cudaErrorHostMemoryAlreadyRegistered);
    for (int* value : {pinned, managed, &own})
        ASSERT_EQ(launch(kernels::add_one, 1, 1, nullptr, value), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(*pinned, 2);
    EXPECT_EQ(*managed, 3);
    EXPECT_EQ(own, 4);
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
    int unknown = 0;
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, &unknown), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
    EXPECT_EQ(cudaFreeHost(managed), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
    EXPECT_EQ(cudaFree(managed), cudaSuccess);
    EXPECT_EQ(cudaHostUnregister(&own), cudaSuccess);
    EXPECT_EQ(cudaHostUnregister(&own), cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
}

TEST_F(RuntimeApi, MemoryRunsOutAtTheDevicesSize) {
    std::size_t free_before = 0;
    std::size_t total = 0;
    ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
    EXPECT_EQ(free_before, total);
    void* half = nullptr;
    ASSERT_EQ(cudaMalloc(&half, total / 2), cudaSuccess);
    std::size_t free_after = 0;
    ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
    EXPECT_EQ(free_after, free_before - total / 2);
    void* rest = nullptr;
    EXPECT_EQ(cudaMalloc(&rest, total / 2 + 1), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaFree(half), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&rest, total / 2 + 1), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&half, SIZE_MAX), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST_F(RuntimeApi, CopiesCheckBoundsAndDirections) {
    std::vector<int> host(100, 5);
    int* device = on_device(host);
    EXPECT_EQ(cudaMemcpy(device, host.data(), 401, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(device + 99, host.data(), 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(host.data(), device, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(nullptr, device, 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(host.data(), device, 400, static_cast<cudaMemcpyKind>(9)),
              cudaErrorInvalidMemcpyDirection);
    EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemset(device + 1, 0xff, 4), cudaSuccess);
    EXPECT_EQ(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemset(device, 0, 401), cudaErrorInvalidValue);
    std::fill(host.begin(), host.end(), 0);
    ASSERT_EQ(cudaMemcpy(host.data(), device, 400, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(host[0], 5);
    EXPECT_EQ(host[1], -1);
    EXPECT_EQ(host[2], 5);
    cudaGetLastError();
}

TEST_F(RuntimeApi, PitchedBoxedAndArrayCopiesMoveTheRightBytes) {
    constexpr std::size_t width = 7;
    constexpr std::size_t height = 5;
    std::vector<std::uint8_t> host(width * height);
    std::iota(host.begin(), host.end(), std::uint8_t{0});
    std::uint8_t* pitched = nullptr;
    std::size_t pitch = 0;
    ASSERT_EQ(cudaMallocPitch(reinterpret_cast<void**>(&pitched), &pitch, width, height), cudaSuccess);
    EXPECT_GE(pitch, width);
    ASSERT_EQ(cudaMemcpy2D(pitched, pitch, host.data(), width, width, height, cudaMemcpyHostToDevice),
              cudaSuccess);
    EXPECT_EQ(from_device(pitched + 3 * pitch + 2, 1)[0], host[3 * width + 2]);
    std::vector<std::uint8_t> back(width * height);
    ASSERT_EQ(cudaMemcpy2D(back.data(), width, pitched, pitch, width, height, cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_EQ(back, host);
    EXPECT_EQ(cudaMemcpy2D(back.data(), width - 1, pitched, pitch, width, height, cudaMemcpyDeviceToHost),
              cudaErrorInvalidPitchValue);

    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    ASSERT_EQ(cudaMallocArray(&array, &bytes, width, height, 0), cudaSuccess);
    ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, host.data(), width, width, height, cudaMemcpyHostToDevice),
              cudaSuccess);
    std::fill(back.begin(), back.end(), std::uint8_t{0});
    ASSERT_EQ(cudaMemcpy2DFromArray(back.data(), 3, array, 2, 1, 3, 2, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(back[0], host[1 * width + 2]);
    EXPECT_EQ(back[5], host[2 * width + 4]);
    EXPECT_EQ(cudaMemcpy2DFromArray(back.data(), 3, array, 5, 1, 3, 2, cudaMemcpyDeviceToHost),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
    EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidResourceHandle);

    // A 2 x 2 x 2 box out of the middle of a 4 x 4 x 4 volume.
    std::vector<std::uint8_t> volume(64);
    std::iota(volume.begin(), volume.end(), std::uint8_t{0});
    cudaPitchedPtr box{};
    ASSERT_EQ(cudaMalloc3D(&box, {.width = 4, .height = 4, .depth = 4}), cudaSuccess);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {.ptr = volume.data(), .pitch = 4, .xsize = 4, .ysize = 4};
    copy.dstPtr = box;
    copy.extent = {.width = 4, .height = 4, .depth = 4};
    copy.kind = cudaMemcpyHostToDevice;
    ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
    std::uint8_t middle[8] = {};
    copy = {};
    copy.srcPtr = box;
    copy.srcPos = {.x = 1, .y = 1, .z = 1};
    copy.dstPtr = {.ptr = middle, .pitch = 2, .xsize = 2, .ysize = 2};
    copy.extent = {.width = 2, .height = 2, .depth = 2};
    copy.kind = cudaMemcpyDeviceToHost;
    ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
    EXPECT_THAT(middle, ::testing::ElementsAre(21, 22, 25, 26, 37, 38, 41, 42));
    cudaGetLastError();
}

TEST_F(RuntimeApi, DevicesHaveMemoryAndVariablesOfTheirOwn) {
    const float one = 1;
    const float two = 2;
    ASSERT_EQ(cudaMemcpyToSymbol(kernels::offset_symbol(), &one, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
    float* on_first = on_device(std::vector<float>(1, 7.0f));
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    ASSERT_EQ(cudaMemcpyToSymbol(kernels::offset_symbol(), &two, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
    float* on_second = on_device(std::vector<float>(1, 0.0f));
    int can_access = 0;
    ASSERT_EQ(cudaDeviceCanAccessPeer(&can_access, 1, 0), cudaSuccess);
    EXPECT_EQ(can_access, 1);
    ASSERT_EQ(cudaMemcpyPeer(on_second, 1, on_first, 0, 4), cudaSuccess);
    EXPECT_EQ(from_device(on_second, 1)[0], 7.0f);
    float value = 0;
    ASSERT_EQ(cudaMemcpyFromSymbol(&value, kernels::offset_symbol(), 4, 0, cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_EQ(value, two);
    ASSERT_EQ(launch(kernels::add_table, 1, 1, nullptr, on_second, 1), cudaSuccess);
    EXPECT_EQ(from_device(on_second, 1)[0], 9.0f);
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, on_first), cudaSuccess);
    EXPECT_EQ(attributes.device, 0);
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
}

TEST_F(RuntimeApi, OccupancyAndFunctionAttributesFollowTheDevice) {
    cudaFuncAttributes attributes{};
    ASSERT_EQ(cudaFuncGetAttributes(&attributes, kernels::at_most_64), cudaSuccess);
    EXPECT_EQ(attributes.maxThreadsPerBlock, 64);
    EXPECT_EQ(attributes.ptxVersion, 75);
    EXPECT_GT(attributes.numRegs, 0);
    int blocks = 0;
    ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels::scale, 256, 0), cudaSuccess);
    EXPECT_EQ(blocks, 4);  // 1024 threads an SM of compute capability 7.5
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels::scale, 256, 0), cudaSuccess);
    EXPECT_EQ(blocks, 8);  // 2048 threads an SM of 3.5
    const char* name = nullptr;
    ASSERT_EQ(cudaFuncGetName(&name, kernels::scale), cudaSuccess);
    EXPECT_STREQ(name, "_Z12scale_kernelPfif");
}

TEST_F(RuntimeApi, WhatTheEmulatorLacksSaysSo) {
    ::testing::internal::CaptureStderr();
    cudaExternalMemory_t memory = nullptr;
    const cudaExternalMemoryHandleDesc description{};
    EXPECT_EQ(cudaImportExternalMemory(&memory, &description), cudaErrorNotSupported);
    EXPECT_EQ(cudaImportExternalMemory(&memory, &description), cudaErrorNotSupported);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "trimtab: cudaImportExternalMemory is not supported by the emulator\n");
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(RuntimeApi, KernelsPrint) {
    ::testing::internal::CaptureStdout();
    launch(kernels::greet, 1, 2, nullptr, 42);
    cudaDeviceSynchronize();
    std::fflush(stdout);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "greetings from 42\ngreetings from 42\n");
}

}  // namespace
