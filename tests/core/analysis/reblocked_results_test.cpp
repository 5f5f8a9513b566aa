// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The claim itself, on the emulator: every block that legal_blocks() allows leaves memory as the block
// written did, byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "core/analysis/describe.h"
#include "cuda_compiler.h"
#include "kernel_trial.h"

namespace trimtab::analysis::test {
namespace {

constexpr unsigned launches_a_kernel = 4, blocks_a_launch = 5;

// One allocation for each pointer, with room before and after what a small launch touches.
TEST(ReblockedResults, AreTheSameBytes) {
    const std::string text =
        read_file(std::string(TRIMTAB_SOURCE_DIR) + "/tests/core/analysis/data/typical.nvcc.ptx");
    auto module = ptx::parse(text, "typical.nvcc.ptx");
    ASSERT_TRUE(module.has_value());
    const auto kernels = describe_ptx(text);
    std::map<std::string, std::uint32_t> parameter_bytes;
    for (const ptx::Function* kernel : module->kernels())
        parameter_bytes[kernel->name] = kernel->parameter_bytes();
    const auto program = emulator::load_program(std::move(*module));
    ASSERT_TRUE(program.has_value()) << program.error().text();

    std::mt19937 random(1234);
    unsigned compared = 0, kernel_count = 0;
    for (const KernelDescription& kernel : kernels) {
        // Structs and tables of pointers would need to be known; sums of floats have no fixed order.
        const bool has_simple_parameters = std::ranges::all_of(kernel.parameters, [](const auto& parameter) {
            return parameter.size <= 8 && !parameter.pointee.ends_with('*');
        });
        // Breadth-first search races on purpose: neighbours of one level write costs that others read.
        if (kernel.verdict == Verdict::fixed || !has_simple_parameters || kernel.uses_float_atomics ||
            kernel.demangled.starts_with("bfs_kernel"))
            continue;
        kernel_count++;
        for (unsigned l = 0; l < launches_a_kernel; l++)
            compared += Trial(**program, kernel, parameter_bytes.at(kernel.name), random)
                            .run(assorted_blocks(), blocks_a_launch);
    }
    EXPECT_GT(kernel_count, 80u);
    EXPECT_GT(compared, kernel_count * launches_a_kernel * 2);
}

}  // namespace
}  // namespace trimtab::analysis::test
