// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/clang_messages.h"

#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

std::string without_colors(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {
            while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

// "12:" at the front, which is then gone.
std::optional<std::size_t> take_number(std::string_view& text) {
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop == text.data() + text.size() || *stop != ':') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
    return value;
}

// PATH:LINE:COLUMN: TEXT, where a path may have colons of its own.
std::optional<ClangMessage> read_message(std::string_view line) {
    for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
         colon = line.find(':', colon + 1)) {
        std::string_view rest = line.substr(colon + 1);
        const auto row = take_number(rest);
        const auto column = row ? take_number(rest) : std::nullopt;
        if (!column || !rest.starts_with(' ')) continue;
        std::error_code error;
        const fs::path path = fs::canonical(fs::path(line.substr(0, colon)), error);
        if (error) return std::nullopt;
        return ClangMessage{
            .path = path.string(), .place = {*row, *column}, .text = std::string(rest.substr(1))};
    }
    return std::nullopt;
}

}  // namespace

std::vector<ClangMessage> placed_messages(const std::string& messages) {
    std::vector<ClangMessage> found;
    std::istringstream lines(without_colors(messages));
    for (std::string line; std::getline(lines, line);)
        if (auto message = read_message(line)) found.push_back(std::move(*message));
    return found;
}

std::vector<std::size_t> line_begins(std::string_view text) {
    std::vector<std::size_t> begins{0};
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\n') begins.push_back(i + 1);
    return begins;
}

}  // namespace trimtab::wrapper
