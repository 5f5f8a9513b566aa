// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of two launches is the faster one where neither time is known.
#pragma once

#include <cstdint>

#include "trimtab/driver.h"

namespace trimtab::choosing {

// Of an uncertain prediction: whether it is for what arrays or numbers hold, and nothing else. Then its time is not known,
// but which block is the fastest may be.
[[nodiscard]] bool is_of_contents(std::uint32_t doubt);

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
