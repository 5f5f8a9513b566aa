// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of annotated kernels and of variants share: arrays of numbers on the device, and answers that are
// held against what they should be.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::printf("FAIL: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

struct Array {
    explicit Array(const std::vector<int>& values) : count(values.size()) {
        check(cudaMalloc(&data, count * sizeof(int)));
        check(cudaMemcpy(data, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    }
    ~Array() { cudaFree(data); }
    std::vector<int> host() const {
        std::vector<int> values(count);
        check(cudaMemcpy(values.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost));
        return values;
    }
    int* data = nullptr;
    std::size_t count;
};

static std::vector<int> numbers(std::size_t count) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; i++) values[i] = static_cast<int>(i * 2654435761u >> 8) % 1000;
    return values;
}

static bool passes = true;
static void expect(const char* what, long found, long expected) {
    std::printf("%s: %ld\n", what, found);
    if (found != expected) passes = false;
}

static int above(int n, int d) {
    return (n + d - 1) / d;
}
