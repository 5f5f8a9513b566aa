// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of two launches is the faster one where neither time is known.
#pragma once

#include <cstdint>

#include "trimtab/driver.h"

namespace trimtab::choosing {

// Whether a prediction is certain, or uncertain only for what arrays or numbers hold: then its time is not known, but
// whether another launch is faster may be.
[[nodiscard]] bool can_be_ordered(std::uint32_t doubt);

// A launch as a driver program predicted it.
struct PredictedLaunch {
    trimtab_asked asked{};
    std::uint32_t doubt = 0;
};

// Whether `first`, which is predicted faster, may be taken in place of `second`: both predictions are certain, or the
// order does not hang on what they are uncertain of.
[[nodiscard]] bool is_surely_faster(const trimtab_driver& driver, const trimtab_device& device,
                                    const trimtab_image& image, const PredictedLaunch& first,
                                    const PredictedLaunch& second);

}  // namespace trimtab::choosing
