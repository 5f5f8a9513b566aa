// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/library_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace trimtab::cuda {

std::expected<LibraryFile, std::string> read_library_file(const std::string& path) {
    // A header that is cut short must not be read past.
    constexpr std::size_t spare_bytes = 64;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    LibraryFile out;
    out.size_bytes = static_cast<std::size_t>(file.tellg());
    out.bytes.resize(out.size_bytes + spare_bytes);
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(out.bytes.data()), static_cast<std::streamsize>(out.size_bytes)))
        return std::unexpected(fmt::format("{}: cannot be read", path));
    return out;
}

}  // namespace trimtab::cuda
