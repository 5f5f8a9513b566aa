// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/packed_arguments.h"

#include <cuda.h>

#include <cstring>

namespace trimtab::runtime {
namespace {

// The arguments of the form that names one buffer: a pointer to each, at the offsets that the kernel's
// description gives. False: they are not understood, or cut short.
bool unpack(void* const* extra, const analysis::KernelDescription& description, ArgumentPointers& pointers) {
    std::byte* buffer = nullptr;
    std::size_t bytes = 0;
    constexpr int most_entries = 8;
    for (int i = 0; i < most_entries && *extra != CU_LAUNCH_PARAM_END; ++i, extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = static_cast<std::byte*>(extra[1]);
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr)
            std::memcpy(&bytes, extra[1], sizeof bytes);
        else
            return false;
    }
    if (buffer == nullptr || description.parameters.size() > pointers.size()) return false;
    for (std::size_t i = 0; i < description.parameters.size(); ++i) {
        const analysis::KernelParameter& parameter = description.parameters[i];
        if (std::size_t{parameter.offset} + parameter.size > bytes) return false;
        pointers[i] = buffer + parameter.offset;
    }
    return true;
}

}  // namespace

const char* point_at_arguments(Launcher& launcher, RegisteredKernel* kernel, void** arguments, void** extra,
                               ArgumentPointers& pointers, choosing::LaunchShape& shape) {
    shape.arguments = arguments;
    if (extra == nullptr) return nullptr;
    if (arguments != nullptr) return "it is launched with two sets of arguments";
    if (kernel == nullptr) return nullptr;
    // Where there is no description there is nothing to decide either.
    const analysis::KernelDescription* description = launcher.description_of(*kernel);
    if (description == nullptr) return nullptr;
    if (!unpack(extra, *description, pointers)) return "its arguments do not match its parameters";
    shape.arguments = pointers.data();
    return nullptr;
}

}  // namespace trimtab::runtime
