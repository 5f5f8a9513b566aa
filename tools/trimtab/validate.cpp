// trimtab validate: what a run of scripts/gpu_validate.sh on a GPU has found.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/trimtab/command.h"
#include "tools/trimtab/validation_results.h"

namespace trimtab::tools {

namespace {

struct Options {
    std::string folder;
    bool json = false;
};

int run(const Options& options) {
    const auto results = read_validation(options.folder);
    if (!results) return fail(results.error());
    if (options.json)
        fmt::print("{}\n", to_json(*results).dump(2));
    else
        fmt::print("{}", to_text(*results));
    return code(results->disagreements.empty() ? ExitCode::ok : ExitCode::no);
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "validate",
        "Read what gpu_validate.sh wrote on a machine with a GPU: trimtab validate --read FOLDER");
    command->add_option("--read", options->folder, "The folder of results")->required();
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
