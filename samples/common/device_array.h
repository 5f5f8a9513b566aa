// DeviceArray<T>: an array in device memory that frees itself.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda_check.h"

namespace sample {

template <typename T>
class DeviceArray {
  public:
    // `count` elements, every byte zero.
    explicit DeviceArray(std::size_t count) : count_(count) {
        CUDA_CHECK(cudaMalloc(&pointer_, count_ * sizeof(T)));
        CUDA_CHECK(cudaMemset(pointer_, 0, count_ * sizeof(T)));
    }

    explicit DeviceArray(const std::vector<T>& host) : count_(host.size()) {
        CUDA_CHECK(cudaMalloc(&pointer_, count_ * sizeof(T)));
        CUDA_CHECK(cudaMemcpy(pointer_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }

    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(pointer_); }

    T* data() { return pointer_; }

    std::vector<T> to_host() const {
        std::vector<T> host(count_);
        CUDA_CHECK(cudaMemcpy(host.data(), pointer_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

  private:
    T* pointer_ = nullptr;
    std::size_t count_;
};

}  // namespace sample
