// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/source_text.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace trimtab::tools {
namespace {

constexpr std::uintmax_t most_bytes = 4 << 20;  // no one writes more by hand

std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    std::error_code error;
    // A pipe or a device could be waited for without end.
    if (!std::filesystem::is_regular_file(path, error) ||
        std::filesystem::file_size(path, error) > most_bytes)
        return lines;
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
    return lines;
}

}  // namespace

std::string SourceText::at(const std::string& place) {
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos) return "";
    const std::string path = place.substr(0, colon);
    const auto [file, is_new] = files_.try_emplace(path);
    if (is_new) file->second = lines_of(path);
    const auto number = static_cast<std::size_t>(std::strtoul(place.c_str() + colon + 1, nullptr, 10));
    if (number == 0 || number > file->second.size()) return "";
    std::string line = file->second[number - 1];
    line.erase(0, line.find_first_not_of(" \t\r"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    return line;
}

}  // namespace trimtab::tools
