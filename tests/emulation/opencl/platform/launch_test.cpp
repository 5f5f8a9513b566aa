// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches through the loader, against results of the CPU.
#include <gmock/gmock.h>

#include <numeric>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

constexpr const char* saxpy = R"(
kernel void saxpy(global float* x, global const float* y, float a, uint n) {
    const size_t i = get_global_id(0);
    if (i < n) x[i] = a * x[i] + y[i];
}
)";

TEST(OpenClLaunch, SaxpyIsRight) {
    const Host host;
    constexpr cl_uint n = 1000;
    std::vector<float> x(n), y(n);
    std::iota(x.begin(), x.end(), 0.0f);
    std::iota(y.begin(), y.end(), 7.0f);
    const Memory in_out = host.buffer(x), in = host.buffer(y);
    const Program program = host.build(saxpy);
    const Kernel kernel = host.kernel(program, "saxpy");
    set_arguments(kernel, in_out, in, 3.0f, n);
    ASSERT_EQ(host.run(kernel, {1024}, {128}), CL_SUCCESS);
    const auto result = host.read<float>(in_out, n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 3 * x[i] + y[i]) << i;
}

TEST(OpenClLaunch, AnOpenWorkGroupOfAnyGlobalSize) {
    const Host host;
    const Program program = host.build(
        "kernel void count(global int* out) {"
        "  int i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * "
        "get_global_id(2));"
        "  out[i] = get_local_size(0) * get_num_groups(0) == get_global_size(0) ? i : -1; }");
    const Kernel kernel = host.kernel(program, "count");
    for (const std::array<std::size_t, 3> size :
         {std::array<std::size_t, 3>{1, 1, 1}, {97, 1, 1}, {64, 3, 5}, {7, 33, 2}}) {
        const std::size_t count = size[0] * size[1] * size[2];
        const Memory out = host.buffer(std::vector<int>(count, -2));
        set_arguments(kernel, out);
        ASSERT_EQ(host.run(kernel, {size[0], size[1], size[2]}), CL_SUCCESS);
        std::vector<int> expected(count);
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(host.read<int>(out, count), expected);
    }
}

TEST(OpenClLaunch, OffsetsReachTheKernel) {
    const Host host;
    const Program program = host.build(
        "kernel void where(global ulong4* out) {"
        "  size_t i = get_global_linear_id();"
        "  out[i] = (ulong4)(get_global_id(0), get_global_id(1), get_global_offset(0) * 100 + "
        "get_global_offset(1),"
        "                    get_work_dim()); }",
        "-cl-std=CL3.0");
    const Kernel kernel = host.kernel(program, "where");
    const Memory out = host.buffer(std::vector<cl_ulong>(4 * 24));
    set_arguments(kernel, out);
    for (const bool has_offset : {true, false}) {
        const std::size_t dx = has_offset ? 5 : 0, dy = has_offset ? 70 : 0;
        ASSERT_EQ(host.run(kernel, {8, 3}, {4, 1}, {dx, dy}), CL_SUCCESS);
        const auto result = host.read<cl_ulong>(out, 4 * 24);
        for (std::size_t i = 0; i < 24; ++i) {
            EXPECT_EQ(result[4 * i], i % 8 + dx);
            EXPECT_EQ(result[4 * i + 1], i / 8 + dy);
            EXPECT_EQ(result[4 * i + 2], dx * 100 + dy);
            EXPECT_EQ(result[4 * i + 3], 2u);
        }
    }
}

TEST(OpenClLaunch, LocalMemoryAsArguments) {
    const Host host;
    const Program program = host.build(R"(
kernel void reverse(global const int* in, global int* out, local int* first, local double4* second) {
    const int i = get_local_id(0), n = get_local_size(0);
    first[i] = in[get_global_id(0)];
    second[i] = (double4)(i);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = first[n - 1 - i] * 1000 + (int)second[n - 1 - i].w;
})");
    const Kernel kernel = host.kernel(program, "reverse");
    std::vector<int> in(128);
    std::iota(in.begin(), in.end(), 0);
    const Memory input = host.buffer(in), out = host.buffer(in);
    set_arguments(kernel, input, out, Local{32 * sizeof(int)}, Local{32 * sizeof(cl_double4)});
    ASSERT_EQ(host.run(kernel, {128}, {32}), CL_SUCCESS);
    const auto result = host.read<int>(out, 128);
    for (int i = 0; i < 128; ++i) ASSERT_EQ(result[i], (i / 32 * 32 + 31 - i % 32) * 1000 + 31 - i % 32);
}

TEST(OpenClLaunch, WrongLaunchesAreErrors) {
    const Host host;
    const Program program = host.build(
        "kernel void plain(global int* out) { out[get_global_id(0)] = 1; }"
        "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void bound(global int* out) {"
        "  out[get_global_id(0)] = get_local_size(0); }");
    const Kernel plain = host.kernel(program, "plain"), bound = host.kernel(program, "bound");
    EXPECT_EQ(host.run(plain, {64}, {32}), CL_INVALID_KERNEL_ARGS);
    const Memory out = host.buffer(std::vector<int>(64));
    set_arguments(plain, out);
    set_arguments(bound, out);
    EXPECT_EQ(host.run(plain, {64}, {33}), CL_INVALID_WORK_GROUP_SIZE);
    EXPECT_EQ(host.run(plain, {64}, {0}), CL_INVALID_WORK_GROUP_SIZE);
    EXPECT_EQ(host.run(plain, {1 << 20}, {2048}), CL_INVALID_WORK_ITEM_SIZE);
    EXPECT_EQ(host.run(plain, {1 << 20, 64}, {1024, 2}), CL_INVALID_WORK_GROUP_SIZE);
    EXPECT_EQ(host.run(bound, {64, 2}, {8, 1}), CL_INVALID_WORK_GROUP_SIZE);
    EXPECT_EQ(host.run(bound, {64, 3}), CL_INVALID_WORK_GROUP_SIZE);
    EXPECT_EQ(host.run(bound, {64, 2}), CL_SUCCESS) << "an open size is the one that the kernel requires";
    EXPECT_EQ(host.read<int>(out, 1)[0], 8);
    EXPECT_EQ(
        clEnqueueNDRangeKernel(host.queue(), plain.get(), 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr),
        CL_INVALID_WORK_DIMENSION);
    EXPECT_EQ(clSetKernelArg(plain.get(), 1, 4, nullptr), CL_INVALID_ARG_INDEX);
    EXPECT_EQ(clSetKernelArg(plain.get(), 0, 4, &out), CL_INVALID_ARG_SIZE);
}

TEST(OpenClLaunch, AFaultIsTheEventsAndNotTheHosts) {
    const Host host;
    const Program program =
        host.build("kernel void beyond(global int* out, int n) { out[get_global_id(0) + n] = 1; }");
    const Kernel kernel = host.kernel(program, "beyond");
    const Memory out = host.buffer(std::vector<int>(64));
    set_arguments(kernel, out, 1 << 20);
    cl_event event = nullptr;
    const std::size_t global = 64;
    ASSERT_EQ(
        clEnqueueNDRangeKernel(host.queue(), kernel.get(), 1, nullptr, &global, nullptr, 0, nullptr, &event),
        CL_SUCCESS);
    const Event owned(event);
    EXPECT_EQ(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    cl_int status = 0;
    ASSERT_EQ(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
              CL_SUCCESS);
    EXPECT_LT(status, 0);
    EXPECT_EQ(clFinish(host.queue()), CL_OUT_OF_RESOURCES);
    set_arguments(kernel, out, 0);
    EXPECT_EQ(host.run(kernel, {64}), CL_SUCCESS) << "the queue goes on";
    EXPECT_EQ(clFinish(host.queue()), CL_SUCCESS);
}

}  // namespace
}  // namespace trimtab::opencl::test
