// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers, parts of them, mapping, rectangles, fills, shared memory.
#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

using Place = std::array<std::size_t, 3>;

std::vector<int> counted(std::size_t count) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

TEST(OpenClMemory, PartsAreWindowsOnTheWhole) {
    const Host host;
    const Memory whole = host.buffer(counted(256));
    cl_buffer_region region{.origin = 128, .size = 256};
    cl_int status = -1;
    const Memory part(clCreateSubBuffer(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    ASSERT_EQ(status, CL_SUCCESS);
    EXPECT_EQ(host.read<int>(part, 1)[0], 32);
    const Program program = host.build("kernel void negate(global int* p) { p[get_global_id(0)] *= -1; }");
    const Kernel kernel = host.kernel(program, "negate");
    set_arguments(kernel, part);
    ASSERT_EQ(host.run(kernel, {64}), CL_SUCCESS);
    const auto all = host.read<int>(whole, 256);
    for (int i = 0; i < 256; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i >= 32 && i < 96 ? -i : i);
    std::size_t offset = 0;
    cl_mem parent = nullptr;
    ASSERT_EQ(clGetMemObjectInfo(part.get(), CL_MEM_OFFSET, sizeof offset, &offset, nullptr), CL_SUCCESS);
    ASSERT_EQ(clGetMemObjectInfo(part.get(), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(offset, 128u);
    EXPECT_EQ(parent, whole.get());
    const auto error_of = [&](cl_mem memory, cl_buffer_region wrong, cl_mem_flags flags = 0) {
        cl_int error = -1;
        const Memory made(clCreateSubBuffer(memory, flags, CL_BUFFER_CREATE_TYPE_REGION, &wrong, &error));
        return error;
    };
    EXPECT_EQ(error_of(part.get(), {0, 16}), CL_INVALID_MEM_OBJECT) << "of a part there are no parts";
    EXPECT_EQ(error_of(whole.get(), {0, 2000}), CL_INVALID_VALUE);
    EXPECT_EQ(error_of(whole.get(), {0, 0}), CL_INVALID_BUFFER_SIZE);
    EXPECT_EQ(error_of(whole.get(), {4, 16}), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    EXPECT_EQ(error_of(whole.get(), {0, 16}, CL_MEM_USE_HOST_PTR), CL_INVALID_VALUE);
}

TEST(OpenClMemory, TheProgramsOwnMemoryIsSeenAndWritten) {
    const Host host;
    const Program program = host.build("kernel void twice(global int* p) { p[get_global_id(0)] *= 2; }");
    const Kernel kernel = host.kernel(program, "twice");
    std::vector<int> own = counted(1000);
    for (const std::size_t offset : {0, 1}) {  // aligned, and not as vectors must be
        cl_int status = -1;
        int* start = own.data() + offset;
        {
            const Memory memory(clCreateBuffer(host.context(), CL_MEM_USE_HOST_PTR, 400, start, &status));
            ASSERT_EQ(status, CL_SUCCESS);
            set_arguments(kernel, memory);
            ASSERT_EQ(host.run(kernel, {100}), CL_SUCCESS);
            auto* mapped = static_cast<int*>(clEnqueueMapBuffer(host.queue(), memory.get(), CL_TRUE,
                                                                CL_MAP_READ | CL_MAP_WRITE, 0, 400, 0,
                                                                nullptr, nullptr, &status));
            ASSERT_EQ(status, CL_SUCCESS);
            EXPECT_EQ(mapped, start) << "mapped where it is";
            for (int i = 0; i < 100; ++i)
                ASSERT_EQ(mapped[i], 2 * static_cast<int>(static_cast<std::size_t>(i) + offset)) << offset;
            mapped[3] = 1234;
            ASSERT_EQ(clEnqueueUnmapMemObject(host.queue(), memory.get(), mapped, 0, nullptr, nullptr),
                      CL_SUCCESS);
            EXPECT_EQ(host.read<int>(memory, 4)[3], 1234);
        }
        own = counted(1000);
    }
}

TEST(OpenClMemory, MappingsAreCountedAndChecked) {
    const Host host;
    const Memory memory = host.buffer(counted(64), CL_MEM_HOST_READ_ONLY);
    cl_int status = -1;
    void* first = clEnqueueMapBuffer(host.queue(), memory.get(), CL_TRUE, CL_MAP_READ, 0, 64, 0, nullptr,
                                     nullptr, &status);
    ASSERT_EQ(status, CL_SUCCESS);
    void* second = clEnqueueMapBuffer(host.queue(), memory.get(), CL_FALSE, CL_MAP_READ, 64, 64, 0, nullptr,
                                      nullptr, &status);
    ASSERT_EQ(status, CL_SUCCESS);
    cl_uint count = 0;
    ASSERT_EQ(clGetMemObjectInfo(memory.get(), CL_MEM_MAP_COUNT, sizeof count, &count, nullptr), CL_SUCCESS);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(static_cast<int*>(second)[0], 16);
    EXPECT_EQ(clEnqueueMapBuffer(host.queue(), memory.get(), CL_TRUE, CL_MAP_WRITE, 0, 64, 0, nullptr,
                                 nullptr, &status),
              nullptr);
    EXPECT_EQ(status, CL_INVALID_OPERATION);
    EXPECT_EQ(clEnqueueMapBuffer(host.queue(), memory.get(), CL_TRUE, CL_MAP_READ, 0, 1000, 0, nullptr,
                                 nullptr, &status),
              nullptr);
    EXPECT_EQ(status, CL_INVALID_VALUE);
    for (void* mapped : {first, second})
        EXPECT_EQ(clEnqueueUnmapMemObject(host.queue(), memory.get(), mapped, 0, nullptr, nullptr),
                  CL_SUCCESS);
    EXPECT_EQ(clEnqueueUnmapMemObject(host.queue(), memory.get(), first, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    int value = 1;
    EXPECT_EQ(clEnqueueWriteBuffer(host.queue(), memory.get(), CL_TRUE, 0, 4, &value, 0, nullptr, nullptr),
              CL_INVALID_OPERATION);
}

// A box from one pitch to another, against three loops.
TEST(OpenClMemory, RectanglesGoWhereTheyShould) {
    const Host host;
    constexpr std::size_t row = 16, slice = 16 * 8, total = slice * 4;
    std::vector<unsigned char> from(total), to(total, 255);
    std::iota(from.begin(), from.end(), static_cast<unsigned char>(0));
    const Memory source = host.buffer(from), target = host.buffer(to);
    const Place at{3, 2, 1}, region{5, 4, 2}, there{1, 3, 2};
    ASSERT_EQ(clEnqueueCopyBufferRect(host.queue(), source.get(), target.get(), at.data(), there.data(),
                                      region.data(), row, slice, row, slice, 0, nullptr, nullptr),
              CL_SUCCESS);
    for (std::size_t z = 0; z < 2; ++z)
        for (std::size_t y = 0; y < 4; ++y)
            for (std::size_t x = 0; x < 5; ++x)
                to[(z + 2) * slice + (y + 3) * row + x + 1] = from[(z + 1) * slice + (y + 2) * row + x + 3];
    EXPECT_EQ(host.read<unsigned char>(target, total), to);
    std::vector<unsigned char> read(40, 0);
    const Place zero{0, 0, 0};
    ASSERT_EQ(clEnqueueReadBufferRect(host.queue(), target.get(), CL_TRUE, there.data(), zero.data(),
                                      region.data(), row, slice, 0, 0, read.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    for (std::size_t i = 0; i < 40; ++i)
        ASSERT_EQ(read[i], to[(i / 20 + 2) * slice + (i % 20 / 5 + 3) * row + i % 5 + 1]) << i;
    std::fill(read.begin(), read.end(), static_cast<unsigned char>(7));
    ASSERT_EQ(clEnqueueWriteBufferRect(host.queue(), target.get(), CL_TRUE, zero.data(), zero.data(),
                                       region.data(), row, slice, 0, 0, read.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(host.read<unsigned char>(target, 5), std::vector<unsigned char>(5, 7));
    EXPECT_EQ(clEnqueueReadBufferRect(host.queue(), target.get(), CL_TRUE, there.data(), zero.data(),
                                      region.data(), 4, slice, 0, 0, read.data(), 0, nullptr, nullptr),
              CL_INVALID_VALUE)
        << "a row that is narrower than the region";
    EXPECT_EQ(clEnqueueCopyBufferRect(host.queue(), source.get(), source.get(), at.data(), at.data(),
                                      region.data(), row, slice, row, slice, 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
}

TEST(OpenClMemory, FillsCopiesAndMigration) {
    const Host host;
    const Memory memory = host.buffer(std::vector<int>(64, -1));
    const std::array<int, 4> pattern{1, 2, 3, 4};
    ASSERT_EQ(
        clEnqueueFillBuffer(host.queue(), memory.get(), pattern.data(), 16, 32, 64, 0, nullptr, nullptr),
        CL_SUCCESS);
    ASSERT_EQ(clEnqueueCopyBuffer(host.queue(), memory.get(), memory.get(), 32, 128, 16, 0, nullptr, nullptr),
              CL_SUCCESS);
    cl_mem handle = memory.get();
    ASSERT_EQ(
        clEnqueueMigrateMemObjects(host.queue(), 1, &handle, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, nullptr),
        CL_SUCCESS);
    const auto values = host.read<int>(memory, 64);
    for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(values[i], (i >= 8 && i < 24) || (i >= 32 && i < 36) ? pattern[i % 4] : -1) << i;
    EXPECT_EQ(clEnqueueFillBuffer(host.queue(), memory.get(), pattern.data(), 12, 0, 24, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueCopyBuffer(host.queue(), memory.get(), memory.get(), 0, 8, 16, 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(clEnqueueCopyBuffer(host.queue(), memory.get(), memory.get(), 0, 250, 16, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    cl_int status = -1;
    EXPECT_EQ(clCreateBuffer(host.context(), CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, nullptr, &status),
              nullptr);
    EXPECT_EQ(status, CL_INVALID_VALUE);
    EXPECT_EQ(clCreateBuffer(host.context(), 0, 0, nullptr, &status), nullptr);
    EXPECT_EQ(status, CL_INVALID_BUFFER_SIZE);
    EXPECT_EQ(clCreateBuffer(host.context(), CL_MEM_COPY_HOST_PTR, 4, nullptr, &status), nullptr);
    EXPECT_EQ(status, CL_INVALID_HOST_PTR);
}

TEST(OpenClMemory, SharedMemoryIsOneMemory) {
    const Host host;
    auto* shared = static_cast<int*>(clSVMAlloc(host.context(), CL_MEM_READ_WRITE, 4096, 0));
    ASSERT_NE(shared, nullptr);
    struct Node {
        Node* next;
        int value;
    };
    // A list in shared memory, whose links a kernel follows.
    auto* nodes = static_cast<Node*>(clSVMAlloc(host.context(), CL_MEM_READ_WRITE, 100 * sizeof(Node), 64));
    ASSERT_NE(nodes, nullptr);
    for (int i = 0; i < 100; ++i) nodes[i] = {i < 99 ? &nodes[i + 1] : nullptr, i};
    const Program program = host.build(
        "typedef struct Node { global struct Node* next; int value; } Node;"
        "kernel void sum(global Node* first, global int* out) {"
        "  int s = 0; for (global Node* n = first; n; n = n->next) s += n->value; out[get_global_id(0)] = s; "
        "}");
    const Kernel kernel = host.kernel(program, "sum");
    ASSERT_EQ(clSetKernelArgSVMPointer(kernel.get(), 0, nodes), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArgSVMPointer(kernel.get(), 1, shared + 8), CL_SUCCESS);
    void* pointers[] = {nodes, shared};
    ASSERT_EQ(clSetKernelExecInfo(kernel.get(), CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers),
              CL_SUCCESS);
    ASSERT_EQ(host.run(kernel, {4}), CL_SUCCESS);
    ASSERT_EQ(
        clEnqueueSVMMap(host.queue(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, shared, 4096, 0, nullptr, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(shared[8], 4950);
    EXPECT_EQ(shared[11], 4950);
    ASSERT_EQ(clEnqueueSVMUnmap(host.queue(), shared, 0, nullptr, nullptr), CL_SUCCESS);
    const int pattern = 17;
    ASSERT_EQ(clEnqueueSVMMemFill(host.queue(), shared, &pattern, sizeof pattern, 64, 0, nullptr, nullptr),
              CL_SUCCESS);
    std::array<int, 4> host_copy{};
    ASSERT_EQ(clEnqueueSVMMemcpy(host.queue(), CL_TRUE, host_copy.data(), shared + 4, sizeof host_copy, 0,
                                 nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_THAT(host_copy, testing::Each(17));
    EXPECT_EQ(clEnqueueSVMMemcpy(host.queue(), CL_TRUE, shared, shared + 1, 16, 0, nullptr, nullptr),
              CL_MEM_COPY_OVERLAP);
    EXPECT_EQ(clSVMAlloc(host.context(), CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0), nullptr);
    ASSERT_EQ(clEnqueueSVMFree(host.queue(), 1, pointers, nullptr, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clFinish(host.queue()), CL_SUCCESS);
    clSVMFree(host.context(), shared);
}

TEST(OpenClMemory, EndsAreToldInReverse) {
    static std::vector<int> told;
    told.clear();
    const Host host;
    {
        const Memory memory = host.buffer(std::vector<int>(4));
        static constexpr std::array<int, 2> numbers{1, 2};
        for (const int& number : numbers)
            ASSERT_EQ(
                clSetMemObjectDestructorCallback(
                    memory.get(), [](cl_mem, void* data) { told.push_back(*static_cast<const int*>(data)); },
                    const_cast<int*>(&number)),
                CL_SUCCESS);
        cl_uint count = 0;
        ASSERT_EQ(clRetainMemObject(memory.get()), CL_SUCCESS);
        ASSERT_EQ(clGetMemObjectInfo(memory.get(), CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(count, 2u);
        ASSERT_EQ(clReleaseMemObject(memory.get()), CL_SUCCESS);
        EXPECT_TRUE(told.empty());
    }
    EXPECT_THAT(told, testing::ElementsAre(2, 1));
}

TEST(OpenClMemory, NativeKernelsGetTheirMemory) {
    const Host host;
    const Memory memory = host.buffer(counted(8));
    struct Arguments {
        int* values;
        int factor;
    } arguments{nullptr, 5};
    cl_mem handle = memory.get();
    const void* places[] = {&arguments.values};
    ASSERT_EQ(clEnqueueNativeKernel(
                  host.queue(),
                  [](void* data) {
                      const auto& given = *static_cast<Arguments*>(data);
                      for (int i = 0; i < 8; ++i) given.values[i] *= given.factor;
                  },
                  &arguments, sizeof arguments, 1, &handle, places, 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(host.read<int>(memory, 8)[7], 35);
}

}  // namespace
}  // namespace trimtab::opencl::test
