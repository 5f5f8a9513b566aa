// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tools/trimtab/figure.h"
#include "tools/trimtab/page_scripts.h"

namespace trimtab::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_bars = 24;  // that one looks at
constexpr std::size_t most_names = 6;  // beside points

// The first `most` bytes of a text at most, and the end of it, with "..." between them; never half a character.
std::string shortened(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    const auto is_middle = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
    };
    std::size_t head = most * 2 / 3, tail = text.size() - (most - head - 1);
    while (head > 0 && is_middle(head)) --head;
    while (tail < text.size() && is_middle(tail)) ++tail;
    return text.substr(0, head) + "…" + text.substr(tail);
}

// Without its parameters: what is before the "(" that is in no template's list.
std::string without_parameters(const std::string& name) {
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (name[i] == '(' && depth == 0 && i > 0 && !name.substr(i).starts_with("(anonymous"))
            return name.substr(0, i);
    }
    return name;
}

std::vector<std::string> names_of(const advice::Advice& advice) {
    std::vector<std::string> names;
    for (const advice::KernelAdvice& kernel : advice.kernels) names.push_back(kernel.facts.demangled);
    return short_names(names);
}

double term(const advice::KernelAdvice& kernel, const char* name) {
    const auto found = kernel.benefits.find(name);
    return found == kernel.benefits.end() || !std::isfinite(found->second) ? 0 : std::max(0.0, found->second);
}

// Names for the largest points, left of those that are far right, and none on top of another.
class Names {
  public:
    // `across` and `up` are the point's place in the chart, 0 to 1; x and y on the chart's own scales.
    void add(const std::string& name, double across, double up, double x, double y) {
        if (names_.size() >= most_names) return;
        const auto is_near = [&](const auto& place) {
            return std::abs(place.first - across) < 0.3 && std::abs(place.second - up) < 0.06;
        };
        const auto near = std::ranges::count_if(places_, is_near);
        places_.emplace_back(across, up);
        names_.push_back({{"short", name},
                          {"align", across > 0.5 ? "right" : "left"},
                          {"dy", 4 + 13 * static_cast<double>(near)},
                          {"x", x},
                          {"y", y}});
    }
    [[nodiscard]] Json take() { return std::move(names_); }

  private:
    Json names_ = Json::array();
    std::vector<std::pair<double, double>> places_;
};

}  // namespace

std::string chart_style() {
    return "figure{margin:.5em 0 1.2em;max-width:760px;min-height:60px}figure .drawing{width:100%}"
           "figure select{font:inherit}";
}

std::string chart_scripts() {
    std::string out = "<script type=\"application/json\" id=\"chart-specs\">";
    out += page::chart_specs;
    for (const std::string_view script : {page::vega, page::vega_lite, page::draw}) {
        out += "</script>\n<script>\n";
        out += script;
    }
    return out + "</script>\n";
}

std::vector<std::string> short_names(const std::vector<std::string>& demangled) {
    constexpr std::size_t most = 34;
    std::vector<std::string> names;
    std::map<std::string, int> known;
    for (const std::string& name : demangled) {
        std::string text = without_parameters(name);
        if (text.starts_with("void ")) text = text.substr(5);
        text = shortened(text, most);
        if (const int before = known[text]++; before > 0) text += fmt::format(" #{}", before + 1);
        names.push_back(std::move(text));
    }
    return names;
}

std::string kernels_chart(const advice::Advice& advice) {
    const std::vector<std::string> names = names_of(advice);
    Json rows = Json::array();
    for (std::size_t i = 0; i < advice.kernels.size() && i < most_bars; ++i) {
        const advice::KernelAdvice& kernel = advice.kernels[i];
        rows.push_back({{"label", fmt::format("{}\n{:.0f} %", names[i], 100 * kernel.share)},
                        {"kernel", kernel.facts.demangled},
                        {"us", kernel.total_ns / 1e3},
                        {"share", kernel.share},
                        {"launches", kernel.launches},
                        {"bound", advice::name(kernel.label.bound)},
                        {"why", kernel.bottleneck}});
    }
    return figure("kernels", "Kernels by modelled time", {{"kernels", std::move(rows)}});
}

std::string gains_chart(const advice::Advice& advice) {
    const std::vector<std::string> names = names_of(advice);
    struct Gain {
        const advice::Finding* finding;
        const advice::KernelAdvice* kernel;
        const std::string* name;
    };
    std::vector<Gain> gains;
    for (std::size_t i = 0; i < advice.kernels.size(); ++i)
        for (const advice::Finding& finding : advice.kernels[i].findings)
            gains.push_back({&finding, &advice.kernels[i], &names[i]});
    if (gains.empty()) return "";
    std::ranges::sort(gains, [](const Gain& a, const Gain& b) {
        return a.finding->saves_ns != b.finding->saves_ns ? a.finding->saves_ns > b.finding->saves_ns
                                                          : *a.name < *b.name;
    });
    if (gains.size() > most_bars) gains.resize(most_bars);
    Json rows = Json::array();
    for (const auto& [finding, kernel, name] : gains)
        rows.push_back({{"label", fmt::format("{}\n{}", *name, finding->title)},
                        {"kernel", kernel->facts.demangled},
                        {"title", finding->title},
                        {"gain", finding->gain},
                        // Less than nothing is not on the chart's scale.
                        {"least", std::max(1.0, finding->least)},
                        {"most", finding->most},
                        {"emulated", finding->emulated_gain ? Json(*finding->emulated_gain) : Json()},
                        {"emulated_at", std::max(1.0, finding->emulated_gain.value_or(1))},
                        {"saves_us", finding->saves_ns / 1e3},
                        {"by", finding->by}});
    return figure("gains", "What a fix would gain", {{"gains", std::move(rows)}});
}

std::string roofline_chart(const advice::Advice& advice, const model::Device& device) {
    const trimtab_device& h = device.values;
    const double issue = 32 * h.schedulers_per_sm * h.sm_count * h.sm_clock_hz,
                 ridge = issue / h.dram_bytes_per_s;
    const std::vector<std::string> names = names_of(advice);
    double least_x = ridge / 30, most_x = ridge * 30, least_y = issue / 100, l2_rate = 0;
    struct Point {
        double x, y, share;
        std::size_t kernel;
        const char* level;
    };
    std::vector<Point> points;
    for (std::size_t i = 0; i < advice.kernels.size(); ++i) {
        const advice::KernelAdvice& kernel = advice.kernels[i];
        const double issued = 32 * kernel.rooflines.of("issue").work;
        if (!(kernel.time_ns > 0) || !(issued > 0)) continue;
        const double y = issued / kernel.time_ns * 1e9;
        l2_rate = kernel.rooflines.of("l2").rate;
        least_y = std::min(least_y, y / 2);
        for (const auto& [level, name] : {std::pair("DRAM", "dram"), std::pair("L2", "l2")}) {
            const double bytes = kernel.rooflines.of(name).work;
            // Without traffic the ratio has no end: at the chart's.
            const double x = bytes > 0 ? issued / bytes : INFINITY;
            if (std::isfinite(x)) {
                least_x = std::min(least_x, x / 2);
                most_x = std::clamp(x * 2, most_x, 1e4 * ridge);
            }
            points.push_back({x, y, kernel.share, i, level});
        }
    }
    Json roofs = Json::array(), roof_names = Json::array(), rows = Json::array();
    const auto memory = [&](const std::string& title, double rate) {
        if (!(rate > 0)) return;
        const double from = std::max(least_x, least_y / rate), end = issue / rate;
        if (!(from < end)) return;
        for (const double x : {from, end})
            roofs.push_back({{"roof", title}, {"kind", "memory"}, {"x", x}, {"y", x * rate}});
        roof_names.push_back({{"roof", title}, {"x", from}, {"y", from * rate}, {"align", "left"}});
    };
    const auto pipe = [&](const std::string& title, double lanes, double from) {
        const double rate = lanes * h.sm_count * h.sm_clock_hz;
        if (!(rate > least_y)) return;
        for (const double x : {from, most_x})
            roofs.push_back({{"roof", title}, {"kind", "pipe"}, {"x", x}, {"y", rate}});
        roof_names.push_back({{"roof", title}, {"x", most_x}, {"y", rate}, {"align", "right"}});
    };
    memory("DRAM", h.dram_bytes_per_s);
    memory("L2", l2_rate);
    const double lanes = 32 * h.schedulers_per_sm;
    pipe("schedulers", lanes, issue / std::max(h.dram_bytes_per_s, l2_rate));
    for (const auto& [title, own] :
         {std::pair("floats", h.fp32_lanes_per_sm), std::pair("doubles", h.fp64_lanes_per_sm)})
        if (own > 0 && own < 0.9 * lanes)
            pipe(title, own, own / lanes * issue / std::max(h.dram_bytes_per_s, l2_rate));
    Names shown;
    const auto at = [](double value, double least, double most) {
        return std::log(value / least) / std::log(most / least);
    };
    for (const Point& point : points) {
        const double x = std::min(point.x, most_x);
        rows.push_back({{"kernel", advice.kernels[point.kernel].facts.demangled},
                        {"x", x},
                        {"y", point.y},
                        {"share", point.share},
                        {"level", point.level}});
        if (point.level != std::string_view("DRAM")) continue;
        const double across = at(x, least_x, most_x);
        shown.add(names[point.kernel], across, at(point.y, least_y, issue), x, point.y);
    }
    return figure("roofline", "Kernels under the device's roofs",
                  {{"roofs", std::move(roofs)},
                   {"roof_names", std::move(roof_names)},
                   {"points", std::move(rows)},
                   {"names", shown.take()}});
}

std::string costs_chart(const advice::Advice& advice) {
    const std::vector<std::string> names = names_of(advice);
    Json rows = Json::array();
    Names shown;
    for (std::size_t i = 0; i < advice.kernels.size(); ++i) {
        const advice::KernelAdvice& kernel = advice.kernels[i];
        const double computing = term(kernel, "T_comp");
        const double memory = std::max(0.0, term(kernel, "T_mem") - term(kernel, "T_overlap"));
        const double all = computing + memory;
        if (!(all > 0)) continue;
        const double left = memory - term(kernel, "B_memlp");
        const double needed =
            computing - term(kernel, "B_itilp") - term(kernel, "B_serial") - term(kernel, "B_fp");
        Json row = {{"kernel", kernel.facts.demangled},
                    {"share", kernel.share},
                    {"memory", memory / all},
                    {"computing", computing / all},
                    {"memory_ideal", std::max(0.0, left / all)},
                    {"computing_ideal", std::max(0.0, needed / all)}};
        for (const char* name : {"T_comp", "T_mem", "T_overlap", "B_itilp", "B_serial", "B_fp", "B_memlp"})
            row[name] = term(kernel, name) / 1e3;
        rows.push_back(std::move(row));
        shown.add(names[i], memory / all, computing / all, memory / all, computing / all);
    }
    if (rows.empty()) return "";
    return figure("costs", "What computing and memory cost",
                  {{"diagonal", {{{"x", 0}, {"y", 0}}, {{"x", 1}, {"y", 1}}}},
                   {"costs", std::move(rows)},
                   {"names", shown.take()}});
}

std::string resources_chart(const advice::KernelAdvice& kernel) {
    Json rows = Json::array();
    for (const advice::Resource& resource : kernel.rooflines.resources)
        if (resource.work > 0)
            rows.push_back({{"title", resource.title},
                            {"used", std::min(1.0, resource.used)},
                            {"us", resource.ns / 1e3},
                            {"kind", resource.is_memory ? "memory" : "computing"}});
    return rows.empty()
               ? ""
               : figure("resources", "Share of each resource's peak", {{"resources", std::move(rows)}});
}

std::string benefit_chart(const advice::KernelAdvice& kernel) {
    const double comp = term(kernel, "T_comp"), memlp = term(kernel, "B_memlp");
    const double memory = std::max(0.0, term(kernel, "T_mem") - term(kernel, "T_overlap"));
    const double itilp = term(kernel, "B_itilp"), serial = term(kernel, "B_serial"),
                 fp = term(kernel, "B_fp");
    Json rows = Json::array();
    const auto add = [&](const char* row, const char* part, double ns) {
        if (ns > 0 || part == std::string_view("needed"))
            rows.push_back(
                {{"row", row}, {"part", part}, {"us", std::max(0.0, ns) / 1e3}, {"order", rows.size()}});
    };
    add("computing", "needed", comp - itilp - serial - fp);
    add("computing", "B_itilp", itilp);
    add("computing", "B_serial", serial);
    add("computing", "B_fp", fp);
    add("memory", "needed", memory - memlp);
    add("memory", "B_memlp", memlp);
    return figure("benefits", "GPUPerf's potential benefits", {{"parts", std::move(rows)}});
}

std::string occupancy_chart(const advice::KernelAdvice& kernel) {
    if (kernel.occupancy_by_block.empty()) return "";
    const std::uint32_t own = kernel.block.x * kernel.block.y * kernel.block.z;
    Json rows = Json::array();
    for (const auto& point : kernel.occupancy_by_block)
        rows.push_back({{"threads", point.threads},
                        {"from", point.threads - 28},
                        {"to", point.threads},
                        {"occupancy", point.occupancy},
                        {"is", point.threads == (own + 31) / 32 * 32 ? "this launch" : "another block"}});
    return figure("occupancy", "Occupancy by threads of a block", {{"occupancy", std::move(rows)}});
}

std::string line_strip(const std::vector<advice::SourceLine>& lines) {
    Json rows = Json::array();
    std::set<std::string> files;
    for (const advice::SourceLine& line : lines) {
        const std::size_t colon = line.source.rfind(':');
        if (colon == std::string::npos) continue;
        const double number = std::strtod(line.source.c_str() + colon + 1, nullptr);
        std::string file = line.source.substr(0, colon);
        file = shortened(file.substr(file.rfind('/') + 1), 24);
        files.insert(file);
        const double requests = line.requests > 0 ? line.requests : 1;
        rows.push_back({{"source", line.source},
                        {"file", std::move(file)},
                        {"from", number - 0.5},
                        {"to", number + 0.5},
                        {"share", line.share},
                        {"instructions", line.instructions},
                        {"sectors", line.sectors / requests},
                        {"passes", line.passes / requests}});
    }
    return rows.empty() ? ""
                        : figure("strip", "Lines of the source by their share", {{"lines", std::move(rows)}});
}

}  // namespace trimtab::tools
