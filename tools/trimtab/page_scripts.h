// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the report page is drawn with (page/README.md), as it goes into the page.
#pragma once

#include <string_view>

namespace trimtab::tools::page {

extern const std::string_view vega, vega_lite;  // the libraries, whole
extern const std::string_view chart_specs;      // Vega-Lite specifications by name, without data
extern const std::string_view draw;             // draws what charts.h describes

}  // namespace trimtab::tools::page
