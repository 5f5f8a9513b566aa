#include "tools/trimtab/advised_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json_value.h"
#include "base/temporary_folder.h"
#include "emulator/metrics/launch_profile.h"
#include "model/device.h"
#include "tools/trimtab/kernel_facts.h"
#include "tools/trimtab/kernel_file.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {
namespace {

struct Records {
    std::vector<emulator::LaunchProfile> profiles;
    std::vector<emulator::RunRecord> runs;  // by device and process
};

std::expected<Records, Error> read_records(const std::string& path, const std::string& program) {
    Records records;
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);) {
        if (line.empty()) continue;
        const auto json = base::parse_json(line, program);
        if (!json) return std::unexpected(json.error());
        if (emulator::is_run_record(*json)) {
            auto run = emulator::run_record_from_json(*json, program);
            if (!run) return std::unexpected(run.error());
            records.runs.push_back(std::move(*run));
            continue;
        }
        auto profile = emulator::launch_profile_from_json(*json, program);
        if (!profile) return std::unexpected(profile.error());
        records.profiles.push_back(std::move(*profile));
    }
    return records;
}

// What cannot be read says nothing: advice does without.
std::map<std::string, advice::KernelFacts> facts_in(const std::string& program) {
    std::map<std::string, advice::KernelFacts> facts;
    const auto file = load_kernels(program);
    if (!file) return facts;
    for (const FileKernel& kernel : file->kernels)
        facts.try_emplace(kernel.record.description.name, facts_of(kernel.record.description));
    return facts;
}

}  // namespace

std::expected<void, Error> require_emulator() {
    const char* const device = std::getenv("TRIMTAB_DEVICE");
    if (device != nullptr && std::string_view(device).contains("gpu"))
        return std::unexpected(Error{.message = "advice is given of launches on the emulator, not on a GPU"});
    return {};
}

std::expected<AdvisedRun, Error> advice_of(const std::string& records, const std::string& program) {
    auto read = read_records(records, program);
    if (!read) return std::unexpected(read.error());
    std::vector<emulator::LaunchProfile>& profiles = read->profiles;
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
    AdvisedRun run;
    // Of several processes, the one that copied most.
    emulator::RunRecord whole;
    for (emulator::RunRecord& one : read->runs)
        if (one.device == slug && one.to_device.ns + one.to_host.ns >= whole.to_device.ns + whole.to_host.ns)
            whole = std::move(one);
    run.advice = advice::advise(profiles, *device, facts_in(program), whole);
    run.device = *device;
    return run;
}

std::expected<AdvisedRun, Error> advised_run(const std::vector<std::string>& command, bool output_on_stderr) {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string records = folder->file("profiles.jsonl");
    setenv("TRIMTAB_PROFILES", records.c_str(), 1);
    // Where a GPU is present, a device must be named for the emulator to play.
    setenv("TRIMTAB_DEVICE", std::string(model::default_device).c_str(), 0);
    const auto outcome = run_user_program(command, output_on_stderr);
    unsetenv("TRIMTAB_PROFILES");
    if (!outcome) return std::unexpected(outcome.error());
    auto run = advice_of(records, command.front());
    if (!run) {
        if (outcome->is_success()) return std::unexpected(run.error());
        return std::unexpected(
            Error{.message = outcome->text() + ", and left no record of a kernel", .file = command.front()});
    }
    run->advice.program = command;
    run->exit_code = outcome->exit_code;
    return run;
}

}  // namespace trimtab::tools
