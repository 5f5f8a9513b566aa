// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of the C structures by name: what device files, the programs' inputs and printed tables share.
#pragma once

#include <span>
#include <string_view>

#include "trimtab/driver.h"

namespace trimtab::model {

struct DeviceField {
    std::string_view name;
    double trimtab_device::* member;
    bool may_be_zero;  // others are divided by, or are limits that a device cannot lack
};
// Every number of trimtab_device after compute_capability, in order.
[[nodiscard]] std::span<const DeviceField> device_fields();

struct ImageField {
    std::string_view name;
    double trimtab_image::* member;
};
[[nodiscard]] std::span<const ImageField> image_fields();

}  // namespace trimtab::model
