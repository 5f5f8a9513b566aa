// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/launches/demangle.h"
#include "core/model/performance_model.h"
#include "tools/advice/rules.h"
#include "tools/advice/run_findings.h"

namespace trimtab::advice {
namespace {

using emulator::LaunchProfile;
using model::Metric;

constexpr std::size_t most_evidence = 4;

double gain_of(const Question& before, const WhatIf& what_if, std::string_view model) {
    const double now = before.time_ns(model), then = what_if.changed.time_ns(model);
    return now > 0 && then > 0 ? now * what_if.times / then : 1;
}

// Half of the way: a remedy that is done in part, or not everywhere.
WhatIf half_of(const Question& before, const WhatIf& what_if) {
    WhatIf half = what_if;
    for (const model::MetricInfo& info : model::metric_table())
        half.changed[info.metric] = (before[info.metric] + what_if.changed[info.metric]) / 2;
    return half;
}

// Where half of the time is saved that `gain` saves.
double half_of(double gain) {
    return 2 / (1 + 1 / gain);
}

bool same_shape(const Question& a, const Question& b) {
    return a.block.x == b.block.x && a.block.y == b.block.y && a.grid.x == b.grid.x && a.grid.y == b.grid.y;
}

Subject subject_of(const LaunchProfile& profile, const trimtab_device& device, const KernelFacts& facts,
                   const LaunchPatterns* patterns = nullptr) {
    return {.profile = profile,
            .question = Question(profile, device),
            .has_double_pointers = facts.demangled.contains("double"),
            .patterns = patterns};
}

struct Found {
    Finding finding;
    WhatIf what_if;
    double least_gain = 1;
};

std::optional<Found> find(const Rule& rule, const Subject& subject, const KernelFacts& facts) {
    auto what_if = rule.ask(subject);
    if (!what_if) return std::nullopt;
    const double gain = gain_of(subject.question, *what_if, model::default_model);
    if (!(gain >= rule.least_gain) && !what_if->is_for_emulation) return std::nullopt;
    double least = gain, most = gain;
    const auto widen = [&](double other) {
        least = std::min(least, other);
        most = std::max(most, other);
    };
    widen(gain_of(subject.question, *what_if, "gpuperf"));
    if (same_shape(subject.question, what_if->changed))
        widen(gain_of(subject.question, half_of(subject.question, *what_if), model::default_model));
    else
        widen(half_of(gain));
    if (what_if->least_gain > 0) widen(what_if->least_gain);
    if (what_if->fastest_ns > 0) widen(subject.question.time_ns() / what_if->fastest_ns);
    Finding finding{.rule = rule.id,
                    .title = rule.title,
                    .remedy = rule.remedy,
                    .change = what_if->change,
                    .by = rule.trimtab_can && facts.block_is_free ? "trimtab" : "you",
                    .gain = gain,
                    .least = std::max(1.0, least),
                    .most = most,
                    .emulated_gain = {},
                    .saves_ns = subject.profile.total_ns * (1 - 1 / gain),
                    .evidence = what_if->evidence};
    for (Evidence& evidence : finding.evidence)
        if (evidence.source.empty()) evidence.source = facts.source;
    std::ranges::sort(finding.evidence, [](const Evidence& a, const Evidence& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.source < b.source;
    });
    if (finding.evidence.size() > most_evidence) finding.evidence.resize(most_evidence);
    return Found{
        .finding = std::move(finding), .what_if = std::move(*what_if), .least_gain = rule.least_gain};
}

std::vector<Found> find(const Subject& subject, const KernelFacts& facts) {
    std::vector<Found> out;
    for (const Rule& rule : rules())
        if (auto found = find(rule, subject, facts)) out.push_back(std::move(*found));
    return out;
}

// Those that are worth their while, the largest gain first; after them those of which emulation says that the kernel
// gets slower.
std::vector<Finding> ranked(std::vector<Found> found) {
    std::vector<Finding> out;
    for (Found& one : found)
        if (std::max(one.finding.gain, one.finding.model_gain.value_or(0)) >= one.least_gain)
            out.push_back(std::move(one.finding));
    std::ranges::sort(out, [](const Finding& a, const Finding& b) {
        if (a.is_doubted() != b.is_doubted()) return b.is_doubted();
        return a.gain != b.gain ? a.gain > b.gain : a.rule < b.rule;
    });
    return out;
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

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

std::string sentence(const KernelAdvice& kernel) {
    // Of a launch this short its start is all there is to tell.
    if (const auto start = kernel.derived.find("launch_overhead_share");
        start != kernel.derived.end() && start->second >= 0.5)
        return fmt::format("latency-bound: {} of the time is the start of the launch",
                           percent(start->second));
    const Resource& busiest = kernel.rooflines.busiest();
    const double headroom = kernel.rooflines.headroom();
    if (kernel.label.bound != Bound::latency) {
        const auto used =
            std::ranges::find(kernel.rooflines.resources, kernel.label.limiter, &Resource::name);
        const Resource& limiter = used == kernel.rooflines.resources.end() ? busiest : *used;
        return fmt::format("{}: {} is {} used{}", name(kernel.label.bound), limiter.title,
                           percent(std::min(1.0, limiter.used)),
                           kernel.is_close && kernel.findings.empty() ? "; there is little left to win" : "");
    }
    return fmt::format(
        "latency-bound: nothing is used for more than {} (most of all {}); {:.3g}x are left to the "
        "nearest roofline",
        percent(busiest.used), busiest.title, headroom);
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

void add_numbers(KernelAdvice& kernel, const LaunchProfile& profile, const Question& question) {
    const trimtab_device& device = question.device;
    const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
    const BytesInFlight flight = bytes_in_flight(question);
    const MixCap cap = mix_cap(question);
    const double warps = question[Metric::active_warps] * question[Metric::active_blocks];
    const double dram = kernel.rooflines.of("dram").work, l2 = kernel.rooflines.of("l2").work;
    kernel.derived = {
        {"instructions_per_byte_dram", ratio(32 * question[Metric::warp_instructions] * warps, dram)},
        {"instructions_per_byte_l2", ratio(32 * question[Metric::warp_instructions] * warps, l2)},
        {"balance", ratio(32 * device.schedulers_per_sm * device.sm_count * device.sm_clock_hz,
                          device.dram_bytes_per_s)},
        {"sectors_per_load_request", ratio(question[Metric::load_sectors], question[Metric::load_requests])},
        {"sectors_per_store_request",
         ratio(question[Metric::store_sectors],
               question[Metric::store_requests] + question[Metric::atomic_requests])},
        {"passes_per_shared_request",
         ratio(question[Metric::shared_wavefronts], question[Metric::shared_requests])},
        {"local_requests_share",
         ratio(question[Metric::local_requests], question[Metric::warp_instructions])},
        {"divergence", ratio(profile.divergent_branches, profile.branches)},
        {"idle_lanes", 1 - question[Metric::active_lanes] / 32},
        {"fp64_share", ratio(question[Metric::fp64_instructions], question[Metric::warp_instructions])},
        {"occupancy", kernel.occupancy.fraction},
        {"waves", ratio(question[Metric::active_blocks],
                        std::max(1u, kernel.occupancy.blocks_per_sm) * device.sm_count)},
        {"bytes_in_flight", flight.at_most},
        {"bytes_in_flight_needed", flight.needed},
        {"mix_cap_serial", cap.serial},
        {"mix_cap_overlapped", cap.overlapped},
        {"launch_overhead_share", ratio(device.launch_overhead_ns, profile.time_ns)}};
    const auto terms = question.terms("gpuperf-benefits");
    for (const char* label :
         {"T_comp", "T_mem", "T_overlap", "T_exec", "T_fp", "T_mem_min", "W_parallel", "O_sync", "O_SFU",
          "O_CFdiv", "O_bank", "B_itilp", "B_memlp", "B_fp", "B_serial"})
        if (const auto found = terms.find(label); found != terms.end())
            kernel.benefits[label] = found->second / device.sm_clock_hz * 1e9;
    for (std::uint32_t threads = 32; threads <= device.max_threads_per_block; threads += 32)
        kernel.occupancy_by_block.push_back(
            {.threads = threads,
             .occupancy =
                 model::occupancy(device, question.image, threads, question.dynamic_shared_bytes).fraction});
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
    add_numbers(kernel, profile, question);
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
    kernel.findings = ranked(std::move(found));
    kernel.bottleneck = sentence(kernel);
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
