// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/time_text.h"
#include "tools/advice/counters/measured_text.h"
#include "tools/advice/report.h"

namespace trimtab::advice {
namespace {

std::string gain_text(const Finding& finding) {
    return fmt::format("{}x ({} to {})", factor_text(finding.gain), factor_text(finding.least),
                       factor_text(finding.most));
}

// In closed form, unless it says otherwise.
std::string time_text(double ns) {
    return model::time_text(ns, model::closed_form_error);
}

std::string size_text(const trimtab_dim3& size) {
    return fmt::format("{} x {} x {}", size.x, size.y, size.z);
}

std::string saving_text(const Finding& finding) {
    if (finding.saves_ns == 0) return {};  // nobody timed it
    return fmt::format(", {} {}", time_text(std::abs(finding.saves_ns)),
                       finding.saves_ns < 0 ? "more" : "less");
}

std::string findings_text(const std::vector<Finding>& findings) {
    std::string out;
    for (const Finding& finding : findings) {
        out += fmt::format("  {:<11} {}, {}: would be {} as fast{}{}{}\n",
                           &finding == &findings.front() ? "advice" : "", finding.title, finding.rule,
                           gain_text(finding), by_the_model(finding, ", ", "x"), saving_text(finding),
                           finding.change.empty() ? "" : fmt::format(" ({})", finding.change));
        for (const Evidence& evidence : finding.evidence)
            out += fmt::format("                {}{}{}\n", evidence.place(),
                               evidence.source.empty() ? "" : ": ", evidence.text);
        out += fmt::format("                {}{}\n", finding.remedy,
                           finding.by == "trimtab"
                               ? "; built by trimtab++, the program launches such blocks by itself"
                               : "");
    }
    return out;
}

std::string occupancy_text(const KernelAdvice& kernel) {
    return fmt::format("  occupancy   {:.0f} %, {} blocks on an SM, limited by {}\n",
                       100 * kernel.occupancy.fraction, kernel.occupancy.blocks_per_sm,
                       model::name(kernel.occupancy.limiter));
}

std::string modelled_head(const KernelAdvice& kernel, const std::string& device) {
    std::string out = fmt::format("{} on {}: {:.0f} % of the modelled time, {} launch{}, {}\n",
                                  kernel.facts.demangled, device, 100 * kernel.share, kernel.launches,
                                  kernel.launches == 1 ? "" : "es", time_text(kernel.total_ns));
    if (!kernel.facts.source.empty()) out += fmt::format("  source      {}\n", kernel.facts.source);
    out +=
        fmt::format("  launch      {} blocks of {}{}, {}\n", size_text(kernel.grid), size_text(kernel.block),
                    kernel.shapes > 1 ? fmt::format(" (the longest of {} shapes)", kernel.shapes) : "",
                    model::time_with_bounds(kernel.time_ns, model::closed_form_error));
    if (kernel.emulated_ns)
        out += fmt::format("  emulated    {} by abstract emulation\n",
                           model::time_with_bounds(*kernel.emulated_ns, model::emulation_error));
    else if (!kernel.not_emulated.empty())
        out += fmt::format("  emulated    no: {}\n", kernel.not_emulated);
    return out;
}

}  // namespace

std::string to_text(const Advice& advice) {
    std::string out;
    for (const std::string& note : advice.notes) out += fmt::format("note: {}\n", note);
    if (!advice.program_findings.empty())
        out += fmt::format("the program on {}: {} in kernels, {} in copies\n", advice.device,
                           time_text(advice.total_ns),
                           time_text(advice.run.to_device.ns + advice.run.to_host.ns)) +
               findings_text(advice.program_findings);
    for (const KernelAdvice& kernel : advice.kernels) {
        out += kernel.measured ? measured_head(kernel, advice.device) : modelled_head(kernel, advice.device);
        out += fmt::format("  bottleneck  {}\n", kernel.bottleneck);
        out += kernel.measured ? measured_occupancy(kernel) : occupancy_text(kernel);
        if (kernel.findings.empty() && (!kernel.measured || kernel.measured->model_ns > 0))
            out += kernel.is_close ? "  advice      none: within 20 % of its roofline\n"
                                   : "  advice      none: no change that the model knows gains 5 % or more\n";
        out += findings_text(kernel.findings);
        if (kernel.measured) out += measured_text(*kernel.measured);
    }
    return out;
}

std::vector<std::string> worse_than(const Advice& advice, const std::vector<FormerKernel>& former) {
    constexpr double slower = 1.05;
    std::vector<std::string> lines;
    if (const auto before = std::ranges::find(former, std::string(), &FormerKernel::kernel);
        before != former.end())
        for (const Finding& finding : advice.program_findings)
            if (std::ranges::find(before->rules, finding.rule) == before->rules.end())
                lines.push_back(
                    fmt::format("the program: {} ({}), which it had not", finding.title, finding.rule));
    for (const KernelAdvice& kernel : advice.kernels) {
        const auto before = std::ranges::find(former, kernel.kernel, &FormerKernel::kernel);
        if (before == former.end()) continue;
        if (before->time_ns > 0 && kernel.time_ns > slower * before->time_ns)
            lines.push_back(fmt::format("{}: {} instead of {}", kernel.facts.demangled,
                                        time_text(kernel.time_ns), time_text(before->time_ns)));
        for (const Finding& finding : kernel.findings)
            if (std::ranges::find(before->rules, finding.rule) == before->rules.end())
                lines.push_back(fmt::format(
                    "{}: {} ({}), which it had not{}", kernel.facts.demangled, finding.title, finding.rule,
                    finding.evidence.empty() || finding.evidence.front().source.empty()
                        ? ""
                        : ", at " + finding.evidence.front().source));
    }
    return lines;
}

}  // namespace trimtab::advice
