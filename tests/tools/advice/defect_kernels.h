// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of defects.cu, compiled once, and what their launches do on the emulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulation/emulator/metrics/launch_profile.h"
#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {

struct OneRun {
    std::string kernel;
    std::vector<std::string> arguments;
    std::uint32_t grid, block;
    std::uint64_t launches = 1;
};

[[nodiscard]] const std::string& defect_source();
[[nodiscard]] const KernelFile& defect_kernels();
[[nodiscard]] emulator::LaunchProfile profile_of(const OneRun& run,
                                                 const std::string& device_name = "rtx2070super");

}  // namespace trimtab::tools
