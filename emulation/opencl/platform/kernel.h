// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels, and the arguments that they have been given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulation/opencl/platform/memory.h"
#include "emulation/opencl/platform/program.h"

namespace trimtab::opencl {

struct KernelArgument {
    bool is_set = false;
    std::vector<std::byte> bytes;  // as the kernel gets them; of local memory: nothing yet
    Ref<_cl_mem> memory;           // is kept while the kernel may be launched with it
    std::size_t local_bytes = 0;
};

// How a parameter takes its argument.
enum class ParameterKind : std::uint8_t { value, memory, local, image, sampler };
[[nodiscard]] ParameterKind kind_of(const KernelParameter& parameter);

}  // namespace trimtab::opencl

struct _cl_kernel : trimtab::opencl::Object {
    _cl_kernel() : Object(trimtab::opencl::Kind::kernel) {}
    ~_cl_kernel() {
        if (program) program->kernels.fetch_sub(1);
    }

    trimtab::opencl::Ref<_cl_program> program;
    std::shared_ptr<trimtab::opencl::Executable> executable;  // of the build that it was made of
    const trimtab::opencl::KernelInfo* info = nullptr;
    std::vector<std::size_t> sizes;  // of its parameters, in bytes
    std::vector<trimtab::opencl::KernelArgument> arguments;

    // Of a device; where the program was built for several, each has its own.
    [[nodiscard]] std::shared_ptr<trimtab::opencl::Executable> executable_of(cl_device_id device) const;
};
