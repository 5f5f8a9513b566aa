// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Virtual memory management: one piece of memory at several addresses, several pieces in a row, and who may
// access what.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "tests/emulation/cuda/kernels.h"
#include "tests/emulation/cuda/runtime_api.h"

namespace {

CUmemAllocationProp properties_of_device(int device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    return properties;
}

class VirtualMemory : public RuntimeApi {
  protected:
    void SetUp() override {
        RuntimeApi::SetUp();
        ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
        const CUmemAllocationProp properties = properties_of_device(0);
        ASSERT_EQ(cuMemGetAllocationGranularity(&unit_, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                  CUDA_SUCCESS);
        ASSERT_GT(unit_, 0u);
    }
    CUmemGenericAllocationHandle memory(std::size_t bytes) {
        CUmemGenericAllocationHandle handle = 0;
        const CUmemAllocationProp properties = properties_of_device(0);
        EXPECT_EQ(cuMemCreate(&handle, bytes, &properties, 0), CUDA_SUCCESS);
        return handle;
    }
    CUdeviceptr addresses(std::size_t bytes) {
        CUdeviceptr start = 0;
        EXPECT_EQ(cuMemAddressReserve(&start, bytes, 0, 0, 0), CUDA_SUCCESS);
        return start;
    }
    static void allow(CUdeviceptr start, std::size_t bytes, CUmemAccess_flags flags) {
        const CUmemAccessDesc access{.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                     .flags = flags};
        EXPECT_EQ(cuMemSetAccess(start, bytes, &access, 1), CUDA_SUCCESS);
    }
    static cudaError_t write(CUdeviceptr start, long index, int value) {
        auto* values = reinterpret_cast<int*>(start);
        void* arguments[] = {&values, &index, &value};
        EXPECT_EQ(cudaLaunchKernel(kernels::write_at, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
        return cudaDeviceSynchronize();
    }
    static int read(CUdeviceptr start, std::size_t index) {
        int value = -1;
        EXPECT_EQ(cuMemcpyDtoH(&value, start + index * sizeof value, sizeof value), CUDA_SUCCESS);
        return value;
    }

    std::size_t unit_ = 0;
};

TEST_F(VirtualMemory, TheDriverSaysThatItIsThere) {
    int value = 0;
    for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute)
        EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0), CUDA_SUCCESS)
            << attribute;
    for (const auto attribute : {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                 CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED}) {
        EXPECT_EQ(cuDeviceGetAttribute(&value, attribute, 0), CUDA_SUCCESS);
        EXPECT_EQ(value, 1) << attribute;
    }
    EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(value, 0);
}

TEST_F(VirtualMemory, PiecesInARowAreOneArray) {
    const CUdeviceptr start = addresses(3 * unit_);
    const CUmemGenericAllocationHandle first = memory(unit_), second = memory(2 * unit_);
    ASSERT_EQ(cuMemMap(start, unit_, 0, first, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(start + unit_, 2 * unit_, 0, second, 0), CUDA_SUCCESS);
    allow(start, 3 * unit_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    // Copies and fills may cross from one to the next.
    ASSERT_EQ(cuMemsetD8(start, 1, 3 * unit_), CUDA_SUCCESS);
    const long last = static_cast<long>(3 * unit_ / sizeof(int)) - 1;
    EXPECT_EQ(write(start, last, 77), cudaSuccess);
    std::vector<int> all(3 * unit_ / sizeof(int));
    ASSERT_EQ(cuMemcpyDtoH(all.data(), start, 3 * unit_), CUDA_SUCCESS);
    EXPECT_EQ(all.front(), 0x01010101);
    EXPECT_EQ(all.back(), 77);
    // Its handles gone, what is mapped stays.
    ASSERT_EQ(cuMemRelease(first), CUDA_SUCCESS);
    ASSERT_EQ(cuMemRelease(second), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(second), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(read(start, 0), 0x01010101);
    EXPECT_EQ(cuMemUnmap(start, unit_ / 2), CUDA_ERROR_INVALID_VALUE) << "mappings are undone whole";
    EXPECT_EQ(cuMemAddressFree(start, 3 * unit_), CUDA_ERROR_INVALID_VALUE) << "while something is mapped";
    ASSERT_EQ(cuMemUnmap(start, 3 * unit_), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAddressFree(start, 3 * unit_), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(start, 3 * unit_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, OnePieceAtTwoAddressesIsOneMemory) {
    const CUmemGenericAllocationHandle handle = memory(unit_);
    const CUdeviceptr one = addresses(unit_), other = addresses(unit_);
    ASSERT_EQ(cuMemMap(one, unit_, 0, handle, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(other, unit_, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(one, unit_, 0, handle, 0), CUDA_ERROR_INVALID_VALUE) << "something is there";
    allow(one, unit_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    allow(other, unit_, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_EQ(write(one, 5, 42), cudaSuccess);
    EXPECT_EQ(read(other, 5), 42);
    unsigned long long flags = 0;
    const CUmemLocation device{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    ASSERT_EQ(cuMemGetAccess(&flags, &device, other), CUDA_SUCCESS);
    EXPECT_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READ));
    CUmemGenericAllocationHandle found = 0;
    ASSERT_EQ(cuMemRetainAllocationHandle(&found, reinterpret_cast<void*>(other + 8)), CUDA_SUCCESS);
    CUmemAllocationProp properties{};
    ASSERT_EQ(cuMemGetAllocationPropertiesFromHandle(&properties, found), CUDA_SUCCESS);
    EXPECT_EQ(properties.location.id, 0);
    EXPECT_EQ(cuMemRelease(found), CUDA_SUCCESS);
    // Mapped elsewhere later, it holds what it held.
    ASSERT_EQ(cuMemUnmap(one, unit_), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(one, unit_, 0, handle, 0), CUDA_SUCCESS);
    allow(one, unit_, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_EQ(read(one, 5), 42);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(write(other, 5, 43), cudaErrorIllegalAddress) << "it may be read alone";
    EXPECT_FALSE(::testing::internal::GetCapturedStderr().empty());
}

TEST_F(VirtualMemory, NothingIsThereBeforeAccessIsAllowed) {
    const CUdeviceptr start = addresses(2 * unit_);
    int value = 0;
    EXPECT_EQ(cuMemcpyHtoD(start, &value, sizeof value), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemMap(start, unit_, 0, memory(unit_), 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(start, &value, sizeof value), CUDA_ERROR_INVALID_VALUE);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(write(start, 0, 1), cudaErrorIllegalAddress);
    EXPECT_FALSE(::testing::internal::GetCapturedStderr().empty());
    const CUmemAccessDesc access{.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    EXPECT_EQ(cuMemSetAccess(start, 2 * unit_, &access, 1), CUDA_ERROR_INVALID_VALUE) << "half is not mapped";
}

TEST_F(VirtualMemory, BadArgumentsAreErrors) {
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp properties = properties_of_device(0);
    CUdeviceptr start = 0;
    EXPECT_EQ(cuMemCreate(&handle, unit_ / 2, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemCreate(&handle, std::size_t{1} << 50, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
    properties.location.id = 99;
    EXPECT_EQ(cuMemCreate(&handle, unit_, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuMemAddressReserve(&start, unit_ + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAddressReserve(&start, unit_, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
    start = addresses(unit_);
    EXPECT_EQ(cuMemMap(start, unit_, 0, 12345, 0), CUDA_ERROR_INVALID_VALUE);
    const CUmemGenericAllocationHandle two = memory(2 * unit_);
    EXPECT_EQ(cuMemMap(start, 2 * unit_, 0, two, 0), CUDA_ERROR_INVALID_VALUE) << "more than is reserved";
    EXPECT_EQ(cuMemUnmap(start, unit_), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cudaFree(reinterpret_cast<void*>(start)), cudaErrorInvalidValue);
}

TEST_F(VirtualMemory, CountsAgainstTheDevice) {
    std::size_t before = 0, during = 0, after = 0, total = 0;
    ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
    const CUmemGenericAllocationHandle handle = memory(4 * unit_);
    ASSERT_EQ(cudaMemGetInfo(&during, &total), cudaSuccess);
    EXPECT_EQ(before - during, 4 * unit_);
    ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
    ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
    EXPECT_EQ(before, after);
}

TEST_F(VirtualMemory, DescriptorsCarryItToOthers) {
    CUmemAllocationProp properties = properties_of_device(0);
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle = 0, imported = 0;
    ASSERT_EQ(cuMemCreate(&handle, unit_, &properties, 0), CUDA_SUCCESS);
    int descriptor = -1;
    ASSERT_EQ(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
              CUDA_SUCCESS);
    ASSERT_EQ(cuMemImportFromShareableHandle(&imported,
                                             reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_SUCCESS);
    close(descriptor);
    const CUdeviceptr one = addresses(unit_), other = addresses(unit_);
    ASSERT_EQ(cuMemMap(one, unit_, 0, handle, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(other, unit_, 0, imported, 0), CUDA_SUCCESS);
    allow(one, unit_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    allow(other, unit_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_EQ(write(one, 9, 13), cudaSuccess);
    EXPECT_EQ(read(other, 9), 13);
    EXPECT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(std::intptr_t{-1}),
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
