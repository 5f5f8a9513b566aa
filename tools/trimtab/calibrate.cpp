// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab calibrate: a device's own latencies, rates and bandwidths, measured, as a description of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "tools/calibrate/description.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/measuring_commands.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using calibrate::Calibration;
using calibrate::MeasuredDevice;
using calibrate::Measurement;

struct CalibrateOptions {
    std::string device, output, slug;
    unsigned repetitions = 0;
    bool json = false, quiet = false;
};

std::expected<Calibration, Error> calibration(const CalibrateOptions& options) {
    const auto program = fs::path(base::own_prefix()) / "libexec" / "trimtab-calibrate";
    std::error_code ignored;
    if (!fs::exists(program, ignored))
        return std::unexpected(Error{.message = "it is not installed with trimtab, and calibrate needs it",
                                     .file = program.string()});
    const char* const asked = std::getenv("TRIMTAB_DEVICE");
    // On the emulator a time is always the same.
    const bool is_gpu =
        asked == nullptr || std::string_view(asked).empty() || std::string_view(asked) == "gpu";
    const unsigned repetitions = options.repetitions != 0 ? options.repetitions : (is_gpu ? 9 : 1);
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string file = folder->file("calibration.json");
    std::vector<std::string> command{program.string(), file, fmt::format("{}", repetitions)};
    if (options.quiet) command.emplace_back("--quiet");
    // Launches as they are, in the emulator's most exact times.
    const auto outcome = base::run(
        {.words = command, .environment = {{"TRIMTAB", "off"}, {"TRIMTAB_EVENT_TIMES", "emulation"}}});
    if (!outcome) return std::unexpected(outcome.error());
    if (!outcome->is_success())
        return std::unexpected(Error{
            .message = "the micro-benchmarks could not be run to their end: the program " + outcome->text()});
    const auto text = base::read_text(file);
    if (!text) return std::unexpected(text.error());
    return calibrate::calibration_from(*text, "trimtab-calibrate");
}

std::string number(double value) {
    return fmt::format("{:.5g}", value);
}

std::string text_of(const Calibration& found, const MeasuredDevice& device) {
    std::string out =
        fmt::format("{}{}, {}\n", found.told.name, found.is_emulated ? ", played by the emulator" : "",
                    device.shipped.empty()
                        ? fmt::format("of which no description is built in: what is not measured is {}'s",
                                      device.relative)
                        : "against its description " + device.shipped);
    out += fmt::format("{:<36} {:>12} {:>12} {:>8}  {}\n", "", "described", "measured", "", "quartiles");
    for (const calibrate::FieldDifference& one : device.differences) {
        if (one.first_quartile == one.found && one.third_quartile == one.found && one.found == one.shipped)
            continue;
        out += fmt::format("{:<36} {:>12} {:>12} {:>+7.1f}%  {} {}\n", one.field, number(one.shipped),
                           number(one.found), one.shipped == 0 ? 0.0 : 100 * (one.found / one.shipped - 1),
                           number(one.first_quartile), number(one.third_quartile));
    }
    out += "measured, but no field of a description:\n";
    for (const Measurement& one : found.measurements) {
        const auto is_field = [&](const calibrate::FieldDifference& field) {
            return field.field == one.name;
        };
        if (std::ranges::any_of(device.differences, is_field)) continue;
        out += fmt::format("{:<36} {:>12} {:>12} {:>8}  {} {}  {}\n", one.name, "", number(one.value), "",
                           number(one.first_quartile), number(one.third_quartile), one.unit);
    }
    return out;
}

Json json_of(const Calibration& found, const MeasuredDevice& device) {
    Json differences = Json::array(), measurements = Json::array();
    for (const calibrate::FieldDifference& one : device.differences)
        differences.push_back({{"field", one.field},
                               {"described", one.shipped},
                               {"found", one.found},
                               {"quartiles", {one.first_quartile, one.third_quartile}}});
    for (const Measurement& one : found.measurements) measurements.push_back(calibrate::to_json(one));
    return {{"device", Json::parse(calibrate::to_file(device.device))},
            {"emulated", found.is_emulated},
            {"described_as", device.shipped.empty() ? Json() : Json(device.shipped)},
            {"relative", device.relative.empty() ? Json() : Json(device.relative)},
            {"differences", std::move(differences)},
            {"measurements", std::move(measurements)}};
}

int run_calibrate(const CalibrateOptions& options) {
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        if (device->contains(',')) return fail(ExitCode::usage, "calibrate measures one device at a time");
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    if (!options.output.empty())
        if (const auto error = cannot_write(options.output)) return fail(*error);
    const auto found = calibration(options);
    if (!found) return fail(found.error());
    std::optional<model::Device> shipped;
    const char* const asked = std::getenv("TRIMTAB_DEVICE");
    if (found->is_emulated && asked != nullptr && std::string_view(asked).ends_with(".json")) {
        if (const auto own = model::find_device(asked)) shipped = *own;
    } else if (const auto own = model::find_device(found->told.name)) {
        shipped = *own;
    }
    const MeasuredDevice device = calibrate::measured_device(*found, shipped, options.slug);
    if (!options.output.empty())
        if (const auto written = write_report(options.output, calibrate::to_file(device.device)); !written)
            return fail(written.error());
    if (options.json)
        fmt::print("{}\n", json_of(*found, device).dump(2));
    else
        fmt::print("{}", text_of(*found, device));
    return code(ExitCode::ok);
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
    auto options = std::make_shared<CalibrateOptions>();
    CLI::App* command =
        app.add_subcommand("calibrate", "Measure a GPU with micro-benchmarks, and describe it")
            ->group(groups::set_up);
    command->footer(
        "Measures latencies, rates and bandwidths.\n"
        "Example: trimtab calibrate -o mine.json");
    command->add_option("--device", options->device,
                        "Use gpu, or emulate this one: slug, name, or JSON file");
    command->add_option("-o,--output", options->output,
                        "Write the description to FILE.json, which --device can name");
    command->add_option("--slug", options->slug, "Give the description this short name");
    command->add_option("--repetitions", options->repetitions,
                        "Take so many samples (default 9 on a GPU, 1 emulated)");
    command->add_flag("--quiet", options->quiet, "Print no progress");
    command->add_flag("--json", options->json, "Print the description, measurements and differences as JSON");
    command->callback([options, &action] { action = [options] { return run_calibrate(*options); }; });
}

}  // namespace trimtab::tools
