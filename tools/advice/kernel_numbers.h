// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of a kernel's launch beside its findings, and what bounds it in a sentence.
#pragma once

#include <string>
#include <string_view>

#include "tools/advice/advise.h"

namespace trimtab::advice {

// `derived`, `benefits` and the occupancy of other blocks. The rooflines and the occupancy are known.
void add_numbers(KernelAdvice& kernel, const emulator::LaunchProfile& profile, const Question& question,
                 const model::Device& device);
// Takes GPUPerf's terms back where their T_exec, with `launch_overhead_ns`, is more than twice `time_ns` or less than half
// of it. `which` time: "emulated".
void hold_benefits_against(KernelAdvice& kernel, std::string_view which, double time_ns,
                           double launch_overhead_ns);
// Of the rooflines, the label and the findings.
[[nodiscard]] std::string bottleneck_sentence(const KernelAdvice& kernel);

}  // namespace trimtab::advice
