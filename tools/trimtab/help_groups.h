// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The groups of `trimtab --help`. They come in the order in which main() adds their first subcommand.
#pragma once

namespace trimtab::tools::groups {

inline constexpr const char* run = "Run";
inline constexpr const char* understand = "Understand";
inline constexpr const char* choose = "Choose";
inline constexpr const char* make_safe = "Make safe";
inline constexpr const char* set_up = "Set up";

}  // namespace trimtab::tools::groups
