// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice as a person, a program or an editor reads it, and two of them compared.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advice/advise.h"
#include "trimtab/error.h"

namespace trimtab::advice {

inline constexpr int report_version = 1;

[[nodiscard]] std::string to_text(const Advice& advice);
[[nodiscard]] std::string to_json(const Advice& advice);
// SARIF 2.1.0: findings with a source line, as editors and code reviews show them.
[[nodiscard]] std::string to_sarif(const Advice& advice);

// What a former report said of each kernel.
struct FormerKernel {
    std::string kernel;  // empty: the program as a whole
    double time_ns = 0;  // of the longest shape's launch
    std::vector<std::string> rules;
};
[[nodiscard]] std::expected<std::vector<FormerKernel>, Error> former_report(std::string_view json,
                                                                            const std::string& origin);
// A line each: kernels that got slower by more than 5 %, or have a defect that they had not.
[[nodiscard]] std::vector<std::string> worse_than(const Advice& advice,
                                                  const std::vector<FormerKernel>& former);

}  // namespace trimtab::advice
