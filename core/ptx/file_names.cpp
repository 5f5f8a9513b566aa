// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/file_names.h"

#include <charconv>
#include <cstddef>
#include <cstdint>

namespace trimtab::ptx {

std::string decode_file_name(std::string_view name) {
    constexpr std::uint8_t first_beyond_ascii = 0x80;
    std::string decoded;
    for (std::size_t i = 0; i < name.size(); ++i) {
        std::uint8_t byte = 0;
        if (name[i] == '%' && i + 2 < name.size()) {
            const char* digits = name.data() + i + 1;
            const bool is_byte = std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
            if (is_byte && byte >= first_beyond_ascii) {
                decoded += static_cast<char>(byte);
                i += 2;
                continue;
            }
        }
        decoded += name[i];
    }
    return decoded;
}

}  // namespace trimtab::ptx
