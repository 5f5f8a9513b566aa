// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which global indices pass a kernel's guards, found by evaluating the guards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis/launches/description.h"
#include "profiler/backend.h"
#include "profiler/index_ranges.h"

namespace trimtab::profiler {

struct Indices {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> end;  // none: nothing bounds them
    friend bool operator==(const Indices&, const Indices&) = default;
};

// For each dimension, from guards that may turn indices away at the start and at the end.
[[nodiscard]] std::array<Indices, 3> active_indices(const analysis::KernelDescription& description,
                                                    const Arguments& arguments);

// In how many dimensions some index passes, one of the first few.
[[nodiscard]] unsigned dimensions_that_pass(const analysis::KernelDescription& description,
                                            const Arguments& arguments);

// Corrects them, where a guard says less than the kernel does (indices that begin later, or end earlier), by
// running single threads at `data`.
[[nodiscard]] std::array<Indices, 3> observed_indices(const analysis::KernelDescription& description,
                                                      Backend& backend, std::span<const double> data,
                                                      std::uint64_t instruction_limit);

// Linear forms for `found`, which is alongside `points` (D with extents); a dimension whose bound is none, or
// not linear in D, ends at its extent.
[[nodiscard]] IndexRanges index_ranges(const analysis::KernelDescription& description,
                                       std::span<const std::vector<double>> points,
                                       std::span<const std::array<Indices, 3>> found);

}  // namespace trimtab::profiler
