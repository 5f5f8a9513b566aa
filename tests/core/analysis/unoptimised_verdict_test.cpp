// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The re-blocking rule on code that is not optimised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"
#include "cuda_compiler.h"
#include "judged_launch.h"

namespace trimtab::analysis::test {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

const void* const pointer = nullptr;

// Code that is not optimised keeps variables on the stack, and calls what it could write in place.
class VerdictsUnoptimised : public testing::Test {
  protected:
    const KernelDescription& describe(std::string_view source) {
        kernels = describe_ptx(compile_cuda(source, "-O0"));
        return kernel_named(kernels, "k");
    }
    std::vector<KernelDescription> kernels;
};

TEST_F(VerdictsUnoptimised, GuardsOnTheStackAreSeen) {
    const auto& kernel = describe(R"(
        __global__ void k(int* o, int n) {
            int t = threadIdx.x, b = blockIdx.x;
            int g = b * blockDim.x + t;
            if (g < n) o[g] = 1;
        })");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000), {10, 1, 1}, {100, 1, 1}), "cover");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1001), {10, 1, 1}, {100, 1, 1}), "divide x");
}

TEST_F(VerdictsUnoptimised, CallsThatStayAreFollowed) {
    const auto& kernel = describe(R"(
        struct Size { int w, h; __device__ bool holds(int x, int y) const { return x < w && y < h; } };
        __device__ int index(int d) { return d == 0 ? blockIdx.x * blockDim.x + threadIdx.x
                                                    : blockIdx.y * blockDim.y + threadIdx.y; }
        __device__ void put(int* o, int i) { *(o + i) = 1; }
        __global__ void k(int* o, Size s) {
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x < s.w && y < s.h) put(o, y * s.w + x);
        })");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
}

TEST_F(VerdictsUnoptimised, WhatIsWrittenThroughAPointerIsNotKnown) {
    // The bound that the guard reads is not the argument any more.
    const auto& kernel = describe(R"(
        __device__ __attribute__((noinline)) void widen(int* p, int by) { p[by] += 100; }
        __global__ void k(int* o, int n, int by) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            widen(&n, by);
            if (g < n) o[g] = 1;
        })");
    EXPECT_NE(kernel.verdict, Verdict::covering);
}

TEST_F(VerdictsUnoptimised, ThreadIndexThroughTheStackRefuses) {
    const auto& kernel = describe(R"(
        __device__ __attribute__((noinline)) int lane(int t) { return t % 24; }
        __global__ void k(int* o, int n) {
            int t = threadIdx.x;
            int g = blockIdx.x * blockDim.x + t;
            if (g < n) o[g] = lane(t);
        })");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("threadIdx.x"))));
}

TEST_F(VerdictsUnoptimised, ANarrowVariableIsNoGuard) {
    const auto& kernel = describe(R"(
        __global__ void k(unsigned char* o) {
            unsigned char i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < 100) o[i]++;
        })");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
}

}  // namespace
}  // namespace trimtab::analysis::test
