// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The charts of the report page: figures that hold their data. The page draws them (page_scripts.h).
#pragma once

#include <string>
#include <vector>

#include "core/model/device.h"
#include "tools/advice/advise.h"

namespace trimtab::tools {

// What goes into the page's style element, once.
[[nodiscard]] std::string chart_style();
// What the figures are drawn by, once, after them: the libraries whole, so that the page asks for nothing else.
[[nodiscard]] std::string chart_scripts();

// Names for charts, short and told apart: no parameters, long ones with their middle left out.
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& demangled);

// Of all kernels: by time; what the largest remedies win; under the device's roofs; and what GPUPerf says that
// computing and memory cost each, beside the least that they could (its figure 4, as shares of the time).
[[nodiscard]] std::string kernels_chart(const advice::Advice& advice);
[[nodiscard]] std::string gains_chart(const advice::Advice& advice);
[[nodiscard]] std::string roofline_chart(const advice::Advice& advice, const model::Device& device);
[[nodiscard]] std::string costs_chart(const advice::Advice& advice);

// Of one kernel. Each may be empty: there is nothing to draw.
[[nodiscard]] std::string resources_chart(const advice::KernelAdvice& kernel);
// Bars of computing and of memory, made of GPUPerf's potential benefits and what is needed anyhow.
[[nodiscard]] std::string benefit_chart(const advice::KernelAdvice& kernel);
[[nodiscard]] std::string occupancy_chart(const advice::KernelAdvice& kernel);
// Its lines in the order of the source, each as warm as its share.
[[nodiscard]] std::string line_strip(const std::vector<advice::SourceLine>& lines);

}  // namespace trimtab::tools
