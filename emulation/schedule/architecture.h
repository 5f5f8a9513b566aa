// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One SM as abstract emulation sees it, made of the device's description and its architecture's.
#pragma once

#include "core/model/device.h"
#include "emulation/schedule/lane_access.h"
#include "emulation/schedule/resources.h"

namespace trimtab::schedule {

[[nodiscard]] StoreRules store_rules(const model::Architecture& architecture);

// One SM of the device while `active_sms` of them share L2 and DRAM.
[[nodiscard]] Machine machine_of(const model::Device& device, double active_sms);

}  // namespace trimtab::schedule
