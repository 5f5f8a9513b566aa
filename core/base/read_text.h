// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include "trimtab/error.h"

namespace trimtab::base {

// What a file holds. The error names the file: it is not there, a folder, or reading it failed. Where a file that is
// not there is as good as an empty one, `.value_or("")` says so.
[[nodiscard]] inline std::expected<std::string, Error> read_text(const std::filesystem::path& path) {
    const auto failed = [&path] {
        return std::unexpected(
            Error{.message = std::string("cannot be read: ") + std::strerror(errno), .file = path.string()});
    };
    struct Close {
        void operator()(std::FILE* open) const { static_cast<void>(std::fclose(open)); }
    };
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
    if (file == nullptr) return failed();
    std::string text;
    char part[64 * 1024];
    while (const std::size_t size = std::fread(part, 1, sizeof part, file.get())) text.append(part, size);
    if (std::ferror(file.get()) != 0) return failed();
    return text;
}

}  // namespace trimtab::base
