#include "tools/trimtab/report_advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/trimtab/charts.h"
#include "tools/trimtab/html_text.h"

namespace trimtab::tools {
namespace {

constexpr std::size_t most_lines = 24;  // of source that are shown

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
                : fmt::format("{}, {:.2f}&times;", escaped_html(kernel.findings.front().title),
                              kernel.findings.front().gain);
        out += fmt::format(
            "<tr><td>{}</td><td class=\"number\">{:.0f} %</td><td class=\"number\">{:.4g}</td><td "
            "class=\"number\">{}</td><td class=\"why\">{}</td><td><a href=\"#kernel{}\">{}</a></td></tr>\n",
            folded(kernel.facts.demangled), 100 * kernel.share, kernel.total_ns / 1e3, kernel.launches,
            escaped_html(kernel.bottleneck), i, first);
    }
    return out;
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string findings_list(const advice::KernelAdvice& kernel) {
    if (kernel.findings.empty())
        return kernel.is_close ? "<p>No advice: within 20 % of its roofline.</p>\n"
                               : "<p>No advice that the model sees a gain in.</p>\n";
    std::string out = "<ol class=\"findings\">\n";
    for (const advice::Finding& finding : kernel.findings) {
        out += fmt::format(
            "<li><b>{}</b>{}: {:.2f}&times; as fast ({:.2f} to {:.2f}), {:.4g} &micro;s less. {}.{}",
            escaped_html(finding.title),
            finding.change.empty() ? "" : " (" + escaped_html(finding.change) + ")", finding.gain,
            finding.least, finding.most, finding.saves_ns / 1e3, escaped_html(capital(finding.remedy)),
            finding.by == "trimtab" ? " A program built by trimtab++ launches such blocks by itself." : "");
        for (const advice::Evidence& evidence : finding.evidence)
            out += fmt::format("<br><code>{}</code> {}", escaped_html(evidence.source),
                               escaped_html(evidence.text));
        out += "</li>\n";
    }
    return out + "</ol>\n";
}

// The lines in the order of the source, each as warm as its share.
std::string heat_strip(const advice::KernelAdvice& kernel) {
    std::vector<advice::SourceLine> lines = kernel.lines;
    // The compiler's own headers are no one's to mend.
    std::erase_if(lines, [](const auto& line) { return line.source.contains("__clang_cuda"); });
    if (lines.size() > most_lines) lines.resize(most_lines);  // the largest shares come first
    if (lines.empty()) return "";
    const double most = lines.front().share;
    const auto key = [](const advice::SourceLine& line) {
        const std::size_t colon = line.source.rfind(':');
        return std::pair(
            line.source.substr(0, colon),
            colon == std::string::npos ? 0L : std::strtol(line.source.c_str() + colon + 1, nullptr, 10));
    };
    std::ranges::sort(lines, [&](const auto& a, const auto& b) { return key(a) < key(b); });
    std::string out =
        "<div class=\"wide\"><table class=\"strip\"><tr><th>line</th><th>share</th><th>instructions a "
        "warp</th>"
        "<th>requests</th><th>sectors a request</th><th>passes a request</th></tr>\n";
    for (const advice::SourceLine& line : lines) {
        const auto ratio = [&](double value) {
            return line.requests > 0 && value > 0 ? fmt::format("{:.3g}", value / line.requests)
                                                  : std::string();
        };
        out += fmt::format(
            "<tr><td style=\"--heat:{:.0f}%\" class=\"heat\"><code>{}</code></td><td class=\"number\">{:.1f} "
            "%</td>"
            "<td class=\"number\">{:.4g}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
            "class=\"number\">{}</td></tr>\n",
            most > 0 ? 100 * line.share / most : 0, escaped_html(line.source), 100 * line.share,
            line.instructions, line.requests > 0 ? fmt::format("{:.4g}", line.requests) : "",
            ratio(line.sectors), ratio(line.passes));
    }
    return out + "</table></div>\n";
}

std::string resources(const advice::KernelAdvice& kernel) {
    std::string out = "<div class=\"wide\"><table><tr>";
    for (const advice::Resource& resource : kernel.rooflines.resources)
        out += fmt::format("<th>{}</th>", escaped_html(resource.name));
    out += "</tr><tr>";
    for (const advice::Resource& resource : kernel.rooflines.resources)
        out += fmt::format("<td class=\"number\">{:.0f} %</td>", 100 * std::min(1.0, resource.used));
    return out + "</tr></table></div>\n";
}

}  // namespace

std::string advice_style() {
    return chart_style() +
           ".strip code{white-space:nowrap}td.why{min-width:16em}.findings li{margin:.5em "
           "0}details.name{display:inline}"
           ".heat{background:linear-gradient(90deg,var(--warm) var(--heat),transparent var(--heat))}"
           "section{margin-top:2em;border-top:1px solid var(--line)}";
}

std::string advice_sections(const advice::Advice& advice, const model::Device& device) {
    std::string out = fmt::format(
        "<h2>What holds the kernels back</h2>\n<p>On {}, as modelled; {:.4g} &micro;s in kernels in "
        "all.</p>\n",
        escaped_html(device.name), advice.total_ns / 1e3);
    out +=
        "<div class=\"wide\"><table><tr><th>kernel</th><th>share</th><th>&micro;s</th><th>launches</th>"
        "<th>bottleneck</th><th>first advice</th></tr>\n" +
        kernel_rows(advice) + "</table></div>\n";
    out += "<h3>Under the device's roofs</h3>\n" + roofline_chart(advice, device);
    for (std::size_t i = 0; i < advice.kernels.size(); ++i) {
        const advice::KernelAdvice& kernel = advice.kernels[i];
        out += fmt::format(
            "<section id=\"kernel{}\"><h3>{}</h3>\n<p>{}{}. Launched as {} &times; {} &times; {} blocks of "
            "{} &times; {} &times; {}.</p>\n",
            i, folded(kernel.facts.demangled),
            kernel.facts.source.empty() ? "" : "<code>" + escaped_html(kernel.facts.source) + "</code>: ",
            escaped_html(kernel.bottleneck), kernel.grid.x, kernel.grid.y, kernel.grid.z, kernel.block.x,
            kernel.block.y, kernel.block.z);
        out += findings_list(kernel);
        out += "<h4>Share of each resource's peak</h4>\n" + resources(kernel);
        out +=
            "<h4>GPUPerf: computing and memory, and what could be taken off</h4>\n" + benefit_chart(kernel);
        out += "<h4>Occupancy by threads of a block; the launch's is marked</h4>\n" + occupancy_chart(kernel);
        if (!kernel.lines.empty()) out += "<h4>Lines of the source</h4>\n" + heat_strip(kernel);
        out += "</section>\n";
    }
    return out;
}

}  // namespace trimtab::tools
