// The commands that a trimtab++ command line becomes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/toolchain.h"

namespace trimtab::wrapper {

using Command = std::vector<std::string>;  // the program first

// One CUDA source to one object: the user's options, and what a CUDA compile for Trimtab needs. `input` is an
// index in line.arguments.
[[nodiscard]] Command compile_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                                      const std::string& object);

// What clang does alone with CUDA sources (-E, -M, -S, -fsyntax-only ...): the user's command line with the
// toolkit found.
[[nodiscard]] Command passthrough_command(const CommandLine& line, const Toolchain& tools);

// The link: CUDA sources are replaced by `objects` (by index in line.arguments); the CUDA runtime is
// Trimtab's, wherever and however often the command line names one.
[[nodiscard]] Command link_command(const CommandLine& line, const Toolchain& tools,
                                   const std::map<std::size_t, std::string>& objects);

// The part of a -c command line that is not CUDA's.
[[nodiscard]] Command without_cuda_inputs(const CommandLine& line, const Toolchain& tools);

// Does this link make a CUDA program? A CUDA source, a CUDA runtime by name, or an object or archive with a
// fat binary in it.
[[nodiscard]] bool links_cuda(const CommandLine& line);

// The object that -c makes of an input when no -o names one: "dir/a.cu" -> "a.o".
[[nodiscard]] std::string default_object(const std::string& input);

}  // namespace trimtab::wrapper
