// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of kernels.cu as their object registers them: the registration that libtrimtab.so would get.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trimtab/driver.h"

namespace trimtab::bench {

struct RegisteredObject {
    void* wrapper = nullptr;  // of its fat binary
    const trimtab_bundle* bundle = nullptr;
    struct Kernel {
        const void* host_function = nullptr;
        std::string name;  // mangled
    };
    std::vector<Kernel> kernels;
};

// Filled by constructors, before main.
[[nodiscard]] RegisteredObject& registered_object();

}  // namespace trimtab::bench
