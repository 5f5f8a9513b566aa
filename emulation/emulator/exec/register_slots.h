// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX has as many registers as its writer likes; few are alive at a time. Registers whose lives do not meet
// share a slot, so that a warp's registers stay in the processor's nearest cache.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/module.h"

namespace trimtab::emulator {

struct RegisterSlots {
    std::vector<std::uint32_t> slot;   // by register: a number within its class; ptx::no_index: never used
    std::vector<std::uint32_t> count;  // slots of each class
};

// `class_of` says which registers may share: those of one width. Lanes of a warp go their own ways, but each
// lane has its own part of a slot, so that what holds for one thread holds for the warp.
[[nodiscard]] RegisterSlots assign_slots(const ptx::Function& function, const ptx::ControlFlow& flow,
                                         std::uint32_t class_count,
                                         const std::function<std::uint32_t(ptx::RegisterIndex)>& class_of);

}  // namespace trimtab::emulator
