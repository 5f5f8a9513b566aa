// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device description out of a calibration: what was measured, what CUDA tells, and from others what neither says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/device.h"
#include "tools/calibrate/measurement.h"

namespace trimtab::calibrate {

struct FieldDifference {
    std::string field;
    double shipped = 0, found = 0;
    double first_quartile = 0,
           third_quartile = 0;  // of what was measured; found, where it is what CUDA tells
};

struct MeasuredDevice {
    model::Device device;
    std::string shipped;   // the slug of the description that the device has; empty: none
    std::string relative;  // the slug of the one that stands in for what is not known; empty: none
    std::vector<FieldDifference>
        differences;  // every field that was measured or told, against `shipped` or `relative`
};

// The built-in description of the nearest compute capability, the newest one not above it if there is one.
[[nodiscard]] const model::Device& nearest_description(unsigned compute_capability);

// `shipped`: the device's own description. `slug`: of the new one; empty: made of the device's name.
[[nodiscard]] MeasuredDevice measured_device(const Calibration& calibration,
                                             const std::optional<model::Device>& shipped, std::string slug);

// As core/model/devices/*.json are written.
[[nodiscard]] std::string to_file(const model::Device& device);

}  // namespace trimtab::calibrate
