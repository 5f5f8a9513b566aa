// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL C as tests want it: compiled in a cache of its own, and described.
#pragma once

#include <expected>
#include <map>
#include <string>

#include "core/analysis/describe.h"
#include "emulation/opencl/front_end/front_end.h"

namespace trimtab::opencl::test {

[[nodiscard]] std::expected<CompiledProgram, CompileFailure> compile(const CompileRequest& request);
// The PTX of tests/emulation/opencl/NAME, as OpenCL C 3.0; empty, and the test has failed, where it does not compile.
[[nodiscard]] std::string ptx_of(const std::string& name);
// Kernels of such PTX by their names; none, and the test has failed, where it cannot be read.
[[nodiscard]] std::map<std::string, analysis::KernelDescription> describe_kernels(const std::string& ptx);

}  // namespace trimtab::opencl::test
