// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a traced launch to its time.
//
// A few iterations of each loop and a few blocks of the SM are emulated, and what an iteration or a block more costs is
// the difference of two emulations: with steady states that is exact (T of the paper's section 3.2 is linear
// in the number of phases), and a loop of 10 000 iterations costs as much as one of 64.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "emulation/schedule/bounds.h"
#include "emulation/schedule/scheduler.h"
#include "emulation/schedule/traced_launch.h"

namespace trimtab::schedule {

// The emulation gave a time that counts alone refute (bounds.h): the answer is the bound.
struct CrossedBound {
    double emulated_cycles = 0;  // what the emulation gave
    bool is_below = true;        // the least that is possible; else beyond the most
    std::string by;              // what sets the bound
};

// An answer that crosses a bound by no more than this share of it shows no error: what one more iteration costs is the
// difference of two emulations, and the order of warps moves each by about as much (docs/abstract-emulation.md).
inline constexpr double bound_tolerance = 0.03;

struct Estimate {
    double time_ns = 0;  // launch overhead included
    double cycles = 0;   // of the busiest SM
    std::optional<CrossedBound> crossed{};
    // Share of the cycles that its busiest instance is taken. Never clamped: more than 1 is an error.
    std::array<double, resource_count> utilisation{};
    double warp_instructions = 0;                  // of that SM, all iterations and blocks
    std::uint64_t emulated_warp_instructions = 0;  // by the scheduler
};

// The answer becomes the bound that it crosses, if any, and says so. In a build with assertions a crossing beyond
// bound_tolerance ends the program.
void keep_within(const Bounds& allowed, Estimate& answer);

[[nodiscard]] Estimate estimate(const TracedLaunch& launch, const Change* change = nullptr);

// The first blocks' instructions, `count` at most.
[[nodiscard]] std::vector<TimelineEntry> timeline(const TracedLaunch& launch, std::size_t count);

// How the time follows one number: (dT/T) / (dX/X) for X raised by a tenth (the paper's section 3.3).
struct Sensitivity {
    Resource resource = Resource::fp32;
    bool is_gap = false;          // its throughput limits; else its latency
    std::uint32_t region = none;  // none: all code
    double value = 0;
};

struct Bottleneck {
    std::vector<Sensitivity> all;      // in all code, greatest first; resources that are used
    std::vector<Sensitivity> regions;  // of the greatest few, by region of the code, greatest first
};

// In parallel on `threads` threads. Below `least` the regions are not asked.
[[nodiscard]] Bottleneck sensitivities(const TracedLaunch& launch, const Estimate& base, unsigned threads,
                                       double least = 0.02);

}  // namespace trimtab::schedule
