// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "bench/selection_quality/reports.h"

namespace trimtab::bench {

namespace {

constexpr const char* page_begin = R"(<!doctype html><html lang="en"><meta charset="utf-8">
<title>Selection quality</title>
<style>
body { font: 14px/1.4 sans-serif; margin: 1.5em; color: #222; }
table { border-collapse: collapse; }
.rules td, .rules th { padding: 2px 10px; text-align: right; } .rules td:first-child, .rules th:first-child { text-align: left; }
.case { display: inline-block; margin: 8px 14px 8px 0; vertical-align: top; border-top: 1px solid #ccc; padding-top: 4px; }
.case h3 { font-size: 13px; margin: 0 0 4px; } .maps { display: flex; gap: 10px; }
.map td { width: 30px; height: 18px; font-size: 9px; text-align: center; padding: 0; border: 1px solid #fff; }
.map th { font-size: 9px; font-weight: normal; color: #777; padding: 0 3px; } .map caption { font-size: 11px; color: #555; }
.map td.best { outline: 2px solid #06c; outline-offset: -2px; } .map td.chosen { box-shadow: inset 0 0 0 3px #000; }
.low { color: #b00; }
</style>
<h1>Selection quality</h1>
<p>Numbers in the maps are times over the least one of the map. Blue frame: best measured; black frame: chosen by Trimtab.
Columns are block.x, rows block.y.</p>
)";

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    }
    return out;
}

// From green at the best time to red at four times it.
std::string colour(double ratio) {
    const double share = std::clamp(std::log2(ratio) / 2, 0.0, 1.0);
    return fmt::format("hsl({:.0f} 70% {:.0f}%)", 130 * (1 - share), 72 - 12 * share);
}

std::string heat_map(const StudiedCase& one, const std::map<Block, double>& times, std::string_view caption) {
    std::set<std::uint32_t> xs, ys;
    double least = INFINITY;
    for (const auto& [block, time] : times) {
        xs.insert(block.x);
        ys.insert(block.y);
        least = std::min(least, time);
    }
    const auto chosen = one.choices.find("trimtab");
    std::string out = fmt::format("<table class=map><caption>{}</caption><tr><th></th>", caption);
    for (const std::uint32_t x : xs) out += fmt::format("<th>{}</th>", x);
    out += "</tr>";
    for (const std::uint32_t y : ys) {
        out += fmt::format("<tr><th>{}</th>", y);
        for (const std::uint32_t x : xs) {
            const auto time = times.find({x, y});
            if (time == times.end()) {
                out += "<td></td>";
                continue;
            }
            std::string classes;
            if (one.best.block == Block{x, y}) classes += "best ";
            if (chosen != one.choices.end() && chosen->second == Block{x, y}) classes += "chosen";
            const double ratio = time->second / least;
            out += fmt::format("<td class=\"{}\" style=\"background:{}\">{:.{}f}</td>", classes,
                               colour(ratio), ratio, ratio < 9.995 ? 2 : 0);
        }
        out += "</tr>";
    }
    return out + "</table>";
}

std::string rule_table(const Study& study, Dimensions dimensions, const std::string& title) {
    std::string out = fmt::format(
        "<h2>{}</h2><table class=rules><tr><th>rule</th><th>n</th><th>geometric "
        "mean</th><th>median</th><th>p10</th><th>min</th><th>min, best over 50 us</th><th>share at least "
        "0.95</th></tr>",
        title);
    for (const std::string& rule : study.rules) {
        const Summary s = summarise(study, rule, dimensions);
        if (s.n == 0) continue;
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{:.4f}</td><td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}"
            "</td><td>{:.2f}</td></tr>",
            escaped(rule), s.n, s.geomean, s.median, s.p10, s.min, s.min_above_50us, s.share95);
    }
    return out + "</table>";
}

}  // namespace

std::string html_report(const Study& study) {
    std::string out = page_begin;
    out += rule_table(study, Dimensions::one, "One dimension");
    out += rule_table(study, Dimensions::two, "Two dimensions");
    out += "<h2>Cases</h2>";
    std::vector<const StudiedCase*> order;
    for (const StudiedCase& one : study.cases) order.push_back(&one);
    std::ranges::sort(order, {}, [](const StudiedCase* one) {
        return std::tuple(one->measured.gpu, one->measured.app, one->measured.kernel, one->measured.n);
    });
    for (const StudiedCase* one : order) {
        std::map<Block, double> measured, predicted;
        for (const MeasuredBlock& block : one->legal) measured[block.block] = block.ms;
        for (const PredictedBlock& block : one->predicted) predicted[block.block] = block.ns / 1e6;
        const double efficiency = one->efficiency("trimtab").value_or(0);
        out += fmt::format(
            "<div class=case><h3>{} {} {} N = {}: <span class={}>{:.3f}</span>, best {:.4g} ms, rank "
            "correlation "
            "{:.2f}</h3><div class=maps>",
            escaped(one->measured.gpu), escaped(one->measured.app), escaped(one->measured.kernel),
            one->measured.n, efficiency < 0.95 ? "low" : "good", efficiency, one->best.ms,
            one->rank_correlation());
        out +=
            heat_map(*one, measured, "measured") + heat_map(*one, predicted, "predicted") + "</div></div>\n";
    }
    return out + "</html>\n";
}

}  // namespace trimtab::bench
