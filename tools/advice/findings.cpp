// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/findings.h"

#include <algorithm>
#include <cmath>

#include "core/model/performance_model.h"
#include "core/model/prediction_error.h"
#include "tools/advice/rules.h"

namespace trimtab::advice {
namespace {

constexpr std::size_t most_evidence = 4;

double gain_of(const Question& before, const WhatIf& what_if, std::string_view model) {
    const double now = before.time_ns(model), then = what_if.changed.time_ns(model);
    return now > 0 && then > 0 ? now * what_if.times / then : 1;
}

// A gain is a ratio of two predicted times, each end of its range too: in 95 of 100 cases it is off by no more than this.
void widen_by_stated_error(Finding& finding) {
    const double factor =
        std::exp((finding.emulated_gain ? model::emulation_error : model::closed_form_error).ratio);
    finding.least = std::min(finding.least, finding.gain) / factor;
    finding.most = std::max(finding.most, finding.gain) * factor;
}

// Half of the way: a remedy that is done in part, or not everywhere.
WhatIf half_way(const Question& before, const WhatIf& what_if) {
    WhatIf half = what_if;
    for (const model::MetricInfo& info : model::metric_table())
        half.changed[info.metric] = (before[info.metric] + what_if.changed[info.metric]) / 2;
    return half;
}

bool same_shape(const Question& a, const Question& b) {
    return a.block.x == b.block.x && a.block.y == b.block.y && a.grid.x == b.grid.x && a.grid.y == b.grid.y;
}

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
    widen(gain_of(subject.question, *what_if, "waves"));
    if (same_shape(subject.question, what_if->changed))
        widen(gain_of(subject.question, half_way(subject.question, *what_if), model::default_model));
    else
        widen(half_of(gain));
    if (what_if->least_gain > 0) widen(what_if->least_gain);
    if (what_if->fastest_ns > 0) widen(subject.question.time_ns() / what_if->fastest_ns);
    if (subject.counted != nullptr) {
        // What no counter tells may be otherwise; and what is fetched from memory may stay.
        for (const Question& other : subject.counted->others)
            if (const auto asked = rule.ask(subject.with(other)))
                widen(gain_of(other, *asked, model::default_model));
        WhatIf as_fetched = *what_if;
        as_fetched.changed.footprints = subject.question.footprints;
        widen(gain_of(subject.question, as_fetched, model::default_model));
    }
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

}  // namespace

double half_of(double gain) {
    return 2 / (1 + 1 / gain);
}

std::vector<Found> find(const Subject& subject, const KernelFacts& facts) {
    std::vector<Found> out;
    for (const Rule& rule : rules())
        if (subject.counted == nullptr || subject.counted->rules.contains(rule.id))
            if (auto found = find(rule, subject, facts)) out.push_back(std::move(*found));
    return out;
}

std::vector<Finding> ranked(std::vector<Found> found) {
    std::vector<Finding> out;
    for (Found& one : found)
        if (std::max(one.finding.gain, one.finding.model_gain.value_or(0)) >= one.least_gain)
            out.push_back(std::move(one.finding));
    for (Finding& finding : out) widen_by_stated_error(finding);
    std::ranges::sort(out, [](const Finding& a, const Finding& b) {
        if (a.is_doubted() != b.is_doubted()) return b.is_doubted();
        return a.gain != b.gain ? a.gain > b.gain : a.rule < b.rule;
    });
    return out;
}

}  // namespace trimtab::advice
