// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/documentation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "tools/manual/manual_page.h"

namespace trimtab::tools {
namespace {

constexpr const char* exit_codes = "0 ok, 1 the answer is no, 2 wrong usage, 3 bad input.";

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    std::vector<const CLI::App*> commands;
    for (const CLI::App* command : app.get_subcommands({}))
        if (!command->get_group().empty()) commands.push_back(command);
    return commands;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    std::vector<const CLI::Option*> options;
    for (const CLI::Option* option : app.get_options({}))
        if (!option->get_group().empty()) options.push_back(option);
    return options;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() != 0;
}

// "-o", "--output"
std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}

manual::Section options_section(const CLI::App& command) {
    manual::Section section{.title = "OPTIONS", .text = {}, .entries = {}};
    for (const CLI::Option* option : options_of(command)) {
        if (option->get_positional()) {
            section.entries.push_back(
                {.term = option->get_name(/*positional=*/true), .text = option->get_description()});
            continue;
        }
        std::string text = option->get_description();
        if (!option->get_default_str().empty() && takes_value(*option))
            text += fmt::format(" (default {})", option->get_default_str());
        section.entries.push_back({.term = fmt::format("{}{}", fmt::join(names_of(*option), ", "),
                                                       takes_value(*option) ? " VALUE" : ""),
                                   .text = std::move(text)});
    }
    return section;
}

manual::Page page_of(const CLI::App& command) {
    manual::Page page{.name = "trimtab-" + command.get_name(),
                      .summary = command.get_description(),
                      .synopsis = {synopsis(command)},
                      .sections = {}};
    if (const std::string more = command.get_footer(); !more.empty())
        page.sections.push_back({.title = "DESCRIPTION", .text = more, .entries = {}});
    page.sections.push_back(options_section(command));
    page.sections.push_back({.title = "EXIT STATUS", .text = exit_codes, .entries = {}});
    page.sections.push_back({.title = "SEE ALSO", .text = "trimtab(1), trimtab++(1)", .entries = {}});
    return page;
}

manual::Page overview(const CLI::App& app) {
    manual::Page page{.name = "trimtab",
                      .summary = "questions about CUDA kernels, their launches and the GPUs they run on",
                      .synopsis = {},
                      .sections = {}};
    manual::Section section{.title = "SUBCOMMANDS", .text = {}, .entries = {}};
    std::string others = "trimtab++(1)";
    for (const CLI::App* command : commands_of(app)) {
        page.synopsis.push_back(synopsis(*command));
        section.entries.push_back({.term = command->get_name(), .text = command->get_description()});
        others += fmt::format(", trimtab-{}(1)", command->get_name());
    }
    page.sections = {section,
                     options_section(app),
                     {.title = "EXIT STATUS", .text = exit_codes, .entries = {}},
                     {.title = "SEE ALSO", .text = others, .entries = {}}};
    return page;
}

std::string words_of(const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::Option* option : options_of(command))
        for (std::string& name : names_of(*option)) words.push_back(std::move(name));
    return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_completion(const CLI::App& app) {
    std::vector<std::string> names;
    std::string cases;
    for (const CLI::App* command : commands_of(app)) {
        names.push_back(command->get_name());
        cases += fmt::format("        {}) words='{}' ;;\n", command->get_name(), words_of(*command));
    }
    return fmt::format(R"(# bash completion for trimtab
_trimtab() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} words='{} {}' i
    COMPREPLY=()
    for ((i = 2; i < COMP_CWORD; i++)); do
        # What follows -- is a program and its arguments.
        [[ ${{COMP_WORDS[i]}} != -- ]] || return 0
    done
    if ((COMP_CWORD > 1)); then
        case ${{COMP_WORDS[1]}} in
{}        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _trimtab trimtab
)",
                       fmt::join(names, " "), words_of(app), cases);
}

std::string zsh_completion(const CLI::App& app) {
    std::string commands;
    std::string cases;
    for (const CLI::App* command : commands_of(app)) {
        const std::string description =
            manual::zsh_option(command->get_name(), command->get_description(), "");
        commands += fmt::format("        {}\n", description);
        cases += fmt::format("        {}) _arguments -s", command->get_name());
        for (const CLI::Option* option : options_of(*command))
            for (const std::string& name : names_of(*option))
                cases += " \\\n            " + manual::zsh_option(name, option->get_description(),
                                                                  takes_value(*option) ? "value" : "");
        cases += " \\\n            '*:file:_files' ;;\n";
    }
    return fmt::format(R"(#compdef trimtab
_trimtab() {{
    local -a commands
    commands=(
{}    )
    if ((CURRENT == 2)); then
        _values 'subcommand' $commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{}    esac
}}
_trimtab "$@"
)",
                       commands, cases);
}

}  // namespace

std::string synopsis(const CLI::App& command) {
    std::string text = "trimtab " + command.get_name() + " [OPTION]...";
    for (const CLI::Option* option : options_of(command)) {
        if (!option->get_positional()) continue;
        const std::string name = option->get_name(/*positional=*/true);
        // After --, a program and what is its own.
        if (name == "PROGRAM")
            text += " -- PROGRAM [ARGUMENT]...";
        else
            text += option->get_required() ? " " + name : " [" + name + "]";
        if (name != "PROGRAM" && option->get_items_expected_max() > 1) text += "...";
    }
    return text;
}

std::expected<void, Error> write_documentation(const CLI::App& app, const std::string& folder) {
    const auto write_page = [&](const manual::Page& page) {
        return manual::write_file(fmt::format("{}/man1/{}.1", folder, page.name),
                                  manual::roff(page, app.version()));
    };
    if (auto written = write_page(overview(app)); !written) return written;
    for (const CLI::App* command : commands_of(app))
        if (auto written = write_page(page_of(*command)); !written) return written;
    if (auto written = manual::write_file(folder + "/bash/trimtab", bash_completion(app)); !written)
        return written;
    return manual::write_file(folder + "/zsh/_trimtab", zsh_completion(app));
}

}  // namespace trimtab::tools
