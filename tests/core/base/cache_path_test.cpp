// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/cache_path.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/process.h"

namespace trimtab::base {
namespace {

class CachePath : public testing::Test {
  protected:
    static void set(const char* cache, const char* home) {
        cache == nullptr ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", cache, 1);
        home == nullptr ? unsetenv("HOME") : setenv("HOME", home, 1);
    }
};

TEST_F(CachePath, IsTheOneThatXdgNamesElseTheUsersOwn) {
    set("/cache", "/home/ada");
    EXPECT_EQ(cache_path("code"), "/cache/trimtab/code");
    set(nullptr, "/home/ada");
    EXPECT_EQ(cache_path("code"), "/home/ada/.cache/trimtab/code");
}

TEST_F(CachePath, IsNeverRelativeToWhereAProgramHappensToRun) {
    set("cache", "/home/ada");
    EXPECT_EQ(cache_path("code"), "/home/ada/.cache/trimtab/code");
    set("", "");
    EXPECT_EQ(cache_path("code"), "");
    set("./cache", "home");
    EXPECT_EQ(cache_path("code"), "");
}

// Variables of a user must not say whose code a program runs that has more rights than the user.
TEST_F(CachePath, IsNotTheUsersToNameWhereAProgramHasMoreRights) {
    set("/cache", "/home/ada");
    // The copy that is started below. It ends at once: a search for leaks cannot trace it.
    if (getauxval(AT_SECURE) != 0) _exit(cache_path("code").empty() ? 0 : 1);
    if (geteuid() != 0 || std::getenv("IS_THE_COPY") != nullptr)
        GTEST_SKIP() << "only root can make a program with another's rights, where the file system has such";
    namespace fs = std::filesystem;
    const std::string copy = testing::TempDir() + "/base_test_setuid";
    fs::copy_file("/proc/self/exe", copy, fs::copy_options::overwrite_existing);
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(chown(copy.c_str(), nobody, nobody), 0);
    ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
    const auto outcome =
        run({.words = {copy, "--gtest_filter=CachePath.IsNotTheUsersToNameWhereAProgramHasMoreRights"},
             .environment = {{"IS_THE_COPY", "1"}}},
            Capture::output);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->is_success()) << outcome->captured;
    fs::remove(copy);
}

}  // namespace
}  // namespace trimtab::base
