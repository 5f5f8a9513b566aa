// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels in PTX: patterns that the re-blocking proof knows, with random arithmetic in them, and now
// and then a value in it that another block changes.
#pragma once

#include "generator/kernel_text.h"

namespace trimtab::analysis::test {

[[nodiscard]] KernelText random_kernel(Draw& draw);

}  // namespace trimtab::analysis::test
