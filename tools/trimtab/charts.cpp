#include "tools/trimtab/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/trimtab/html_text.h"

namespace trimtab::tools {
namespace {

constexpr double width = 640, height = 300, left = 64, right = 16, top = 16, bottom = 40;

// Values to places, logarithmic.
class Scale {
  public:
    Scale(double least, double most, double from, double to)
        : least_(std::log10(least)), most_(std::log10(most)), from_(from), to_(to) {}
    [[nodiscard]] double operator()(double value) const {
        const double at = (std::log10(value) - least_) / (most_ - least_);
        return from_ + std::clamp(at, 0.0, 1.0) * (to_ - from_);
    }

  private:
    double least_, most_, from_, to_;
};

std::string opening(const std::string& title) {
    return fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">",
                       width, height, escaped_html(title));
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>", x1, y1,
                       x2, y2, style);
}

std::string text(double x, double y, const std::string& what, const char* anchor = "start") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                       escaped_html(what));
}

std::string axes(const std::string& x_title, const std::string& y_title) {
    return line(left, height - bottom, width - right, height - bottom, "axis") +
           line(left, top, left, height - bottom, "axis") +
           text((left + width - right) / 2, height - 6, x_title, "middle") +
           fmt::format(
               "<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
               (top + height - bottom) / 2, escaped_html(y_title));
}

// "1.2 G" of 1.2e9.
std::string short_number(double value) {
    for (const auto& [unit, size] :
         {std::pair("T", 1e12), std::pair("G", 1e9), std::pair("M", 1e6), std::pair("k", 1e3)})
        if (value >= size) return fmt::format("{:.3g} {}", value / size, unit);
    return fmt::format("{:.3g}", value);
}

std::string decades(const Scale& x, double least, double most, bool vertical) {
    std::string out;
    for (double at = std::pow(10, std::ceil(std::log10(least))); at <= most; at *= 10) {
        if (vertical)
            out += line(left, x(at), width - right, x(at), "grid") +
                   text(left - 4, x(at) + 4, short_number(at), "end");
        else
            out += line(x(at), top, x(at), height - bottom, "grid") +
                   text(x(at), height - bottom + 15, short_number(at), "middle");
    }
    return out;
}

double term(const advice::KernelAdvice& kernel, const char* name) {
    const auto found = kernel.benefits.find(name);
    return found == kernel.benefits.end() ? 0 : std::max(0.0, found->second);
}

}  // namespace

std::string chart_style() {
    return ".chart{width:100%;max-width:640px;height:auto;display:block}"
           ".chart text{font-size:11px;fill:var(--text)}"
           ".chart .axis{stroke:var(--text)}.chart .grid{stroke:var(--line)}"
           ".chart .roof{stroke:var(--accent);stroke-width:2;fill:none}"
           ".chart .pipe{stroke:var(--accent);stroke-dasharray:4 3}"
           ".chart .point{fill:var(--mark);fill-opacity:.75;stroke:var(--text)}"
           ".chart .bar0{fill:#4c78a8}.chart .bar1{fill:#f58518}.chart .bar2{fill:#54a24b}.chart "
           ".bar3{fill:#b279a2}"
           ".chart .rest{fill:var(--line)}";
}

std::string roofline_chart(const advice::Advice& advice, const model::Device& device) {
    const trimtab_device& h = device.values;
    const double issue = 32 * h.schedulers_per_sm * h.sm_count * h.sm_clock_hz;
    double least_x = issue / h.dram_bytes_per_s / 30, most_x = issue / h.dram_bytes_per_s * 30,
           least_y = issue / 100;
    struct Point {
        double x, y, share;
        std::string name;
    };
    std::vector<Point> points;
    for (const advice::KernelAdvice& kernel : advice.kernels) {
        const advice::Resource& issued = kernel.rooflines.of("issue");
        const auto ratio = kernel.derived.find("instructions_per_byte_dram");
        if (!(kernel.time_ns > 0) || !(issued.work > 0)) continue;
        // Without traffic the ratio has no end: at the chart's.
        const double x = ratio != kernel.derived.end() && ratio->second > 0 ? ratio->second : most_x;
        points.push_back({x, 32 * issued.work / kernel.time_ns * 1e9, kernel.share, kernel.facts.demangled});
        least_x = std::min(least_x, x / 2);
        most_x = std::clamp(x * 2, most_x, 1e4 * issue / h.dram_bytes_per_s);
        least_y = std::min(least_y, points.back().y / 2);
    }
    const double most_y = 1.5 * issue;
    const Scale x(least_x, most_x, left, width - right), y(least_y, most_y, height - bottom, top);
    std::string out = opening("Rooflines");
    out += decades(x, least_x, most_x, false) + decades(y, least_y, most_y, true);
    const double ridge = issue / h.dram_bytes_per_s;
    out += fmt::format("<path class=\"roof\" d=\"M{:.1f} {:.1f} L{:.1f} {:.1f} L{:.1f} {:.1f}\"/>",
                       x(std::max(least_x, least_y / h.dram_bytes_per_s)),
                       y(std::max(least_x * h.dram_bytes_per_s, least_y)), x(ridge), y(issue), x(most_x),
                       y(issue));
    out += text(x(ridge) + 4, y(issue) - 4, "schedulers");
    const double doubles = h.fp64_lanes_per_sm * h.sm_count * h.sm_clock_hz;
    if (doubles > least_y && doubles < 0.9 * issue)
        out += line(left, y(doubles), width - right, y(doubles), "pipe") +
               text(width - right, y(doubles) - 3, "doubles", "end");
    for (const Point& point : points)
        out += fmt::format(
            "<circle class=\"point\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}: {:.0f} % of the "
            "time, {:.3g} instructions a byte, {}/s</title></circle>",
            x(point.x), y(point.y), 4 + 10 * std::sqrt(point.share), escaped_html(point.name),
            100 * point.share, point.x, short_number(point.y));
    return out + axes("thread instructions a byte of DRAM", "thread instructions a second") + "</svg>\n";
}

std::string benefit_chart(const advice::KernelAdvice& kernel) {
    const double comp = term(kernel, "T_comp");
    const double memory = std::max(0.0, term(kernel, "T_mem") - term(kernel, "T_overlap"));
    const double most = std::max({comp, memory, 1e-9});
    struct Part {
        const char* label;
        double ns;
        const char* style;
    };
    const auto bar = [&](double at, const std::string& title, const std::vector<Part>& parts) {
        double place = left;
        std::string out = text(left - 4, at + 20, title, "end");
        for (const Part& part : parts) {
            const double wide = std::max(0.0, part.ns) / most * (width - left - right);
            if (wide < 0.5) continue;
            out += fmt::format(
                "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"30\" class=\"{}\"><title>{}: "
                "{:.4g} us</title></rect>",
                place, at, wide, part.style, part.label, part.ns / 1e3);
            if (wide > 50) out += text(place + wide / 2, at + 20, part.label, "middle");
            place += wide;
        }
        return out;
    };
    const double itilp = term(kernel, "B_itilp"), serial = term(kernel, "B_serial"),
                 fp = term(kernel, "B_fp"), memlp = term(kernel, "B_memlp");
    std::string out = fmt::format(
        "<svg class=\"chart\" viewBox=\"0 0 {:.0f} 90\" role=\"img\" aria-label=\"Benefits\">", width);
    out += bar(6, "computing",
               {{"T_fp", comp - itilp - serial - fp, "rest"},
                {"B_itilp", itilp, "bar0"},
                {"B_serial", serial, "bar1"},
                {"B_fp", fp, "bar2"}});
    out += bar(46, "memory", {{"T_mem_min", memory - memlp, "rest"}, {"B_memlp", memlp, "bar3"}});
    return out + "</svg>\n";
}

std::string occupancy_chart(const advice::KernelAdvice& kernel) {
    if (kernel.occupancy_by_block.empty()) return "";
    const double most = kernel.occupancy_by_block.back().threads;
    const double low = 120,
                 step = (width - left - right) / static_cast<double>(kernel.occupancy_by_block.size());
    const std::uint32_t own = kernel.block.x * kernel.block.y * kernel.block.z;
    std::string out = fmt::format(
        "<svg class=\"chart\" viewBox=\"0 0 {:.0f} 150\" role=\"img\" aria-label=\"Occupancy\">", width);
    for (const double share : {0.0, 0.5, 1.0})
        out += line(left, low - 100 * share, width - right, low - 100 * share, "grid") +
               text(left - 4, low - 100 * share + 4, fmt::format("{:.0f} %", 100 * share), "end");
    for (const auto& point : kernel.occupancy_by_block) {
        const bool is_own = point.threads == (own + 31) / 32 * 32;
        const double tall = 100 * point.occupancy;
        out += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"><title>{} "
            "threads: {:.0f} %</title></rect>",
            left + step * (point.threads / 32.0 - 1), low - tall, std::max(1.0, step - 1), tall,
            is_own ? "bar1" : "bar0", point.threads, tall);
    }
    out += text(left, low + 15, "32") +
           text(width - right, low + 15, fmt::format("{:.0f} threads a block", most), "end");
    return out + "</svg>\n";
}

}  // namespace trimtab::tools
