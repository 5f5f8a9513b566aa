// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/demangle.h"
#include "tools/trimtab/charts.h"
#include "tools/trimtab/heat_map.h"
#include "tools/trimtab/html_text.h"
#include "tools/trimtab/page_frame.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& object, const char* member) {
    const auto found = object.find(member);
    if (found == object.end() || found->is_null()) return "";
    return found->is_string() ? found->get<std::string>()
                              : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dimensions(const Json& shape, const char* member) {
    const auto found = shape.find(member);
    if (found == shape.end() || !found->is_array()) return "";
    std::vector<std::string> parts;
    for (const Json& part : *found) parts.push_back(part.dump());
    return fmt::format("{}", fmt::join(parts, " × "));
}

std::string shape(const Json& launch, const char* member) {
    const auto found = launch.find(member);
    if (found == launch.end() || !found->is_object()) return "";
    return fmt::format("{} blocks of {}", dimensions(*found, "grid"), dimensions(*found, "block"));
}

double predicted(const Json& launch, const char* which) {
    const auto found = launch.find("predicted_ns");
    if (found == launch.end() || !found->is_object()) return 0;
    const auto value = found->find(which);
    return value != found->end() && value->is_number() ? value->get<double>() : 0;
}

std::string data_text(const Json& launch) {
    const auto found = launch.find("data");
    if (found == launch.end() || !found->is_object()) return "";
    std::vector<std::string> parts;
    for (const auto& [name, value] : found->items())
        parts.push_back(name + " = " +
                        (value.is_number() ? fmt::format("{}", value.get<double>()) : value.dump()));
    return fmt::format("{}", fmt::join(parts, ", "));
}

struct Row {
    Json launch;
    std::size_t count = 0, remembered = 0, first = 0;
    std::vector<MappedBlock> blocks;
};

BlockSize block_of(const Json& launch, const char* member) {
    BlockSize size{0, 0, 0};
    const auto found = launch.find(member);
    if (found == launch.end() || !found->is_object()) return size;
    const auto block = found->find("block");
    if (block == found->end() || !block->is_array() || block->size() != 3) return size;
    for (std::size_t d = 0; d < 3; ++d)
        if ((*block)[d].is_number_unsigned()) size[d] = (*block)[d].get<std::uint32_t>();
    return size;
}

std::vector<MappedBlock> predicted_blocks(const Json& launch) {
    std::vector<MappedBlock> blocks;
    const auto found = launch.find("blocks");
    if (found == launch.end() || !found->is_array()) return blocks;
    for (const Json& entry : *found) {
        if (!entry.is_array() || entry.size() != 4 || !entry[3].is_number() || !(entry[3].get<double>() > 0))
            continue;
        MappedBlock mapped;
        for (std::size_t d = 0; d < 3; ++d)
            mapped.block[d] = entry[d].is_number_unsigned() ? entry[d].get<std::uint32_t>() : 0;
        mapped.ns = entry[3].get<double>();
        blocks.push_back(mapped);
    }
    return blocks;
}

// Launches that were told apart only by when they were, and whether the choice was new, are one row.
std::string row_key(const Json& launch) {
    Json key = launch;
    for (const char* member : {"time", "remembered", "by", "blocks"}) key.erase(member);
    return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool was_remembered(const Json& launch) {
    const auto found = launch.find("remembered");
    return found != launch.end() && found->is_boolean() && found->get<bool>();
}

std::string row_html(const Row& row) {
    const double written = predicted(row.launch, "written"), chosen = predicted(row.launch, "chosen");
    const auto microseconds = [](double ns) { return ns > 0 ? microseconds_text(ns) : std::string(); };
    const std::string gain =
        written > 0 && chosen > 0 ? fmt::format("{:.2f}", written / chosen) : std::string();
    std::string out = "<tr>";
    for (const std::string& cell :
         {analysis::demangle(text_of(row.launch, "kernel")), text_of(row.launch, "device"),
          data_text(row.launch), shape(row.launch, "written"), shape(row.launch, "chosen")})
        out += "<td>" + escaped_html(cell) + "</td>";
    for (const std::string& cell : {microseconds(written), microseconds(chosen), gain,
                                    fmt::format("{}", row.count), fmt::format("{}", row.remembered)})
        out += "<td class=\"number\">" + cell + "</td>";
    for (const std::string& cell : {text_of(row.launch, "by"), text_of(row.launch, "reason")})
        out += "<td>" + escaped_html(cell) + "</td>";
    return out + "</tr>\n";
}

// Columns of both tables.
std::string written_column() {
    return column("written, predicted &micro;s",
                  "Modelled time with the block in the source, in microseconds");
}
std::string chosen_column() {
    return column("chosen, predicted &micro;s",
                  "Modelled time with the block that Trimtab chose, in microseconds");
}
std::string ratio_column() {
    return column("ratio", "Time as written over time as chosen: how many times as fast");
}

// One line a kernel, in the order in which they came.
std::string kernel_table(const std::vector<const Row*>& rows) {
    struct Sum {
        std::string name;
        std::size_t launches = 0, changed = 0;
        double written_ns = 0, chosen_ns = 0;
    };
    std::vector<Sum> sums;
    for (const Row* row : rows) {
        const std::string name = analysis::demangle(text_of(row->launch, "kernel"));
        auto place = std::ranges::find(sums, name, &Sum::name);
        if (place == sums.end()) place = sums.insert(place, {.name = name});
        place->launches += row->count;
        const double written = predicted(row->launch, "written"), chosen = predicted(row->launch, "chosen");
        if (!(written > 0 && chosen > 0)) continue;
        if (shape(row->launch, "written") != shape(row->launch, "chosen")) place->changed += row->count;
        place->written_ns += written * static_cast<double>(row->count);
        place->chosen_ns += chosen * static_cast<double>(row->count);
    }
    std::string out = "<h2>By kernel</h2>\n<div class=\"wide\"><table><tr>" +
                      column("kernel", "The kernel's name in the source") +
                      column("launches", "How often the program launched it") +
                      column("with another block", "How many of these launches Trimtab gave another block") +
                      written_column() + chosen_column() + ratio_column() + "</tr>\n";
    for (const Sum& sum : sums) {
        const bool known = sum.written_ns > 0 && sum.chosen_ns > 0;
        out += fmt::format(
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
            "class=\"number\">{}</td>"
            "<td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
            escaped_html(sum.name), sum.launches, sum.changed,
            known ? microseconds_text(sum.written_ns) : std::string(),
            known ? microseconds_text(sum.chosen_ns) : std::string(),
            known ? fmt::format("{:.2f}", sum.written_ns / sum.chosen_ns) : std::string());
    }
    return out + "</table></div>\n";
}

// Launches of one kernel with other data mostly look alike: the ones that take longest are drawn.
constexpr std::size_t most_maps = 12;

std::string maps(const std::vector<const Row*>& rows) {
    std::vector<const Row*> drawn;
    for (const Row* row : rows)
        if (!row->blocks.empty()) drawn.push_back(row);
    if (drawn.empty()) return "";
    std::ranges::sort(drawn, [](const Row* a, const Row* b) {
        const double first = predicted(a->launch, "written") * static_cast<double>(a->count);
        const double second = predicted(b->launch, "written") * static_cast<double>(b->count);
        return first != second ? first > second : a->first < b->first;
    });
    std::string out = "<h2>Predicted time over blocks</h2>\n";
    if (drawn.size() > most_maps) {
        out += fmt::format("<p>Of {} launches that were decided, the {} that take longest.</p>\n",
                           drawn.size(), most_maps);
        drawn.resize(most_maps);
    }
    for (const Row* row : drawn)
        out +=
            fmt::format("<h3>{} on {}: {}</h3>\n",
                        escaped_html(analysis::demangle(text_of(row->launch, "kernel"))),
                        escaped_html(text_of(row->launch, "device")), escaped_html(data_text(row->launch))) +
            heat_map(row->blocks, block_of(row->launch, "written"), block_of(row->launch, "chosen"));
    return out;
}

// What all launches take as written and as chosen, where both are predicted.
std::string first_sentence(const std::vector<const Row*>& rows, std::size_t all, bool ran_as_written) {
    double written = 0, chosen = 0;
    std::size_t launches = 0, changed = 0;
    for (const Row* row : rows) {
        const double before = predicted(row->launch, "written"), after = predicted(row->launch, "chosen");
        if (!(before > 0 && after > 0)) continue;
        written += before * static_cast<double>(row->count);
        chosen += after * static_cast<double>(row->count);
        launches += row->count;
        if (shape(row->launch, "written") != shape(row->launch, "chosen")) changed += row->count;
    }
    if (launches == 0) return fmt::format("Trimtab predicted none of {} launches.", all);
    return fmt::format(
        "Trimtab {} the block of {} of {} launch{}: {} &micro;s instead of {} "
        "&micro;s, {:.2f}&times; as fast; modelled, not measured.",
        ran_as_written ? "would change" : "changed", changed, all, all == 1 ? "" : "es",
        microseconds_text(chosen), microseconds_text(written), written / chosen);
}

// "syrk on gtx1080ti"
std::string title_of(const std::vector<std::string>& command, const std::vector<const Row*>& rows,
                     const std::string& device) {
    std::vector<std::string> devices;
    for (const Row* row : rows)
        if (std::string name = text_of(row->launch, "device");
            !name.empty() && std::ranges::find(devices, name) == devices.end())
            devices.push_back(std::move(name));
    if (devices.empty() && !device.empty()) devices.push_back(device);
    std::string title =
        command.empty() ? "Trimtab report" : std::filesystem::path(command.front()).filename().string();
    return devices.empty() ? title : fmt::format("{} on {}", title, fmt::join(devices, ", "));
}

}  // namespace

std::string report_page(std::string_view json_lines, const std::vector<std::string>& command,
                        const AdviceParts& advice) {
    std::map<std::string, Row> rows;
    std::size_t launches = 0, unreadable = 0;
    while (!json_lines.empty()) {
        const std::size_t end = std::min(json_lines.find('\n'), json_lines.size());
        const std::string_view line = json_lines.substr(0, end);
        json_lines.remove_prefix(std::min(end + 1, json_lines.size()));
        if (line.empty()) continue;
        Json launch = Json::parse(line.begin(), line.end(), nullptr, false);
        if (!launch.is_object()) {
            ++unreadable;
            continue;
        }
        Row& row = rows[row_key(launch)];
        if (row.count == 0) row.first = launches;
        if (was_remembered(launch)) ++row.remembered;
        if (row.blocks.empty()) row.blocks = predicted_blocks(launch);
        if (row.count == 0) row.launch = std::move(launch);
        ++row.count;
        ++launches;
    }
    std::vector<const Row*> order;
    for (const auto& [line, row] : rows) order.push_back(&row);
    std::ranges::sort(order, {}, &Row::first);

    std::string page =
        page_begin(title_of(command, order, advice.device), chart_style() + advice.style) +
        "<p class=\"lead\">" +
        (launches == 0 && !advice.body.empty()
             ? std::string("What limits the kernels, and what a fix would gain; modelled, not measured.")
             : first_sentence(order, launches, advice.ran_as_written)) +
        "</p>\n";
    page += fmt::format(
        "<p><code>{}</code></p>\n<p class=\"note\">By Trimtab {}: {} launch{}, {} different{}. Point at "
        "a column's heading or at a mark to read what it means.</p>\n",
        escaped_html(fmt::format("{}", fmt::join(command, " "))), TRIMTAB_VERSION, launches,
        launches == 1 ? "" : "es", order.size(),
        unreadable == 0 ? "" : fmt::format("; {} lines could not be read", unreadable));
    page += advice.body;
    page += kernel_table(order);
    page += "<h2>By launch</h2>\n<div class=\"wide\"><table class=\"launches\"><tr>" +
            column("kernel", "The kernel's name in the source") +
            column("device", "The GPU, or the one that the emulator stands in for") +
            column("data", "The arguments and sizes that the prediction depends on") +
            column("as written", "The grid and the block of the program") +
            column("chosen", "The grid and the block that Trimtab chose") + written_column() +
            chosen_column() + ratio_column() +
            column("launches", "How many launches were equal to this one") +
            column("remembered", "How many of them took a choice that was made before") +
            column("by", "Who decided: the driver program, an annotation, a measurement, or nobody") +
            column("reason", "Why this block, or why the launch is unchanged") + "</tr>\n";
    for (const Row* row : order) page += row_html(*row);
    page += "</table></div>\n" + maps(order);
    if (page.contains("<figure data-chart")) page += chart_scripts();
    return page + "</body></html>\n";
}

}  // namespace trimtab::tools
