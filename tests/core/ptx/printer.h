// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module as PTX text again, from what parse() kept of it and nothing else. ptxas must make the same machine
// code of it as of the text that was parsed.
#pragma once

#include <string>

#include "core/ptx/module.h"

namespace trimtab::ptx {

std::string print(const Module& module);

}  // namespace trimtab::ptx
