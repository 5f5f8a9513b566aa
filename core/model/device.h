// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device descriptions: H, read from core/model/devices/*.json (installed under share/trimtab/devices and compiled
// in).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/architecture.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::model {

struct Device {
    std::string slug;  // "rtx2070super"
    std::string name;  // "NVIDIA GeForce RTX 2070 SUPER", as cudaGetDeviceProperties prints it
    std::vector<std::string> aliases;
    unsigned compute_major = 0, compute_minor = 0;
    trimtab_device values{};
    struct Source {
        std::string field, source;
    };
    std::vector<Source> sources;
    std::string architecture;  // that the description names; empty: that of the compute capability
    // Fields of the architecture (architecture_fields.h) that are otherwise on this device.
    struct OwnValue {
        std::string field;
        Sourced value;
    };
    std::vector<OwnValue> own_values;
};

// The device that the emulator plays where nothing names one.
inline constexpr std::string_view default_device = "rtx2070super";

// Every built-in device, in order of slug.
[[nodiscard]] const std::vector<Device>& devices();
// By slug, alias or name, letter case aside; or a path to a JSON file (anything that ends in .json). An
// unknown device is an error that offers the nearest slug.
[[nodiscard]] std::expected<Device, Error> find_device(std::string_view name);
// A description in JSON; `origin` names it in errors, which name the missing or misspelt field.
[[nodiscard]] std::expected<Device, Error> parse_device(std::string_view json, const std::string& origin);

}  // namespace trimtab::model
