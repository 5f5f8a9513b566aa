// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/manual/manual_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace trimtab::manual {
namespace {

// A line's first . and ' are requests, and a plain - would be a hyphen.
std::string escaped(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool starts = line.empty() || line.back() == '\n';
        if (c == '\\') {
            line += "\\e";
        } else if (c == '-') {
            line += "\\-";
        } else {
            if (starts && (c == '.' || c == '\'')) line += "\\&";
            line += c;
        }
    }
    return line;
}

// Within a specification that stands between single quotes.
std::string zsh_words(std::string_view words) {
    std::string text;
    for (const char c : words) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text;
}

}  // namespace

std::string roff(const Page& page, std::string_view version) {
    std::string text =
        fmt::format(".TH \"{}\" 1 \"\" \"{}\" \"Trimtab\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                    escaped(page.name), version, escaped(page.name), escaped(page.summary));
    for (const std::string& line : page.synopsis) text += fmt::format(".B {}\n.br\n", escaped(line));
    for (const Section& section : page.sections) {
        text += fmt::format(".SH \"{}\"\n", section.title);
        if (!section.text.empty()) text += escaped(section.text) + "\n";
        for (const Entry& entry : section.entries)
            text += fmt::format(".TP\n.B {}\n{}\n", escaped(entry.term), escaped(entry.text));
    }
    return text;
}

std::string zsh_option(std::string_view name, std::string_view help, std::string_view value) {
    const std::string_view joint = name.ends_with('=') ? "-" : "";
    return value.empty()
               ? fmt::format("'{}[{}]'", name, zsh_words(help))
               : fmt::format("'{}{}[{}]:{}:_files'", name, joint, zsh_words(help), zsh_words(value));
}

std::expected<void, Error> write_file(const std::string& path, std::string_view text) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) return std::unexpected(Error{.message = "cannot be written", .file = path});
    return {};
}

}  // namespace trimtab::manual
