// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiled kernels are kept in: it runs what it finds, so it must find only what this user's emulator
// has put there.
#include "emulation/emulator/jit/code_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/jit/variants.h"
#include "tests/emulation/emulator/fixture.h"
#include "tests/emulation/emulator/jit/compiled.h"

namespace trimtab::emulator::test {
namespace {

namespace fs = std::filesystem;
using fs::perms;

class CodeCacheTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/trimtab-code-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        objects_ = folder_ / "trimtab" / "code";
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
        setenv("TRIMTAB_EMULATOR", "compiled", 1);
    }
    void TearDown() override {
        unsetenv("XDG_CACHE_HOME");
        unsetenv("TRIMTAB_EMULATOR");
        fs::remove_all(folder_);
    }
    // Of 1, by a kernel that multiplies; compiled, or taken from the cache.
    static std::uint32_t product(const std::string& kernel) {
        std::vector<std::uint32_t> data(64, 1);
        HostMemory memory;
        const Parameters parameters(memory.add(data), std::uint32_t{64});
        const auto program = load(kernel.c_str());
        run(*program, memory, "scale", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
        const CompiledKernel* found = program->kernel("scale");
        const jit::Variant* variant = found->variants().of(found->code(false), {64, 1, 1});
        EXPECT_TRUE(variant != nullptr && variant->handlers()[0].load() != nullptr);
        EXPECT_EQ(data, std::vector<std::uint32_t>(64, data.front()));
        return data.front();
    }
    [[nodiscard]] fs::path only_object() const {
        EXPECT_EQ(std::distance(fs::directory_iterator(objects_), {}), 1);
        return fs::directory_iterator(objects_)->path();
    }
    fs::path folder_, objects_;
};

TEST_F(CodeCacheTest, DamagedFilesAreMadeAgain) {
    EXPECT_EQ(product(scale), 3);
    const auto size = fs::file_size(only_object());
    fs::resize_file(only_object(), size / 2);
    EXPECT_EQ(product(scale), 3);
    EXPECT_EQ(fs::file_size(only_object()), size);
}

// Sealed as it was written, but for another kernel.
TEST_F(CodeCacheTest, CodeOfAnotherKernelIsNotRun) {
    EXPECT_EQ(product(scale), 3);
    const fs::path first = only_object();
    std::string other = scale;
    other.replace(other.find(", 3;"), 4, ", 5;");
    EXPECT_EQ(product(other), 5);
    for (const auto& entry : fs::directory_iterator(objects_))
        if (entry.path() != first) fs::copy_file(first, entry.path(), fs::copy_options::overwrite_existing);
    EXPECT_EQ(product(other), 5);
}

TEST_F(CodeCacheTest, CodeThatOthersMayHaveWrittenIsMadeAgain) {
    EXPECT_EQ(product(scale), 3);
    EXPECT_EQ(fs::status(objects_).permissions(), perms::owner_all);
    fs::permissions(only_object(), perms::others_write, fs::perm_options::add);
    EXPECT_EQ(product(scale), 3);
    EXPECT_EQ(fs::status(only_object()).permissions(), perms::owner_read | perms::owner_write);
}

TEST_F(CodeCacheTest, NothingIsKeptWhereTheProgramHappensToRun) {
    const fs::path before = fs::current_path();
    const char* home = std::getenv("HOME");
    const std::string home_before = home == nullptr ? "" : home;
    fs::current_path(folder_);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", ".", 1);
    EXPECT_EQ(product(scale), 3);
    setenv("HOME", home_before.c_str(), 1);
    fs::current_path(before);
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(CodeCacheTest, KeepsToItsBounds) {
    const jit::CodeCache cache(objects_, {.files = 3, .bytes = 100'000});
    const std::vector<std::byte> object(1000);
    for (const char* key : {"a", "b", "c", "d", "e"}) cache.keep(key, object);
    cache.prune();
    EXPECT_EQ(std::distance(fs::directory_iterator(objects_), {}), 3);
    jit::CodeCache(objects_, {.files = 3, .bytes = 1500}).prune();
    EXPECT_EQ(std::distance(fs::directory_iterator(objects_), {}), 1);
}

}  // namespace
}  // namespace trimtab::emulator::test
