// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/report_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/advice/rules.h"
#include "tools/trimtab/charts.h"
#include "tools/trimtab/html_text.h"
#include "tools/trimtab/source_text.h"

namespace trimtab::tools {
namespace {

constexpr std::size_t most_lines = 24;  // of source that are shown
constexpr std::size_t most_open = 8;    // kernels whose sections are unfolded

// Names of templates fill a screen: the first of it, and all of it on demand.
std::string folded(const std::string& name) {
    constexpr std::size_t most = 60;
    if (name.size() <= most) return escaped_html(name);
    return fmt::format("<details class=\"name\"><summary>{}&hellip;</summary>{}</details>",
                       escaped_html(name.substr(0, most)), escaped_html(name));
}

std::string kernel_rows(const advice::Advice& advice) {
    std::string out;
    for (std::size_t i = 0; i < advice.kernels.size(); ++i) {
        const advice::KernelAdvice& kernel = advice.kernels[i];
        const std::string first =
            kernel.findings.empty()
                ? std::string("&ndash;")
                : fmt::format("{}, {}&times;", escaped_html(kernel.findings.front().title),
                              advice::factor_text(kernel.findings.front().gain));
        out += fmt::format(
            "<tr><td>{}</td><td class=\"number\">{:.0f} %</td><td class=\"number\">{}</td><td "
            "class=\"number\">{}</td><td class=\"why\">{}</td><td><a href=\"#kernel{}\">{}</a></td></tr>\n",
            folded(kernel.facts.demangled), 100 * kernel.share, microseconds_text(kernel.total_ns),
            kernel.launches, escaped_html(kernel.bottleneck), i, first);
    }
    return out;
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string findings_list(const std::vector<advice::Finding>& findings) {
    std::string out = "<ol class=\"findings\">\n";
    for (const advice::Finding& finding : findings) {
        out += fmt::format(
            "<li><a href=\"#rule-{}\"><b>{}</b></a>{}: {}&times; as fast ({} to {}{}), {} "
            "&micro;s {}. {}.{}",
            escaped_html(finding.rule), escaped_html(finding.title),
            finding.change.empty() ? "" : " (" + escaped_html(finding.change) + ")",
            advice::factor_text(finding.gain), advice::factor_text(finding.least),
            advice::factor_text(finding.most), advice::by_the_model(finding, "; ", "&times;"),
            microseconds_text(std::abs(finding.saves_ns)), finding.saves_ns < 0 ? "more" : "less",
            escaped_html(capital(finding.remedy)),
            finding.by == "trimtab" ? " A program built by trimtab++ launches such blocks by itself." : "");
        for (const advice::Evidence& evidence : finding.evidence)
            out += fmt::format("<br><code>{}</code> {}", escaped_html(evidence.place()),
                               escaped_html(evidence.text));
        out += "</li>\n";
    }
    return out + "</ol>\n";
}

// What the manual says of the rules that found something; the page needs no manual beside it.
std::string rule_pages(const advice::Advice& advice) {
    std::set<std::string> found;
    for (const advice::Finding& finding : advice.program_findings) found.insert(finding.rule);
    for (const advice::KernelAdvice& kernel : advice.kernels)
        for (const advice::Finding& finding : kernel.findings) found.insert(finding.rule);
    if (found.empty()) return "";
    std::string out = "<h2>The rules behind the findings</h2>\n<dl>\n";
    const auto add = [&](const auto& rule) {
        if (!found.contains(rule.id)) return;
        out += fmt::format(
            "<dt id=\"rule-{0}\"><b>{1}</b> (<code>{0}</code>)</dt><dd>{2}. Reported if it gains {3:.0f} % "
            "or "
            "more. From: {4}. Manual: <code>docs/advice.md#the-rules</code>, {0}.</dd>\n",
            escaped_html(rule.id), escaped_html(capital(rule.title)), escaped_html(capital(rule.remedy)),
            100 * (rule.least_gain - 1), escaped_html(rule.from));
    };
    for (const advice::Rule& rule : advice::rules()) add(rule);
    for (const advice::ProgramRule& rule : advice::program_rules()) add(rule);
    return out + "</dl>\n";
}

std::vector<advice::SourceLine> lines_to_show(const advice::KernelAdvice& kernel) {
    std::vector<advice::SourceLine> lines = kernel.lines;
    // The compiler's own headers are no one's to mend.
    std::erase_if(lines, [](const auto& line) { return line.source.contains("__clang_cuda"); });
    if (lines.size() > most_lines) lines.resize(most_lines);  // the largest shares come first
    const auto key = [](const advice::SourceLine& line) {
        const std::size_t colon = line.source.rfind(':');
        return std::pair(
            line.source.substr(0, colon),
            colon == std::string::npos ? 0L : std::strtol(line.source.c_str() + colon + 1, nullptr, 10));
    };
    std::ranges::sort(lines, [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return lines;
}

// The lines in the order of the source, each as warm as its share.
std::string line_table(const std::vector<advice::SourceLine>& lines, SourceText& sources) {
    const double most = std::ranges::max(lines, {}, &advice::SourceLine::share).share;
    std::string out =
        "<div class=\"wide\"><table class=\"strip\"><tr>" + column("line", "File and line of the source") +
        column("share", "Its share of the kernel's issue slots and memory sectors") +
        column("source", "The line's text") +
        column("instructions per warp", "Instructions that each warp executes for this line") +
        column("requests", "Memory requests of each warp") +
        column("sectors per request", "32-byte sectors that a request moves; 4 are enough for 32 floats") +
        column("passes per request",
               "Times that a request goes over shared memory: more than 1 are conflicts") +
        "</tr>\n";
    for (const advice::SourceLine& line : lines) {
        const auto ratio = [&](double value) {
            return line.requests > 0 && value > 0 ? fmt::format("{:.3g}", value / line.requests)
                                                  : std::string();
        };
        out += fmt::format(
            "<tr><td>{}</td><td style=\"--heat:{:.0f}%\" class=\"number heat\">{:.1f} %</td>"
            "<td class=\"code\"><code>{}</code></td><td class=\"number\">{:.4g}</td><td "
            "class=\"number\">{}</td>"
            "<td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
            escaped_html(line.source.substr(line.source.rfind('/') + 1)),
            most > 0 ? 100 * line.share / most : 0, 100 * line.share, escaped_html(sources.at(line.source)),
            line.instructions, line.requests > 0 ? fmt::format("{:.4g}", line.requests) : "",
            ratio(line.sectors), ratio(line.passes));
    }
    return out + "</table></div>\n";
}

std::string section(const advice::KernelAdvice& kernel, SourceText& sources) {
    std::string out =
        fmt::format("<p class=\"note\"><code>{}</code></p>\n", escaped_html(kernel.facts.demangled));
    out += fmt::format(
        "<p>{}{}. Launched as {} &times; {} &times; {} blocks of {} &times; {} &times; {}.</p>\n",
        kernel.facts.source.empty() ? "" : "<code>" + escaped_html(kernel.facts.source) + "</code>: ",
        escaped_html(kernel.bottleneck), kernel.grid.x, kernel.grid.y, kernel.grid.z, kernel.block.x,
        kernel.block.y, kernel.block.z);
    if (kernel.emulated_ns)
        out += fmt::format("<p>{} &micro;s by the model, {} &micro;s by abstract emulation.</p>\n",
                           microseconds_text(kernel.time_ns),
                           model::number_text(*kernel.emulated_ns / 1e3, model::emulation_error.time));
    else if (!kernel.not_emulated.empty())
        out += fmt::format("<p class=\"note\">Not emulated: {}.</p>\n", escaped_html(kernel.not_emulated));
    if (!kernel.findings.empty())
        out += findings_list(kernel.findings);
    else
        out += kernel.is_close ? "<p>No advice: within 20 % of its roofline.</p>\n"
                               : "<p>No advice: no change that the model knows gains 5 % or more.</p>\n";
    const std::vector<advice::SourceLine> lines = lines_to_show(kernel);
    if (!lines.empty())
        out += "<h4>Lines of the source</h4>\n" + line_strip(lines) + line_table(lines, sources);
    out += "<div class=\"pair\"><div><h4>Share of each resource's peak</h4>\n" + resources_chart(kernel) +
           "</div>\n<div><h4>Computing and memory: what is needed, and GPUPerf's benefits</h4>\n" +
           (kernel.no_benefits.empty()
                ? benefit_chart(kernel)
                : fmt::format("<p class=\"note\">Not shown: {}.</p>\n", escaped_html(kernel.no_benefits))) +
           "</div></div>\n";
    out += fmt::format(
        "<h4>Occupancy by threads of a block</h4>\n<p>This launch: {:.0f} %, {} block{} on an SM, "
        "limited by {}.</p>\n",
        100 * kernel.occupancy.fraction, kernel.occupancy.blocks_per_sm,
        kernel.occupancy.blocks_per_sm == 1 ? "" : "s", model::name(kernel.occupancy.limiter));
    return out + occupancy_chart(kernel);
}

}  // namespace

std::string advice_style() {
    return ".strip td{white-space:nowrap}.strip .code{max-width:30em;overflow:hidden;text-overflow:ellipsis}"
           "td.why{min-width:16em}.findings li{margin:.5em "
           "0;overflow-wrap:anywhere}details.name{display:inline}"
           ".heat{background:linear-gradient(90deg,var(--warm) var(--heat),transparent var(--heat))}"
           ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26em),1fr));gap:0 2em}"
           "details.kernel{margin-top:1.5em;border-top:1px solid var(--line);padding-top:.5em}"
           "details.kernel>summary{font-size:1.15em;font-weight:bold;cursor:pointer;overflow-wrap:anywhere}"
           ".pair>div{min-width:0}h4{margin:1.2em 0 .2em}";
}

std::string advice_sections(const advice::Advice& advice, const model::Device& device) {
    std::string out = fmt::format(
        "<h2>What limits the kernels</h2>\n<p>On {}, as modelled; {} &micro;s in kernels in "
        "all.</p>\n",
        escaped_html(device.name), microseconds_text(advice.total_ns));
    if (const double copies_ns = advice.run.to_device.ns + advice.run.to_host.ns; copies_ns > 0)
        out +=
            fmt::format("<p>{} copies to the device and {} to the host take {} &micro;s.</p>\n",
                        advice.run.to_device.count, advice.run.to_host.count, microseconds_text(copies_ns));
    for (const std::string& note : advice.notes)
        out += fmt::format("<p class=\"note\">{}</p>\n", escaped_html(capital(note)));
    if (!advice.program_findings.empty()) out += findings_list(advice.program_findings);
    out += kernels_chart(advice);
    out += "<div class=\"wide\"><table><tr>" + column("kernel", "The kernel's name in the source") +
           column("share", "Of the modelled time of all kernels") +
           column("&micro;s", "Modelled time of all its launches, in microseconds") +
           column("launches", "How often it was launched") +
           column("bottleneck", "What limits its time most") +
           column("first advice", "The fix that gains most, and how many times as fast it makes the kernel") +
           "</tr>\n" + kernel_rows(advice) + "</table></div>\n";
    if (const std::string gains = gains_chart(advice); !gains.empty())
        out +=
            "<h3>What a fix would gain</h3>\n<p>The finding that saves most time first. A dot is what the "
            "model "
            "says, a diamond what emulation says; the bars are the bounds.</p>\n" +
            gains;
    out += "<div class=\"pair\"><div><h3>Under the device's roofs</h3>\n" + roofline_chart(advice, device) +
           "</div>\n";
    if (const std::string costs = costs_chart(advice); !costs.empty())
        out += "<div><h3>What computing and memory cost</h3>\n" + costs +
               "<p class=\"note\">Above the diagonal computing costs more, below it memory (GPUPerf). A line "
               "leads to "
               "the ring where the kernel would be without what could be taken off.</p></div>";
    out += "</div>\n";
    SourceText sources;
    std::vector<std::string> names;
    for (const advice::KernelAdvice& kernel : advice.kernels) names.push_back(kernel.facts.demangled);
    names = short_names(names);
    for (std::size_t i = 0; i < advice.kernels.size(); ++i)
        out += fmt::format(
            "<details class=\"kernel\" id=\"kernel{}\"{}><summary>{}</summary>\n{}</details>\n", i,
            i < most_open ? " open" : "", escaped_html(names[i]), section(advice.kernels[i], sources));
    return out + rule_pages(advice);
}

}  // namespace trimtab::tools
