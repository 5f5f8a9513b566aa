// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "choosing/choices/argument_key.h"
#include "core/analysis/launches/demangle.h"
#include "core/model/time_text.h"

namespace trimtab::choosing {
namespace {

using nlohmann::ordered_json;

ordered_json to_array(const trimtab_dim3& size) {
    return ordered_json::array({size.x, size.y, size.z});
}

ordered_json time_or_null(double time_ns) {
    return std::isfinite(time_ns) ? ordered_json(time_ns) : ordered_json(nullptr);
}

// D of the launch; empty where the kernel has no description or the launch no arguments.
std::vector<double> data_of(const LaunchRecord& record) {
    if (record.description == nullptr ||
        (record.shape.arguments == nullptr && !record.description->parameters.empty()))
        return {};
    const LaunchShape& shape = record.shape;
    return analysis::data_values(*record.description, argument_bytes(*record.description, shape.arguments),
                                 record.description->counted_extent(shape.written.grid, shape.written.block));
}

std::string to_text(const trimtab_dim3& size) {
    return fmt::format("{}x{}x{}", size.x, size.y, size.z);
}

std::string time_text(double time_ns) {
    return model::time_text(time_ns, model::closed_form_error);
}

// What a cross-check found, at the launch at which it takes effect.
ordered_json to_json(const CheckOutcome& check) {
    ordered_json launches = ordered_json::array();
    for (const CheckedLaunch& one : check.launches)
        launches.push_back({{"grid", to_array(one.launch.grid)},
                            {"block", to_array(one.launch.block)},
                            {"predicted_ns", time_or_null(one.predicted_ns)},
                            {"emulated_ns", one.emulated_ns > 0 ? ordered_json(one.emulated_ns) : nullptr}});
    return {{"end", name(check.end)}, {"why", check.why}, {"launches", std::move(launches)}};
}

// What was learnt, at the first launch after that.
ordered_json to_json(const LearnOutcome& learnt) {
    ordered_json launches = ordered_json::array();
    for (const LearnOutcome::Launch& one : learnt.launches)
        launches.push_back({{"grid", to_array(one.launch.launch.grid)},
                            {"block", to_array(one.launch.launch.block)},
                            {"predicted_ns", time_or_null(one.launch.predicted_ns)},
                            {"measured_ns", one.times > 0 ? ordered_json(one.measured_ns) : nullptr},
                            {"times", one.times}});
    return {{"why", learnt.why},
            {"launched", learnt.launched},
            {"chosen", learnt.chosen},
            {"launches", std::move(launches)}};
}

std::string demangled(const LaunchRecord& record) {
    // What is known of a kernel whose block is built in is what is known of its other body.
    if (record.description != nullptr && !record.description->demangled.empty() &&
        record.description->name == record.kernel)
        return record.description->demangled;
    return analysis::demangle(record.kernel);
}

}  // namespace

std::string report_line(const LaunchRecord& record) {
    ordered_json data = ordered_json::object();
    const std::vector<double> values = data_of(record);
    for (std::size_t i = 0; i < values.size(); ++i) data[record.description->data[i].name] = values[i];
    const Decision& decision = record.decision;
    ordered_json line = {
        {"time", record.unix_time_s},
        {"kernel", record.kernel},
        {"device", record.device},
        {"data", std::move(data)},
        {"written",
         {{"grid", to_array(record.shape.written.grid)}, {"block", to_array(record.shape.written.block)}}},
        {"chosen", {{"grid", to_array(decision.launch.grid)}, {"block", to_array(decision.launch.block)}}},
        {"predicted_ns",
         {{"written", time_or_null(decision.written_ns)}, {"chosen", time_or_null(decision.chosen_ns)}}},
        {"by", name(decision.by)},
        {"remembered", decision.remembered},
        {"reason", decision.reason}};
    if (decision.check != nullptr) line["crosscheck"] = to_json(*decision.check);
    if (decision.turn && decision.turn->is_first && decision.turn->outcome != nullptr)
        line["learned"] = to_json(*decision.turn->outcome);
    if (!record.body.empty()) line["chosen"]["kernel"] = record.body;
    if (!record.blocks.empty()) {
        ordered_json& blocks = line["blocks"] = ordered_json::array();
        for (const PredictedBlock& predicted : record.blocks)
            blocks.push_back(
                {predicted.block.x, predicted.block.y, predicted.block.z, time_or_null(predicted.ns)});
    }
    return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string log_line(const LaunchRecord& record) {
    std::string data;
    const std::vector<double> values = data_of(record);
    for (std::size_t i = 0; i < values.size(); ++i)
        data += fmt::format(" {}={}", record.description->data[i].name, values[i]);
    const Decision& decision = record.decision;
    const std::string body = record.body.empty() ? std::string() : analysis::demangle(record.body) + ", ";
    std::string check;
    if (decision.check != nullptr)
        check = fmt::format("; cross-check {} at this launch: {}", name(decision.check->end),
                            decision.check->why);
    return fmt::format("{} on {}:{}{} written {} blocks of {}, {}; chosen {}{} blocks of {}, {}; by {}: {}{}",
                       demangled(record), record.device, data, data.empty() ? "" : ";",
                       to_text(record.shape.written.grid), to_text(record.shape.written.block),
                       time_text(decision.written_ns), body, to_text(decision.launch.grid),
                       to_text(decision.launch.block), time_text(decision.chosen_ns), name(decision.by),
                       decision.reason, check);
}

Report::Report(const std::string& path, Log& log) : path_(path), log_(log) {
    if (path.empty()) return;
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0)
        log.warn(fmt::format("TRIMTAB_REPORT={}: {}: no report is written", path, std::strerror(errno)));
}

Report::~Report() {
    if (file_ >= 0) close(file_);
}

void Report::add(const LaunchRecord& record) {
    if (file_ < 0) return;
    const std::string line = report_line(record) + "\n";
    // One write a line: O_APPEND keeps lines of several threads and processes whole.
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        log_.warn_once(fmt::format("TRIMTAB_REPORT={}: {}: lines are missing", path_, std::strerror(errno)));
}

}  // namespace trimtab::choosing
