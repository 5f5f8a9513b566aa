// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/own_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "llvm/ADT/StringExtras.h"
#include "pipeline/workers/pool.h"
#include "tools/manual/manual_page.h"

namespace trimtab::wrapper {
namespace {

constexpr std::string_view prefix = "--trimtab-";
constexpr std::string_view summary = "compile CUDA programs whose launches choose their own thread blocks";

struct OwnOption {
    std::string_view name;   // with the = before a value
    std::string_view value;  // what stands for the value in a help text
    std::string_view help;
};

constexpr std::array own_options = {
    OwnOption{"--trimtab-profile=", "auto|off|DIR|FILE",
              "Where profiles are kept: in the user's cache (auto), in a folder or in a database; off: none "
              "are made, "
              "and kernels keep their blocks"},
    OwnOption{"--trimtab-sizes=", "LOW:HIGH",
              "The sizes that profiles use, 8 <= LOW <= HIGH <= 4096; 64:256 where it is left out"},
    OwnOption{"--trimtab-check=", "on|off",
              "Try other blocks of each kernel on the emulator first (default on)"},
    OwnOption{"--trimtab-precompile=", "on|off",
              "Keep the headers that every CUDA source includes first precompiled in the user's cache "
              "(default on)"},
    OwnOption{"--trimtab-keep=", "DIR",
              "Write there what is made on the way: descriptions, driver programs in C, PTX"},
    OwnOption{"--trimtab-annotations=", "FILE",
              "Read annotations from this file, as trimtab suggest writes them; the source's own come first"},
    OwnOption{"--trimtab-model=", "NAME|FILE",
              "The model that driver programs predict times by: trimtab (default), mwp-cwp, gpuperf, waves, "
              "sectors, or a file's"},
    OwnOption{"--trimtab-variants=", "MACRO=V,V...",
              "Compile the device code for these values of a macro too: a launch of a kernel that depends on "
              "it may "
              "become one of another value's, by annotation. Once for each macro"},
    OwnOption{
        "--trimtab-coarsen=", "N,N...",
        "Make further bodies of kernels, in which each thread does the work of so many (2 to 32, 4 numbers "
        "at most): a launch may become one of them where that is predicted faster"},
    OwnOption{"--trimtab-workers=", "N|COMMAND|N*COMMAND",
              "Who profiles the kernels: so many workers on this machine, one that the command starts (\"ssh "
              "node7 trimtab worker\"), or so many such. May be repeated"},
    OwnOption{"--trimtab-quiet", "", "No progress and no notes; warnings stay"},
    OwnOption{"--trimtab-instead-of", "COMPILER",
              "First on the command line: the rest is that compiler's, in whose place trimtab++ stands (for "
              "compiler "
              "launchers of build systems)"},
};

std::optional<std::uint32_t> parse_number(std::string_view text) {
    std::uint32_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// The value of `option`, "on" or "off".
std::expected<void, Error> read_switch(bool& is_on, std::string_view option, std::string_view value) {
    if (value != "on" && value != "off")
        return std::unexpected(Error{fmt::format("{}: wants on or off", option)});
    is_on = value == "on";
    return {};
}

// "BLOCK=64,128,256".
std::expected<MacroVariants, Error> read_macro_variants(std::string_view text) {
    constexpr std::size_t most_values = 16;  // as TRIMTAB_VARIANTS takes
    const std::size_t equals = text.find('=');
    MacroVariants macro{.name = std::string(text.substr(0, equals)), .values = {}};
    const auto is_letter = [](char c) { return c == '_' || llvm::isAlpha(c); };
    if (macro.name.empty() || !is_letter(macro.name.front()) ||
        !std::ranges::all_of(macro.name, [&](char c) { return is_letter(c) || llvm::isDigit(c); }))
        return std::unexpected(Error{"wants MACRO=VALUE,VALUE... with the name of a macro"});
    if (equals == std::string_view::npos || equals + 1 == text.size())
        return std::unexpected(Error{fmt::format("names no value of {}", macro.name)});
    for (std::string_view rest = text.substr(equals + 1);;) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        const auto value = parse_number(word);
        if (!value || *value == 0 || *value > INT32_MAX)
            return std::unexpected(Error{fmt::format("'{}' is no integer from 1 to {}", word, INT32_MAX)});
        if (std::ranges::find(macro.values, static_cast<std::int32_t>(*value)) != macro.values.end())
            return std::unexpected(Error{fmt::format("{} is there twice", *value)});
        macro.values.push_back(static_cast<std::int32_t>(*value));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (macro.values.size() > most_values)
        return std::unexpected(
            Error{fmt::format("{} values: {} are the most", macro.values.size(), most_values)});
    return macro;
}

// "2,4,8".
std::expected<std::vector<std::uint32_t>, Error> read_elements(std::string_view text) {
    constexpr std::uint32_t least = 2, most = 32;
    constexpr std::size_t most_numbers = 4;
    std::vector<std::uint32_t> elements;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        const auto number = parse_number(word);
        if (!number || *number < least || *number > most)
            return std::unexpected(Error{fmt::format("'{}' is no integer from {} to {}", word, least, most)});
        if (std::ranges::find(elements, *number) != elements.end())
            return std::unexpected(Error{fmt::format("{} is there twice", *number)});
        elements.push_back(*number);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (elements.size() > most_numbers)
        return std::unexpected(
            Error{fmt::format("{} numbers: {} are the most", elements.size(), most_numbers)});
    return elements;
}

std::string names_of_options() {
    std::string names;
    for (const OwnOption& option : own_options)
        names += (names.empty() ? "" : ", ") + std::string(option.name);
    return names;
}

}  // namespace

bool is_own_option(std::string_view token) {
    return token.starts_with(prefix);
}

std::expected<void, Error> read_own_option(CommandLine& line, std::string_view option) {
    auto value_of = [&](std::string_view name) -> std::optional<std::string> {
        if (!option.starts_with(name)) return std::nullopt;
        return std::string(option.substr(name.size()));
    };
    if (auto value = value_of("--trimtab-profile=")) {
        if (value->empty())
            return std::unexpected(Error{"--trimtab-profile= wants auto, off, a folder or a database"});
        line.profile = *value;
    } else if (auto sizes = value_of("--trimtab-sizes=")) {
        const std::size_t colon = sizes->find(':');
        const auto low = parse_number(std::string_view(*sizes).substr(0, colon));
        const auto high = colon == std::string::npos
                              ? std::nullopt
                              : parse_number(std::string_view(*sizes).substr(colon + 1));
        if (!low || !high || *low < 8 || *high < *low || *high > 4096)
            return std::unexpected(
                Error{"--trimtab-sizes=" + *sizes + ": wants LOW:HIGH with 8 <= LOW <= HIGH <= 4096"});
        line.smallest_size = *low;
        line.largest_size = *high;
    } else if (auto check = value_of("--trimtab-check=")) {
        if (auto read = read_switch(line.check, option, *check); !read) return read;
    } else if (auto precompile = value_of("--trimtab-precompile=")) {
        if (auto read = read_switch(line.precompile, option, *precompile); !read) return read;
    } else if (auto keep = value_of("--trimtab-keep=")) {
        if (keep->empty()) return std::unexpected(Error{"--trimtab-keep= wants a folder"});
        line.keep = *keep;
    } else if (auto annotations = value_of("--trimtab-annotations=")) {
        if (annotations->empty()) return std::unexpected(Error{"--trimtab-annotations= wants a file"});
        line.annotations = *annotations;
    } else if (auto model = value_of("--trimtab-model=")) {
        auto chosen = model::choose_model(*model);
        if (!chosen)
            return std::unexpected(
                Error{fmt::format("--trimtab-model={}: {}", *model, chosen.error().text())});
        line.model = std::move(*chosen);
    } else if (auto variants = value_of("--trimtab-variants=")) {
        auto read = read_macro_variants(*variants);
        if (read && std::ranges::any_of(line.variants,
                                        [&](const MacroVariants& other) { return other.name == read->name; }))
            read = std::unexpected(Error{read->name + " is named twice"});
        if (!read)
            return std::unexpected(
                Error{fmt::format("--trimtab-variants={}: {}", *variants, read.error().text())});
        line.variants.push_back(std::move(*read));
    } else if (auto numbers = value_of("--trimtab-coarsen=")) {
        auto elements = read_elements(*numbers);
        if (!elements)
            return std::unexpected(
                Error{fmt::format("--trimtab-coarsen={}: {}", *numbers, elements.error().text())});
        line.elements = std::move(*elements);
    } else if (auto text = value_of("--trimtab-workers=")) {
        auto commands = workers::read_workers(*text);
        if (!commands)
            return std::unexpected(
                Error{fmt::format("--trimtab-workers={}: {}", *text, commands.error().text())});
        std::ranges::move(*commands, std::back_inserter(line.workers));
    } else if (auto folder = value_of("--trimtab-documentation=")) {
        line.documentation = *folder;
    } else if (option == "--trimtab-quiet") {
        line.quiet = true;
    } else if (option == "--trimtab-instead-of") {
        return std::unexpected(Error{"--trimtab-instead-of COMPILER comes first on the command line"});
    } else {
        return std::unexpected(
            Error{fmt::format("unknown option {} (Trimtab's own are {})", option, names_of_options())});
    }
    return {};
}

std::string version_text() {
    return "trimtab++ (Trimtab) " TRIMTAB_VERSION "\n";
}

std::string help_text() {
    std::string text = fmt::format(
        "trimtab++: {}.\n\nUSAGE: trimtab++ [clang++'s or nvcc's options] [Trimtab's options] file...\n\n"
        "TRIMTAB'S OPTIONS:\n",
        summary);
    for (const OwnOption& option : own_options)
        text += fmt::format("  {}{}{}\n                          {}\n", option.name,
                            option.name.ends_with('=') || option.value.empty() ? "" : " ", option.value,
                            option.help);
    return text + "\nAll other options are nvcc's, where they are written as nvcc's, and clang++'s:\n\n";
}

std::expected<void, Error> write_documentation(const std::string& folder) {
    manual::Page page{.name = "trimtab++",
                      .summary = std::string(summary),
                      .synopsis = {"trimtab++ [OPTION]... FILE..."},
                      .sections = {}};
    page.sections.push_back(
        {.title = "DESCRIPTION",
         .text =
             "A clang++ that takes nvcc's options too. The device code of a CUDA source is compiled once, "
             "each of "
             "its kernels is described, profiled and fitted, and the driver programs that choose its blocks "
             "are "
             "joined to the object. The link takes Trimtab's runtime instead of CUDA's. A command line "
             "without CUDA is clang++'s own.",
         .entries = {}});
    manual::Section own{.title = "OPTIONS",
                        .text = "In addition to those of clang++(1) and nvcc, Trimtab has its own:",
                        .entries = {}};
    for (const OwnOption& option : own_options)
        own.entries.push_back({.term = std::string(option.name) +
                                       (option.name.ends_with('=') || option.value.empty() ? "" : " ") +
                                       std::string(option.value),
                               .text = std::string(option.help)});
    page.sections.push_back(std::move(own));
    page.sections.push_back(
        {.title = "EXIT STATUS",
         .text = "That of clang++; 2 for a command line that cannot be read; 3 where a tool or the "
                 "CUDA toolkit is missing.",
         .entries = {}});
    page.sections.push_back({.title = "SEE ALSO", .text = "trimtab(1), clang++(1)", .entries = {}});
    if (auto written = manual::write_file(folder + "/man1/trimtab++.1",
                                          manual::roff(page, "trimtab++ " TRIMTAB_VERSION));
        !written)
        return written;

    std::string words;
    std::string arguments;
    for (const OwnOption& option : own_options) {
        words += (words.empty() ? "" : " ") + std::string(option.name);
        arguments += fmt::format(" \\\n    {}", manual::zsh_option(option.name, option.help, option.value));
    }
    // clang tells how a word of its own goes on: --autocomplete.
    if (auto written =
            manual::write_file(folder + "/bash/trimtab++", fmt::format(R"(# bash completion for trimtab++
_trimtab_compiler() {{
    local current=${{COMP_WORDS[COMP_CWORD]}}
    COMPREPLY=()
    if [[ $current == --trimtab-* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '{}' -- "$current")
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(trimtab++ --autocomplete="$current" 2>/dev/null | cut -f1) --trimtab-" \
                                         -- "$current")
    fi
    [[ ${{COMPREPLY[*]}} != *= && ${{COMPREPLY[*]}} != *- ]] || compopt -o nospace
}}
complete -o default -F _trimtab_compiler trimtab++
)",
                                                                       words));
        !written)
        return written;
    return manual::write_file(
        folder + "/zsh/_trimtab++",
        fmt::format("#compdef trimtab++\n_arguments -s{} \\\n    '*:file:_files'\n", arguments));
}

}  // namespace trimtab::wrapper
