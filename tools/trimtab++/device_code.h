// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's -ptx, -cubin and -fatbin: files of device code alone.
#pragma once

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/toolchain.h"

namespace trimtab::wrapper {

// The exit code; what went wrong has been said.
[[nodiscard]] int make_device_code(const CommandLine& line, const Toolchain& tools);

// One fat binary of PTX and cubin files: pairs of "ptx,75" or "elf,75" (kind and architecture) and path.
[[nodiscard]] int make_fat_binary(const Toolchain& tools,
                                  const std::vector<std::pair<std::string, std::string>>& images,
                                  const std::string& output);

}  // namespace trimtab::wrapper
