// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device link of relocatable device code: the bitcode that -fgpu-rdc objects and archives hold becomes
// one module for each architecture, so that kernels are analysed and run with what they call in other files.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/process.h"
#include "tools/trimtab++/toolchain.h"
#include "trimtab/error.h"

namespace trimtab::wrapper {

// Have the inputs of this link device code that is still to be linked? Not where an earlier -dlink did it.
[[nodiscard]] bool wants_device_link(const CommandLine& line,
                                     const std::map<std::size_t, std::string>& objects);

// Makes `object`: the fat binary of the linked device code (PTX and cubin) and its registration, with the
// kernels' driver programs.
[[nodiscard]] std::expected<void, Error> device_link(const CommandLine& line, const Toolchain& tools,
                                                     const std::map<std::size_t, std::string>& objects,
                                                     const TemporaryFolder& folder,
                                                     const std::string& object);

}  // namespace trimtab::wrapper
