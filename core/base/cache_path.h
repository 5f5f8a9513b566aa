// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where things are kept between runs.
#pragma once

#include <string>
#include <string_view>

namespace trimtab::base {

// `name` in $XDG_CACHE_HOME/trimtab, or in ~/.cache/trimtab without it. A variable that is no absolute path
// counts as not set, as XDG asks; so does every variable where the process runs with more rights than its
// user has. Empty where neither is set.
[[nodiscard]] std::string cache_path(std::string_view name);

}  // namespace trimtab::base
