// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc reads in a source and no option makes clang read: changed in a copy that clang sees in the
// source's place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/process.h"
#include "tools/trimtab++/refused_forms.h"

namespace trimtab::wrapper {

// Inline PTX that names a special register with one '%' (asm("mov.u32 %0, %laneid;" : ...)), as nvcc allows:
// the text with each such '%' doubled; lines stay where they are. None where nothing is to change.
[[nodiscard]] std::optional<std::string> with_escaped_registers(const std::string& text);

// Launches whose chevrons stand apart (`k << <1, 64 >> >(x)`), as some formatters leave them and nvcc takes them: joined,
// with lines and the columns of what follows as they are. None where nothing is to change.
[[nodiscard]] std::optional<std::string> with_joined_chevrons(const std::string& text);

// For the source at line.arguments[input] and what it includes by "...".
struct FixedSources {
    std::string overlay;  // the file for -ivfsoverlay; empty where nothing is to change
    bool knows_refused =
        true;  // false: what stands at a place of `refused` is of no form that can be changed
};

// `refused`: what clang would not take, each as told by a compile with the overlay that those before it gave.
[[nodiscard]] FixedSources fix_sources(const CommandLine& line, std::size_t input,
                                       const TemporaryFolder& folder,
                                       const std::vector<Refusal>& refused = {});

}  // namespace trimtab::wrapper
