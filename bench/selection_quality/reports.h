// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A study as text, JSON, CSV and a page.
#pragma once

#include <string>

#include "bench/selection_quality/study.h"

namespace trimtab::bench {

[[nodiscard]] std::string text_report(const Study& study);
// {"summary": {rule: {"all" | "1d" | "2d": {"n", "geomean", "median", "p10", "min", "min_above_50us",
// "share95"}}}, "gpus": {slug: the same}, "apps": {app: of rule "trimtab"}, "cases": [..], "skipped": [..]}
[[nodiscard]] std::string json_report(const Study& study);
// A line a case and block.
[[nodiscard]] std::string csv_report(const Study& study);
// One heat map a case: measured and predicted times, the best block and the chosen one.
[[nodiscard]] std::string html_report(const Study& study);

}  // namespace trimtab::bench
