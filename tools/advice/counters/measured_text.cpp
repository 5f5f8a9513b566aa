// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/measured_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "core/model/time_text.h"

namespace trimtab::advice {
namespace {

std::string measured_time(double ns) {
    constexpr model::PredictionError of_a_timer{.time = 0.01, .ratio = 0.01};
    return model::time_text(ns, of_a_timer);
}

std::string counted_size_text(const trimtab_dim3& size) {
    return fmt::format("{} x {} x {}", size.x, size.y, size.z);
}

std::string scaled(double value, std::string_view unit) {
    constexpr std::array<std::string_view, 5> prefixes{"", "K", "M", "G", "T"};
    std::size_t step = 0;
    for (; value >= 1000 && step + 1 < prefixes.size(); ++step) value /= 1000;
    return fmt::format("{:.4g} {}{}", value, prefixes[step], unit);
}

std::string value_text(const CountedFigure& figure) {
    switch (figure.dimension) {
        case Dimension::seconds:
            return measured_time(1e9 * figure.value);
        case Dimension::bytes:
            return scaled(figure.value, "byte");
        case Dimension::bytes_per_second:
            return scaled(figure.value, "byte/second");
        case Dimension::hertz:
            return scaled(figure.value, "hz");
        case Dimension::percent:
            return fmt::format("{:.2f} %", figure.value);
        case Dimension::count:
            break;
    }
    return figure.value == std::round(figure.value) ? fmt::format("{:.0f}", figure.value)
                                                    : fmt::format("{:.2f}", figure.value);
}

}  // namespace

std::string measured_head(const KernelAdvice& kernel, const std::string& device) {
    const Measured& measured = *kernel.measured;
    const std::string launches =
        fmt::format("{} launch{}", kernel.launches, kernel.launches == 1 ? "" : "es");
    std::string out =
        measured.has_time
            ? fmt::format("{} on {}: {:.0f} % of the measured time, {}, {}\n", kernel.facts.demangled, device,
                          100 * kernel.share, launches, measured_time(kernel.total_ns))
            : fmt::format("{} on {}: {}, not timed\n", kernel.facts.demangled, device, launches);
    if (!kernel.facts.source.empty()) out += fmt::format("  source      {}\n", kernel.facts.source);
    out += fmt::format("  launch      {} blocks of {}{}{}\n", counted_size_text(kernel.grid),
                       counted_size_text(kernel.block),
                       kernel.shapes > 1 ? fmt::format(" (the longest of {} shapes)", kernel.shapes) : "",
                       measured.has_time ? fmt::format(", {} measured", measured_time(kernel.time_ns)) : "");
    if (measured.model_ns > 0)
        out += fmt::format("  model       {} with these counts\n",
                           model::time_with_bounds(measured.model_ns, model::closed_form_error));
    return out;
}

std::string measured_occupancy(const KernelAdvice& kernel) {
    const auto& achieved = kernel.measured->achieved_occupancy;
    const bool is_known = kernel.occupancy.blocks_per_sm > 0;
    if (!achieved && !is_known) return {};
    std::string out = "  occupancy   ";
    if (achieved) out += fmt::format("{:.0f} % achieved{}", 100 * *achieved, is_known ? " of " : "");
    if (is_known)
        out += fmt::format("{:.0f} %, {} blocks on an SM, limited by {}", 100 * kernel.occupancy.fraction,
                           kernel.occupancy.blocks_per_sm, model::name(kernel.occupancy.limiter));
    return out + "\n";
}

std::string measured_text(const Measured& measured) {
    std::string out;
    if (!measured.lacking_rules.empty())
        out += fmt::format(
            "  not asked   {}: they want counters that are not there; collect them:\n"
            "                ncu --csv --page raw --metrics {} PROGRAM\n",
            fmt::join(measured.lacking_rules, ", "), fmt::join(measured.lacking_metrics, ","));
    if (!measured.code_rules.empty())
        out += fmt::format("  not asked   {}: they want the code: trimtab advise -- PROGRAM\n",
                           fmt::join(measured.code_rules, ", "));
    if (!measured.stalls.empty())
        out += "  Warp State: share of the cycles between two instructions of a warp\n";
    for (const Measured::Stall& stall : measured.stalls)
        if (stall.share > 0)
            out +=
                fmt::format("    {:<60} {:>16}\n", stall.reason, fmt::format("{:.1f} %", 100 * stall.share));
    std::string_view section;
    for (const CountedFigure& figure : measured.figures) {
        if (figure.section != section) out += fmt::format("  {}\n", section = figure.section);
        out += fmt::format("    {:<60} {:>16}\n", figure.label, value_text(figure));
    }
    return out;
}

}  // namespace trimtab::advice
