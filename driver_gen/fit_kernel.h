// From a profile to the fits of every metric that it holds.
#pragma once

#include "driver_gen/fits.h"
#include "profiler/profile.h"
#include "trimtab/error.h"

namespace trimtab::driver_gen {

// An error where the profile has no points, or a value that is no number.
[[nodiscard]] std::expected<KernelFits, Error> fit_kernel(const profiler::Profile& profile);

}  // namespace trimtab::driver_gen
