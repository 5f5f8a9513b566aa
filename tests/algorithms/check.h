// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of this folder share: inputs, device arrays, and the comparison with what the host's
// algorithms give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

inline void succeed(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::printf("%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

template <class T>
class Device {
  public:
    explicit Device(std::size_t size) : size_(size) {
        succeed(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc");
        succeed(cudaMemset(data_, 0, size * sizeof(T)), "cudaMemset");
    }
    explicit Device(const std::vector<T>& from) : Device(from.size()) {
        succeed(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "to the device");
    }
    ~Device() { cudaFree(data_); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    T* get() const { return data_; }
    std::vector<T> host() const {
        std::vector<T> made(size_);
        succeed(cudaMemcpy(made.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "from the device");
        return made;
    }

  private:
    T* data_ = nullptr;
    std::size_t size_;
};

// Whole numbers of [0, below), which sums of any type here hold exactly.
template <class T>
std::vector<T> values(std::size_t size, unsigned below, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> made(size);
    for (T& value : made) value = static_cast<T>(random() % below);
    return made;
}

// As `values`, in runs of up to `longest` equal ones.
template <class T>
std::vector<T> runs(std::size_t size, unsigned below, unsigned longest, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> made;
    while (made.size() < size) {
        const T value = static_cast<T>(random() % below);
        for (unsigned i = random() % longest + 1; i > 0 && made.size() < size; i--) made.push_back(value);
    }
    return made;
}

// An algorithm of cub's: asks for its storage, then runs.
template <class F>
void run(const char* name, const F& algorithm) {
    std::size_t bytes = 0;
    succeed(algorithm(nullptr, bytes), name);
    Device<unsigned char> storage(bytes + 1);
    succeed(algorithm(static_cast<void*>(storage.get()), bytes), name);
    succeed(cudaDeviceSynchronize(), name);
}

inline bool all_equal = true;

template <class T>
void expect(const char* name, const std::vector<T>& made, const std::vector<T>& wanted) {
    std::size_t at = 0;
    while (at < wanted.size() && at < made.size() && made[at] == wanted[at]) at++;
    if (at == wanted.size() && at <= made.size()) return;
    std::printf("%s of %zu-byte values: element %zu differs\n", name, sizeof(T), at);
    all_equal = false;
}

inline int verdict() {
    std::puts(all_equal ? "PASS" : "FAIL");
    return all_equal ? 0 : 1;
}
