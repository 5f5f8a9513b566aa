// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/verification_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/demangle.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

std::string text_member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::uint64_t number_member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string counted(std::uint64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : what[0] == 'l' ? "es" : "s");
}

std::string size_text(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_array()) return "?";
    std::vector<std::string> parts;
    for (const Json& part : *found) parts.push_back(part.dump());
    return fmt::format("{}", fmt::join(parts, "x"));
}

std::string sentence(const Json& difference) {
    const std::string body = text_member(difference, "body");
    const std::string where = fmt::format("{}{}{} blocks of {}, order {}", body, body.empty() ? "" : ": ",
                                          size_text(difference, "grid"), size_text(difference, "block"),
                                          number_member(difference, "order_seed"));
    if (const std::string fault = text_member(difference, "fault"); !fault.empty())
        return fmt::format("{}: {}", where, fault);
    return fmt::format("{}: {} words differ, the first at {} ({}): {} as written, {} now", where,
                       number_member(difference, "words"), text_member(difference, "address"),
                       text_member(difference, "place"), text_member(difference, "as_written"),
                       text_member(difference, "found"));
}

VerifiedKernel& kernel_named(VerificationReport& report, const Json& line) {
    const std::string name = text_member(line, "kernel"), object = text_member(line, "object");
    const auto found = std::ranges::find_if(report.kernels, [&](const VerifiedKernel& kernel) {
        return kernel.name == name && kernel.object == object;
    });
    if (found != report.kernels.end()) return *found;
    VerifiedKernel kernel;
    kernel.name = name;
    kernel.demangled = analysis::demangle(name);
    kernel.object = object;
    report.kernels.push_back(std::move(kernel));
    return report.kernels.back();
}

void add(VerificationReport& report, const Json& line) {
    VerifiedKernel& kernel = kernel_named(report, line);
    if (const std::string skipped = text_member(line, "skipped"); !skipped.empty()) {
        kernel.left_alone.push_back(skipped);
        return;
    }
    kernel.launches++;
    kernel.runs += number_member(line, "runs");
    kernel.rounded += number_member(line, "rounded");
    const auto differences = line.find("differences");
    if (differences == line.end() || !differences->is_array() || differences->empty()) return;
    const Json& first = differences->front();
    const bool as_written = text_member(first, "kind") == "as written";
    kernel.differences.push_back({.line = line.dump(), .as_written = as_written, .text = sentence(first)});
}

}  // namespace

std::size_t VerificationReport::difference_count() const {
    std::size_t count = 0;
    for (const VerifiedKernel& kernel : kernels) count += kernel.differences.size();
    return count;
}

VerificationReport read_verification(std::string_view json_lines) {
    VerificationReport report;
    while (!json_lines.empty()) {
        const std::size_t end = std::min(json_lines.find('\n'), json_lines.size());
        const std::string_view text = json_lines.substr(0, end);
        json_lines.remove_prefix(std::min(end + 1, json_lines.size()));
        if (text.empty()) continue;
        const Json line = Json::parse(text.begin(), text.end(), nullptr, false);
        if (line.is_object() && line.contains("kernel"))
            add(report, line);
        else
            report.unreadable_lines++;
    }
    return report;
}

std::string to_text(const VerificationReport& report) {
    std::string out;
    std::uint64_t launches = 0, runs = 0;
    for (const VerifiedKernel& kernel : report.kernels) {
        launches += kernel.launches;
        runs += kernel.runs;
        if (kernel.launches == 0) {
            out += fmt::format("{}: left alone: {}\n", kernel.demangled, fmt::join(kernel.left_alone, "; "));
            continue;
        }
        out += fmt::format("{}: {}, {} more: ", kernel.demangled, counted(kernel.launches, "launch"),
                           counted(kernel.runs, "run"));
        if (kernel.differences.empty()) {
            out += kernel.rounded == 0 ? "the same bytes\n"
                                       : "the same, except for the rounding of floating-point atomics\n";
            continue;
        }
        out += fmt::format("{} DIFFER\n", counted(kernel.differences.size(), "launch"));
        const VerifiedDifference& first = kernel.differences.front();
        if (first.as_written)
            out += "    the launch as written has a race of its own: in another order of warps and blocks\n";
        out += "    " + first.text + "\n";
    }
    if (report.unreadable_lines > 0)
        out += fmt::format("{} lines could not be read\n", report.unreadable_lines);
    return out + fmt::format("{} checked in {}: {}\n", counted(launches, "launch"), counted(runs, "run"),
                             report.difference_count() == 0
                                 ? std::string("no difference")
                                 : fmt::format("{} DIFFER", report.difference_count()));
}

Json to_json(const VerificationReport& report) {
    Json kernels = Json::array();
    for (const VerifiedKernel& kernel : report.kernels) {
        Json differences = Json::array();
        for (const VerifiedDifference& difference : kernel.differences)
            differences.push_back(Json::parse(difference.line));
        kernels.push_back({{"kernel", kernel.name},
                           {"demangled", kernel.demangled},
                           {"object", kernel.object},
                           {"launches", kernel.launches},
                           {"runs", kernel.runs},
                           {"rounded_words", kernel.rounded},
                           {"left_alone", kernel.left_alone},
                           {"differences", std::move(differences)}});
    }
    return {{"kernels", std::move(kernels)}, {"differences", report.difference_count()}};
}

}  // namespace trimtab::tools
