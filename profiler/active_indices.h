// Which global indices pass a kernel's guards, found by evaluating the guards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/description.h"
#include "profiler/backend.h"
#include "profiler/index_ranges.h"

namespace trimtab::profiler {

struct Indices {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> end;  // none: no guard bounds them
};

// For each dimension, from guards that may turn indices away at the start and at the end.
[[nodiscard]] std::array<Indices, 3> active_indices(const analysis::KernelDescription& description,
                                                    const Arguments& arguments);

// Linear forms for what active_indices says at each of `points` (D with extents); a dimension whose bound is
// none, or not linear in D, ends at its extent.
[[nodiscard]] IndexRanges index_ranges(const analysis::KernelDescription& description,
                                       std::span<const std::vector<double>> points);

}  // namespace trimtab::profiler
