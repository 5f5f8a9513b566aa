#include "tools/trimtab/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

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
    for (const auto& [name, value] : found->items()) parts.push_back(name + " = " + value.dump());
    return fmt::format("{}", fmt::join(parts, ", "));
}

struct Row {
    Json launch;
    std::size_t count = 0, first = 0;
};

std::string row_html(const Row& row) {
    const double written = predicted(row.launch, "written"), chosen = predicted(row.launch, "chosen");
    const auto microseconds = [](double ns) { return ns > 0 ? fmt::format("{:.4g}", ns / 1e3) : ""; };
    const std::string gain =
        written > 0 && chosen > 0 ? fmt::format("{:.2f}", written / chosen) : std::string();
    std::string out = "<tr>";
    for (const std::string& cell :
         {text_of(row.launch, "kernel"), text_of(row.launch, "device"), data_text(row.launch),
          shape(row.launch, "written"), shape(row.launch, "chosen")})
        out += "<td>" + escaped(cell) + "</td>";
    for (const std::string& cell :
         {microseconds(written), microseconds(chosen), gain, fmt::format("{}", row.count)})
        out += "<td class=\"number\">" + cell + "</td>";
    for (const std::string& cell : {text_of(row.launch, "by"), text_of(row.launch, "reason")})
        out += "<td>" + escaped(cell) + "</td>";
    return out + "</tr>\n";
}

}  // namespace

std::string report_page(std::string_view json_lines, const std::vector<std::string>& command) {
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
        Row& row = rows.try_emplace(std::string(line), Row{std::move(launch), 0, launches}).first->second;
        ++row.count;
        ++launches;
    }
    std::vector<const Row*> order;
    for (const auto& [line, row] : rows) order.push_back(&row);
    std::ranges::sort(order, {}, &Row::first);

    std::string page =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Trimtab report</title>\n"
        "<style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}"
        "th,td{border:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top}"
        "th{background:#eee}.number{text-align:right}</style></head><body>\n<h1>Trimtab report</h1>\n";
    page += fmt::format("<p><code>{}</code></p>\n<p>{} launches, {} different ones{}.</p>\n",
                        escaped(fmt::format("{}", fmt::join(command, " "))), launches, order.size(),
                        unreadable == 0 ? "" : fmt::format("; {} lines could not be read", unreadable));
    page +=
        "<table><tr><th>kernel</th><th>device</th><th>data</th><th>as written</th><th>chosen</th>"
        "<th>written, predicted &micro;s</th><th>chosen, predicted &micro;s</th><th>ratio</th>"
        "<th>launches</th><th>by</th><th>reason</th></tr>\n";
    for (const Row* row : order) page += row_html(*row);
    return page + "</table>\n</body></html>\n";
}

}  // namespace trimtab::tools
