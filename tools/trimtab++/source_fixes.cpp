// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/source_fixes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/read_text.h"
#include "tools/trimtab++/source_text.h"
#include "tools/trimtab++/word.h"

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

// Enough for any program; a guard against trees of headers.
constexpr std::size_t max_files = 200;

// PTX ISA 8.8, section 10: special registers, by the word before any '.'.
bool is_special_register(std::string_view name) {
    static constexpr std::array<std::string_view, 16> names = {
        "tid",   "ntid",   "laneid", "warpid",  "nwarpid",  "ctaid",     "nctaid",     "smid",
        "nsmid", "gridid", "clock",  "clock64", "clock_hi", "clusterid", "nclusterid", "dynamic_smem_size"};
    return std::ranges::find(names, name) != names.end() || name.starts_with("lanemask_") ||
           name.starts_with("globaltimer") || name.starts_with("cluster_") || name == "total_smem_size";
}

// Where '%' is to be doubled in the statement whose '(' is at `open`.
void find_registers(const std::string& text, std::size_t open, std::vector<std::size_t>& places) {
    std::vector<std::size_t> found;
    int depth = 0;
    for (std::size_t i = open; i < text.size();) {
        const std::size_t end = skip_literal_or_comment(text, i);
        if (end > i) {
            for (std::size_t k = i; text[i] == '"' && k + 1 < end; ++k) {
                if (text[k] != '%') continue;
                if (text[k + 1] == '%') {
                    ++k;
                    continue;
                }
                std::size_t stop = k + 1;
                while (stop < end && is_word(text[stop])) ++stop;
                if (is_special_register(std::string_view(text).substr(k + 1, stop - k - 1)))
                    found.push_back(k);
            }
            i = end;
            continue;
        }
        if (text[i] == '(') ++depth;
        if (text[i] == ')' && --depth == 0) return;  // without operands '%' stands for itself
        if (text[i] == ':' && depth == 1) {
            places.insert(places.end(), found.begin(), found.end());
            return;
        }
        ++i;
    }
}

// #include "..." of a text.
std::vector<std::string> quoted_includes(const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t at = text.find("#include"); at != std::string::npos;
         at = text.find("#include", at + 8)) {
        const std::size_t open = text.find_first_not_of(" \t", at + 8);
        if (open == std::string::npos || text[open] != '"') continue;
        const std::size_t close = text.find_first_of("\"\n", open + 1);
        if (close != std::string::npos && text[close] == '"')
            names.push_back(text.substr(open + 1, close - open - 1));
    }
    return names;
}

std::vector<fs::path> include_folders(const CommandLine& line) {
    std::vector<fs::path> folders;
    for (const Argument& argument : line.arguments) {
        const std::string& token = argument.tokens.front();
        if (token.starts_with("-I"))
            folders.emplace_back(token.size() > 2 ? token.substr(2) : argument.tokens.back());
    }
    return folders;
}

// Three times `chevron` from `at` on, with white space between them or not: one past the last; 0 where they are not there.
std::size_t end_of_three(const std::string& text, std::size_t at, char chevron) {
    for (int i = 0; i < 3; ++i) {
        at = i == 0 ? at : text.find_first_not_of(white_space, at);
        if (at >= text.size() || text[at] != chevron) return 0;
        ++at;
    }
    return at;
}

// The '>>>' that ends the launch whose '<<<' ends at `at`; nothing where there is none before the statement's end.
std::optional<std::pair<std::size_t, std::size_t>> closing_chevrons(const std::string& text, std::size_t at) {
    for (int depth = 0; at < text.size();) {
        const std::size_t end = skip_literal_or_comment(text, at);
        if (end > at) {
            at = end;
            continue;
        }
        const char c = text[at];
        depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
        if (depth < 0 || (depth == 0 && c == ';')) return std::nullopt;
        if (const std::size_t closed = depth == 0 && text[at - 1] != '-' ? end_of_three(text, at, '>') : 0;
            closed != 0)
            if (const std::size_t next = text.find_first_not_of(white_space, closed);
                next != std::string::npos && text[next] == '(')
                return std::pair(at, closed);
        ++at;
    }
    return std::nullopt;
}

// The white space between chevrons moves behind them.
void join(std::string& text, std::size_t begin, std::size_t end, char chevron) {
    std::string joined(3, chevron);
    for (std::size_t i = begin; i < end; ++i)
        if (text[i] != chevron) joined += text[i];
    text.replace(begin, end - begin, joined);
}

// operator<< <T>(...)
bool is_of_operator(const std::string& text, std::size_t at) {
    constexpr std::string_view word = "operator";
    const std::size_t last = at == 0 ? std::string::npos : text.find_last_not_of(white_space, at - 1);
    return last != std::string::npos && last + 1 >= word.size() &&
           text.compare(last + 1 - word.size(), word.size(), word) == 0;
}

}  // namespace

std::optional<std::string> with_joined_chevrons(const std::string& text) {
    std::string fixed = text;
    for (std::size_t i = 0; i < fixed.size();) {
        if (const std::size_t end = skip_literal_or_comment(fixed, i); end > i) {
            i = end;
            continue;
        }
        const std::size_t opened = fixed[i] == '<' ? end_of_three(fixed, i, '<') : 0;
        if (opened == 0 || is_of_operator(fixed, i)) {
            ++i;
            continue;
        }
        if (const auto closing = closing_chevrons(fixed, opened)) {
            join(fixed, i, opened, '<');
            join(fixed, closing->first, closing->second, '>');
        }
        i = opened;
    }
    return fixed == text ? std::nullopt : std::optional(std::move(fixed));
}

std::optional<std::string> with_escaped_registers(const std::string& text) {
    if (!text.contains("asm")) return std::nullopt;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = skip_literal_or_comment(text, i);
        if (end > i) {
            i = end;
            continue;
        }
        if (!is_word(text[i])) {
            ++i;
            continue;
        }
        std::size_t stop = i;
        while (stop < text.size() && is_word(text[stop])) ++stop;
        const std::string_view word = std::string_view(text).substr(i, stop - i);
        i = stop;
        if (word != "asm" && word != "__asm__" && word != "__asm") continue;
        std::size_t open = text.find_first_not_of(" \t\r\n", stop);
        for (const std::string_view qualifier : {"volatile", "__volatile__", "__volatile"}) {
            if (open == std::string::npos || text.compare(open, qualifier.size(), qualifier) != 0) continue;
            open = text.find_first_not_of(" \t\r\n", open + qualifier.size());
            break;
        }
        if (open != std::string::npos && text[open] == '(') find_registers(text, open, places);
    }
    if (places.empty()) return std::nullopt;
    std::string fixed = text;
    for (auto place = places.rbegin(); place != places.rend(); ++place) fixed.insert(*place, 1, '%');
    return fixed;
}

FixedSources fix_sources(const CommandLine& line, std::size_t input, const TemporaryFolder& folder,
                         const std::vector<Refusal>& refused) {
    FixedSources result;
    const std::vector<fs::path> folders = include_folders(line);
    std::deque<fs::path> files;  // whose members stay where they are as it grows
    std::set<fs::path> seen;
    auto visit = [&](const fs::path& path) {
        std::error_code error;
        const fs::path absolute = fs::canonical(path, error);
        if (error || !fs::is_regular_file(absolute, error)) return false;
        if (files.size() < max_files && seen.insert(absolute).second) files.push_back(absolute);
        return true;
    };
    visit(line.arguments[input].tokens.front());
    // Headers found in other ways are changed where something of theirs was refused.
    for (const Refusal& refusal : refused)
        for (const auto& [path, places] : refusal.places) visit(path);

    nlohmann::json roots = nlohmann::json::array();
    for (std::size_t i = 0; i < files.size(); ++i) {  // grows as it goes
        const fs::path& path = files[i];
        const std::string text = base::read_text(path).value_or("");
        for (const std::string& name : quoted_includes(text)) {
            if (visit(path.parent_path() / name)) continue;
            for (const fs::path& other : folders)
                if (visit(other / name)) break;
        }
        auto fixed = with_escaped_registers(text);
        if (auto joined = with_joined_chevrons(fixed ? *fixed : text)) fixed = std::move(joined);
        for (const Refusal& refusal : refused) {
            const auto places = refusal.places.find(path.string());
            if (places == refusal.places.end()) continue;
            fixed = with_accepted_form(fixed ? *fixed : text, refusal.form, places->second);
            result.knows_refused &= fixed.has_value();
        }
        if (!fixed) continue;
        const std::string copy = folder.file("fixed" + std::to_string(input) + "." + std::to_string(i));
        std::ofstream(copy, std::ios::binary) << *fixed;
        roots.push_back(
            {{"name", path.parent_path().string()},
             {"type", "directory"},
             {"contents",
              {{{"name", path.filename().string()}, {"type", "file"}, {"external-contents", copy}}}}});
    }
    if (roots.empty()) return result;
    result.overlay = folder.file("overlay" + std::to_string(input) + ".yaml");
    std::ofstream(result.overlay) << nlohmann::json(
        {{"version", 0}, {"case-sensitive", "true"}, {"use-external-names", "false"}, {"roots", roots}});
    return result;
}

}  // namespace trimtab::wrapper
