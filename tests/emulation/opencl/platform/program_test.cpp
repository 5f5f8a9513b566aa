// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs and kernels: built, compiled, linked, kept as binaries, asked about.
#include <gmock/gmock.h>

#include <random>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

using testing::HasSubstr;

std::string text_of(const Kernel& kernel, cl_uint index, cl_kernel_arg_info what) {
    std::array<char, 256> text{};
    EXPECT_EQ(clGetKernelArgInfo(kernel.get(), index, what, text.size(), text.data(), nullptr), CL_SUCCESS);
    return text.data();
}

std::vector<unsigned char> binary_of(const Program& program) {
    std::size_t size = 0;
    EXPECT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
              CL_SUCCESS);
    std::vector<unsigned char> binary(size);
    unsigned char* place = binary.data();
    EXPECT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof place, &place, nullptr),
              CL_SUCCESS);
    return binary;
}

Program from_binary(const Host& host, const std::vector<unsigned char>& binary, cl_int& status) {
    cl_device_id device = host.device();
    const std::size_t size = binary.size();
    const unsigned char* bytes = binary.data();
    cl_int state = -1;
    return Program(clCreateProgramWithBinary(host.context(), 1, &device, &size, &bytes, &state, &status));
}

TEST(OpenClPrograms, AFailedBuildHasALog) {
    const Host host;
    const Program program = host.with_source("kernel void k(global int* p) {\n  p[0] = missing;\n}\n");
    EXPECT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
    EXPECT_THAT(host.log(program),
                HasSubstr("program.cl:2:10: error: use of undeclared identifier 'missing'"));
    cl_build_status status = 0;
    cl_device_id device = host.device();
    ASSERT_EQ(clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status,
                                    nullptr),
              CL_SUCCESS);
    EXPECT_EQ(status, CL_BUILD_ERROR);
    cl_int error = 0;
    EXPECT_EQ(clCreateKernel(program.get(), "k", &error), nullptr);
    EXPECT_EQ(error, CL_INVALID_PROGRAM_EXECUTABLE);
    EXPECT_EQ(clBuildProgram(program.get(), 0, nullptr, "-o /tmp/x", nullptr, nullptr),
              CL_INVALID_BUILD_OPTIONS);
    EXPECT_EQ(clBuildProgram(program.get(), 0, nullptr, "-DX='open", nullptr, nullptr),
              CL_INVALID_BUILD_OPTIONS);
    const Program right =
        host.build("kernel void k(global int* p) { p[0] = VALUE; }", "-D VALUE=41+1 -cl-fast-relaxed-math");
    const Kernel kernel = host.kernel(right, "k");
    const Memory out = host.buffer(std::vector<int>(1));
    set_arguments(kernel, out);
    ASSERT_EQ(host.run(kernel, {1}), CL_SUCCESS);
    EXPECT_EQ(host.read<int>(out, 1)[0], 42);
    EXPECT_EQ(clCreateKernel(right.get(), "none", &error), nullptr);
    EXPECT_EQ(error, CL_INVALID_KERNEL_NAME);
    EXPECT_EQ(clBuildProgram(right.get(), 0, nullptr, "", nullptr, nullptr), CL_INVALID_OPERATION)
        << "while there are kernels of it";
}

TEST(OpenClPrograms, PartsAreCompiledWithHeadersAndLinked) {
    const Host host;
    const Program header = host.with_source("int twice(int x);\n#define OFFSET 100\n");
    const Program library =
        host.with_source("#include \"inc/mine.h\"\nint twice(int x) { return 2 * x + OFFSET; }\n");
    const Program main = host.with_source(
        "#include \"inc/mine.h\"\nkernel void k(global int* p) { p[get_global_id(0)] = "
        "twice(get_global_id(0)); }\n");
    cl_program headers[] = {header.get()};
    const char* names[] = {"inc/mine.h"};
    for (const Program* part : {&library, &main})
        ASSERT_EQ(clCompileProgram(part->get(), 0, nullptr, "", 1, headers, names, nullptr, nullptr),
                  CL_SUCCESS)
            << host.log(*part);
    cl_int status = -1;
    cl_program parts[] = {main.get(), library.get()};
    const Program archive(clLinkProgram(host.context(), 0, nullptr, "-create-library", 1, &parts[1], nullptr,
                                        nullptr, &status));
    ASSERT_EQ(status, CL_SUCCESS);
    parts[1] = archive.get();
    const Program linked(clLinkProgram(host.context(), 0, nullptr, "", 2, parts, nullptr, nullptr, &status));
    ASSERT_EQ(status, CL_SUCCESS) << host.log(linked);
    const Kernel kernel = host.kernel(linked, "k");
    const Memory out = host.buffer(std::vector<int>(8));
    set_arguments(kernel, out);
    ASSERT_EQ(host.run(kernel, {8}, {}, {0}), CL_SUCCESS);
    EXPECT_EQ(host.read<int>(out, 8)[7], 114);
    ASSERT_EQ(host.run(kernel, {4}, {}, {4}), CL_SUCCESS) << "linked for launches with an offset, too";
    EXPECT_EQ(host.read<int>(out, 8)[5], 110);
    const Program alone(clLinkProgram(host.context(), 0, nullptr, "", 1, parts, nullptr, nullptr, &status));
    EXPECT_EQ(status, CL_LINK_PROGRAM_FAILURE);
    EXPECT_THAT(host.log(alone), HasSubstr("twice"));
    EXPECT_EQ(clLinkProgram(host.context(), 0, nullptr, "-fancy", 1, parts, nullptr, nullptr, &status),
              nullptr);
    EXPECT_EQ(status, CL_INVALID_LINKER_OPTIONS);
}

TEST(OpenClPrograms, BinariesComeBackAsTheyWere) {
    const Host host;
    const Program program = host.build(
        "kernel void where(global int* out) {"
        "  out[get_global_id(0) - get_global_offset(0)] = 10 * get_global_id(0) + get_work_dim(); }");
    const auto binary = binary_of(program);
    ASSERT_GT(binary.size(), 100u);
    cl_int status = -1;
    const Program again = from_binary(host, binary, status);
    ASSERT_EQ(status, CL_SUCCESS);
    ASSERT_EQ(clBuildProgram(again.get(), 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
    const Kernel kernel = host.kernel(again, "where");
    EXPECT_EQ(text_of(kernel, 0, CL_KERNEL_ARG_NAME), "out");
    const Memory out = host.buffer(std::vector<int>(4));
    set_arguments(kernel, out);
    ASSERT_EQ(host.run(kernel, {4, 1}, {}, {5, 0}), CL_SUCCESS);
    EXPECT_THAT(host.read<int>(out, 4), testing::ElementsAre(52, 62, 72, 82));
    EXPECT_EQ(binary_of(again), binary);
}

// Nothing that is handed in as a binary brings the program down.
TEST(OpenClPrograms, DamagedBinariesAreRefused) {
    const Host host;
    const Program program = host.build("kernel void k(global int* p) { p[0] = 1; }");
    const auto binary = binary_of(program);
    std::mt19937 random(7);
    cl_int status = 0;
    for (int i = 0; i < 400; ++i) {
        auto damaged = binary;
        const std::size_t at = random() % damaged.size();
        if (i % 4 == 0)
            damaged.resize(at);
        else
            damaged[at] = static_cast<unsigned char>(damaged[at] ^ (1u << random() % 8));
        if (damaged.empty()) continue;
        const Program made = from_binary(host, damaged, status);
        // Its type is what is not hashed.
        if (status == CL_SUCCESS) {
            EXPECT_LT(at, 8u);
            static_cast<void>(clBuildProgram(made.get(), 0, nullptr, nullptr, nullptr, nullptr));
        } else {
            EXPECT_EQ(status, CL_INVALID_BINARY);
        }
    }
    for (int i = 0; i < 100; ++i) {
        std::vector<unsigned char> noise(1 + random() % 300);
        for (unsigned char& byte : noise) byte = static_cast<unsigned char>(random());
        const Program made = from_binary(host, noise, status);
        EXPECT_EQ(status, CL_INVALID_BINARY);
    }
}

TEST(OpenClPrograms, KernelsSayWhatTheyTake) {
    const Host host;
    const Program program = host.build(
        "kernel __attribute__((work_group_size_hint(8, 4, 1))) void k(global const float* restrict in, local "
        "int* l,"
        "  constant uint* c, float4 v, read_only image2d_t i, sampler_t s, volatile global int* w) {"
        "  w[0] = l[0] + c[0] + (int)v.x + (int)in[0] + (int)read_imagef(i, s, (int2)(0)).x; }"
        "kernel void other(void) {}");
    std::array<char, 64> names{};
    ASSERT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_KERNEL_NAMES, names.size(), names.data(), nullptr),
              CL_SUCCESS);
    EXPECT_STREQ(names.data(), "k;other");
    cl_uint count = 0;
    std::array<cl_kernel, 2> both{};
    ASSERT_EQ(clCreateKernelsInProgram(program.get(), 2, both.data(), &count), CL_SUCCESS);
    EXPECT_EQ(count, 2u);
    const Kernel owned[] = {Kernel(both[0]), Kernel(both[1])};
    const Kernel kernel = host.kernel(program, "k");
    const char* expected_names[] = {"in", "l", "c", "v", "i", "s", "w"};
    const char* types[] = {"float*", "int*", "uint*", "float4", "image2d_t", "sampler_t", "int*"};
    const cl_kernel_arg_address_qualifier spaces[] = {
        CL_KERNEL_ARG_ADDRESS_GLOBAL,  CL_KERNEL_ARG_ADDRESS_LOCAL,  CL_KERNEL_ARG_ADDRESS_CONSTANT,
        CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
        CL_KERNEL_ARG_ADDRESS_GLOBAL};
    const cl_kernel_arg_type_qualifier qualifiers[] = {CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT,
                                                       0,
                                                       CL_KERNEL_ARG_TYPE_CONST,
                                                       0,
                                                       0,
                                                       0,
                                                       CL_KERNEL_ARG_TYPE_VOLATILE};
    for (cl_uint i = 0; i < 7; ++i) {
        EXPECT_EQ(text_of(kernel, i, CL_KERNEL_ARG_NAME), expected_names[i]);
        EXPECT_EQ(text_of(kernel, i, CL_KERNEL_ARG_TYPE_NAME), types[i]);
        cl_kernel_arg_address_qualifier space = 0;
        cl_kernel_arg_type_qualifier qualifier = 0;
        cl_kernel_arg_access_qualifier access = 0;
        clGetKernelArgInfo(kernel.get(), i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr);
        clGetKernelArgInfo(kernel.get(), i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier,
                           nullptr);
        clGetKernelArgInfo(kernel.get(), i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, nullptr);
        EXPECT_EQ(space, spaces[i]) << i;
        EXPECT_EQ(qualifier, qualifiers[i]) << i;
        EXPECT_EQ(access, i == 4 ? CL_KERNEL_ARG_ACCESS_READ_ONLY : CL_KERNEL_ARG_ACCESS_NONE);
    }
    std::array<char, 128> attributes{};
    ASSERT_EQ(
        clGetKernelInfo(kernel.get(), CL_KERNEL_ATTRIBUTES, attributes.size(), attributes.data(), nullptr),
        CL_SUCCESS);
    EXPECT_STREQ(attributes.data(), "work_group_size_hint(8,4,1)");
    std::size_t most = 0, multiple = 0;
    ASSERT_EQ(clGetKernelWorkGroupInfo(kernel.get(), nullptr, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                       nullptr),
              CL_SUCCESS);
    ASSERT_EQ(
        clGetKernelWorkGroupInfo(kernel.get(), host.device(), CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                 sizeof multiple, &multiple, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(most, 1024u);
    EXPECT_EQ(multiple, 32u);
    set_argument(kernel.get(), 1, Local{400});
    cl_ulong local = 0;
    ASSERT_EQ(clGetKernelWorkGroupInfo(kernel.get(), nullptr, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                       nullptr),
              CL_SUCCESS);
    EXPECT_EQ(local, 400u);
    EXPECT_EQ(clSetKernelArg(kernel.get(), 0, sizeof(cl_mem), "not a memory object at all"),
              CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(clSetKernelArg(kernel.get(), 1, 0, nullptr), CL_INVALID_ARG_SIZE);
    EXPECT_EQ(clSetKernelArg(kernel.get(), 3, 4, "1234"), CL_INVALID_ARG_SIZE);
    EXPECT_EQ(clSetKernelArg(kernel.get(), 5, sizeof(cl_sampler), nullptr), CL_INVALID_SAMPLER);
}

// Sources that are no programs fail to build, and that is all.
TEST(OpenClPrograms, MutatedSourcesDoNotBringTheHostDown) {
    const Host host;
    const std::string right =
        "kernel void k(global float* p, int n) { int i = get_global_id(0); if (i < n) p[i] = sqrt(p[i]) + "
        "(float)n; }";
    std::mt19937 random(11);
    for (int i = 0; i < 12; ++i) {
        std::string source = right;
        for (int change = 0; change < 3; ++change)
            source[random() % source.size()] = static_cast<char>(random() % 127 + 1);
        const Program program = host.with_source(source);
        const cl_int status = clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr);
        EXPECT_TRUE(status == CL_SUCCESS ||
                    (status == CL_BUILD_PROGRAM_FAILURE && !host.log(program).empty()))
            << status;
    }
}

// Every entry of the loader's table is there, and what there is not says so.
TEST(OpenClPrograms, TheTableIsWhole) {
    const Host host;
    const auto* table = *reinterpret_cast<void* const* const*>(host.device());
    constexpr std::size_t entries = 149;  // up to OpenCL 3.0's last
    for (std::size_t i = 0; i < entries; ++i) EXPECT_NE(table[i], nullptr) << i;
    cl_int status = 0;
    EXPECT_EQ(clCreatePipe(host.context(), 0, 4, 4, nullptr, &status), nullptr);
    EXPECT_EQ(status, CL_INVALID_OPERATION);
    cl_ulong time = 0;
    EXPECT_EQ(clGetHostTimer(host.device(), &time), CL_INVALID_OPERATION);
    const char code[] = "no SPIR-V";
    EXPECT_EQ(clCreateProgramWithIL(host.context(), code, sizeof code, &status), nullptr);
    EXPECT_EQ(status, CL_INVALID_OPERATION);
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 2, 0};
    cl_uint count = 0;
    EXPECT_EQ(clCreateSubDevices(host.device(), equally, 0, nullptr, &count), CL_DEVICE_PARTITION_FAILED);
}

}  // namespace
}  // namespace trimtab::opencl::test
