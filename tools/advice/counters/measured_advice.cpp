// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/measured_advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "core/analysis/launches/demangle.h"
#include "core/model/launch_configuration.h"
#include "tools/advice/counters/fit.h"
#include "tools/advice/counters/measured_kernel.h"
#include "tools/advice/counters/names.h"
#include "tools/advice/findings.h"
#include "tools/advice/kernel_numbers.h"
#include "tools/advice/rules.h"

namespace trimtab::advice {
namespace {

// Means of all launches of a shape that have the counter.
std::vector<MeasuredShape> shapes_of(const std::vector<const CountedLaunch*>& launches) {
    using Shape = std::array<std::uint64_t, 6>;
    std::map<Shape, std::vector<const CountedLaunch*>> by_shape;
    for (const CountedLaunch* launch : launches) {
        const auto& [grid, block] = std::tie(launch->grid, launch->block);
        by_shape[{grid.x, grid.y, grid.z, block.x, block.y, block.z}].push_back(launch);
    }
    std::vector<MeasuredShape> out;
    for (const auto& [shape, same] : by_shape) {
        MeasuredShape made{.launch = *same.front(), .launches = same.size()};
        std::map<std::string_view, std::pair<double, double>> sums;
        for (const CountedLaunch* launch : same)
            for (const auto& [metric, value] : launch->values) {
                sums[metric].first += value;
                sums[metric].second += 1;
            }
        for (const auto& [metric, sum] : sums) made.launch.values[metric] = sum.first / sum.second;
        out.push_back(std::move(made));
    }
    return out;
}

double total_time(const MeasuredShape& shape) {
    const auto time = Quantities(shape.launch.values).find("time");
    return time.value_or(0) * static_cast<double>(shape.launches);
}

void add_figures(Measured& measured, const std::map<std::string_view, double>& values) {
    double stalled = 0;
    for (const CounterName& name : counter_names()) {
        const auto found = values.find(name.metric);
        if (found == values.end() || name.section.empty()) continue;
        if (name.section == stall_section) {
            constexpr std::string_view prefix = "Stall ";
            const std::string_view reason =
                name.label.starts_with(prefix) ? name.label.substr(prefix.size()) : name.label;
            measured.stalls.push_back({.reason = reason, .share = found->second});
            stalled += found->second;
            continue;
        }
        measured.figures.push_back({.section = name.section,
                                    .label = name.label.empty() ? name.metric : name.label,
                                    .metric = name.metric,
                                    .dimension = name.dimension,
                                    .value = found->second});
    }
    for (Measured::Stall& stall : measured.stalls) stall.share = stalled > 0 ? stall.share / stalled : 0;
    std::ranges::sort(measured.stalls, [](const Measured::Stall& a, const Measured::Stall& b) {
        return a.share != b.share ? a.share > b.share : a.reason < b.reason;
    });
}

// Which rules the counters can answer; what the others would need.
std::set<std::string> answered(Measured& measured, const Quantities& quantities,
                               const std::string& demangled) {
    std::set<std::string> out;
    std::set<std::string_view> missing;
    for (const Rule& rule : rules()) {
        if (!rule.counters || (rule.id == "accidental-double" && !tells_parameter_types(demangled))) {
            measured.code_rules.push_back(rule.id);
            continue;
        }
        std::vector<std::string_view> needed = needed_by_all();
        needed.insert(needed.end(), rule.counters->begin(), rule.counters->end());
        std::erase_if(needed, [&](std::string_view name) { return quantities.has(name); });
        if (needed.empty()) {
            out.insert(rule.id);
            continue;
        }
        measured.lacking_rules.push_back(rule.id);
        for (const std::string_view name : needed) missing.merge(metrics_for(name));
    }
    measured.lacking_metrics.assign(missing.begin(), missing.end());
    return out;
}

void label_kernel(KernelAdvice& kernel, const Quantities& quantities, const std::vector<UsedResource>& used,
                  const model::Device& device) {
    Measured& measured = *kernel.measured;
    const ProfileRecord record = record_of(quantities, used, device);
    measured.metrics = derive(record);
    std::vector<Utilisation> shares;
    for (const Resource& resource : kernel.rooflines.resources)
        if (resource.used > 0)
            shares.push_back({.name = std::string(resource.name),
                              .is_memory = resource.is_memory,
                              .share = std::min(1.0, resource.used)});
    measured.is_labelled = !shares.empty();
    // The ratios decide only where both of their parts were counted.
    const bool has_ratio =
        record.time_s > 0 && record.instructions_issued > 0 && record.dram_transactions > 0;
    if (has_ratio) measured.plain = plain_bound(measured.metrics);
    kernel.label = has_ratio ? bound(measured.metrics, shares) : bound(shares);
    kernel.is_close = kernel.rooflines.busiest().used >= close_enough;
}

// Where the launch can be told in the terms of the model.
void ask_rules(KernelAdvice& kernel, const emulator::LaunchProfile& profile, const Quantities& quantities,
               const model::Device& device, std::set<std::string> rules) {
    Fitted fitted = fit(Question(profile, device.values), quantities);
    kernel.measured->model_ns = fitted.question.time_ns();
    const auto block_threads = static_cast<std::uint32_t>(fitted.question.threads());
    kernel.occupancy =
        model::occupancy(device.values, profile.image, block_threads, profile.dynamic_shared_bytes);
    add_numbers(kernel, profile, fitted.question, device);
    hold_benefits_against(kernel, "measured", kernel.time_ns, 0);
    const double warps = std::ceil(fitted.question.threads() / 32);
    const Counted counted{.rules = std::move(rules),
                          .dram_bytes = quantities.or_zero("dram_bytes"),
                          .full_lanes = fitted.question.threads() / warps,
                          .others = std::move(fitted.others)};
    const Subject subject{.profile = profile,
                          .question = fitted.question,
                          .has_double_pointers = kernel.facts.demangled.contains("double"),
                          .patterns = nullptr,
                          .counted = &counted};
    kernel.findings = ranked(find(subject, kernel.facts));
    for (Finding& finding : kernel.findings) finding.saves_ns = kernel.total_ns * (1 - 1 / finding.gain);
}

KernelAdvice advise_kernel(const std::string& name, const std::vector<MeasuredShape>& shapes,
                           const model::Device& device, const std::map<std::string, KernelFacts>& facts) {
    KernelAdvice kernel;
    kernel.kernel = name;
    if (const auto known = facts.find(name); known != facts.end()) kernel.facts = known->second;
    if (kernel.facts.demangled.empty()) kernel.facts.demangled = analysis::demangle(name);
    kernel.shapes = shapes.size();
    for (const MeasuredShape& shape : shapes) {
        kernel.launches += shape.launches;
        kernel.total_ns += 1e9 * total_time(shape);
    }
    const MeasuredShape& shape = *std::ranges::max_element(shapes, {}, total_time);
    const Quantities quantities(shape.launch.values);
    const std::vector<UsedResource> used = used_resources(shape.launch.values);
    const emulator::LaunchProfile profile = profile_of(shape, quantities, device);
    kernel.grid = profile.grid;
    kernel.block = profile.block;
    kernel.time_ns = profile.time_ns;
    kernel.measured.emplace();
    Measured& measured = *kernel.measured;
    measured.has_time = profile.time_ns > 0;
    measured.achieved_occupancy = quantities.find("achieved_occupancy");
    add_figures(measured, shape.launch.values);
    kernel.rooflines = measured_rooflines(quantities, used, device);
    label_kernel(kernel, quantities, used, device);
    std::set<std::string> can = answered(measured, quantities, kernel.facts.demangled);
    const bool can_ask =
        std::ranges::all_of(needed_by_all(), [&](auto needed) { return quantities.has(needed); });
    if (can_ask) ask_rules(kernel, profile, quantities, device, std::move(can));
    kernel.bottleneck = measured.is_labelled ? bottleneck_sentence(kernel)
                                             : "not known: neither a duration nor a throughput was counted";
    return kernel;
}

}  // namespace

bool tells_parameter_types(std::string_view demangled) {
    const std::size_t open = demangled.rfind('(');
    if (open == std::string_view::npos || !demangled.ends_with(')')) return false;
    static const std::set<std::string_view, std::less<>> own{
        "void",         "bool",       "char",     "signed",  "unsigned", "short",    "int",
        "long",         "float",      "double",   "__half",  "const",    "volatile", "restrict",
        "__restrict__", "__restrict", "int8_t",   "uint8_t", "int16_t",  "uint16_t", "int32_t",
        "uint32_t",     "int64_t",    "uint64_t", "size_t"};
    std::string_view rest = demangled.substr(open + 1);
    rest.remove_suffix(1);
    bool has_void_pointer = false;
    for (std::string_view last; !rest.empty();) {
        constexpr std::string_view between = " ,*&";
        if (between.contains(rest.front())) {
            has_void_pointer |= rest.front() == '*' && last == "void";
            rest.remove_prefix(1);
            continue;
        }
        last = rest.substr(0, rest.find_first_of(between));
        if (!own.contains(last)) return false;
        rest.remove_prefix(last.size());
    }
    return !has_void_pointer;
}

Advice advise_counted(const std::vector<CountedLaunch>& launches, const model::Device& device,
                      const std::map<std::string, KernelFacts>& facts) {
    Advice advice;
    advice.device = device.slug;
    advice.device_name = device.name;
    std::map<std::string, std::vector<const CountedLaunch*>> by_kernel;
    for (const CountedLaunch& launch : launches) by_kernel[launch.kernel].push_back(&launch);
    for (const auto& [name, own] : by_kernel) {
        advice.kernels.push_back(advise_kernel(name, shapes_of(own), device, facts));
        advice.total_ns += advice.kernels.back().total_ns;
    }
    std::ranges::sort(advice.kernels, [](const KernelAdvice& a, const KernelAdvice& b) {
        return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.kernel < b.kernel;
    });
    for (KernelAdvice& kernel : advice.kernels)
        kernel.share = advice.total_ns > 0 ? kernel.total_ns / advice.total_ns : 0;
    return advice;
}

}  // namespace trimtab::advice
