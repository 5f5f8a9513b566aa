// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/order.h"

#include <cstddef>

namespace trimtab::choosing {
namespace {

// Driver programs of earlier builds have no such function.
bool can_tell_order(const trimtab_driver& driver) {
    return driver.struct_bytes >= offsetof(trimtab_driver, keeps_order) + sizeof driver.keeps_order &&
           driver.keeps_order != nullptr;
}

}  // namespace

bool can_be_ordered(std::uint32_t doubt) {
    const std::uint32_t why = TRIMTAB_DOUBT_WHY(doubt);
    return doubt == 0 || why == TRIMTAB_DOUBT_ARRAYS || why == TRIMTAB_DOUBT_NUMBER;
}

bool is_surely_faster(const trimtab_driver& driver, const trimtab_device& device, const trimtab_image& image,
                      const PredictedLaunch& first, const PredictedLaunch& second) {
    if (first.doubt == 0 && second.doubt == 0) return true;
    return can_be_ordered(first.doubt) && can_be_ordered(second.doubt) && can_tell_order(driver) &&
           driver.keeps_order(&device, &image, &first.asked, &second.asked) == 1;
}

}  // namespace trimtab::choosing
