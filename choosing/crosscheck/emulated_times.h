// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The times of a few launches of one kernel by abstract emulation. A library of its own (libtrimtab_crosscheck.so), for
// few programs want it and it brings the emulator along; choosing/crosscheck/crosscheck.h loads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/model/launch_configuration.h"
#include "trimtab/driver.h"

namespace trimtab::choosing {

struct LaunchToEmulate {
    model::LaunchConfiguration launch;
    double ns = 0;  // the answer
};

// All that a launch is told by: nothing is read of the device's memory, nor through the pointers among the arguments.
struct EmulationQuestion {
    std::uint32_t struct_bytes = sizeof(EmulationQuestion);
    std::uint32_t launch_count = 0;
    const std::byte* code = nullptr;  // a fat binary, or PTX
    std::size_t code_bytes = 0;
    const char* kernel = nullptr;  // the mangled name
    const trimtab_device* device = nullptr;
    const trimtab_image* image = nullptr;
    const std::byte* parameters = nullptr;  // the parameter buffer
    std::size_t parameter_bytes = 0;
    LaunchToEmulate* launches = nullptr;
    // Asked now and then: true ends the emulation with emulation_called_off.
    bool (*is_called_off)(const void* context) = nullptr;
    const void* context = nullptr;
};

enum EmulationAnswer : std::int32_t {
    emulation_done = 0,
    emulation_says_nothing = 1,  // of this kernel, whatever the launch: `why`
    emulation_failed = 2,        // of this launch: a fault, too long, too large: `why`
    emulation_called_off = 3,
    emulation_is_of_another_version = 4
};

extern "C" {
// Never throws; `why` is one line.
std::int32_t trimtab_emulate_times(const EmulationQuestion* question, char* why, std::size_t why_bytes);
}

}  // namespace trimtab::choosing
