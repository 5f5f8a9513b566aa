// What nvcc reads in a source and no option makes clang read: changed in a copy that clang sees in the
// source's place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/process.h"

namespace trimtab::wrapper {

// Inline PTX that names a special register with one '%' (asm("mov.u32 %0, %laneid;" : ...)), as nvcc allows:
// the text with each such '%' doubled; lines stay where they are. None where nothing is to change.
[[nodiscard]] std::optional<std::string> with_escaped_registers(const std::string& text);

// For the source at line.arguments[input] and what it includes by "...": the file for -ivfsoverlay; empty
// where nothing is to change.
[[nodiscard]] std::string overlay_of_fixed_sources(const CommandLine& line, std::size_t input,
                                                   const TemporaryFolder& folder);

}  // namespace trimtab::wrapper
