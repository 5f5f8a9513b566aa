// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA sources to PTX, when the tests run.
#pragma once

#include <string>
#include <string_view>

namespace trimtab::emulator::test {

// Compiles for sm_75 by default; fails the test, and returns "", where the compiler refuses.
[[nodiscard]] std::string compile_cuda(std::string_view source, std::string_view flags = "-O3");

}  // namespace trimtab::emulator::test
