// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL C from a file, compiled as the tools find their compilers.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "core/analysis/describe.h"
#include "emulation/opencl/front_end/front_end.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// Files are included from the source's own folder. A program that does not compile: the compiler's messages go to
// stderr, and the error says no more than that.
[[nodiscard]] std::expected<opencl::CompiledProgram, Error> compile_opencl_file(
    const std::string& path, std::vector<std::string> options, const std::string& architecture = "sm_75",
    std::uint32_t work_dimensions = 1);
// What PTX lacks, as descriptions take it.
[[nodiscard]] analysis::KernelSources kernel_sources(const opencl::CompiledProgram& program);

}  // namespace trimtab::tools
