// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What profile_kernel() does, in two files: profile_kernel.cpp plans and measures, kernel_roles.cpp finds out what each
// parameter does. No one else includes this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <optional>
#include <vector>

#include "profiler/profile_kernel.h"

namespace trimtab::profiler {

// Warps that a point samples, where the budget allows, and a probe.
inline constexpr double most_warps = 64, least_warps = 12, probe_warps = 8;

// At an address: other sizes have none.
[[nodiscard]] inline bool is_fault(const MeasureError& error) {
    return error.misaligned || error.outside;
}

class KernelProfiler {
  public:
    KernelProfiler(const analysis::KernelDescription& description, Backend& backend,
                   const ProfileOptions& options)
        : description_(description),
          backend_(backend),
          options_(options),
          planner_(description, options.plan) {}
    std::expected<Profile, Error> run(const Progress& progress);

  private:
    using Measured = std::expected<Measurement, MeasureError>;

    // `boxes`: where footprints of boxes of several blocks go, if they are wanted.
    Measured measure(const PlannedPoint& point, double warps, std::vector<ProfilePoint>* boxes,
                     unsigned seed);
    Measured probe(const std::vector<double>& data, unsigned seed = 0) {
        const std::vector<trimtab_dim3> blocks = planner_.blocks_at(data);
        if (blocks.empty())
            return std::unexpected(MeasureError{.limit = false, .message = "no block of the plan is legal"});
        return measure(*planner_.point(data, blocks[0]), probe_warps, nullptr, seed);
    }
    std::expected<void, Error> find_work();
    [[nodiscard]] bool only_first_work();
    void open_guards();
    void fit_sizes();
    std::optional<MeasureError> fault_at(std::initializer_list<std::size_t> levels);
    void find_ranges(const std::vector<std::vector<double>>& points);
    void find_rows();
    void find_scales();
    void find_counts();
    void find_layouts();
    void find_special();
    void find_steps();
    std::expected<void, Error> find_roles();
    void add_ends_of_values(std::vector<PlannedPoint>& points) const;
    double sampled_warps(const PlannedPoint& point, double warps) const;
    double planned_cost(const std::vector<PlannedPoint>& points, double warps) const;
    std::expected<void, Error> measure_plan(const std::vector<PlannedPoint>& points,
                                            const Progress& progress);
    std::expected<void, Error> find_cost();
    std::expected<void, Error> find_data_dependence();
    Error failed(const MeasureError& error) const;

    const analysis::KernelDescription& description_;
    Backend& backend_;
    const ProfileOptions& options_;
    Planner planner_;
    std::vector<bool> matters_;  // of the fixed parameters: another value changes the work
    struct Values {
        double least = 1, most = 1;
    };
    std::vector<Values> same_work_;  // of those: up to which values it does not
    double warp_cost_ = 0;           // warp instructions a warp, at the middle level
    double cost_growth_ = 1;         // from the least level to the middle
    double warps_ = most_warps;
    std::uint64_t warp_instructions_ = 0;
    Profile profile_;
};

}  // namespace trimtab::profiler
