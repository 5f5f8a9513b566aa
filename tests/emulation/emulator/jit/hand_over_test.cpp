// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled code that comes while its kernel runs.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "emulation/emulator/jit/variants.h"
#include "tests/emulation/emulator/jit/compiled.h"

namespace trimtab::emulator::test {
namespace {

// Several threads launch a kernel of two modules, which share the cache, while it is compiled, compiled once
// more for long runs, and, the second time, found in the cache.
TEST_F(Compiled, CodeIsHandedOverWhileTheKernelRuns) {
    const std::string ptx = large_random_kernel();
    const trimtab_dim3 block{64, 1, 1};
    const auto wanted = outputs(ptx, "interpreter", block);
    ASSERT_FALSE(wanted.empty());
    setenv("TRIMTAB_EMULATOR", "automatic", 1);
    for (int round = 0; round < 2; round++) {
        const std::vector<std::shared_ptr<Program>> programs{load(ptx), load(ptx)};
        std::atomic<bool> is_over = false;
        std::atomic<unsigned> launches = 0, wrong = 0;
        {
            std::vector<std::jthread> threads;
            for (const std::size_t which : {0, 0, 1}) {
                threads.emplace_back([&, which] {
                    while (!is_over) {
                        if (outputs_of(*programs[which], block, 2) != wanted) wrong++;
                        launches++;
                    }
                });
            }
            std::vector<std::jthread> compilers;
            for (const auto& program : programs) {
                compilers.emplace_back([&] {
                    const CompiledKernel* kernel = program->kernel("random");
                    jit::Variant* variant = kernel->variants().of(kernel->code(false), block);
                    for (const unsigned shift : {16, 26, 40}) variant->ran(std::uint64_t{1} << shift);
                });
            }
            compilers.clear();
            // Some with all of the code.
            const unsigned by_now = launches;
            while (launches < by_now + 4) std::this_thread::yield();
            is_over = true;
        }
        EXPECT_EQ(wrong, 0u);
        for (const auto& program : programs) EXPECT_TRUE(is_compiled(*program, "random", block));
        EXPECT_EQ(cached_objects(), 2u);
    }
}

}  // namespace
}  // namespace trimtab::emulator::test
