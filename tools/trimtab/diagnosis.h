// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Trimtab needs around it, looked for: what is there, what is missing, what to do.
#pragma once

#include <string>
#include <vector>

namespace trimtab::tools {

enum class Health : unsigned char {
    good,
    note,    // something is not to be had without it
    missing  // kernels are not built, or programs do not run as they should
};

struct Finding {
    std::string subject;  // "clang++"
    Health health = Health::good;
    std::string text;       // what was found, or what is wrong
    std::string cure = {};  // what to do; empty where nothing is needed
};

// clang++ 22, the CUDA toolkit, ptxas and nvdisasm, and what of Trimtab lies beside this program.
[[nodiscard]] std::vector<Finding> diagnose_build();
// CUDA's driver and its GPUs, libcudart, performance counters. Initialises the driver.
[[nodiscard]] std::vector<Finding> diagnose_devices();
// Folders that are written to, and variables of the environment.
[[nodiscard]] std::vector<Finding> diagnose_surroundings();

// Whether profiles may be taken by a user who is not root, after the text of /proc/driver/nvidia/params
// (NVIDIA's driver: "RmProfilingAdminOnly: 1" keeps performance counters to administrators).
[[nodiscard]] Finding diagnose_counters(const std::string& driver_parameters, bool is_root);

}  // namespace trimtab::tools
