// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/kept_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/temporary_folder.h"

namespace trimtab::base {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}
std::string text_of(const SealedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

class KeptFile : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make();
        ASSERT_TRUE(made) << made.error().text();
        folder_.emplace(std::move(*made));
        path_ = folder_->file("kept");
    }
    std::string why_refused(std::size_t most_bytes = 1000) const {
        const auto file = read_sealed(path_, most_bytes, "this");
        return file ? "" : file.error().message;
    }
    static mode_t mode(const std::string& path) {
        struct stat status{};
        EXPECT_EQ(stat(path.c_str(), &status), 0);
        return status.st_mode & 07777;
    }
    std::optional<TemporaryFolder> folder_;
    std::string path_;
};

TEST_F(KeptFile, IsReadAsItWasWrittenForOnePurposeAlone) {
    ASSERT_TRUE(write_sealed(path_, bytes_of("content"), "this"));
    const auto file = read_sealed(path_, 1000, "this");
    ASSERT_TRUE(file && *file);
    EXPECT_EQ(text_of(**file), "content");
    EXPECT_EQ(mode(path_), 0600u);
    EXPECT_EQ(read_sealed(path_, 1000, "that").error().message, "is damaged");
    const auto none = read_sealed(path_ + ".none", 1000, "this");
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
}

TEST_F(KeptFile, IsRefusedWhereverAByteOfItChanged) {
    ASSERT_TRUE(write_sealed(path_, bytes_of("content"), "this"));
    for (std::uintmax_t at = 0; at < fs::file_size(path_); ++at) {
        std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(static_cast<std::streamoff>(at));
        const int was = file.get();
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(was ^ 1));
        file.flush();
        EXPECT_EQ(why_refused(), "is damaged") << "byte " << at;
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(was));
    }
    EXPECT_EQ(why_refused(), "");
    fs::resize_file(path_, fs::file_size(path_) - 1);
    EXPECT_EQ(why_refused(), "is damaged");
    fs::resize_file(path_, 0);
    EXPECT_EQ(why_refused(), "is damaged");
}

TEST_F(KeptFile, IsRefusedWhereOthersCouldHavePutIt) {
    ASSERT_TRUE(write_sealed(path_, bytes_of("content"), "this"));
    chmod(path_.c_str(), 0620);
    EXPECT_EQ(why_refused(), "others may write to it");
    chmod(path_.c_str(), 0602);
    EXPECT_EQ(why_refused(), "others may write to it");
    chmod(path_.c_str(), 0600);
    EXPECT_EQ(why_refused(10), "is too large");
    if (geteuid() == 0) {
        ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
        EXPECT_EQ(why_refused(), "is another user's");
    }
    fs::rename(path_, path_ + ".real");
    fs::create_symlink(path_ + ".real", path_);
    EXPECT_THAT(why_refused(), HasSubstr("symbolic"));
    fs::remove(path_);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);  // whose opening would wait for a writer
    EXPECT_EQ(why_refused(), "is no file");
}

TEST_F(KeptFile, StaysTheSameWhoeverTakesItsName) {
    ASSERT_TRUE(write_sealed(path_, bytes_of("content"), "this"));
    const auto file = read_sealed(path_, 1000, "this");
    ASSERT_TRUE(file && *file);
    ASSERT_TRUE(write_sealed(path_, bytes_of("other"), "this"));
    std::string content(7, ' ');
    EXPECT_EQ(pread((*file)->file().number(), content.data(), 7, 0), 7);
    EXPECT_EQ(content, "content");
}

TEST_F(KeptFile, WrittenByManyAtOnceIsOneOfTheirs) {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i)
        writers.emplace_back([&, i] {
            const std::string content(10'000, static_cast<char>('a' + i));
            for (int n = 0; n < 20; ++n) ASSERT_TRUE(write_sealed(path_, bytes_of(content), "this"));
        });
    writers.clear();
    const auto file = read_sealed(path_, 100'000, "this");
    ASSERT_TRUE(file && *file);
    EXPECT_EQ(text_of(**file), std::string(10'000, text_of(**file).front()));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_->path()), {}), 1) << "temporary files stay";
}

TEST_F(KeptFile, FoldersAreTheUsersAlone) {
    const std::string deep = folder_->file("a/b/c");
    ASSERT_TRUE(make_private_folder(deep));
    for (const char* made : {"a", "a/b", "a/b/c"}) EXPECT_EQ(mode(folder_->file(made)), 0700u) << made;
    chmod(deep.c_str(), 0777);
    ASSERT_TRUE(make_private_folder(deep));
    EXPECT_EQ(mode(deep), 0700u);
    ASSERT_TRUE(write_whole(path_, bytes_of("x")));
    EXPECT_EQ(make_private_folder(path_).error().text(), path_ + ": is no folder");
    EXPECT_THAT(make_private_folder(path_ + "/below").error().text(), HasSubstr("Not a directory"));
    if (geteuid() == 0) {
        ASSERT_EQ(chown(deep.c_str(), 12345, 12345), 0);
        EXPECT_EQ(make_private_folder(deep).error().message, "is another user's");
    }
}

TEST_F(KeptFile, TheLongestUnusedGoFirst) {
    const auto now = fs::file_time_type::clock::now();
    for (int i = 0; i < 10; ++i) {
        const std::string path = folder_->file(std::to_string(i));
        ASSERT_TRUE(write_sealed(path, bytes_of(std::string(1000, 'x')), "this"));
        fs::last_write_time(path, now - std::chrono::hours(100 - i));
    }
    ASSERT_TRUE(read_sealed(folder_->file("0"), 10'000, "this"));  // used now
    prune_oldest(folder_->path(), 8, 1'000'000);
    EXPECT_TRUE(fs::exists(folder_->file("0")));
    EXPECT_FALSE(fs::exists(folder_->file("1")));
    EXPECT_FALSE(fs::exists(folder_->file("2")));
    EXPECT_TRUE(fs::exists(folder_->file("3")));
    prune_oldest(folder_->path(), 8, 3500);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_->path()), {}), 3);
    EXPECT_TRUE(fs::exists(folder_->file("0")));
    prune_oldest(folder_->file("none"), 1, 1);
}

}  // namespace
}  // namespace trimtab::base
