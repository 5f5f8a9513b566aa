// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/crosscheck/verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "core/model/prediction_error.h"

namespace trimtab::choosing {
namespace {

std::string block_text(const trimtab_dim3& block) {
    return fmt::format("{}x{}x{}", block.x, block.y, block.z);
}

// The logarithm of how much faster than `a` the closed form may be wrong about `b`.
double closed_form_error(const CheckedLaunch& a, const CheckedLaunch& b) {
    return std::hypot(model::closed_form_error.ratio, std::log1p(a.relative_error),
                      std::log1p(b.relative_error));
}

}  // namespace

std::string_view name(CheckEnd end) {
    switch (end) {
        case CheckEnd::confirmed:
            return "confirmed";
        case CheckEnd::changed:
            return "changed";
        case CheckEnd::not_judged:
            return "not judged";
        case CheckEnd::late:
            return "late";
    }
    return "late";
}

CheckOutcome judge(std::vector<CheckedLaunch> launches, std::size_t written, double least_gain) {
    const CheckedLaunch& chosen = launches.front();
    std::size_t best = 0, fastest = 0;
    for (std::size_t i = 1; i < launches.size(); ++i) {
        const CheckedLaunch& other = launches[i];
        if (other.emulated_ns < launches[fastest].emulated_ns) fastest = i;
        const double slower = std::log(other.predicted_ns / chosen.predicted_ns);
        if (slower > closed_form_error(chosen, other)) continue;
        if (other.emulated_ns < launches[best].emulated_ns) best = i;
    }
    const auto gain = [&](std::size_t i) { return std::log(chosen.emulated_ns / launches[i].emulated_ns); };
    const double to_exceed =
        std::max(model::emulation_error.ratio, -std::log1p(-std::min(least_gain, 0.999)));
    CheckOutcome outcome;
    if (gain(best) > to_exceed) {
        outcome.end = CheckEnd::changed;
        outcome.chosen = best;
        outcome.why = fmt::format(
            "emulation finds {}{} {:.0f} % faster than {}, which is beyond its error of {:.0f} %",
            block_text(launches[best].launch.block), best == written ? ", as written," : "",
            100 * std::expm1(gain(best)), block_text(chosen.launch.block), 100 * std::expm1(to_exceed));
    } else {
        outcome.end = CheckEnd::confirmed;
        if (fastest == 0)
            outcome.why = "emulation finds no other faster";
        else if (gain(fastest) > to_exceed)
            outcome.why = fmt::format("the predictors contradict each other about {}, each beyond its error",
                                      block_text(launches[fastest].launch.block));
        else
            outcome.why = fmt::format("emulation finds {} {:.1f} % faster, within its error of {:.0f} %",
                                      block_text(launches[fastest].launch.block),
                                      100 * std::expm1(gain(fastest)), 100 * std::expm1(to_exceed));
    }
    outcome.launches = std::move(launches);
    return outcome;
}

}  // namespace trimtab::choosing
