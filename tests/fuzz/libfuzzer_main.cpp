// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One target as libFuzzer calls it.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    trimtab::fuzz::TRIMTAB_FUZZ_TARGET({reinterpret_cast<const std::byte*>(data), size});
    return 0;
}
