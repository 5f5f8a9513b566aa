// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __shared__ variables of classes whose constructor does something (cuda::barrier). nvcc lets them be and
// runs no constructor; clang refuses them and has no option. They are told by clang's own errors, and
// declared in a copy of the source as storage that nothing constructs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/trimtab++/clang_messages.h"

namespace trimtab::wrapper {

// The text with the variables at `places` declared without constructors; lines stay where they are. None
// where a declaration there is of a form that is not known.
[[nodiscard]] std::optional<std::string> with_unconstructed_variables(const std::string& text,
                                                                      const std::vector<SourcePlace>& places);

}  // namespace trimtab::wrapper
