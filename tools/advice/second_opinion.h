// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch takes where another than the models is asked: abstract emulation of its warps (emulation/schedule/).
#pragma once

#include <expected>
#include <span>
#include <string>

#include "emulation/schedule/edits.h"
#include "tools/advice/question.h"

namespace trimtab::advice {

class SecondOpinion {
  public:
    virtual ~SecondOpinion() = default;
    // Of the launch with the edits made, in the shape and with the resources that `asked` has. An error says in a
    // clause why there is none.
    [[nodiscard]] virtual std::expected<double, std::string> time_ns(
        const emulator::LaunchProfile& profile, const Question& asked,
        std::span<const schedule::Edit> edits) = 0;
};

}  // namespace trimtab::advice
