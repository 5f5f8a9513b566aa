// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __shared__ variables of classes whose constructor does something (cuda::barrier). nvcc lets them be and
// runs no constructor; clang refuses them and has no option. They are told by clang's own errors, and
// declared in a copy of the source as storage that nothing constructs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trimtab::wrapper {

// Counted from 1, as compilers do; the column in bytes.
struct SourcePlace {
    std::size_t line = 0;
    std::size_t column = 0;
    auto operator<=>(const SourcePlace&) const = default;
};

// By canonical path.
using PlacesByFile = std::map<std::string, std::vector<SourcePlace>>;

// The variables that a compile refused, from what clang wrote.
[[nodiscard]] PlacesByFile refused_shared_variables(const std::string& messages);

// The text with the variables at `places` declared without constructors; lines stay where they are. None
// where a declaration there is of a form that is not known.
[[nodiscard]] std::optional<std::string> with_unconstructed_variables(const std::string& text,
                                                                      const std::vector<SourcePlace>& places);

}  // namespace trimtab::wrapper
