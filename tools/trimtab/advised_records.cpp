// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/advised_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/json_value.h"
#include "emulation/emulator/metrics/launch_profile.h"
#include "tools/advice/question.h"
#include "tools/trimtab/emulated_opinion.h"
#include "tools/trimtab/kernel_facts.h"
#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {
namespace {

struct Records {
    std::vector<emulator::LaunchProfile> profiles;
    std::vector<emulator::RunRecord> runs;  // by device and process
    std::size_t lines = 0, unread = 0;
    std::optional<Error> first_error;  // of those that could not be read
};

std::optional<Error> read_record(const std::string& line, const std::string& origin, Records& records) {
    const auto json = base::parse_json(line, origin);
    if (!json) return json.error();
    if (emulator::is_run_record(*json)) {
        auto run = emulator::run_record_from_json(*json, origin);
        if (!run) return run.error();
        records.runs.push_back(std::move(*run));
        return std::nullopt;
    }
    auto profile = emulator::launch_profile_from_json(*json, origin);
    if (!profile) return profile.error();
    records.profiles.push_back(std::move(*profile));
    return std::nullopt;
}

// A program that is killed while it writes, a full disk or a runtime of another version leave lines that cannot be
// read: the others say what they say.
Records read_records(const std::string& path, const std::string& program) {
    Records records;
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);) {
        if (line.empty()) continue;
        ++records.lines;
        auto error =
            read_record(line, fmt::format("{}: record {} of its run", program, records.lines), records);
        if (!error) continue;
        ++records.unread;
        if (!records.first_error) records.first_error = std::move(error);
    }
    return records;
}

// The times that a launch was told are of the device that it ran on.
void retime(emulator::LaunchProfile& profile, const trimtab_device& from, const trimtab_device& to) {
    const double was = advice::Question(profile, from).time_ns(),
                 is = advice::Question(profile, to).time_ns();
    if (!(was > 0) || !(is > 0)) return;
    profile.time_ns *= is / was;
    profile.total_ns *= is / was;
}

std::map<std::string, advice::KernelFacts> facts_in(const KernelFile& file) {
    std::map<std::string, advice::KernelFacts> facts;
    for (const FileKernel& kernel : file.kernels)
        facts.try_emplace(kernel.record.description.name, facts_of(kernel.record.description));
    return facts;
}

}  // namespace

std::expected<AdvisedRun, Error> advice_of(const std::string& records, const std::string& program,
                                           const schedule::Settings& settings) {
    Records read = read_records(records, program);
    std::vector<emulator::LaunchProfile>& profiles = read.profiles;
    if (profiles.empty() && read.first_error) return std::unexpected(*read.first_error);
    if (profiles.empty())
        return std::unexpected(
            Error{.message = "launched no kernel on the emulated CUDA runtime: there is nothing to advise on",
                  .file = program});
    // Several devices: the one whose launches took longest.
    std::map<std::string, double> by_device;
    for (const emulator::LaunchProfile& profile : profiles) by_device[profile.device] += profile.total_ns;
    const std::string slug =
        std::ranges::max_element(by_device, {}, [](const auto& entry) { return entry.second; })->first;
    std::erase_if(profiles, [&](const emulator::LaunchProfile& profile) { return profile.device != slug; });
    auto device = model::find_device(slug);
    // One that is described in a file of its own.
    const char* const named = std::getenv("TRIMTAB_DEVICE");
    if (!device && named != nullptr) device = model::find_device(named);
    if (!device) return std::unexpected(device.error());
    if (!settings.is_empty()) {
        const model::Device other = schedule::with_settings(*device, settings);
        for (emulator::LaunchProfile& profile : profiles) retime(profile, device->values, other.values);
        *device = other;
    }
    AdvisedRun run;
    // Of several processes, the one that copied most.
    emulator::RunRecord whole;
    for (emulator::RunRecord& one : read.runs)
        if (one.device == slug && one.to_device.ns + one.to_host.ns >= whole.to_device.ns + whole.to_host.ns)
            whole = std::move(one);
    // What cannot be read says nothing: advice does without.
    const KernelFile file = load_kernels(program).value_or(KernelFile{});
    EmulatedOpinion opinion(file, *device, settings);
    run.advice = advice::advise(profiles, *device, facts_in(file), whole, &opinion);
    run.device = *device;
    if (read.unread > 0)
        run.advice.notes.push_back(
            fmt::format("{} of the run's {} records cannot be read, and advice is of the others ({})",
                        read.unread, read.lines, read.first_error->text()));
    return run;
}

}  // namespace trimtab::tools
