// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fixture of the tests that call the emulated runtime.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

class RuntimeApi : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(cudaSetDevice(0), cudaSuccess); }
    // A fault stays with the device until it is reset.
    void TearDown() override {
        cudaSetDevice(0);
        EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    }
    template <typename T>
    T* on_device(const std::vector<T>& values) {
        void* pointer = nullptr;
        EXPECT_EQ(cudaMalloc(&pointer, values.size() * sizeof(T)), cudaSuccess);
        EXPECT_EQ(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
                  cudaSuccess);
        return static_cast<T*>(pointer);
    }
    template <typename T>
    std::vector<T> from_device(const T* pointer, std::size_t count) {
        std::vector<T> values(count);
        EXPECT_EQ(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
        return values;
    }
};
