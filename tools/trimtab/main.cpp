// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab: questions about devices, kernels and their launches.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/nearest_name.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/documentation.h"
#include "tools/trimtab/help_text.h"
#include "tools/trimtab/measuring_commands.h"

namespace trimtab::tools {

namespace {

// CLI11 says only that a subcommand is required.
std::string usage_message(const CLI::App& app, int argc, char** argv, const CLI::ParseError& error) {
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
        std::vector<std::string> names;
        for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
        return fmt::format("there is no subcommand {}{}", argv[1], base::suggestion(argv[1], names));
    }
    return error.what();
}

}  // namespace

}  // namespace trimtab::tools

int main(int argc, char** argv) {
    using namespace trimtab::tools;
    CLI::App app("Trimtab chooses the thread block of every CUDA kernel launch.", "trimtab");
    app.set_version_flag("--version", "trimtab " TRIMTAB_VERSION);
    app.require_subcommand(1);
    Action action;
    add_run(app, action);
    add_bench(app, action);
    add_advise(app, action);
    add_inspect(app, action);
    add_predict(app, action);
    add_emulate(app, action);
    add_select(app, action);
    add_search(app, action);
    add_prune(app, action);
    add_suggest(app, action);
    add_profile(app, action);
    add_verify(app, action);
    add_validate(app, action);
    add_doctor(app, action);
    add_devices(app, action);
    add_calibrate(app, action);
    add_prepare(app, action);
    add_cl(app, action);
    add_worker(app, action);
    std::string folder;
    CLI::App* documentation =
        app.add_subcommand("documentation", "Write the man pages and completions")->group("");
    documentation->add_option("DIR", folder)->required();
    documentation->callback([&] {
        action = [&] {
            const auto written = write_documentation(app, folder);
            return written ? code(ExitCode::ok) : fail(written.error());
        };
    });
    app.footer(
        "trimtab SUBCOMMAND --help prints the options of one.\n"
        "Exit codes: 0 ok, 1 the answer is no, 2 wrong usage, 3 bad input.");
    set_help(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // --help and --version end here too, with 0.
        if (error.get_exit_code() == 0) return app.exit(error);
        return fail(ExitCode::usage, usage_message(app, argc, argv, error) + " (see trimtab --help)");
    }
    try {
        return action();
    } catch (const std::exception& error) {  // out of memory, a full disk
        return fail(ExitCode::bad_input, error.what());
    }
}
