// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every page of Trimtab's begins with.
#pragma once

#include <string>
#include <string_view>

namespace trimtab::tools {

// Up to and with the heading. `style`: beside the pages' common one.
[[nodiscard]] std::string page_begin(std::string_view title, std::string_view style);

}  // namespace trimtab::tools
