// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What micro-benchmarks find out about a device, and how sure it is.
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::calibrate {

struct Measurement {
    std::string name;  // a field of trimtab_device where it is one's: "latency_l2_cycles"
    std::string unit;  // "cycles", "bytes a cycle"
    double value = 0;  // the median of the samples
    double first_quartile = 0, third_quartile = 0;
    std::size_t samples = 0;
    std::string how;  // in a few words
};

// The median and quartiles of samples, at least one.
[[nodiscard]] Measurement summarized(std::string name, std::string unit, std::vector<double> samples,
                                     std::string how);

// What the CUDA runtime tells of a device.
struct ToldDevice {
    std::string name;
    unsigned compute_major = 0, compute_minor = 0;
    std::vector<std::pair<std::string, double>> values;  // by field of trimtab_device
};

// Of one device: what libexec/trimtab-calibrate writes.
struct Calibration {
    ToldDevice told;
    bool is_emulated = false;
    std::vector<Measurement> measurements;
};

[[nodiscard]] nlohmann::ordered_json to_json(const Calibration& calibration);
[[nodiscard]] nlohmann::ordered_json to_json(const Measurement& measurement);
[[nodiscard]] std::expected<Calibration, Error> calibration_from(const std::string& text,
                                                                 const std::string& origin);

}  // namespace trimtab::calibrate
