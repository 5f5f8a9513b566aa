// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/describe.h"
#include "core/ptx/binary.h"
#include "tests/fuzz/targets.h"

namespace trimtab::fuzz {

void fuzz_fat_binary(Input input) {
    (void)ptx::read_cubin(input, "fuzzed.cubin");
    const auto binary = ptx::read_fat_binary(input, "fuzzed");
    if (binary) (void)analysis::describe_fat_binary(*binary, {}, "fuzzed");
}

}  // namespace trimtab::fuzz
