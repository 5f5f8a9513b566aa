// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab validate: what runs of scripts/gpu_validate.sh on GPUs have found; and such runs as jobs of Slurm.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/slurm_jobs.h"
#include "tools/trimtab/timed_programs.h"
#include "tools/trimtab/validation_results.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct ValidateOptions {
    std::vector<std::string> folders;
    bool json = false, slurm = false, only_write = false;
    SlurmOptions jobs;
};

int read(const ValidateOptions& options) {
    std::vector<std::pair<std::string, ValidationResults>> all;
    std::vector<TimedProgram> timed;
    for (const std::string& given : options.folders) {
        const std::vector<std::string> folders = timed_folders(given);
        for (const std::string& folder : folders) {
            auto program = read_timed_program(folder);
            if (!program) return fail(program.error());
            timed.push_back(std::move(*program));
        }
        if (!folders.empty()) continue;
        for (const std::string& folder : result_folders(given)) {
            auto results = read_validation(folder);
            if (!results) return fail(results.error());
            all.emplace_back(folder, std::move(*results));
        }
    }
    bool disagrees = false;
    Json json = Json::array();
    std::string text;
    for (const auto& [folder, results] : all) {
        disagrees = disagrees || !results.disagreements.empty();
        json.push_back({{"folder", folder}});
        json.back().update(to_json(results));
        text += (text.empty() ? "" : "\n") + (all.size() > 1 ? folder + ":\n" : "") + to_text(results);
    }
    // One folder's results are what they always were.
    if (all.size() == 1 && timed.empty()) json = to_json(all.front().second);
    for (const TimedProgram& program : timed) json.push_back(to_json(program));
    if (options.json)
        fmt::print("{}\n", json.dump(2));
    else
        fmt::print("{}{}{}", timed.empty() ? "" : to_table(timed), all.size() > 1 ? to_table(all) + "\n" : "",
                   text);
    return code(disagrees ? ExitCode::no : ExitCode::ok);
}

int submit_jobs(ValidateOptions options) {
    if (options.jobs.bundle.empty() == options.jobs.program.empty())
        return fail(ExitCode::usage, "--slurm wants --bundle FILE, or a program to run, after --");
    if (options.jobs.folder.empty())
        return fail(ExitCode::usage, "--slurm wants a folder for the results: -o");
    if (options.jobs.kinds.empty()) options.jobs.kinds.emplace_back("any");
    options.jobs.submits = !options.only_write;
    const auto jobs = submit(options.jobs);
    if (!jobs) return fail(jobs.error());
    Json json = Json::array();
    for (const SlurmJob& job : *jobs) {
        json.push_back({{"gpu", job.kind},
                        {"job", job.id},
                        {"script", job.script},
                        {"steps", job.steps},
                        {"is_earlier", job.is_earlier}});
        if (options.json) continue;
        if (job.steps.empty())
            fmt::print("{}: all is done\n", job.kind);
        else if (job.is_earlier)
            fmt::print("{}: job {} of before is still under way\n", job.kind, job.id);
        else if (job.id.empty())
            fmt::print("{}: sbatch {}\n", job.kind, job.script);
        else
            fmt::print("{}: job {}: {}\n", job.kind, job.id, fmt::join(job.steps, ", "));
    }
    if (options.json) fmt::print("{}\n", json.dump(2));
    if (!options.jobs.waits) return code(ExitCode::ok);
    wait_for(*jobs);
    options.folders = {options.jobs.folder};
    const bool has_results = !options.jobs.bundle.empty() || !timed_folders(options.jobs.folder).empty();
    return has_results && !options.json ? read(options) : code(ExitCode::ok);
}

int run(const ValidateOptions& options) {
    if (options.slurm == !options.folders.empty())
        return fail(ExitCode::usage, "wants --read FOLDER, or --slurm");
    return options.slurm ? submit_jobs(options) : read(options);
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
    auto options = std::make_shared<ValidateOptions>();
    CLI::App* command =
        app.add_subcommand("validate", "Read gpu_validate.sh's results, or submit runs to Slurm")
            ->group(groups::make_safe);
    command->footer(
        "Examples: trimtab validate --read FOLDER\n"
        "          trimtab validate --slurm --bundle FILE --gpu KIND -o FOLDER");
    command
        ->add_option("--read", options->folders,
                     "Read this folder of results, or of such folders; may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_flag("--slurm", options->slurm,
                      "Submit an array job per kind of GPU, for the steps left to do");
    command->add_option("--bundle", options->jobs.bundle,
                        "Run this bundle of gpu_bundle.sh, or its unpacked folder");
    command
        ->add_option("--gpu", options->jobs.kinds, "Use this kind of GPU, as Slurm names it; may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        ->add_option("--step", options->jobs.program_steps,
                     "Run a program's bench (default) or profile; may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->check(CLI::IsMember({"bench", "profile"}));
    command->add_option("-o,--output", options->jobs.folder,
                        "Write scripts and results to this folder, which all nodes see");
    command->add_option("--seconds", options->jobs.seconds, "Limit each step to so many seconds")
        ->check(CLI::Range(30U, 86'400U))
        ->capture_default_str();
    command
        ->add_option("--sbatch-option", options->jobs.options,
                     "Pass this to sbatch, as --sbatch-option=--partition=gpus")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_flag("--write-only", options->only_write, "Write the scripts, but submit none");
    command->add_flag("--wait", options->jobs.waits, "Wait for the jobs, then read the results");
    command->add_flag("--json", options->json, "Print JSON");
    command
        ->add_option("PROGRAM", options->jobs.program, "The program to run there and its arguments, after --")
        ->expected(-1);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
