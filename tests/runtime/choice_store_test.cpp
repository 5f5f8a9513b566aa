// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices that outlive their process, and what may happen to their file.
#include "choosing/choices/choice_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/runtime/fake_backend.h"
#include "tests/runtime/fake_process.h"

namespace trimtab::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

const ChoiceOwner owner{.kernel = "0123456789abcdef", .device = "h100", .build = 7};

std::array<std::uint64_t, 2> key_of(std::uint64_t n) {
    return {n, n * n};
}
StoredChoice choice_of(std::uint64_t n) {
    return {.block = {static_cast<std::uint32_t>(n % 1024 + 1), 2, 1},
            .written_ns = static_cast<double>(n) + 0.5,
            .chosen_ns = static_cast<double>(n)};
}
bool is_there(ChoiceStore& store, std::uint64_t n) {
    const auto found = store.find(owner, key_of(n));
    return found && same(found->block, choice_of(n).block) && found->written_ns == choice_of(n).written_ns &&
           found->chosen_ns == choice_of(n).chosen_ns;
}

class ChoiceStoreTest : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = ::testing::TempDir() + "choices_" + std::to_string(getpid());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        path_ = folder_ + "/choices.sqlite";
    }
    void TearDown() override { fs::remove_all(folder_); }

    Log log_{LogLevel::warn};
    std::string folder_, path_;
};

TEST_F(ChoiceStoreTest, KeepsChoicesOfThisBuildKernelAndDevice) {
    {
        ChoiceStore store(path_, log_);
        EXPECT_FALSE(store.find(owner, key_of(1)));
        for (std::uint64_t n = 0; n < 100; ++n) store.add(owner, key_of(n), choice_of(n));
    }
    ChoiceStore store(path_, log_);
    for (std::uint64_t n = 0; n < 100; ++n) EXPECT_TRUE(is_there(store, n)) << n;
    EXPECT_FALSE(store.find(owner, key_of(100)));
    EXPECT_FALSE(store.find({.kernel = owner.kernel, .device = owner.device, .build = 8}, key_of(1)));
    EXPECT_FALSE(store.find({.kernel = owner.kernel, .device = "h200", .build = 7}, key_of(1)));
    EXPECT_FALSE(store.find({.kernel = "fedcba9876543210", .device = owner.device, .build = 7}, key_of(1)));
    // Another build's choice takes the row.
    store.add({.kernel = owner.kernel, .device = owner.device, .build = 8}, key_of(1), choice_of(5));
    store.flush();
    EXPECT_FALSE(store.find(owner, key_of(1)));
}

TEST_F(ChoiceStoreTest, AFileThatCannotBeUsedIsOneWarning) {
    std::ofstream(path_) << std::string(8192, 'x');
    for (const std::string& path : {std::string("/dev/null/choices.sqlite"), folder_, path_}) {
        SCOPED_TRACE(path);
        CaptureStderr();
        {
            ChoiceStore store(path, log_);
            for (std::uint64_t n = 0; n < 200; ++n) {
                EXPECT_FALSE(store.find(owner, key_of(n)));
                store.add(owner, key_of(n), choice_of(n));
            }
        }
        const std::string said = GetCapturedStderr();
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
        EXPECT_THAT(said, HasSubstr("TRIMTAB_CHOICES=" + path));
    }
}

// Runs `body` in a process of its own; its status as waitpid tells it.
template <typename Body>
pid_t start_process(const Body& body) {
    const pid_t child = fork();
    if (child != 0) return child;
    body();
    _exit(0);
}

TEST_F(ChoiceStoreTest, AFullDiskIsOneWarning) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t child = start_process([&] {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{.rlim_cur = 64 * 1024, .rlim_max = 64 * 1024};
        setrlimit(RLIMIT_FSIZE, &limit);
        ChoiceStore store(path_, log_);
        for (std::uint64_t n = 0; n < 10000; ++n) {
            static_cast<void>(store.find(owner, key_of(n)));
            store.add(owner, key_of(n), choice_of(n));
        }
        store.flush();
    });
    close(pipes[1]);
    std::string said;
    std::array<char, 512> buffer{};
    for (ssize_t got = 0; (got = read(pipes[0], buffer.data(), buffer.size())) > 0;)
        said.append(buffer.data(), static_cast<std::size_t>(got));
    close(pipes[0]);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    // What was committed before is there.
    ChoiceStore store(path_, log_);
    EXPECT_TRUE(is_there(store, 0));
}

TEST_F(ChoiceStoreTest, ProcessesShareTheFile) {
    std::vector<pid_t> children;
    for (std::uint64_t c = 0; c < 4; ++c) {
        children.push_back(start_process([&] {
            ChoiceStore store(path_, log_);
            for (std::uint64_t n = 0; n < 200; ++n)
                store.add(owner, key_of(1000 * c + n), choice_of(1000 * c + n));
            store.flush();
        }));
    }
    for (const pid_t child : children) {
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    ChoiceStore store(path_, log_);
    std::uint64_t found = 0;
    for (std::uint64_t c = 0; c < 4; ++c)
        for (std::uint64_t n = 0; n < 200; ++n) found += is_there(store, 1000 * c + n) ? 1 : 0;
    EXPECT_EQ(found, 800u);
}

TEST_F(ChoiceStoreTest, WaitingForTheFileKeepsNoLaunchWaiting) {
    ChoiceStore store(path_, log_);
    store.add(owner, key_of(1), choice_of(1));
    store.flush();
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    store.add(owner, key_of(2), choice_of(2));
    std::jthread flusher([&] { store.flush(); });
    // Were the store locked while flush() waits, one of these would wait until it has given up.
    for (std::uint64_t n = 3; n < 8; ++n) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        store.add(owner, key_of(n), choice_of(n));
    }
    ASSERT_EQ(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
    flusher.join();
    ChoiceStore later(path_, log_);
    EXPECT_TRUE(is_there(later, 2));
}

TEST_F(ChoiceStoreTest, WhatWasCommittedSurvivesKill) {
    std::uint64_t next = 0;
    for (int round = 0; round < 6; ++round) {
        int pipes[2];
        ASSERT_EQ(pipe(pipes), 0);
        const pid_t child = start_process([&] {
            close(pipes[0]);
            ChoiceStore store(path_, log_);
            for (std::uint64_t n = next;; ++n) {
                store.add(owner, key_of(n), choice_of(n));
                store.flush();
                if (write(pipes[1], &n, sizeof n) != sizeof n) return;
            }
        });
        close(pipes[1]);
        // Killed in the middle of a write: the child does nothing else.
        std::uint64_t committed = 0;
        for (int i = 0; i < 20 + 37 * round; ++i)
            ASSERT_EQ(read(pipes[0], &committed, sizeof committed), static_cast<ssize_t>(sizeof committed));
        kill(child, SIGKILL);
        while (read(pipes[0], &committed, sizeof committed) == sizeof committed) {
        }
        close(pipes[0]);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status));
        ChoiceStore store(path_, log_);
        for (std::uint64_t n = 0; n <= committed; ++n)
            ASSERT_TRUE(is_there(store, n)) << n << " of " << committed;
        next = committed + 1;
    }
}

TEST_F(ChoiceStoreTest, AChildOfForkOpensTheFileItself) {
    ChoiceStore store(path_, log_);
    store.add(owner, key_of(1), choice_of(1));
    store.flush();
    store.add(owner, key_of(2), choice_of(2));  // the parent's, not written yet
    const pid_t child = start_process([&] {
        if (!is_there(store, 1)) _exit(1);
        store.add(owner, key_of(3), choice_of(3));
        store.flush();
        if (is_there(store, 2)) _exit(2);
    });
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    store.flush();
    for (const std::uint64_t n : {1, 2, 3}) EXPECT_TRUE(is_there(store, n)) << n;
}

// A process: what it launches for n = 1000 as 32 blocks of 32.
trimtab_dim3 launch_in_new_process(const std::string& choices, const analysis::KernelDescription& description,
                                   testing::FakeFatBinary& fat_binary, testing::FakeBundle& bundle) {
    int n = 1000, step = 1, bound = 10;
    float* out = nullptr;
    void* arguments[4] = {&n, static_cast<void*>(&out), &step, &bound};
    return testing::launched_by_new_process(
               choices, description, fat_binary, bundle,
               {.written = {.grid = {32, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 0},
                .arguments = arguments})
        .written.block;
}

TEST_F(ChoiceStoreTest, ALaterProcessTakesTheChoiceUnlessTheBuildIsAnother) {
    testing::DriverScript& script = testing::driver_script();
    script.predict = [](const double*, trimtab_dim3 block) { return 1000.0 - block.x; };
    script.doubt = 0;
    script.select_result = 1;
    script.best = {128, 1, 1};
    script.selects = 0;
    const analysis::KernelDescription description = testing::guarded_kernel();
    testing::FakeFatBinary fat_binary{"a fat binary"};
    testing::FakeBundle bundle{description, fat_binary.hash()};
    EXPECT_EQ(launch_in_new_process(path_, description, fat_binary, bundle).x, 128u);
    EXPECT_EQ(script.selects, 1);
    script.best = {256, 1, 1};
    EXPECT_EQ(launch_in_new_process(path_, description, fat_binary, bundle).x, 128u);
    EXPECT_EQ(script.selects, 1);
    testing::FakeBundle rebuilt{description, fat_binary.hash(),
                                [](std::string& json) { json.replace(json.find("c0\""), 2, "d0"); }};
    EXPECT_EQ(launch_in_new_process(path_, description, fat_binary, rebuilt).x, 256u);
    EXPECT_EQ(script.selects, 2);
    EXPECT_EQ(launch_in_new_process("/dev/null/none", description, fat_binary, rebuilt).x, 256u);
}

}  // namespace
}  // namespace trimtab::runtime
