// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the CUDA runtime tells of its current device, as fields of a description.
#pragma once

#include "tools/calibrate/measurement.h"
#include "tools/calibrate/session.h"

namespace trimtab::calibrate {

[[nodiscard]] ToldDevice told_device(const Session& session);

}  // namespace trimtab::calibrate
