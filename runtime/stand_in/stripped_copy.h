// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of CUDA's runtime in files that were stripped, as Python's wheels are: no symbol leads to its functions. Its code is that
// of one of NVIDIA's archives (libcudart_static.a), though, and the linker keeps it in one piece: a table of those archives
// (static_runtimes.def) says where each function starts.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ptx/elf.h"

namespace trimtab::runtime {

// Functions of the copy that stands in a piece of code, by their offsets in it; empty: it holds none that is known.
[[nodiscard]] std::vector<ptx::ElfSymbol> find_runtime_functions(std::span<const std::byte> code);

// Functions of the copy that a loaded object holds, at their addresses in its file (`path`).
[[nodiscard]] std::vector<ptx::ElfSymbol> find_runtime_functions(const link_map& object,
                                                                 const std::string& path);

}  // namespace trimtab::runtime
