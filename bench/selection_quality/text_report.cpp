// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/selection_quality/reports.h"

namespace trimtab::bench {

namespace {

std::set<std::string> gpus_of(const Study& study) {
    std::set<std::string> gpus;
    for (const StudiedCase& one : study.cases) gpus.insert(one.measured.gpu);
    return gpus;
}

std::string rule_table(const Study& study, const std::string& gpu, Dimensions dimensions,
                       std::string_view title) {
    std::string out;
    for (const std::string& rule : study.rules) {
        const Summary s = summarise(study, rule, dimensions, gpu);
        if (s.n == 0) continue;
        if (out.empty())
            out = fmt::format("\n{:<40} {:>4} {:>8} {:>7} {:>6} {:>6} {:>9} {:>8}\n", title, "n", "geomean",
                              "median", "p10", "min", "min>50us", ">=.95");
        out += fmt::format("  {:<38} {:>4} {:>8.4f} {:>7.3f} {:>6.3f} {:>6.3f} {:>9.3f} {:>8.2f}\n", rule,
                           s.n, s.geomean, s.median, s.p10, s.min, s.min_above_50us, s.share95);
    }
    return out;
}

std::string search_table(const Study& study) {
    if (study.searches.empty()) return "";
    std::string out = fmt::format("\n{:<76} {:>6} {:>8} {:>8} {:>9} {:>9}\n", "driver programs' search",
                                  "blocks", "us", "all, us", "loss", "worst");
    for (const SearchResult& one : study.searches)
        out += fmt::format("  {:<74.74} {:>6} {:>8.1f} {:>8.1f} {:>9.5f} {:>9.5f}\n", one.kernel,
                           one.legal_blocks, one.decision_us, one.evaluate_all_us, one.mean_loss,
                           one.worst_loss);
    return out;
}

std::string left_out_table(const Study& study) {
    if (study.left_out.empty()) return "";
    std::string out = fmt::format("\n{:<20} {:>5} {:>11} {:>9}  {}\n", "app left out", "cases", "as shipped",
                                  "left out", "factors of the constants");
    for (const LeftOut& one : study.left_out) {
        out += fmt::format("  {:<18} {:>5} {:>11.4f} {:>9.4f} ", one.app, one.cases, one.as_shipped,
                           one.left_out);
        for (const double factor : one.factors) out += fmt::format(" {}", factor);
        out += "\n";
    }
    return out;
}

}  // namespace

std::string text_report(const Study& study) {
    std::string out;
    for (const std::string& line : study.skipped) out += "skipped: " + line + "\n";
    for (const std::string& gpu : gpus_of(study)) {
        out += rule_table(study, gpu, Dimensions::one, gpu + " 1-D");
        out += rule_table(study, gpu, Dimensions::two, gpu + " 2-D");
    }
    out += rule_table(study, "", Dimensions::all, "all");
    std::map<std::string, std::vector<const StudiedCase*>> kernels;
    for (const StudiedCase& one : study.cases)
        kernels[one.measured.gpu + " " + one.measured.app + " " + one.measured.kernel].push_back(&one);
    out += fmt::format("\n{:<50} {:>3} {:>8} {:>6} {:>6} {:>6} {:>6}\n", "trimtab, by kernel", "n", "geomean",
                       "min", "rank", "error", "");
    for (const auto& [name, cases] : kernels) {
        std::vector<Scored> scores;
        double rank = 0, error = 0;
        bool uncertain = false;
        for (const StudiedCase* one : cases) {
            if (const auto efficiency = one->efficiency("trimtab"))
                scores.push_back({.efficiency = *efficiency, .best_ms = one->best.ms});
            rank += one->rank_correlation() / double(cases.size());
            error += one->mean_absolute_error() / double(cases.size());
            uncertain = uncertain || one->launches.uncertain;
        }
        const Summary s = summarise(scores);
        out += fmt::format("  {:<48} {:>3} {:>8.4f} {:>6.3f} {:>6.3f} {:>6.2f} {}\n", name, s.n, s.geomean,
                           s.min, rank, error, uncertain ? "uncertain" : "");
    }
    std::vector<const StudiedCase*> worst;
    for (const StudiedCase& one : study.cases)
        if (one.efficiency("trimtab")) worst.push_back(&one);
    std::ranges::sort(worst, {}, [](const StudiedCase* one) { return *one->efficiency("trimtab"); });
    out += "\nworst\n";
    for (std::size_t i = 0; i < worst.size() && i < 25; ++i) {
        const StudiedCase& one = *worst[i];
        if (*one.efficiency("trimtab") >= 0.98) break;
        const Block chosen = one.choices.at("trimtab");
        out +=
            fmt::format("  {:.3f} {} {} {} {}: chose ({}, {}), best ({}, {}), {:.4g} ms\n",
                        *one.efficiency("trimtab"), one.measured.gpu, one.measured.app, one.measured.kernel,
                        one.measured.n, chosen.x, chosen.y, one.best.block.x, one.best.block.y, one.best.ms);
    }
    out += search_table(study) + left_out_table(study);
    for (const std::string& note : study.notes) out += "\n" + note;
    double exhaustive_ms = 0;
    for (const StudiedCase& one : study.cases)
        for (const MeasuredBlock& block : one.legal) exhaustive_ms += block.ms;
    out += fmt::format(
        "\n{} cases decided in {:.2f} s on this machine, profiled and fitted in {:.1f} s (cached profiles "
        "included); the\ntables' timings of the same blocks, once each, took {:.1f} s of the GPUs\n",
        study.cases.size(), study.decide_seconds, study.profile_seconds, exhaustive_ms / 1e3);
    return out;
}

}  // namespace trimtab::bench
