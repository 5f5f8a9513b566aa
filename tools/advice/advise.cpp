// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/launches/demangle.h"
#include "tools/advice/findings.h"
#include "tools/advice/kernel_numbers.h"
#include "tools/advice/run_findings.h"

namespace trimtab::advice {
namespace {

using emulator::LaunchProfile;

Subject subject_of(const LaunchProfile& profile, const trimtab_device& device, const KernelFacts& facts,
                   const LaunchPatterns* patterns = nullptr) {
    return {.profile = profile,
            .question = Question(profile, device),
            .has_double_pointers = facts.demangled.contains("double"),
            .patterns = patterns};
}

// The launch as it is takes `now` by emulation: the smaller of the gains is promised.
void compare_with(double now_ns, Found& one) {
    const double then_ns = one.what_if.changed.time_ns();
    if (!(then_ns > 0)) return;
    const double gain = now_ns * one.what_if.times / then_ns;
    one.finding.gain = std::min(one.finding.gain, gain);
    one.finding.least = std::max(1.0, std::min(one.finding.least, gain));
    one.finding.most = std::max(one.finding.most, gain);
    if (one.what_if.fastest_ns > 0)
        one.finding.most = std::max(one.finding.most, now_ns / one.what_if.fastest_ns);
}

// The launch's time by emulation, and the gains of what it can be asked about; and the bounds with them.
void ask(SecondOpinion& opinion, const Subject& subject, std::vector<Found>& found, KernelAdvice& kernel) {
    const auto can_be_asked = [](const Found& one) {
        return one.what_if.relaunches || !one.what_if.edits.empty();
    };
    const auto now = opinion.time_ns(subject.profile, subject.question, {});
    if (!now) {
        kernel.not_emulated = now.error();
        return;
    }
    kernel.emulated_ns = *now;
    for (Found& one : found) {
        if (one.what_if.is_another_program) compare_with(*now, one);
        if (!can_be_asked(one)) continue;
        const auto then = opinion.time_ns(subject.profile, one.what_if.changed, one.what_if.edits);
        if (!then || !(*then > 0)) continue;
        const double gain = *now / *then;
        one.finding.emulated_gain = gain;
        if (!one.what_if.is_for_emulation) one.finding.model_gain = one.finding.gain;
        one.finding.gain = gain;
        one.finding.least = std::min({one.finding.least, gain, half_of(gain)});
        one.finding.most = std::max({one.finding.most, gain, half_of(gain)});
    }
}

void add_lines(KernelAdvice& kernel, const LaunchProfile& profile) {
    std::map<std::string, SourceLine> lines;
    const double warps = std::max(1.0, profile.counted_active_warps);
    double all = 0;
    for (const emulator::InstructionProfile& instruction : profile.instructions) {
        if (instruction.source.empty()) continue;
        SourceLine& line = lines[instruction.source];
        line.source = instruction.source;
        const auto add = [&](double& to, std::uint64_t count) { to += static_cast<double>(count) / warps; };
        add(line.instructions, instruction.count.warp);
        add(line.requests, instruction.count.requests);
        add(line.sectors, instruction.count.sectors);
        add(line.passes, instruction.count.wavefronts);
    }
    for (auto& [source, line] : lines) all += line.instructions + line.sectors + line.passes;
    for (auto& [source, line] : lines) {
        line.share = all > 0 ? (line.instructions + line.sectors + line.passes) / all : 0;
        kernel.lines.push_back(line);
    }
    std::ranges::sort(kernel.lines, [](const SourceLine& a, const SourceLine& b) {
        return a.share != b.share ? a.share > b.share : a.source < b.source;
    });
}

KernelAdvice advise_kernel(const std::vector<const LaunchProfile*>& shapes, const model::Device& device,
                           const std::map<std::string, KernelFacts>& facts, SecondOpinion* opinion) {
    const LaunchProfile& profile = **std::ranges::max_element(shapes, {}, &LaunchProfile::total_ns);
    KernelAdvice kernel;
    kernel.kernel = profile.kernel;
    if (const auto known = facts.find(profile.kernel); known != facts.end()) kernel.facts = known->second;
    if (kernel.facts.demangled.empty()) kernel.facts.demangled = analysis::demangle(profile.kernel);
    kernel.shapes = shapes.size();
    for (const LaunchProfile* shape : shapes) {
        kernel.launches += shape->launches;
        kernel.total_ns += shape->total_ns;
    }
    kernel.grid = profile.grid;
    kernel.block = profile.block;
    kernel.time_ns = profile.time_ns;
    const Question question(profile, device.values);
    kernel.rooflines = rooflines(question, profile.time_ns);
    std::vector<Utilisation> used;
    for (const Resource& resource : kernel.rooflines.resources)
        used.push_back(
            {.name = std::string(resource.name), .is_memory = resource.is_memory, .share = resource.used});
    kernel.label = bound(used);
    kernel.is_close = kernel.rooflines.busiest().used >= close_enough;
    const auto threads = static_cast<std::uint32_t>(question.threads());
    kernel.occupancy = model::occupancy(device.values, profile.image, threads, profile.dynamic_shared_bytes);
    add_numbers(kernel, profile, question, device);
    add_lines(kernel, profile);
    // The first line that ran, where nothing says at which the kernel begins.
    if (kernel.facts.source.empty() && !profile.instructions.empty())
        kernel.facts.source = profile.instructions.front().source;
    const auto patterns =
        opinion == nullptr ? std::expected<LaunchPatterns, std::string>{} : opinion->patterns(profile);
    const Subject subject = subject_of(profile, device.values, kernel.facts, patterns ? &*patterns : nullptr);
    std::vector<Found> found = find(subject, kernel.facts);
    if (opinion != nullptr)
        ask(*opinion, subject, found, kernel);
    else
        kernel.not_emulated = "abstract emulation was not asked";
    if (kernel.emulated_ns)
        hold_benefits_against(kernel, "emulated", *kernel.emulated_ns, device.values.launch_overhead_ns);
    kernel.findings = ranked(std::move(found));
    kernel.bottleneck = bottleneck_sentence(kernel);
    // One shape was asked about: the others are taken to gain as much.
    for (Finding& finding : kernel.findings) finding.saves_ns = kernel.total_ns * (1 - 1 / finding.gain);
    return kernel;
}

}  // namespace

std::string factor_text(double factor) {
    // 9.995 and more would be rounded to 10.00.
    return factor < 9.995 ? fmt::format("{:.2f}", factor) : fmt::format("{:.0f}", factor);
}

std::string by_the_model(const Finding& finding, std::string_view before, std::string_view times) {
    if (!finding.model_gain) return {};
    return fmt::format("{}by the model {}{}{}", before, factor_text(*finding.model_gain), times,
                       finding.is_doubted() ? ": emulation finds it slower" : "");
}

std::vector<Finding> findings(const LaunchProfile& profile, const trimtab_device& device,
                              const KernelFacts& facts) {
    return ranked(find(subject_of(profile, device, facts), facts));
}

Advice advise(const std::vector<LaunchProfile>& profiles, const model::Device& device,
              const std::map<std::string, KernelFacts>& facts, const emulator::RunRecord& run,
              SecondOpinion* opinion) {
    Advice advice;
    advice.device = device.slug;
    advice.device_name = device.name;
    std::map<std::string, std::vector<const LaunchProfile*>> by_name;
    for (const LaunchProfile& profile : profiles) by_name[profile.kernel].push_back(&profile);
    struct Shapes {
        double total_ns = 0;
        std::vector<const LaunchProfile*> all;
    };
    std::vector<Shapes> kernels;
    for (auto& [name, shapes] : by_name) {
        kernels.push_back({.total_ns = 0, .all = std::move(shapes)});
        for (const LaunchProfile* shape : kernels.back().all) kernels.back().total_ns += shape->total_ns;
    }
    std::ranges::sort(kernels, [](const Shapes& a, const Shapes& b) {
        return a.total_ns != b.total_ns ? a.total_ns > b.total_ns
                                        : a.all.front()->kernel < b.all.front()->kernel;
    });
    for (const Shapes& shapes : kernels)
        advice.kernels.push_back(advise_kernel(shapes.all, device, facts, opinion));
    for (const KernelAdvice& kernel : advice.kernels) advice.total_ns += kernel.total_ns;
    for (KernelAdvice& kernel : advice.kernels)
        kernel.share = advice.total_ns > 0 ? kernel.total_ns / advice.total_ns : 0;
    advice.run = run;
    advice.program_findings = run_findings(run, advice.total_ns);
    return advice;
}

}  // namespace trimtab::advice
