// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>

#include "tools/trimtab/documentation.h"

namespace trimtab::tools {
namespace {

constexpr std::size_t columns = 80, text_column = 24;

// The words of `text` behind `first`, from a column on.
std::string wrapped(std::string first, const std::string& text, std::size_t from) {
    std::string out, line = std::move(first);
    if (!line.empty() && line.size() + 1 > from) {
        out = line + '\n';
        line.clear();
    }
    line.resize(from, ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() > from && line.size() + 1 + word.size() > columns) {
            out += line + '\n';
            line.assign(from, ' ');
        }
        if (line.size() > from) line += ' ';
        line += word;
    }
    return out + line + '\n';
}

// "[1 - 100]" of CLI11's check.
std::string range_of(const std::string& type) {
    const std::size_t open = type.find('['), dash = type.find(" - ", open), close = type.find(']', dash);
    if (close == std::string::npos) return "";
    return type.substr(open + 1, dash - open - 1) + " to " + type.substr(dash + 3, close - dash - 3);
}

std::string value_of(const std::string& type) {
    if (const std::size_t open = type.find('{'); open != std::string::npos) {
        std::string names = type.substr(open + 1, type.find('}') - open - 1);
        std::ranges::replace(names, ',', '|');
        return names;
    }
    return type.starts_with("UINT") || type.starts_with("INT") ? "N"
           : type.starts_with("FLOAT")                         ? "X"
                                                               : "VALUE";
}

std::string option_line(const CLI::Option& option) {
    const bool takes_value = option.get_items_expected_max() != 0;
    if (option.get_positional())
        return wrapped("  " + option.get_name(/*positional=*/true), option.get_description(), text_column);
    std::string names = "  ";
    for (const std::string& name : option.get_snames()) names += "-" + name + ", ";
    for (const std::string& name : option.get_lnames()) names += "--" + name + ", ";
    names.resize(names.size() - 2);
    std::string text = option.get_description();
    if (takes_value) {
        const std::string type = option.get_type_name();
        names += " " + value_of(type);
        const std::string range = range_of(type), usual = option.get_default_str();
        if (!range.empty() && !usual.empty())
            text += fmt::format(" ({}; default {})", range, usual);
        else if (!range.empty() || !usual.empty())
            text += range.empty() ? fmt::format(" (default {})", usual) : fmt::format(" ({})", range);
    }
    return wrapped(std::move(names), text, text_column);
}

class OfSubcommand : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        std::string out = app->get_description() + ".\n" + wrapped("Usage:", synopsis(*app), 7) + "\n";
        for (const bool positional : {true, false})
            for (const CLI::Option* option : app->get_options({}))
                if (!option->get_group().empty() && option->get_positional() == positional)
                    out += option_line(*option);
        std::istringstream more(app->get_footer());
        bool first = true;
        for (std::string line; std::getline(more, line); first = false)
            out += (first ? "\n" : "") + (line.size() <= columns ? line + '\n' : wrapped("", line, 0));
        return out;
    }
};

// A line for each subcommand, with its group's name before the first.
class OfProgram : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        std::string out = app->get_description() + "\nUsage: trimtab [--help | --version] SUBCOMMAND ...\n";
        std::string group;
        for (const CLI::App* command : app->get_subcommands({})) {
            if (command->get_group().empty()) continue;
            out +=
                fmt::format("{:<12} {:<10} {}\n", command->get_group() == group ? "" : command->get_group(),
                            command->get_name(), command->get_description());
            group = command->get_group();
        }
        return out + "\n" + app->get_footer() + "\n";
    }
};

}  // namespace

void set_help(CLI::App& app) {
    app.formatter(std::make_shared<OfProgram>());
    const auto formatter = std::make_shared<OfSubcommand>();
    for (CLI::App* command : app.get_subcommands({})) command->formatter(formatter);
}

}  // namespace trimtab::tools
