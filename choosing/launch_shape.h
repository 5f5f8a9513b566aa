// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch as the program wrote it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model/launch_configuration.h"

namespace trimtab::choosing {

using model::LaunchConfiguration;
using model::same;

struct LaunchShape {
    LaunchConfiguration written;
    void* const* arguments = nullptr;  // one pointer a parameter, as cudaLaunchKernel takes them
    const void* function = nullptr;    // what the launch names its kernel by; null: its host function
    bool of_driver_api = false;
    // Where it goes, as the interface names it (CUDA: the driver); nothing: it is no launch yet, as a graph's node.
    std::optional<void*> stream{};
    // What cudaFuncSetAttribute allows the kernel; 0: nothing is known of it. Asked for kernels whose
    // annotation states dynamic shared memory.
    std::uint64_t max_dynamic_shared_bytes = 0;
};

[[nodiscard]] inline bool is_written(const LaunchShape& shape, const LaunchConfiguration& launch) {
    return launch == shape.written;
}

}  // namespace trimtab::choosing
