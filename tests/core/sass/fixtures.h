// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ptxas 13.0 and nvdisasm 13.5 (sm_75, sm_90), and ptxas 11.8 and nvdisasm 12.3 (sm_52, sm_61, sm_70), make of
// data/gather.ptx: a loop of unknown length with two dependent loads an iteration, which ptxas unrolls four times and whose
// rest it does in a pair and a single iteration.
#pragma once

#include <string>

#include "core/sass/disassembly.h"

namespace trimtab::sass {

// The text of a file in tests/core/sass/data.
[[nodiscard]] std::string data_text(const std::string& name);
// A file in tests/core/sass/data, read, or the test fails.
[[nodiscard]] Disassembly disassembly(const std::string& name);
[[nodiscard]] Disassembly gather(unsigned architecture);

}  // namespace trimtab::sass
