// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Search over launches of a kernel that differ in shape and compile-time values: which to emulate, and in which
// order. Three ways: all of them, at random, or led by what limits those emulated so far (after algorithms 2 and 3 of
// the paper that resources.h names).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/schedule/estimate.h"

namespace trimtab::schedule {

// A launch that may be chosen, and what is known of it before it is emulated.
struct Candidate {
    std::vector<double>
        values;                // by dimension of the space: a block's width, a compile-time value; at least 0
    double width = 1;          // of a block in x
    double threads = 1;        // of a block
    double threads_on_sm = 1;  // of all blocks that the busiest SM runs
    std::optional<double> resident_warps{};  // at once, where that is known before the code is
};

struct SearchSpace {
    std::vector<std::string> dimensions;
    std::vector<Candidate> candidates;
};

// What emulation says of a candidate.
struct Emulated {
    double time_ns = 0;
    double warps_per_sm = 0;                      // resident at once
    std::array<double, resource_count> cycles{};  // that each resource was taken, over the whole launch
    Bottleneck bottleneck;                        // where it was asked for
};

// Nothing: the device cannot launch it. `with_bottleneck` costs some tens of schedules of the same trace.
using EmulateCandidate = std::function<std::optional<Emulated>(std::size_t candidate, bool with_bottleneck)>;

enum class SearchMethod : std::uint8_t { directed, exhaustive, random };
[[nodiscard]] std::string_view name(SearchMethod method);
[[nodiscard]] std::optional<SearchMethod> search_method_named(std::string_view name);

struct SearchOptions {
    SearchMethod method = SearchMethod::directed;
    std::uint64_t seed = 1;  // of random
    std::size_t most = 0;    // emulations; 0: as many as the method wants (directed: until nothing is gained)
    std::optional<std::size_t> start{};  // of directed: the candidate to begin with
};

struct SearchStep {
    std::size_t candidate = 0;
    Emulated emulated;
    std::string why;  // "dram latency: BLOCK 64 -> 128"
};

struct SearchResult {
    std::vector<SearchStep> steps;     // in the order in which they were emulated
    std::vector<std::size_t> refused;  // that the device cannot launch
    std::optional<std::size_t> best;   // in steps
};

[[nodiscard]] SearchResult search(const SearchSpace& space, const EmulateCandidate& emulate,
                                  const SearchOptions& options);

}  // namespace trimtab::schedule
