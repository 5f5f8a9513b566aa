// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a profile to the fits of every metric that it holds.
#pragma once

#include "core/analysis/launches/description.h"
#include "driver_gen/fits.h"
#include "profiler/profile.h"
#include "trimtab/error.h"

namespace trimtab::driver_gen {

struct FitOptions {
    bool quotients = true;  // a metric may be a quotient of sums, if that errs less on the points held out
};

// An error where the profile has no points, or a value that is no number.
[[nodiscard]] std::expected<KernelFits, Error> fit_kernel(const profiler::Profile& profile,
                                                          const FitOptions& options = {});
// The same of the kernel that the profile is of: which of its data are numbers is its types' to say.
[[nodiscard]] std::expected<KernelFits, Error> fit_kernel(const profiler::Profile& profile,
                                                          const analysis::KernelDescription& description);

}  // namespace trimtab::driver_gen
