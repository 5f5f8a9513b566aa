// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/analysis/launches/demangle.h"
#include "core/base/json_value.h"

namespace trimtab::emulator::check {
namespace {

using base::JsonValue;
using nlohmann::json;

json json_of(const AccessPlace& access) {
    return {{"source", access.source},
            {"instruction", access.instruction},
            {"ptx_line", access.ptx_line},
            {"thread", access.thread},
            {"block", access.block}};
}

json json_of(const HostStack& stack) {
    json frames = json::array();
    for (const HostFrame& frame : stack) {
        frames.push_back({{"module", frame.module}, {"offset", frame.offset}, {"symbol", frame.symbol}});
        if (!frame.place.empty()) frames.back()["place"] = frame.place;
    }
    return frames;
}

std::array<std::uint32_t, 3> index_of(const JsonValue& from) {
    std::array<std::uint32_t, 3> index{};
    const auto values = from.list(index.size());
    for (std::size_t d = 0; d < index.size(); d++) index[d] = values[d].count();
    return index;
}

AccessPlace access_of(const JsonValue& from) {
    return {.source = from["source"].text(),
            .instruction = from["instruction"].text(),
            .ptx_line = from["ptx_line"].count(),
            .thread = index_of(from["thread"]),
            .block = index_of(from["block"])};
}

HostStack stack_of(const JsonValue& from) {
    HostStack stack;
    for (const JsonValue& frame : from.list()) {
        const auto place = frame.find("place");
        stack.push_back({.module = frame["module"].text(),
                         .offset = frame["offset"].natural(),
                         .symbol = frame["symbol"].text(),
                         .place = place ? place->text() : ""});
    }
    return stack;
}

Report report_of(const JsonValue& from) {
    Report report;
    report.check = from["check"].text();
    report.kind = from["kind"].text();
    report.kernel = from["kernel"].text();
    report.text = from["text"].text();
    report.count = from["count"].natural();
    report.access = access_of(from);
    if (const auto bytes = from.find("allocation_bytes")) report.allocation_bytes = bytes->natural();
    if (const auto other = from.find("other")) report.other.push_back(access_of(*other));
    if (const auto allocated = from.find("allocated")) report.allocated = stack_of(*allocated);
    if (const auto freed = from.find("freed")) report.freed = stack_of(*freed);
    return report;
}

std::string lines_of(const HostStack& stack, std::string_view title) {
    if (stack.empty()) return {};
    std::string text = fmt::format("    {}\n", title);
    for (const HostFrame& frame : stack) {
        if (!frame.place.empty())
            text += fmt::format("        {}\n", frame.place);
        else
            text += fmt::format("        {} ({}+{:#x})\n",
                                frame.symbol.empty() ? "?" : analysis::demangle(frame.symbol), frame.module,
                                frame.offset);
    }
    return text;
}

std::string place_of(const AccessPlace& access) {
    return fmt::format("thread ({}) of block ({}) at {}", fmt::join(access.thread, ","),
                       fmt::join(access.block, ","), access.source);
}

}  // namespace

Report* Reports::add(const Site& site) {
    const auto [at, is_new] = by_site_.try_emplace(site, reports_.size());
    if (is_new) reports_.emplace_back();
    Report& report = reports_[at->second];
    report.count++;
    return is_new ? &report : nullptr;
}

std::string to_json(const std::string& checks, const std::vector<Report>& reports) {
    json all = json::array();
    for (const Report& report : reports) {
        json one = json_of(report.access);
        one["check"] = report.check;
        one["kind"] = report.kind;
        one["kernel"] = report.kernel;
        one["demangled"] = analysis::demangle(report.kernel);
        one["text"] = report.text;
        one["count"] = report.count;
        if (!report.other.empty()) one["other"] = json_of(report.other.front());
        if (report.allocation_bytes != 0) one["allocation_bytes"] = report.allocation_bytes;
        if (!report.allocated.empty()) one["allocated"] = json_of(report.allocated);
        if (!report.freed.empty()) one["freed"] = json_of(report.freed);
        all.push_back(std::move(one));
    }
    const json document = {{"checks", checks}, {"reports", std::move(all)}};
    return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::expected<std::vector<Report>, Error> reports_of_json(std::string_view text, const std::string& origin) {
    const auto document = base::parse_json(text, origin);
    if (!document) return std::unexpected(document.error());
    return base::read_json(*document, "report of checks", origin, [](const JsonValue& value) {
        std::vector<Report> reports;
        for (const JsonValue& from : value["reports"].list()) reports.push_back(report_of(from));
        return reports;
    });
}

std::string text_of(const Report& report) {
    std::string text =
        fmt::format("{}: {}: {} in {}\n    {}, {}\n", report.access.source, report.check, report.kind,
                    analysis::demangle(report.kernel), place_of(report.access), report.text);
    text += fmt::format("        {}\n", report.access.instruction);
    for (const AccessPlace& other : report.other) {
        text += fmt::format("    and before it, {}\n        {}\n", place_of(other), other.instruction);
    }
    text += lines_of(report.allocated, "the memory was allocated by");
    text += lines_of(report.freed, "and freed by");
    if (report.count > 1) text += fmt::format("    {} times in all\n", report.count);
    return text;
}

}  // namespace trimtab::emulator::check
