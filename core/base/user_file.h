// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which source files are the user's own.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace trimtab::base {

// Not where compilers and toolkits keep their own.
[[nodiscard]] inline bool is_user_file(std::string_view path) {
    return std::ranges::none_of(
        std::array<std::string_view, 7>{"/lib/clang/", "__clang_", "/usr/include/", "/usr/local/include/",
                                        "/usr/local/cuda", "/targets/x86_64-linux/include/",
                                        "/site-packages/nvidia/"},
        [&](std::string_view part) { return path.contains(part); });
}

}  // namespace trimtab::base
