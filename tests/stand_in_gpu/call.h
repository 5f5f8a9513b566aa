// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the stand-in's own functions go on to the emulator's.
#pragma once

#include <string_view>
#include <utility>

#include "tests/stand_in_gpu/gpu.h"

namespace stand_in_gpu {

// `Function`: of the emulator's entry point, whose statuses are CUDA's or the driver's.
template <typename Function, typename... Arguments>
auto forward(const char* name, Arguments... arguments) {
    using Status = decltype(std::declval<Function>()(arguments...));
    if (const int error = call_begins(name); error != 0) return static_cast<Status>(error);
    const Status status = reinterpret_cast<Function>(emulated(name))(arguments...);
    call_ended(name, static_cast<int>(status));
    return status;
}

// The error of a fault that only launches with another block than the one that was written meet; 0: none.
inline int fault_of_changed(const char* name, unsigned x, unsigned y, unsigned z) {
    const Control& gpu = control();
    const auto& written = gpu.written_block;
    const bool is_changed = written[0] != 0 && (written[0] != x || written[1] != y || written[2] != z);
    return is_changed && gpu.fault.when == When::changed_launch && gpu.fault.step == gpu.step.load() &&
                   std::string_view(gpu.fault.function.data()) == name
               ? gpu.fault.error
               : 0;
}

}  // namespace stand_in_gpu
