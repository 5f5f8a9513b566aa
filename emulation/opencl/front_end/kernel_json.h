// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of kernels, in JSON: as it is kept with compiled programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "emulation/opencl/front_end/front_end.h"

namespace trimtab::opencl {

[[nodiscard]] nlohmann::json to_json(const KernelInfo& kernel);
// Throws nlohmann::json::exception where it is none.
[[nodiscard]] KernelInfo kernel_from_json(const nlohmann::json& json);

}  // namespace trimtab::opencl
