// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For tests of compiled code: a cache of their own, and kernels run in either way.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emulation/emulator/exec/program.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {

class Compiled : public ::testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;
    [[nodiscard]] std::size_t cached_objects() const;
    static bool is_compiled(Program& program, const char* kernel, const trimtab_dim3& block,
                            bool counted = false);
    std::filesystem::path folder_;
};

inline constexpr std::size_t input_words = std::size_t{40} * 512;

// What kernel `random` leaves in its output; `mode`: TRIMTAB_EMULATOR. Where `counters` is
// given, a counted launch, and everything that was counted, a line each.
std::vector<std::uint32_t> outputs(const std::string& ptx, const char* mode, const trimtab_dim3& block,
                                   std::string* counters = nullptr, std::uint32_t blocks = 3);
// The same of a program, in the mode of the environment, by so many threads.
std::vector<std::uint32_t> outputs_of(Program& program, const trimtab_dim3& block, unsigned threads,
                                      std::string* counters = nullptr, std::uint32_t blocks = 3);
// So large that it is compiled once more for long runs.
std::string large_random_kernel();

// data[i] *= 3 for all i < n.
extern const char* const scale;

// Kernels whose threads write `out[thread]`, in blocks of 64 by 1.
std::string kernel_of(const std::string& body, const std::string& functions = "",
                      const std::string& first = "");

}  // namespace trimtab::emulator::test
