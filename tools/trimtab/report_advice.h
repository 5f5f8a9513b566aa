// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page's part on advice: what holds each kernel back, drawn and said.
#pragma once

#include <string>

#include "core/model/device.h"
#include "tools/advice/advise.h"

namespace trimtab::tools {

[[nodiscard]] std::string advice_style();
[[nodiscard]] std::string advice_sections(const advice::Advice& advice, const model::Device& device);

}  // namespace trimtab::tools
