// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The static half of a trace, from a kernel's PTX: stretches are the regions that the emulator counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/schedule/edits.h"
#include "emulation/schedule/ptx_costs.h"
#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// What the recorder looks up: all by the kernel's numbering of instructions.
struct BuiltCode {
    Code code;
    std::uint32_t access_count = 0;
    std::vector<std::uint32_t> stretch_at;  // by a region's slot; none
    struct Place {
        std::uint32_t stretch = none, request = 0;  // which of the stretch's
        bool is_shared = false, is_atomic = false, stores = false;
        bool is_arranged = false;  // side by side, or without conflicts: emulation/schedule/edits.h
    };
    std::vector<Place> request_at;
    struct LoopPlace {
        std::vector<std::uint16_t> loops;  // around it in its function, outermost first
        bool is_header = false;            // of the innermost
    };
    std::vector<LoopPlace> loops_at;       // by stretch
    std::vector<std::uint32_t> access_at;  // none
};

[[nodiscard]] BuiltCode build_code(const ptx::Module& module, const emulator::CompiledKernel& kernel,
                                   const Machine& machine, const CostSettings& settings,
                                   std::span<const Edit> edits = {});

}  // namespace trimtab::schedule
