// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL 3.0, section 4.4: what clCreateContext() and clCreateContextFromType() say of their properties.
#include <gmock/gmock.h>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

cl_int status_of(const std::vector<cl_context_properties>& properties, cl_device_id device) {
    cl_int by_device = 1, by_type = 1;
    const Context made(clCreateContext(properties.data(), 1, &device, nullptr, nullptr, &by_device));
    const Context of_type(
        clCreateContextFromType(properties.data(), CL_DEVICE_TYPE_GPU, nullptr, nullptr, &by_type));
    EXPECT_EQ(by_device, by_type);
    EXPECT_EQ(made != nullptr, by_device == CL_SUCCESS);
    EXPECT_EQ(of_type != nullptr, by_type == CL_SUCCESS);
    return by_device;
}

TEST(OpenClContext, PropertiesStandOnceAndAreKnown) {
    const Host host;
    cl_platform_id platform = nullptr;
    ASSERT_EQ(clGetDeviceInfo(host.device(), CL_DEVICE_PLATFORM, sizeof(cl_platform_id),
                              static_cast<void*>(&platform), nullptr),
              CL_SUCCESS);
    const auto value = reinterpret_cast<cl_context_properties>(platform);
    EXPECT_EQ(status_of({CL_CONTEXT_PLATFORM, value, 0}, host.device()), CL_SUCCESS);
    EXPECT_EQ(
        status_of({CL_CONTEXT_PLATFORM, value, CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE, 0}, host.device()),
        CL_SUCCESS);
    EXPECT_EQ(status_of({CL_CONTEXT_PLATFORM, value, CL_CONTEXT_PLATFORM, value, 0}, host.device()),
              CL_INVALID_PROPERTY);
    EXPECT_EQ(status_of({CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE, CL_CONTEXT_PLATFORM, value,
                         CL_CONTEXT_INTEROP_USER_SYNC, CL_FALSE, 0},
                        host.device()),
              CL_INVALID_PROPERTY);
    EXPECT_EQ(status_of({CL_CONTEXT_PLATFORM, value, 0x7fff, 1, 0}, host.device()), CL_INVALID_PROPERTY);
}

}  // namespace
}  // namespace trimtab::opencl::test
