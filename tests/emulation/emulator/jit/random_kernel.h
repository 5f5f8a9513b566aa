// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels as PTX: arithmetic, divergent and uniform control flow, shared memory, barriers, shuffles,
// guards, and at the end every register written to memory.
#pragma once

#include <cstdint>
#include <string>

namespace trimtab::emulator::test {

inline constexpr unsigned random_kernel_outputs = 16;  // 32-bit words a thread

// .entry random(.param .u64 out, .param .u64 in, .param .u32 n): `in` has 4096 words.
// Of about 20 instructions a statement.
[[nodiscard]] std::string random_kernel(std::uint32_t seed, unsigned statements = 8);

}  // namespace trimtab::emulator::test
