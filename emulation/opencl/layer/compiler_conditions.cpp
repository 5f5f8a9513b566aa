// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/layer/compiler_conditions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace trimtab::opencl {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Comments become blanks, lines that go on become one.
std::string without_comments(std::string_view source) {
    std::string out;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const std::string_view rest = source.substr(i);
        if (rest.starts_with("\\\n")) {
            ++i;
        } else if (rest.starts_with("\\\r\n")) {
            i += 2;
        } else if (rest.starts_with("//")) {
            while (i + 1 < source.size() && source[i + 1] != '\n') ++i;
        } else if (rest.starts_with("/*")) {
            const std::size_t end = source.find("*/", i + 2);
            i = end == std::string_view::npos ? source.size() : end + 1;
            out += ' ';
        } else if (source[i] == '"') {
            out += source[i];
            for (++i; i < source.size() && source[i] != '"' && source[i] != '\n'; ++i) {
                if (source[i] == '\\' && i + 1 < source.size()) out += source[i++];
                out += source[i];
            }
            if (i < source.size()) out += source[i];
        } else {
            out += source[i];
        }
    }
    return out;
}

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < line.size();) {
        if (!is_word(line[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < line.size() && is_word(line[end])) ++end;
        words.emplace_back(line.substr(i, end - i));
        i = end;
    }
    return words;
}

// What every OpenCL compiler says alike, where it says it at all.
constexpr std::array<std::string_view, 4> said_by_all{"defined", "__OPENCL_C_VERSION__", "CL_VERSION_1_0",
                                                      "CL_VERSION_1_1"};

}  // namespace

std::string asked_of_compiler(std::string_view source, const std::vector<std::string>& options) {
    std::set<std::string, std::less<>> defined(said_by_all.begin(), said_by_all.end());
    for (std::size_t i = 0; i < options.size(); ++i) {
        std::string_view option = options[i];
        if (!option.starts_with("-D")) continue;
        option.remove_prefix(2);
        if (option.empty() && i + 1 < options.size()) option = options[++i];
        if (const auto words = words_of(option.substr(0, option.find('='))); !words.empty())
            defined.insert(words[0]);
    }
    const std::string text = without_comments(source);
    for (std::string_view rest = text; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t\r")));
        if (!line.starts_with('#')) continue;
        const auto words = words_of(line.substr(1));
        if (words.empty()) continue;
        const std::string& directive = words[0];
        if (directive == "include") return "#include";
        // Also where a condition decides whether: the names that it reads are looked at.
        if (directive == "define" && words.size() > 1) defined.insert(words[1]);
        // A header's guard asks whether it was defined before.
        if (directive != "if" && directive != "elif" && directive != "ifdef" && directive != "ifndef")
            continue;
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (std::isdigit(static_cast<unsigned char>(words[i][0])) != 0 || defined.contains(words[i]))
                continue;
            // Defined further on, if at all: by the program, of the same source, whoever compiles it.
            if (text.contains("#define " + words[i])) continue;
            return words[i];
        }
    }
    return {};
}

}  // namespace trimtab::opencl
