// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/store.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "made_up_kernels.h"

namespace trimtab::profiler {
namespace {

using ::testing::HasSubstr;

class Store : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = ::testing::TempDir() + "store_XXXXXX";
        ASSERT_NE(mkdtemp(folder_.data()), nullptr);
        path_ = folder_ + "/a/b/profiles.sqlite";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    ProfileStore open(const std::string& path) {
        return ProfileStore(path, [this](const std::string& line) { said_.push_back(line); });
    }
    std::string folder_, path_;
    std::vector<std::string> said_;
};

TEST_F(Store, KeepsWhatIsPut) {
    Profile profile;
    profile.kernel_id = "k";
    const std::string bytes("\0\xff binary\0", 10);
    {
        ProfileStore store = open(path_);
        EXPECT_FALSE(store.profile("key"));
        store.put_profile("key", profile);
        store.put_blob("object", "key", bytes);
        store.put_blob("object", "key2", "");
    }
    ProfileStore store = open(path_);
    EXPECT_EQ(store.profile("key"), profile);
    EXPECT_FALSE(store.profile("Key"));
    EXPECT_EQ(store.blob("object", "key"), bytes);
    EXPECT_EQ(store.blob("object", "key2"), "");
    EXPECT_FALSE(store.blob("other", "key"));
    store.put_blob("object", "key", "new");
    EXPECT_EQ(store.blob("object", "key"), "new");
    EXPECT_TRUE(said_.empty());
}

TEST_F(Store, AValueThatIsNoProfileIsNotThere) {
    ProfileStore store = open(path_);
    store.put_blob("profile", "key", "{\"abi\": 1");
    EXPECT_FALSE(store.profile("key"));
    store.put_blob("profile", "key", "{\"abi\": 1}");
    EXPECT_FALSE(store.profile("key"));
    EXPECT_TRUE(said_.empty());
}

TEST_F(Store, TwoProcessesWriteAtOnce) {
    constexpr int each = 150;
    const auto work = [&](int who) {
        ProfileStore store = open(path_);
        for (int i = 0; i < each; ++i)
            store.put_blob("b", std::to_string(who) + "." + std::to_string(i), std::string(2000, 'a' + who));
        return said_.empty() ? 0 : 1;
    };
    std::vector<pid_t> children;
    for (int who = 0; who < 3; ++who) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) _exit(work(who));
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    ProfileStore store = open(path_);
    for (int who = 0; who < 3; ++who)
        for (int i = 0; i < each; ++i)
            ASSERT_EQ(store.blob("b", std::to_string(who) + "." + std::to_string(i)),
                      std::string(2000, 'a' + who));
}

TEST_F(Store, ADamagedFileIsSetAsideOnce) {
    std::filesystem::create_directories(folder_ + "/a/b");
    std::ofstream(path_)
        << "this is no database, whatever it is, and it is long enough to have a header of one, "
           "which is a hundred bytes long.";
    {
        ProfileStore store = open(path_);
        store.put_blob("b", "k", "v");
        ASSERT_EQ(said_.size(), 1u);
        EXPECT_THAT(said_[0], HasSubstr("damaged"));
        EXPECT_TRUE(std::filesystem::exists(path_ + ".corrupt-1"));
    }
    {
        ProfileStore store = open(path_);
        EXPECT_EQ(store.blob("b", "k"), "v");
        EXPECT_EQ(said_.size(), 1u);
    }
    // A second time, the first one is not overwritten.
    std::filesystem::remove(path_ + "-wal");
    std::filesystem::remove(path_ + "-shm");
    std::ofstream(path_) << std::string(5000, 'x');
    EXPECT_FALSE(open(path_).blob("b", "k"));
    EXPECT_TRUE(std::filesystem::exists(path_ + ".corrupt-2"));
    EXPECT_EQ(said_.size(), 2u);
}

TEST_F(Store, DamageInsideIsFoundWhenItIsRead) {
    {
        ProfileStore store = open(path_);
        for (int i = 0; i < 200; ++i) store.put_blob("b", std::to_string(i), std::string(3000, 'v'));
    }
    ASSERT_TRUE(std::filesystem::exists(path_));
    {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(8192);
        for (int i = 0; i < 50; ++i) file << std::string(4096, '\xa5');
    }
    ProfileStore store = open(path_);
    for (int i = 0; i < 200; ++i) (void)store.blob("b", std::to_string(i));
    store.put_blob("b", "after", "v");
    EXPECT_EQ(store.blob("b", "after"), "v");
    ASSERT_EQ(said_.size(), 1u);
    EXPECT_THAT(said_[0], HasSubstr("damaged"));
}

TEST_F(Store, AnotherProgramsDatabaseIsSetAside) {
    std::filesystem::create_directories(folder_ + "/a/b");
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "CREATE TABLE kept (x)", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
    ProfileStore store = open(path_);
    store.put_blob("b", "k", "v");
    EXPECT_EQ(store.blob("b", "k"), "v");
    EXPECT_TRUE(std::filesystem::exists(path_ + ".corrupt-1"));
}

TEST_F(Store, WhereNothingCanBeWrittenItKeepsInMemory) {
    std::ofstream(folder_ + "/file") << "x";
    for (const std::string& path :
         {folder_ + "/file/profiles.sqlite", std::string("/proc/nowhere/profiles.sqlite")}) {
        said_.clear();
        ProfileStore store = open(path);
        store.put_blob("b", "k", "v");
        store.put_blob("b", "k2", "v");
        EXPECT_EQ(store.blob("b", "k"), "v");
        EXPECT_FALSE(store.blob("b", "none"));
        ASSERT_EQ(said_.size(), 1u) << path;
        EXPECT_THAT(said_[0], HasSubstr("profiles are not kept"));
    }
    said_.clear();
    ProfileStore nowhere = open("");
    nowhere.put_blob("b", "k", "v");
    EXPECT_EQ(nowhere.blob("b", "k"), "v");
    EXPECT_TRUE(said_.empty());
}

TEST_F(Store, PathsFollowTheEnvironment) {
    setenv("XDG_CACHE_HOME", "/x", 1);
    EXPECT_EQ(default_store_path(), "/x/trimtab/profiles.sqlite");
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", "/h", 1);
    EXPECT_EQ(default_store_path(), "/h/.cache/trimtab/profiles.sqlite");
    EXPECT_EQ(store_path(folder_), folder_ + "/profiles.sqlite");
    EXPECT_EQ(store_path("new/"), "new/profiles.sqlite");
    EXPECT_EQ(store_path("x.db"), "x.db");
}

class CountingBackend : public Backend {
  public:
    int launches = 0;
    [[nodiscard]] std::string_view name() const override { return "counting"; }
    [[nodiscard]] std::string_view version() const override { return "1"; }
    [[nodiscard]] std::expected<Measurement, MeasureError> measure(const MeasuredLaunch& launch) override {
        ++launches;
        Measurement out;
        out.values.fill(1);
        out.box_sectors.assign(launch.boxes.size(), 1);
        return out;
    }
};

TEST_F(Store, AnotherAnnotationIsAnotherProfile) {
    CountingBackend backend;
    const auto key = [&](const analysis::KernelDescription& kernel) {
        return profile_key(kernel, backend, {});
    };
    const auto plain = testing::gemm();
    analysis::Expression width;
    width.kind = analysis::Expression::Kind::block_size;
    width.type = ptx::Type::s64;
    auto annotated = plain;
    annotated.annotated_shared = width;
    auto otherwise = annotated;
    otherwise.annotated_shared->dimension = analysis::Dimension::y;
    auto promised = annotated;
    promised.verdict = analysis::Verdict::annotated;
    EXPECT_NE(key(plain), key(annotated));
    EXPECT_NE(key(annotated), key(otherwise));
    EXPECT_NE(key(annotated), key(promised));
    EXPECT_EQ(key(annotated), key(annotated));
}

TEST_F(Store, AnUnchangedKernelIsProfiledOnce) {
    CountingBackend backend;
    const auto kernel = testing::gemm();
    ProfileStore store = open(path_);
    const auto first = recall_or_profile(kernel, backend, {}, store);
    ASSERT_TRUE(first);
    const int launches = backend.launches;
    EXPECT_GT(launches, 0);
    EXPECT_EQ(recall_or_profile(kernel, backend, {}, store).value(), *first);
    EXPECT_EQ(backend.launches, launches);
    EXPECT_TRUE(recall_or_profile(kernel, backend, {.plan = {.least = 32, .most = 128}}, store));
    EXPECT_GT(backend.launches, launches);  // another plan

    auto fixed = kernel;
    fixed.verdict = analysis::Verdict::fixed;
    fixed.id = "00000000000000k9";
    const auto refused = recall_or_profile(fixed, backend, {}, store);
    ASSERT_FALSE(refused);
    EXPECT_EQ(recall_or_profile(fixed, backend, {}, store).error().text(), refused.error().text());
}

}  // namespace
}  // namespace trimtab::profiler
