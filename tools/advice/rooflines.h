// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch asks of each of the device's resources, and how long each would take for it alone: one
// roofline a level of memory and a pipe (Gehrke 2015, chapters 3 and 5; Williams et al. 2009).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/advice/question.h"

namespace trimtab::advice {

struct Resource {
    std::string_view name;   // "dram", "fp64"
    std::string_view title;  // "the memory's bandwidth"
    bool is_memory = false;
    double work = 0;  // what the launch asks for: bytes, or warp instructions
    double rate = 0;  // a second, at most
    double ns = 0;    // work / rate
    double used = 0;  // ns over the launch's time
};

struct Rooflines {
    double time_ns = 0;
    std::vector<Resource> resources;  // the one that is asked for most first
    [[nodiscard]] const Resource& of(std::string_view name) const;
    [[nodiscard]] const Resource& busiest() const { return resources.front(); }
    // How many times faster the launch could be before its busiest resource is all there is: at least 1.
    [[nodiscard]] double headroom() const;
};

[[nodiscard]] Rooflines rooflines(const Question& question, double time_ns);

// Little's law: bytes that must be under way for memory to be kept busy, and those that are.
struct BytesInFlight {
    double needed = 0, at_most = 0;
};
[[nodiscard]] BytesInFlight bytes_in_flight(const Question& question);

// Gehrke, p. 73: where instructions of several classes share an SM, how much of the peak of issue the mix
// allows: one class after the other (the harmonic mean), and all pipes beside each other.
struct MixCap {
    double serial = 1, overlapped = 1;  // shares of the schedulers' peak
};
[[nodiscard]] MixCap mix_cap(const Question& question);

}  // namespace trimtab::advice
