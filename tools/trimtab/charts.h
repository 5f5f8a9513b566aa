// Drawings of advice, as SVG that takes its colours from the page's style.
#pragma once

#include <string>
#include <vector>

#include "advice/advise.h"

namespace trimtab::tools {

[[nodiscard]] std::string chart_style();
// Every kernel under the device's roofs: instructions a byte of DRAM against instructions a second.
[[nodiscard]] std::string roofline_chart(const advice::Advice& advice, const model::Device& device);
// GPUPerf's figure 4: memory against computation, and what each benefit would take off. In ns.
[[nodiscard]] std::string benefit_chart(const advice::KernelAdvice& kernel);
// Occupancy by threads of a block.
[[nodiscard]] std::string occupancy_chart(const advice::KernelAdvice& kernel);

}  // namespace trimtab::tools
