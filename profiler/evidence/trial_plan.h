// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches evidence is gathered from: small ones, at the edges of what a kernel tells apart, and for each of them the
// other launches that a program's run might put in its place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/description.h"
#include "profiler/arguments.h"
#include "profiler/profile.h"
#include "trimtab/driver.h"

namespace trimtab::profiler {

// A launch as a program might have written it.
struct TrialLaunch {
    std::vector<double> data;  // D
    std::vector<std::byte> arguments;
    analysis::LaunchConfiguration written;
};

class TrialPlan {
  public:
    TrialPlan(const analysis::KernelDescription& description, const Profile& profile);

    // Blocks that a launch may be written with, ordinary ones first.
    [[nodiscard]] std::vector<trimtab_dim3> written_blocks() const;
    // The profile's smallest D, with a few blocks of this size for the launch. `attempt`: 0 to attempts - 1, with other
    // sizes each, for kernels that do nothing, too much or a fault at those before.
    static constexpr unsigned attempts = 3;
    [[nodiscard]] std::vector<double> base(trimtab_dim3 block, unsigned attempt) const;
    // `base` with one value changed, to what bounds and guards may turn on: the number of threads, one more, one less,
    // several rounds of loops, 0, 1, and -1 where it has a sign.
    [[nodiscard]] std::vector<std::vector<double>> edges(const std::vector<double>& base,
                                                         trimtab_dim3 block) const;
    // Nothing: it is none, or must stay as it is written.
    [[nodiscard]] std::optional<TrialLaunch> launch(const std::vector<double>& data,
                                                    trimtab_dim3 block) const;
    // `most` launches that may take its place, by the same rule as when a program runs: of one warp, of the largest block,
    // of one that does not divide the launch, of another number of threads. `turn`: others, and other kinds first.
    [[nodiscard]] std::vector<analysis::LaunchConfiguration> others(const TrialLaunch& launch,
                                                                    std::size_t most, std::size_t turn) const;

  private:
    using Extents = std::array<std::uint64_t, 3>;

    [[nodiscard]] bool covers(std::size_t dimension) const;
    [[nodiscard]] std::vector<std::uint32_t> sizes(std::size_t dimension) const;
    [[nodiscard]] std::optional<double> end_of(std::size_t dimension, std::vector<double> data) const;
    [[nodiscard]] Extents extents_of(const std::vector<double>& data) const;
    [[nodiscard]] std::vector<analysis::LaunchConfiguration> legal(const TrialLaunch& launch,
                                                                   const trimtab_limits& limits) const;
    [[nodiscard]] std::vector<analysis::LaunchConfiguration> other_totals(const TrialLaunch& launch) const;

    const analysis::KernelDescription& description_;
    const Profile& profile_;
    trimtab_device device_;
    trimtab_image image_;
    std::array<std::optional<std::size_t>, 3> extents_;  // in D
    std::vector<std::size_t> varied_dimensions_;
};

}  // namespace trimtab::profiler
