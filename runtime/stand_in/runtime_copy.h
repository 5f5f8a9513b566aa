// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of CUDA's runtime inside programs and libraries that nvcc linked (its default, -cudart static):
// their functions are hidden, so that no library can stand before them, but a jump can be written over each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/elf.h"

namespace trimtab::runtime {

struct CopiedFunction {
    std::string name;
    std::uint64_t address = 0;  // in the file
};

[[nodiscard]] bool has_function(const std::vector<ptx::ElfSymbol>& symbols, std::string_view name);

// The functions of a file's copy, by its symbols, that have room for a jump.
[[nodiscard]] std::vector<CopiedFunction> copied_functions(const std::vector<ptx::ElfSymbol>& symbols);

// Is the copy one that Trimtab's runtime can stand in for? CUDA 12's and older ones' are not.
[[nodiscard]] bool is_replaceable(const std::vector<ptx::ElfSymbol>& symbols);

// Does a file without a symbol table hold device code, and a runtime of its own to launch it?
[[nodiscard]] bool hides_runtime(const ptx::ElfFile& file);

// Is a library, by its path, the runtime of a CUDA before 13 (libcudart.so.12, libcudart.so.11.0)?
[[nodiscard]] bool is_older_runtime(std::string_view path);
inline constexpr const char* older_runtime_text =
    "this runtime of CUDA 12 or older is used as it is: launches through it are left as written and need a "
    "GPU (to "
    "have them chosen, or emulated, link the program to libcudart.so.13)";

}  // namespace trimtab::runtime
