// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab doctor: what is there, what is missing, what to do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/terminal.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/diagnosis.h"
#include "tools/trimtab/first_kernel.h"
#include "tools/trimtab/help_groups.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
    bool quick = false;
    bool json = false;
};

std::string_view name_of(Health health) {
    return health == Health::good ? "ok" : health == Health::note ? "note" : "missing";
}

void print(const Finding& finding) {
    const std::string word = fmt::format("{:<8}", name_of(finding.health));
    const std::string shown =
        finding.health == Health::missing ? base::in_colour(stdout, base::Colour::red, word)
        : finding.health == Health::note  ? base::in_colour(stdout, base::Colour::yellow, word)
                                          : word;
    fmt::print("{}{:<16} {}\n", shown, finding.subject, finding.text);
    if (!finding.cure.empty()) fmt::print("{:<25}-> {}\n", "", finding.cure);
    std::fflush(stdout);
}

int run(const DoctorOptions& options) {
    Json list = Json::array();
    bool is_whole = true;
    const auto tell = [&](const std::vector<Finding>& findings) {
        for (const Finding& finding : findings) {
            is_whole = is_whole && finding.health != Health::missing;
            if (options.json)
                list.push_back({{"subject", finding.subject},
                                {"health", name_of(finding.health)},
                                {"text", finding.text},
                                {"cure", finding.cure}});
            else
                print(finding);
        }
    };
    tell(diagnose_build());
    tell(diagnose_devices());
    tell(diagnose_surroundings());
    if (!options.quick) tell({try_first_kernel()});
    if (options.json) fmt::print("{}\n", Json{{"whole", is_whole}, {"findings", list}}.dump(2));
    return code(is_whole ? ExitCode::ok : ExitCode::no);
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
    auto options = std::make_shared<DoctorOptions>();
    CLI::App* command =
        app.add_subcommand("doctor", "Check this machine, and say what to install")->group(groups::set_up);
    command->footer("Exits with 1 if anything is missing.");
    command->add_flag("--quick", options->quick, "Look only: do not build and run a first kernel");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
