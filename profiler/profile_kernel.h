// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiles one kernel: plans the points, has the backend measure them, and gathers the profile.
#pragma once

#include <expected>
#include <functional>

#include "core/analysis/launches/description.h"
#include "profiler/backend.h"
#include "profiler/plan.h"
#include "profiler/profile.h"
#include "trimtab/error.h"

namespace trimtab::profiler {

struct ProfileOptions {
    PlanOptions plan;
    // Warp instructions that a profile aims at: sizes and sampled blocks are chosen to stay near it. (Not
    // time, which differs from machine to machine: the same kernel has the same profile everywhere.) None of its launches
    // runs more; where the estimates were wrong all its points together may run some times as many, and then some of them
    // are left out (measured_points.h).
    std::uint64_t instruction_budget = 12'000'000;
};

// Points done and in all.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

// An error says in one line why this kernel has no profile: it is left alone, its block cannot change, the
// backend cannot run it, or it runs on and on. The program still builds.
[[nodiscard]] std::expected<Profile, Error> profile_kernel(const analysis::KernelDescription& description,
                                                           Backend& backend, const ProfileOptions& options,
                                                           const Progress& progress = {});

}  // namespace trimtab::profiler
