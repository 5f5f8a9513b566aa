// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kinds of kernels that the generator writes, each a kernel for every seed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "generator/block_trial.h"
#include "generator/kernel_text.h"

namespace trimtab::analysis::test {

// ptx: PTX of its own. nvcc: kernels as people write them, an instruction or two changed. The others are CUDA C++
// (random_cuda.h), compiled some forty at a time.
inline constexpr std::array<std::string_view, 11> kernel_kinds = {
    "ptx", "nvcc", "cuda", "blocks", "tables", "sums", "loops", "planes", "exchanges", "setups", "near"};

// Keeps what was compiled last, so that seeds are best asked for in order. TRIMTAB_GENERATED_KEPT=DIR keeps it in a
// folder too, from one run to the next.
class KernelSource {
  public:
    // Of one of kernel_kinds.
    explicit KernelSource(std::string_view kind);
    // Empty: a compiler failed.
    [[nodiscard]] KernelText of_seed(std::uint64_t seed) const;
    // In CUDA C++, before an instruction is changed; empty where it is written in PTX.
    [[nodiscard]] std::string source_of_seed(std::uint64_t seed) const { return source_(seed); }

  private:
    std::function<KernelText(Draw& draw, std::uint64_t seed)> make_;
    std::function<std::string(std::uint64_t seed)> source_ = [](std::uint64_t) { return std::string(); };
};

// The kernel under every block that its description admits. One that reads a register before it has a value is
// tried again with zeros in all of them, and `kernel` is that one where it is then different.
[[nodiscard]] TrialResult tried(KernelText& kernel, std::uint64_t seed, unsigned launches = 3);

}  // namespace trimtab::analysis::test
