// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/trimtab/charts.h"
#include "tools/trimtab/html_text.h"
#include "tools/trimtab/page_frame.h"
#include "tools/trimtab/tuner_files.h"

namespace trimtab::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const BlockSize& size) {
    return fmt::format("{} x {} x {}", size[0], size[1], size[2]);
}

std::string data_text(const BenchedLaunch& launch) {
    std::string out;
    for (const auto& [name, value] : launch.data)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
    return out;
}

std::string title(const BenchedLaunch& launch) {
    const std::string data = data_text(launch);
    return fmt::format("{} on {}{}{}", launch.demangled, launch.device, data.empty() ? "" : ": ", data);
}

double share_of_best(const BenchedLaunch& launch, const TimedShape* shape) {
    return shape == nullptr ? 0 : launch.best()->median_ns() / shape->median_ns();
}

std::string clocks(const BenchedLaunch& launch) {
    unsigned least = 0, most = 0;
    std::set<std::string> slowed_by;
    for (const TimedShape& shape : launch.shapes) {
        if (shape.most_sm_mhz == 0) continue;
        least = least == 0 ? shape.least_sm_mhz : std::min(least, shape.least_sm_mhz);
        most = std::max(most, shape.most_sm_mhz);
        slowed_by.insert(shape.slowed_by.begin(), shape.slowed_by.end());
    }
    if (most == 0) return {};
    return fmt::format("SMs at {} to {} MHz{}", least, most,
                       slowed_by.empty() ? "" : fmt::format(", held down by {}", fmt::join(slowed_by, "; ")));
}

std::string counts(const BenchedLaunch& launch) {
    std::string out = fmt::format("{} of {} shapes timed", launch.timed_count(), launch.shape_count);
    const auto failed =
        std::ranges::count_if(launch.shapes, [](const TimedShape& shape) { return !shape.failed.empty(); });
    if (failed > 0) out += fmt::format(", {} failed to launch", failed);
    if (!launch.ended.empty()) out += "; then " + launch.ended;
    return out;
}

// Geometric means over the launches in which the shape was timed.
struct Mean {
    std::string name;
    double log_sum = 0, least = 1;
    std::size_t launches = 0;
};
std::vector<Mean> means(const Bench& bench) {
    std::vector<Mean> out{{"as written"}, {"chosen"}, {"occupancy API"}};
    for (const BenchedLaunch& launch : bench.launches) {
        for (const ComparedShape& compared : compared_shapes(launch)) {
            const auto mean = std::ranges::find(out, compared.name, &Mean::name);
            if (mean == out.end() || compared.shape == nullptr) continue;
            const double share = share_of_best(launch, compared.shape);
            mean->log_sum += std::log(share);
            mean->least = std::min(mean->least, share);
            ++mean->launches;
        }
    }
    std::erase_if(out, [](const Mean& mean) { return mean.launches == 0; });
    return out;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::vector<MappedBlock> mapped(const BenchedLaunch& launch) {
    std::vector<MappedBlock> blocks;
    for (const TimedShape& shape : launch.shapes)
        if (launch.find(shape.block) == &shape)
            blocks.push_back({.block = shape.block, .ns = shape.median_ns()});
    return blocks;
}

}  // namespace

std::string to_text(const Bench& bench) {
    std::string out;
    for (const BenchedLaunch& launch : bench.launches) {
        out += fmt::format("{}\n  {}\n", title(launch), counts(launch));
        if (const std::string text = clocks(launch); !text.empty()) out += fmt::format("  {}\n", text);
        if (launch.best() == nullptr) continue;
        for (const ComparedShape& compared : compared_shapes(launch)) {
            const std::string block = text_of(compared.block);
            const std::string name = compared.name == block ? "" : compared.name;
            if (compared.shape == nullptr)
                out += fmt::format("  {:<14} {:<16} {:>12}\n", name, block, "not legal");
            else
                out += fmt::format("  {:<14} {:<16} {:>9.4g} us  {:.3f} of the best's speed\n", name, block,
                                   compared.shape->median_ns() / 1e3, share_of_best(launch, compared.shape));
        }
    }
    for (const auto& [kernel, why] : bench.skipped) out += fmt::format("{} is not timed: {}\n", kernel, why);
    if (bench.unreadable_lines != 0)
        out += fmt::format("{} lines could not be read\n", bench.unreadable_lines);
    for (const Mean& mean : means(bench))
        out += fmt::format("{}: {:.3f} of the best's speed, geometric mean of {} launch{}; least {:.3f}\n",
                           mean.name, std::exp(mean.log_sum / static_cast<double>(mean.launches)),
                           mean.launches, mean.launches == 1 ? "" : "es", mean.least);
    return out;
}

Json to_json(const Bench& bench) {
    const auto shape_json = [](const TimedShape& shape) {
        Json out = {{"grid", shape.grid},
                    {"block", shape.block},
                    {"dynamic_shared_bytes", shape.dynamic_shared_bytes}};
        if (!shape.failed.empty()) out["failed"] = shape.failed;
        if (shape.ns.empty()) return out;
        out["median_ns"] = shape.median_ns();
        out["ns"] = shape.ns;
        if (shape.most_sm_mhz != 0) {
            out["sm_mhz"] = {shape.least_sm_mhz, shape.most_sm_mhz};
            out["slowed_by"] = shape.slowed_by;
        }
        return out;
    };
    Json launches = Json::array();
    for (const BenchedLaunch& launch : bench.launches) {
        Json data = Json::object(), compared = Json::object(), shapes = Json::array();
        for (const auto& [name, value] : launch.data) data[name] = value;
        for (const ComparedShape& one : compared_shapes(launch)) {
            Json entry = {{"block", one.block}};
            entry["median_ns"] = one.shape == nullptr ? Json() : Json(one.shape->median_ns());
            entry["share_of_best"] = one.shape == nullptr ? Json() : Json(share_of_best(launch, one.shape));
            compared[one.name] = std::move(entry);
        }
        for (const TimedShape& shape : launch.shapes) shapes.push_back(shape_json(shape));
        Json entry = {{"kernel", launch.kernel},
                      {"demangled", launch.demangled},
                      {"device", launch.device},
                      {"emulated", launch.is_emulated},
                      {"data", std::move(data)},
                      {"written", shape_json(launch.written)},
                      {"chosen", shape_json(launch.chosen)},
                      {"compared", std::move(compared)},
                      {"shapes", std::move(shapes)}};
        if (!launch.ended.empty()) entry["ended"] = launch.ended;
        launches.push_back(std::move(entry));
    }
    Json skipped = Json::array(), summary = Json::object();
    for (const auto& [kernel, why] : bench.skipped) skipped.push_back({{"kernel", kernel}, {"why", why}});
    for (const Mean& mean : means(bench))
        summary[mean.name] = {
            {"launches", mean.launches},
            {"mean_share_of_best", std::exp(mean.log_sum / static_cast<double>(mean.launches))},
            {"least_share_of_best", mean.least}};
    return {
        {"launches", std::move(launches)}, {"skipped", std::move(skipped)}, {"summary", std::move(summary)}};
}

std::string to_csv(const Bench& bench) {
    std::string out =
        "kernel,device,data,block_x,block_y,block_z,grid_x,grid_y,grid_z,dynamic_shared_bytes,samples,median_"
        "ns,"
        "least_ns,most_ns,least_sm_mhz,most_sm_mhz,slowed_by,failed,is\n";
    for (const BenchedLaunch& launch : bench.launches) {
        const std::vector<ComparedShape> compared = compared_shapes(launch);
        for (const TimedShape& shape : launch.shapes) {
            std::vector<std::string> names;
            for (const ComparedShape& one : compared)
                if (one.shape == &shape) names.push_back(one.name);
            out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},", quoted(launch.demangled),
                               quoted(launch.device), quoted(data_text(launch)), shape.block[0],
                               shape.block[1], shape.block[2], shape.grid[0], shape.grid[1], shape.grid[2],
                               shape.dynamic_shared_bytes, shape.ns.size());
            if (shape.ns.empty())
                out += ",,,";
            else
                out += fmt::format("{},{},{},", shape.median_ns(), *std::ranges::min_element(shape.ns),
                                   *std::ranges::max_element(shape.ns));
            out += fmt::format("{},{},{},{},{}\n", shape.least_sm_mhz, shape.most_sm_mhz,
                               quoted(fmt::format("{}", fmt::join(shape.slowed_by, "; "))), shape.failed,
                               quoted(fmt::format("{}", fmt::join(names, "; "))));
        }
    }
    return out;
}

std::string to_t4(const BenchedLaunch& launch) {
    TunedResults results{.kernel = launch.demangled,
                         .device = launch.device,
                         .by = launch.is_emulated ? "trimtab bench: times are modelled, by the emulator"
                                                  : "trimtab bench: times are measured, medians",
                         .parameters = {"block_size_x", "block_size_y", "block_size_z"},
                         .configurations = {}};
    for (const TimedShape& shape : launch.shapes) {
        // Of a block with several grids, the one that covers: a tuner's configuration is a block.
        if (shape.failed.empty() && launch.find(shape.block) != &shape) continue;
        TunedConfiguration one{.values = {}, .ns = shape.median_ns(), .samples_ns = shape.ns};
        for (const std::uint32_t d : shape.block) one.values.push_back(d);
        one.is_correct = shape.failed.empty();
        results.configurations.push_back(std::move(one));
    }
    std::ranges::sort(results.configurations, {}, [](const TunedConfiguration& one) {
        return std::tuple(!one.is_correct, one.ns, one.values);
    });
    return t4_text(results);
}

std::string bench_page(const Bench& bench) {
    std::string page = page_begin("Trimtab bench", chart_style());
    page += fmt::format("<p><code>{}</code></p>\n",
                        escaped_html(fmt::format("{}", fmt::join(bench.program, " "))));
    for (const Mean& mean : means(bench))
        page += fmt::format("<p>{}: {:.3f} of the best's speed, geometric mean of {}; least {:.3f}.</p>\n",
                            mean.name, std::exp(mean.log_sum / static_cast<double>(mean.launches)),
                            mean.launches, mean.least);
    for (const BenchedLaunch& launch : bench.launches) {
        page +=
            fmt::format("<h2>{}</h2>\n<p class=\"note\">{}{}.</p>\n", escaped_html(title(launch)),
                        escaped_html(counts(launch)), launch.is_emulated ? "; times are the emulator's" : "");
        if (const std::string text = clocks(launch); !text.empty())
            page += fmt::format("<p class=\"note\">{}.</p>\n", escaped_html(text));
        if (launch.best() == nullptr) continue;
        page +=
            "<div class=\"wide\"><table><tr><th></th><th>block</th><th>&micro;s</th><th>of the best's "
            "speed</th></tr>\n";
        for (const ComparedShape& one : compared_shapes(launch))
            page += fmt::format(
                "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
                escaped_html(one.name), text_of(one.block),
                one.shape == nullptr ? "not legal" : fmt::format("{:.4g}", one.shape->median_ns() / 1e3),
                one.shape == nullptr ? "" : fmt::format("{:.3f}", share_of_best(launch, one.shape)));
        page += "</table></div>\n" +
                heat_map(mapped(launch), launch.written.block, launch.chosen.block, "Measured time");
    }
    if (page.contains("<figure data-chart")) page += chart_scripts();
    return page + "</body></html>\n";
}

}  // namespace trimtab::tools
