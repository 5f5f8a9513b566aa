// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays, mipmapped arrays, texture and surface objects as the runtime tells of them; what kernels read
// through them is the emulator's own test.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/emulation/cuda/runtime_api.h"

namespace {

cudaChannelFormatDesc float_channel() {
    return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
}

cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

TEST_F(RuntimeApi, TextureObjectsTellWhatTheyWereMadeOf) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = float_channel();
    ASSERT_EQ(cudaMallocArray(&array, &format, 16, 8, 0), cudaSuccess);
    const cudaResourceDesc resource = resource_of(array);
    cudaTextureDesc description{};
    description.addressMode[0] = cudaAddressModeWrap;
    description.filterMode = cudaFilterModeLinear;
    description.normalizedCoords = 1;
    cudaTextureObject_t texture = 0;
    ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaSuccess);
    EXPECT_NE(texture, 0U);
    cudaResourceDesc told{};
    ASSERT_EQ(cudaGetTextureObjectResourceDesc(&told, texture), cudaSuccess);
    EXPECT_EQ(told.res.array.array, array);
    cudaTextureDesc told_description{};
    ASSERT_EQ(cudaGetTextureObjectTextureDesc(&told_description, texture), cudaSuccess);
    EXPECT_EQ(told_description.filterMode, cudaFilterModeLinear);
    EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
    EXPECT_EQ(cudaGetTextureObjectResourceDesc(&told, texture), cudaErrorInvalidValue);
    // An array that was not made for surfaces is none.
    cudaSurfaceObject_t surface = 0;
    EXPECT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
              cudaErrorInvalidResourceHandle);
}

TEST_F(RuntimeApi, TexturesOfIntegersFilterOnlyAsFractions) {
    const std::vector<unsigned char> values(256);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = on_device(values);
    resource.res.linear.desc = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    resource.res.linear.sizeInBytes = values.size();
    cudaTextureDesc description{};
    description.filterMode = cudaFilterModeLinear;
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
              cudaErrorInvalidFilterSetting);
    description.readMode = cudaReadModeNormalizedFloat;
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaSuccess);
    resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
              cudaErrorInvalidNormSetting);
    // Three channels are no texel, and memory must be the device's.
    resource.res.linear.desc = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
              cudaErrorInvalidChannelDescriptor);
    resource.res.linear.desc = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    resource.res.linear.sizeInBytes = 4096;
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaErrorInvalidValue);
}

TEST_F(RuntimeApi, LevelsOfAMipmapHalve) {
    cudaMipmappedArray_t mipmap = nullptr;
    const cudaChannelFormatDesc format = float_channel();
    ASSERT_EQ(cudaMallocMipmappedArray(&mipmap, &format, {.width = 8, .height = 4, .depth = 0}, 99, 0),
              cudaSuccess);
    for (const auto& [level, width, height] : {std::tuple(0U, 8UL, 4UL), std::tuple(1U, 4UL, 2UL),
                                               std::tuple(2U, 2UL, 1UL), std::tuple(3U, 1UL, 1UL)}) {
        cudaArray_t array = nullptr;
        ASSERT_EQ(cudaGetMipmappedArrayLevel(&array, mipmap, level), cudaSuccess);
        cudaExtent extent{};
        ASSERT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, array), cudaSuccess);
        EXPECT_EQ(extent.width, width);
        EXPECT_EQ(extent.height, height);
    }
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaGetMipmappedArrayLevel(&array, mipmap, 4), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaSuccess);
    EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaErrorInvalidResourceHandle);
}

TEST_F(RuntimeApi, HintsOnManagedMemoryAreToldBack) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal), cudaSuccess);
    const cudaMemLocation device{.type = cudaMemLocationTypeDevice, .id = 1};
    const cudaMemLocation host{.type = cudaMemLocationTypeHost, .id = 0};
    EXPECT_EQ(cudaMemAdvise(memory, 4096, cudaMemAdviseSetReadMostly, device), cudaSuccess);
    EXPECT_EQ(cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation, device), cudaSuccess);
    EXPECT_EQ(cudaMemAdvise(memory, 4096, cudaMemAdviseSetAccessedBy, host), cudaSuccess);
    EXPECT_EQ(cudaMemPrefetchAsync(memory, 4096, host, 0, nullptr), cudaSuccess);
    const auto told = [&](cudaMemRangeAttribute attribute) {
        int value = -99;
        EXPECT_EQ(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, 4096), cudaSuccess);
        return value;
    };
    EXPECT_EQ(told(cudaMemRangeAttributeReadMostly), 1);
    EXPECT_EQ(told(cudaMemRangeAttributePreferredLocation), 1);
    EXPECT_EQ(told(cudaMemRangeAttributeLastPrefetchLocation), cudaCpuDeviceId);
    EXPECT_EQ(told(cudaMemRangeAttributeAccessedBy), cudaCpuDeviceId);
    EXPECT_EQ(cudaMemAdvise(memory, 8192, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue);
    const cudaMemLocation nowhere{.type = cudaMemLocationTypeDevice, .id = 7};
    EXPECT_EQ(cudaMemPrefetchAsync(memory, 4096, nowhere, 0, nullptr), cudaErrorInvalidValue);
}

}  // namespace
