#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace trimtab::base {

// What a file holds; empty where it cannot be read.
[[nodiscard]] inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace trimtab::base
