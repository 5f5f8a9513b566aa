// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/read_text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "core/base/temporary_folder.h"

namespace trimtab::base {
namespace {

class ReadText : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make();
        ASSERT_TRUE(made.has_value()) << made.error().text();
        folder_.emplace(std::move(*made));
    }
    std::optional<TemporaryFolder> folder_;
};

TEST_F(ReadText, IsTheFileByteForByte) {
    std::string text("a\r\n\0b\n", 6);
    for (int i = 0; i < 16; i++) text += text;  // of several parts
    const std::string path = folder_->file("text");
    std::ofstream(path, std::ios::binary) << text;
    const auto read = read_text(path);
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(*read, text);
    std::ofstream(path, std::ios::binary | std::ios::trunc).flush();
    EXPECT_EQ(read_text(path).value_or("?"), "");
}

TEST_F(ReadText, SaysWhatCannotBeReadAndWhy) {
    const std::string path = folder_->file("nothing");
    const auto missing = read_text(path);
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().text(), path + ": cannot be read: No such file or directory");
    // Opened, and then not read.
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    const auto folder = read_text(path);
    ASSERT_FALSE(folder.has_value());
    EXPECT_EQ(folder.error().text(), path + ": cannot be read: Is a directory");
}

}  // namespace
}  // namespace trimtab::base
