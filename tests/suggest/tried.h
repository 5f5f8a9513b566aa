// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of both sides, and the one question that the programs of this folder ask of themselves.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TRY(call)                                                                       \
    do {                                                                                \
        const cudaError_t status = (call);                                              \
        if (status != cudaSuccess) {                                                    \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(1);                                                               \
        }                                                                               \
    } while (false)

template <typename T>
class Array {
  public:
    explicit Array(std::vector<T> values) : host(std::move(values)) {
        TRY(cudaMalloc(&device, host.size() * sizeof(T)));
        TRY(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    explicit Array(std::size_t size) : Array(std::vector<T>(size)) {}
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFree(device); }
    const std::vector<T>& read() {
        TRY(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
    operator T*() { return device; }

    std::vector<T> host;
    T* device = nullptr;
};

inline unsigned mixed(unsigned x) {
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}
inline std::vector<int> whole_numbers(std::size_t size, unsigned below) {
    std::vector<int> out(size);
    for (std::size_t i = 0; i < size; i++) out[i] = static_cast<int>(mixed(static_cast<unsigned>(i)) % below);
    return out;
}
inline std::vector<float> reals(std::size_t size) {
    std::vector<float> out(size);
    for (std::size_t i = 0; i < size; i++)
        out[i] = static_cast<float>(mixed(static_cast<unsigned>(i)) % 1000) / 500.0f - 0.9f;
    return out;
}
inline int blocks_of(int n, int each) {
    return (n + each - 1) / each;
}

// Prints what does not hold.
inline bool check(bool holds, const char* what) {
    if (!holds) std::printf("%s is wrong\n", what);
    return holds;
}
template <typename A, typename B>
bool near(const A& found, const B& expected, double bound) {
    for (std::size_t i = 0; i < expected.size(); i++)
        if (!(std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i])) <=
              bound * (1 + std::fabs(static_cast<double>(expected[i])))))
            return false;
    return true;
}
