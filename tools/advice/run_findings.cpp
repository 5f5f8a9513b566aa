// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/run_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/launches/demangle.h"
#include "tools/advice/rules.h"

namespace trimtab::advice {
namespace {

using emulator::CopySum;
using emulator::SerialLaunches;

constexpr std::size_t most_run_evidence = 4, most_names = 3;

std::string bytes_text(double bytes) {
    for (const auto& [unit, size] : {std::pair("GB", 1e9), std::pair("MB", 1e6), std::pair("kB", 1e3)})
        if (bytes >= size) return fmt::format("{:.3g} {}", bytes / size, unit);
    return fmt::format("{:.0f} bytes", bytes);
}

struct Saving {
    double ns = 0, least_ns = 0;  // least: where a part of it cannot be had
    std::vector<Evidence> evidence;
};

Saving of_copies(const emulator::RunRecord& run) {
    Saving out;
    const auto add = [&](const CopySum& sum, const CopySum& all, const char* what) {
        if (sum.count == 0) return;
        out.ns += sum.ns;
        out.evidence.push_back({.source = {},
                                .text = fmt::format("{} of {} {}: {}, {:.4g} us", sum.count, all.count, what,
                                                    bytes_text(sum.bytes), sum.ns / 1e3),
                                .weight = sum.ns});
    };
    add(run.sent_again, run.to_device,
        "copies to the device bring bytes that it holds already, sent there before");
    add(run.round_trips, run.to_device,
        "copies to the device bring back what was fetched from there, unchanged");
    add(run.fetched_again, run.to_host,
        "copies to the host fetch what it fetched before, with no launch between");
    // Half of them may be needed after all: the host cannot always know what a kernel left as it was.
    out.least_ns = out.ns / 2;
    return out;
}

Saving of_launches(const emulator::RunRecord& run) {
    Saving out;
    for (const SerialLaunches& serial : run.serial) {
        out.ns += serial.ns - serial.together_ns;
        std::vector<std::string> names;
        for (const std::string& kernel : serial.kernels) {
            if (names.size() == most_names) {
                names.emplace_back("...");
                break;
            }
            const std::string name = analysis::demangle(kernel);
            names.push_back(name.substr(0, name.find('(')));
        }
        out.evidence.push_back({.source = {},
                                .text = fmt::format("{} launches of {}, one after the other in a stream, "
                                                    "none given what another writes: {:.4g} us; "
                                                    "beside each other at best {:.4g} us",
                                                    serial.launches, fmt::join(names, ", "), serial.ns / 1e3,
                                                    serial.together_ns / 1e3),
                                .weight = serial.ns - serial.together_ns});
    }
    // Pointers in memory may lead where arguments do not: what these launches share, if anything, is not known.
    out.least_ns = 0;
    return out;
}

}  // namespace

std::vector<Finding> run_findings(const emulator::RunRecord& run, double kernels_ns) {
    const double all_ns = kernels_ns + run.to_device.ns + run.to_host.ns;
    std::vector<Finding> out;
    for (const ProgramRule& rule : program_rules()) {
        Saving saving = rule.looks_at == ProgramRule::Subject::copies ? of_copies(run) : of_launches(run);
        if (!(saving.ns > 0) || saving.ns >= all_ns) continue;
        const double gain = all_ns / (all_ns - saving.ns);
        if (gain < rule.least_gain) continue;
        std::ranges::sort(saving.evidence, std::ranges::greater(), &Evidence::weight);
        if (saving.evidence.size() > most_run_evidence) saving.evidence.resize(most_run_evidence);
        out.push_back({.rule = rule.id,
                       .title = rule.title,
                       .remedy = rule.remedy,
                       .change = {},
                       .by = "you",
                       .gain = gain,
                       .least = all_ns / (all_ns - saving.least_ns),
                       .most = gain,
                       .saves_ns = saving.ns,
                       .evidence = std::move(saving.evidence)});
    }
    std::ranges::sort(out, std::ranges::greater(), &Finding::saves_ns);
    return out;
}

}  // namespace trimtab::advice
