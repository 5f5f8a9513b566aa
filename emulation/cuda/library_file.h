// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code in a file: PTX text, a fat binary, or what cannot be run.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace trimtab::cuda {

struct LibraryFile {
    std::vector<std::byte> bytes;  // the file, and zeros behind it: PTX text must end with a NUL
    std::size_t size_bytes = 0;    // of the file
};
// The error is a line for people.
[[nodiscard]] std::expected<LibraryFile, std::string> read_library_file(const std::string& path);

}  // namespace trimtab::cuda
