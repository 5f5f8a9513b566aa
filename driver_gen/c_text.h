// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small pieces of C: literals, identifiers, comments, line breaks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trimtab::driver_gen {

// Reads back as the same double, and as a double.
[[nodiscard]] std::string c_literal(double value);
// "..." with everything but plain ASCII escaped.
[[nodiscard]] std::string c_string(std::string_view text);
// Text that cannot end the comment that it stands in, on one line.
[[nodiscard]] std::string c_comment_text(std::string_view text);
// "/* text */", broken over lines of at most 100 characters.
[[nodiscard]] std::string c_comment(std::string_view text, std::string_view indent = "");
// Breaks a statement at blanks so that lines stay short; what follows the first line is indented further.
[[nodiscard]] std::string c_wrapped(std::string_view statement, std::string_view indent);

// Distinct C identifiers for arbitrary names.
class CNames {
  public:
    [[nodiscard]] std::string unique(std::string_view wanted);
    void reserve(std::string_view name) { taken_.emplace_back(name); }

  private:
    std::vector<std::string> taken_;
};

}  // namespace trimtab::driver_gen
