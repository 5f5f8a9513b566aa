// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --trimtab-variants: the device code compiled again with other values of a macro (docs/variants.md). What comes out
// joins the compile as written as further bodies of its kernels (pass/macro_bodies.h).
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "tools/trimtab++/command_line.h"
#include "tools/trimtab++/compile_as_nvcc.h"
#include "tools/trimtab++/process.h"
#include "tools/trimtab++/toolchain.h"
#include "trimtab/error.h"

namespace trimtab::wrapper {

// Why kernels of this command line's sources cannot have other bodies; empty: they can.
[[nodiscard]] std::string no_other_bodies(const CommandLine& line);
// Why no source of it gets those that were asked for by macros; empty: it does, or none were asked for.
[[nodiscard]] std::string no_macro_variants(const CommandLine& line);

// One CUDA source to one object, with the bodies that line.variants asks for. A value whose code does not compile is
// left out, with one line; what the source says of itself alone decides whether the build stands. The exit code.
[[nodiscard]] int compile_with_variants(const SourceCompile& source, const std::string& object,
                                        const Environment& environment);

}  // namespace trimtab::wrapper
