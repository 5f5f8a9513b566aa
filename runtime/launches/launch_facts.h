// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch, told to the tools: a line of JSON begins with it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/launches/verification.h"

namespace trimtab::runtime {

[[nodiscard]] nlohmann::ordered_json to_array(const trimtab_dim3& size);
// Its kernel and object, device, shape as written, and D.
[[nodiscard]] nlohmann::ordered_json facts_of(const LaunchToVerify& launch);
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& line);

}  // namespace trimtab::runtime
