// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch takes where another than the models is asked: abstract emulation of its warps (emulation/schedule/).
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "emulation/emulator/metrics/access_patterns.h"
#include "emulation/schedule/edits.h"
#include "tools/advice/question.h"

namespace trimtab::advice {

// What no counter tells: where each load goes, and what each instruction is for.
struct LaunchPatterns {
    emulator::AccessPatterns accesses;
    std::vector<bool> works;  // by instruction: emulator::result_work
};

class SecondOpinion {
  public:
    virtual ~SecondOpinion() = default;
    // Of the launch with the edits made, in the shape and with the resources that `asked` has. An error says in a
    // clause why there is none.
    [[nodiscard]] virtual std::expected<double, std::string> time_ns(
        const emulator::LaunchProfile& profile, const Question& asked,
        std::span<const schedule::Edit> edits) = 0;
    [[nodiscard]] virtual std::expected<LaunchPatterns, std::string> patterns(
        const emulator::LaunchProfile& /*profile*/) {
        return std::unexpected("its accesses cannot be looked at");
    }
};

}  // namespace trimtab::advice
