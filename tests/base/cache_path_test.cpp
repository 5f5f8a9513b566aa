#include "base/cache_path.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

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

}  // namespace
}  // namespace trimtab::base
