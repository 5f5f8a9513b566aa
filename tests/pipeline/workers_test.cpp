// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab prepare with workers: what it leaves in its caches is what it leaves without, whatever becomes of them.
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/pipeline/ptx_kernels.h"
#include "tests/pipeline/redis_server.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string trimtab = TRIMTAB_BINARY_DIR "/bin/trimtab";

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A process's children, by the kernel's word.
std::vector<pid_t> children_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
    return {std::istream_iterator<pid_t>(file), {}};
}
bool is_worker(pid_t process) {
    return read_file("/proc/" + std::to_string(process) + "/cmdline").contains(std::string("\0worker\0", 8));
}
bool is_alive(pid_t process) {
    const std::string status = read_file("/proc/" + std::to_string(process) + "/stat");
    const std::size_t end = status.rfind(')');
    return end != std::string::npos && end + 2 < status.size() && status[end + 2] != 'Z' &&
           status[end + 2] != 'X';
}

// Rows by (kind, key).
using Rows = std::map<std::pair<std::string, std::string>, std::string>;

class Workers : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/workers-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        module_ = folder_ / "kernels.ptx";
        std::ofstream(module_) << trimtab::tests::ptx_of_kernels(6, 20);
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] fs::path cache(const std::string& name) const { return folder_ / name; }

    // Runs it with a cache of that name; `meanwhile` gets its process id.
    int prepare(const std::string& name, std::vector<std::string> options,
                const std::function<void(pid_t)>& meanwhile = {}) {
        options.insert(options.begin(), {trimtab, "prepare"});
        options.push_back(module_);
        const pid_t child = fork();
        if (child == 0) {
            setenv("XDG_CACHE_HOME", cache(name).c_str(), 1);
            if (freopen((folder_ / (name + ".messages")).c_str(), "w", stderr) == nullptr) _exit(98);
            if (freopen("/dev/null", "w", stdout) == nullptr) _exit(98);
            std::vector<char*> arguments;
            for (std::string& word : options) arguments.push_back(word.data());
            arguments.push_back(nullptr);
            execv(arguments.front(), arguments.data());
            _exit(99);
        }
        if (meanwhile) meanwhile(child);
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    [[nodiscard]] std::string messages(const std::string& name) const {
        return read_file(folder_ / (name + ".messages"));
    }

    Rows rows(const std::string& name) {
        Rows out;
        sqlite3* database = nullptr;
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_open((cache(name) / "trimtab/profiles.sqlite").c_str(), &database), SQLITE_OK);
        EXPECT_EQ(sqlite3_prepare_v2(database, "SELECT kind, key, value FROM kept", -1, &statement, nullptr),
                  SQLITE_OK);
        const auto text = [&](int column) {
            return std::string(static_cast<const char*>(sqlite3_column_blob(statement, column)),
                               static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
        };
        while (sqlite3_step(statement) == SQLITE_ROW) out[{text(0), text(1)}] = text(2);
        sqlite3_finalize(statement);
        sqlite3_close(database);
        return out;
    }
    // What the runtime would load.
    std::string library(const std::string& name) {
        for (const auto& entry : fs::directory_iterator(cache(name) / "trimtab/modules"))
            if (entry.path().extension() == ".so") return read_file(entry.path());
        return {};
    }
    // The cache `name` holds what a run without workers leaves.
    void expect_as_alone(const std::string& name) {
        if (!fs::exists(cache("alone"))) {
            ASSERT_EQ(prepare("alone", {}), 0) << messages("alone");
        }
        EXPECT_EQ(rows("alone").size(), 12U);  // a profile and the evidence of each
        EXPECT_EQ(rows(name), rows("alone"));
        EXPECT_FALSE(library(name).empty());
        EXPECT_EQ(library(name), library("alone"));
    }
    // Waits until `wanted` workers of it run, and gives them.
    static std::set<pid_t> workers_of(pid_t process, std::size_t wanted) {
        std::set<pid_t> found;
        for (int i = 0; i < 12000 && found.size() < wanted; ++i) {
            found.clear();
            for (const pid_t child : children_of(process))
                if (is_worker(child)) found.insert(child);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        EXPECT_EQ(found.size(), wanted);
        return found;
    }

    fs::path folder_, module_;
};

TEST_F(Workers, LeaveWhatOneProcessLeaves) {
    ASSERT_EQ(prepare("four", {"--workers=4"}), 0) << messages("four");
    EXPECT_THAT(messages("four"), HasSubstr("6 kernels by"));
    expect_as_alone("four");
    // Commands are as good.
    ASSERT_EQ(prepare("commands",
                      {"--workers=2*" + trimtab + " worker", "--workers", "exec " + trimtab + " worker"}),
              0)
        << messages("commands");
    expect_as_alone("commands");
}

TEST_F(Workers, OneIsKilledAndAnotherStopped) {
    ASSERT_EQ(prepare("killed", {"--workers=2", "--worker-silence=4"},
                      [](pid_t process) {
                          auto workers = workers_of(process, 2);
                          ASSERT_EQ(workers.size(), 2U);
                          kill(*workers.begin(), SIGKILL);
                          kill(*workers.rbegin(), SIGSTOP);
                      }),
              0)
        << messages("killed");
    expect_as_alone("killed");
}

TEST_F(Workers, ThoseThatTalkNonsenseAreDoneWithout) {
    ASSERT_EQ(prepare("garbage",
                      {"--workers", "cat /dev/urandom", "--workers", "exit 1", "--workers=/no/such/program"}),
              0)
        << messages("garbage");
    EXPECT_THAT(messages("garbage"), HasSubstr("no message"));
    EXPECT_THAT(messages("garbage"), HasSubstr("no worker is left: 6 kernels are profiled on this machine"));
    expect_as_alone("garbage");
}

TEST_F(Workers, WhatIsLostWithThemIsNotKeptAsTheKernelsFailure) {
    const std::string dies = "exec " TRIMTAB_BINARY_DIR "/bin/trimtab_fake_worker dies";
    EXPECT_EQ(prepare("lost", {"--workers", "9*" + dies}), 3);
    EXPECT_THAT(messages("lost"), HasSubstr("3 workers were lost with it"));
    EXPECT_THAT(messages("lost"), HasSubstr("workers died on some of its kernels"));
    for (const auto& [kind_and_key, value] : rows("lost")) EXPECT_NE(kind_and_key.first, "failure") << value;
    EXPECT_EQ(library("lost"), "");
    for (const auto& entry : fs::directory_iterator(cache("lost") / "trimtab/modules"))
        EXPECT_NE(entry.path().extension(), ".failed");
    // Another try does better.
    ASSERT_EQ(prepare("lost", {"--workers=2"}), 0) << messages("lost");
    expect_as_alone("lost");
}

TEST_F(Workers, EndWithWhoStartedThem) {
    std::ofstream(module_) << trimtab::tests::ptx_of_kernels(40, 20);
    for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
        std::set<pid_t> workers;
        const std::string name = "ended" + std::to_string(signal);
        EXPECT_EQ(prepare(name, {"--workers=2"},
                          [&](pid_t process) {
                              workers = workers_of(process, 2);
                              if (signal != SIGKILL) kill(*workers.begin(), SIGSTOP);
                              kill(process, signal);
                          }),
                  -signal);
        for (const pid_t worker : workers) {
            for (int i = 0; i < 12000 && is_alive(worker); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            EXPECT_FALSE(is_alive(worker));
        }
    }
}

TEST_F(Workers, AFileAfterTheOptionIsAFile) {
    const fs::path other = folder_ / "other.ptx";
    std::ofstream(other) << trimtab::tests::ptx_of_kernels(1, 3);
    std::ofstream(module_) << trimtab::tests::ptx_of_kernels(1, 4);
    ASSERT_EQ(prepare("files", {"--workers", "exec " + trimtab + " worker", other}), 0) << messages("files");
    EXPECT_EQ(rows("files").size(), 4U) << messages("files");
}

// Machines that share a Redis, each with a cache of its own.
TEST_F(Workers, MachinesThatShareAStoreProfileEachKernelOnce) {
    std::ofstream(module_) << trimtab::tests::ptx_of_kernels(6, 20);
    const trimtab::tests::RedisServer server;
    const fs::path key = folder_ / "key";
    std::ofstream(key) << "sixteen bytes or more of it";
    fs::permissions(key, fs::perms::owner_read | fs::perms::owner_write);
    setenv("TRIMTAB_STORE", server.url().c_str(), 1);
    setenv("TRIMTAB_STORE_KEY", key.c_str(), 1);
    setenv("TRIMTAB_STORE_WAIT", "600", 1);
    std::vector<std::thread> machines;
    for (int i = 0; i < 4; ++i)
        machines.emplace_back([this, i] {
            std::vector<std::string> options;
            if (i == 3) options.emplace_back("--workers=2");
            const std::string name = "machine" + std::to_string(i);
            EXPECT_EQ(prepare(name, options), 0) << messages(name);
        });
    for (std::thread& machine : machines) machine.join();
    unsetenv("TRIMTAB_STORE");
    std::size_t profiled = 0;
    for (int i = 0; i < 4; ++i) {
        const std::string name = "machine" + std::to_string(i), said = messages(name);
        for (std::size_t at = 0; (at = said.find("profiled at", at)) != std::string::npos; ++at) ++profiled;
        EXPECT_THAT(said, testing::Not(HasSubstr("warning"))) << said;
        expect_as_alone(name);
    }
    EXPECT_EQ(profiled, 6U);
}

TEST_F(Workers, AWrongOptionIsWrongUsage) {
    for (const char* option : {"--workers=0", "--workers=", "--workers=3*", "--worker-silence=0"})
        EXPECT_EQ(prepare("wrong", {option}), 2) << option;
}

}  // namespace
