// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one table of special registers.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/ptx/types.h"

namespace trimtab::ptx {

enum class SpecialGroup : std::uint8_t {
    launch,   // threads and blocks, and how many there are
    lane,     // which lane of its warp
    machine,  // which warp, on which multiprocessor
    clock,
    shared_size,  // of shared memory
    other
};

struct SpecialInfo {
    SpecialRegister special = SpecialRegister::other;
    std::string_view name;  // "%tid.x"
    SpecialGroup group = SpecialGroup::other;
    Type type = Type::u32;
};
[[nodiscard]] const SpecialInfo& info(SpecialRegister special);

// Differs between the lanes of a warp, or from one moment to the next.
[[nodiscard]] bool varies_in_warp(SpecialRegister special);

}  // namespace trimtab::ptx
