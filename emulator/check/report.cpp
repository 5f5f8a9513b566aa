#include "emulator/check/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/demangle.h"

namespace trimtab::emulator::check {
namespace {

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

AccessPlace access_of(const json& from) {
    AccessPlace access;
    access.source = from.at("source");
    access.instruction = from.at("instruction");
    access.ptx_line = from.at("ptx_line");
    access.thread = from.at("thread").get<std::array<std::uint32_t, 3>>();
    access.block = from.at("block").get<std::array<std::uint32_t, 3>>();
    return access;
}

HostStack stack_of(const json& from) {
    HostStack stack;
    for (const json& frame : from)
        stack.push_back({.module = frame.at("module"),
                         .offset = frame.at("offset"),
                         .symbol = frame.at("symbol"),
                         .place = frame.value("place", "")});
    return stack;
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

std::expected<std::vector<Report>, Error> reports_of_json(std::string_view text) {
    try {
        const json document = json::parse(text);
        std::vector<Report> reports;
        for (const json& from : document.at("reports")) {
            Report& report = reports.emplace_back();
            report.check = from.at("check");
            report.kind = from.at("kind");
            report.kernel = from.at("kernel");
            report.text = from.at("text");
            report.count = from.at("count");
            report.access = access_of(from);
            report.allocation_bytes = from.value("allocation_bytes", std::uint64_t{0});
            if (from.contains("other")) report.other.push_back(access_of(from.at("other")));
            if (from.contains("allocated")) report.allocated = stack_of(from.at("allocated"));
            if (from.contains("freed")) report.freed = stack_of(from.at("freed"));
        }
        return reports;
    } catch (const json::exception& problem) {
        return std::unexpected(Error{.message = std::string("no report of checks: ") + problem.what()});
    }
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
