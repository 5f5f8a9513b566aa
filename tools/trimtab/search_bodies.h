// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `trimtab search --coarsen`: the bodies of a kernel in which a thread does the work of several, as candidates.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "tools/trimtab/launch_options.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// "1,2,4": 1 is the kernel itself.
[[nodiscard]] std::expected<std::vector<std::uint32_t>, Error> parse_elements(const std::string& text);

// What makes trimtab++ compile these bodies; empty: the kernel alone is wanted.
[[nodiscard]] std::string coarsening_flag(const std::vector<std::uint32_t>& elements);

// A body, as the question after the kernel would be asked of it.
struct SearchedBody {
    std::uint32_t elements = 1;
    LaunchQuestion question;
};
// Those of the kernel that the file has, in order; the kernel is the first where it is wanted.
[[nodiscard]] std::vector<SearchedBody> searched_bodies(const LaunchQuestion& question,
                                                        const std::vector<std::uint32_t>& elements);

}  // namespace trimtab::tools
