// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verdicts on kernels that are compiled as programs are built.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"
#include "cuda_compiler.h"
#include "judged_launch.h"

namespace trimtab::analysis::test {

inline constexpr const void* pointer = nullptr;

// Every kernel at every optimisation level that programs are built with.
class Verdicts : public testing::TestWithParam<const char*> {
  protected:
    const KernelDescription& describe(std::string_view source, const std::string& name) {
        kernels = describe_ptx(compile_cuda(source, GetParam()));
        return kernel_named(kernels, name);
    }
    std::vector<KernelDescription> kernels;
};

}  // namespace trimtab::analysis::test
