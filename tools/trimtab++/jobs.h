// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands that a trimtab++ command line becomes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/toolchain.h"

namespace trimtab::wrapper {

using Command = std::vector<std::string>;  // the program first

// One CUDA source to one object: the user's options, and what a CUDA compile for Trimtab needs. `input` is an
// index in line.arguments.
[[nodiscard]] Command compile_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                                      const std::string& object);

// One C or C++ source to one object.
[[nodiscard]] Command host_compile_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                                           const std::string& object);

// What clang does alone with CUDA sources (-E, -M, -S, -fsyntax-only ...): the user's command line with the
// toolkit found.
[[nodiscard]] Command passthrough_command(const CommandLine& line, const Toolchain& tools);

// A device object's name that means: clang is to link the device code.
inline constexpr std::string_view clangs_device_link = "--offload-link";

// The link: CUDA sources are replaced by `objects` (by index in line.arguments); the CUDA runtime is
// Trimtab's, wherever and however often the command line names one. `device_object`: what the device link
// made, if there was one; or clangs_device_link.
[[nodiscard]] Command link_command(const CommandLine& line, const Toolchain& tools,
                                   const std::map<std::size_t, std::string>& objects,
                                   const std::string& device_object = {});

// The part of a -c command line that is neither CUDA's nor C.
[[nodiscard]] Command without_compiled_inputs(const CommandLine& line, const Toolchain& tools);

// -ptx, -cubin and -fatbin: device code alone of one source and one architecture.
[[nodiscard]] Command device_command(const CommandLine& line, const Toolchain& tools, std::size_t input,
                                     const std::string& architecture, bool assembly,
                                     const std::string& output);

// The architectures that the command line asks for; the default where it names none.
[[nodiscard]] std::vector<std::string> architectures(const CommandLine& line, const Toolchain& tools);

// The steps of a device link: bitcode of the whole program to PTX, PTX to a cubin.
[[nodiscard]] Command device_code_generation_command(const CommandLine& line, const Toolchain& tools,
                                                     const std::string& architecture,
                                                     const std::string& bitcode, const std::string& ptx);
[[nodiscard]] Command assemble_command(const CommandLine& line, const Toolchain& tools,
                                       const std::string& architecture, const std::string& ptx,
                                       bool is_debugged, const std::string& cubin);

// nvcc -lib: the archive of the objects.
[[nodiscard]] Command library_command(const CommandLine& line, const Toolchain& tools,
                                      const std::map<std::size_t, std::string>& objects);

// Is this nothing but clang++'s: no CUDA, no word of nvcc's, no C source?
[[nodiscard]] bool is_for_clang_alone(const CommandLine& line);

// A command line of clang++'s own, so that host sources find the toolkit's headers as they do under nvcc, and
// OpenMP's where clang has none.
[[nodiscard]] Command completed_for_host(const CommandLine& line, const Command& plain);

// A C++ source by its name.
[[nodiscard]] bool is_host_source(const Argument& argument);

// -o, else the input's name with another extension, in -odir's folder.
[[nodiscard]] std::string output_of(const CommandLine& line, const std::string& input,
                                    const std::string& extension);

// Does this link make a CUDA program? A CUDA source, a CUDA runtime by name, or an object or archive with a
// fat binary in it.
[[nodiscard]] bool links_cuda(const CommandLine& line);

// The file that is made of an input when no -o names one: "dir/a.cu" -> "a.o".
[[nodiscard]] std::string default_object(const std::string& input, const std::string& extension = ".o");

}  // namespace trimtab::wrapper
