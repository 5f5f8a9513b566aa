// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run's report, one JSON object a line (TRIMTAB_REPORT), as a page that needs nothing beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trimtab::tools {

// The page's part on advice (report_advice.h); empty where none was given.
struct AdviceParts {
    std::string style, body;
    std::string device;           // its name, for pages without launches
    bool ran_as_written = false;  // the run left its launches alone: choices are proposals
};

// Equal launches are one row with a count. Lines that are no JSON objects are left out and counted.
[[nodiscard]] std::string report_page(std::string_view json_lines, const std::vector<std::string>& command,
                                      const AdviceParts& advice = {});

}  // namespace trimtab::tools
