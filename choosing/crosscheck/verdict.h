// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the closed form and the abstract emulation decide together about the leaders of one choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/launch_configuration.h"
#include "trimtab/driver.h"

namespace trimtab::choosing {

// A launch that may be chosen, by both predictors.
struct CheckedLaunch {
    model::LaunchConfiguration launch;
    double predicted_ns = 0, relative_error = 0;  // the driver program's
    double emulated_ns = 0;                       // 0: it was not emulated
};

enum class CheckEnd : std::uint8_t {
    confirmed,   // the choice stays: no other is faster by more than the errors
    changed,     // another launch is
    not_judged,  // emulation cannot answer: CheckOutcome::why
    late         // no answer when the choice could have changed
};
[[nodiscard]] std::string_view name(CheckEnd end);

struct CheckOutcome {
    CheckEnd end = CheckEnd::late;
    std::string why;                      // one line
    std::vector<CheckedLaunch> launches;  // the first is what was chosen
    std::size_t chosen = 0;               // of launches
};

// The first of `launches` is what the driver program chose; `written` is the place of the launch as written. Another is
// taken where emulation finds it faster by more than emulation's error, and the least gain, and the closed form cannot
// tell the two apart, by its own error. Where each is sure of the opposite, nothing changes: of the measured launches
// that prediction_error.h names, those that emulation alone would have changed so were slower for it.
[[nodiscard]] CheckOutcome judge(std::vector<CheckedLaunch> launches, std::size_t written, double least_gain);

}  // namespace trimtab::choosing
