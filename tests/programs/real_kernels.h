// What programs of many kernels share: arrays on the device, numbers that look random, and the comparison
// with what the host computed.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline unsigned scrambled(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

inline void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::printf("%s\n", cudaGetErrorString(status));
    std::exit(1);
}

// An array on the host and its copy on the device.
template <class T>
struct Array {
    std::vector<T> host;
    T* device = nullptr;

    explicit Array(std::size_t size) : host(size) {
        check(cudaMalloc(&device, size * sizeof(T)));
        check(cudaMemset(device, 0, size * sizeof(T)));
    }
    template <class Make>
    Array(std::size_t size, const Make& make) : Array(size) {
        for (std::size_t i = 0; i < size; i++) host[i] = make(static_cast<unsigned>(i));
        check(cudaMemcpy(device, host.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Array() { cudaFree(device); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator T*() const { return device; }
    const std::vector<T>& back() {
        check(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
};

// Floats in [-1, 1), and whole numbers below a bound.
inline auto floats(unsigned seed) {
    return [seed](unsigned i) { return scrambled(i + seed * 7919u) / 2147483648.0f - 1.0f; };
}
inline auto below(unsigned bound, unsigned seed = 1) {
    return [bound, seed](unsigned i) { return static_cast<int>(scrambled(i * 31u + seed) % bound); };
}

inline bool& all_right() {
    static bool right = true;
    return right;
}

// Element i of the result against `expected(i)`, within `tolerance` of its size.
template <class T, class Expected>
void compare(const char* name, Array<T>& array, std::size_t size, const Expected& expected,
             double tolerance = 0) {
    const std::vector<T>& found = array.back();
    for (std::size_t i = 0; i < size; i++) {
        const double want = static_cast<double>(expected(i)), got = static_cast<double>(found[i]);
        if (std::abs(got - want) <= tolerance * (1 + std::abs(want))) continue;
        std::printf("%s: element %zu is %g, not %g\n", name, i, got, want);
        all_right() = false;
        return;
    }
}

inline int finish() {
    check(cudaDeviceSynchronize());
    std::puts(all_right() ? "PASS" : "FAIL");
    return all_right() ? 0 : 1;
}
