// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/core/sass/fixtures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace trimtab::sass {

std::string data_text(const std::string& name) {
    std::ifstream file(TRIMTAB_SOURCE_DIR "/tests/core/sass/data/" + name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

Disassembly disassembly(const std::string& name) {
    auto read = read_disassembly(data_text(name), name);
    EXPECT_TRUE(read) << (read ? "" : read.error().text());
    return read ? std::move(*read) : Disassembly{};
}

Disassembly gather(unsigned architecture) {
    return disassembly(fmt::format("gather.sm_{}.sass", architecture));
}

}  // namespace trimtab::sass
