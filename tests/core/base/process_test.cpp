// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/process.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/base/installation.h"
#include "core/base/temporary_folder.h"

namespace trimtab::base {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Command shell(const std::string& script) {
    return {.words = {"sh", "-c", script}};
}

TEST(Process, SaysHowAProgramEnded) {
    EXPECT_TRUE(run(shell("exit 0"))->is_success());
    EXPECT_EQ(run(shell("exit 3"))->text(), "ended with status 3");
    const auto killed = run(shell("kill -SEGV $$"));
    EXPECT_EQ(killed->exit_code, 128 + SIGSEGV);
    EXPECT_EQ(killed->text(), "was ended by signal 11 (Segmentation fault)");
    const auto missing = run({.words = {"/nowhere/program"}});
    EXPECT_EQ(missing.error().text(), "/nowhere/program: cannot be started: No such file or directory");
}

TEST(Process, CapturesOneStreamWhole) {
    // More than a pipe holds.
    const auto loud = run(shell("head -c 300000 /dev/zero | tr '\\0' x; echo no >&2"), Capture::output);
    EXPECT_EQ(loud->captured, std::string(300'000, 'x'));
    EXPECT_EQ(run(shell("echo first >&2; echo second >&2"), Capture::messages)->first_line(), "first");
    EXPECT_EQ(run_to_success(shell("echo why >&2; exit 1")).error().text(), "sh: failed: why");
    EXPECT_EQ(run_to_success(shell("exit 7")).error().text(), "sh: ended with status 7");
}

TEST(Process, AddsToItsEnvironmentAndWritesMessagesToAFile) {
    const auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder);
    setenv("TRIMTAB_TEST_ONE", "old", 1);
    Command command = shell("echo $TRIMTAB_TEST_ONE$TRIMTAB_TEST_TWO $HOME; echo said >&2");
    command.environment = {{"TRIMTAB_TEST_ONE", "new"}, {"TRIMTAB_TEST_TWO", "er"}};
    EXPECT_THAT(run(command, Capture::output)->captured, HasSubstr("newer " + std::string(getenv("HOME"))));
    EXPECT_STREQ(getenv("TRIMTAB_TEST_ONE"), "old");
    command.messages_file = folder->file("messages");
    EXPECT_TRUE(run(command)->is_success());
    std::string line;
    std::getline(std::ifstream(command.messages_file), line);
    EXPECT_EQ(line, "said");
}

TEST(Process, DetachedIsNoChildOfThisOne) {
    const auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder);
    const std::string told = folder->file("told");
    setenv("TRIMTAB_TEST_SECRET", "1", 1);
    const auto keeps = [](std::string_view variable) { return !variable.starts_with("TRIMTAB"); };
    ASSERT_TRUE(start_detached(shell("echo \"$TRIMTAB_TEST_SECRET $(ls -l /proc/$$/fd | wc -l) $PWD\" > " +
                                     told + ".part; mv " + told + ".part " + told),
                               keeps));
    EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
    EXPECT_EQ(errno, ECHILD);
    for (int i = 0; i < 12000 && !fs::exists(told); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::string line;
    std::getline(std::ifstream(told), line);
    EXPECT_THAT(line, testing::EndsWith(" /"));
    EXPECT_THAT(line, testing::StartsWith(" "));
    EXPECT_THAT(start_detached({.words = {"/nowhere/program"}}, keeps).error().text(),
                HasSubstr("No such file"));
}

TEST(TemporaryFolders, GoWithTheObject) {
    std::string path;
    {
        auto folder = TemporaryFolder::make();
        ASSERT_TRUE(folder) << folder.error().text();
        path = folder->path();
        const TemporaryFolder moved = std::move(*folder);
        fs::create_directories(moved.file("a/b/c"));
        std::ofstream(moved.file("a/b/file")) << "text";
        fs::create_symlink("/", moved.file("a/root"));
        EXPECT_TRUE(fs::exists(path));
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolders, SayWhereNoneCanBeMade) {
    setenv("TMPDIR", "/nowhere/at/all", 1);
    const auto folder = TemporaryFolder::make();
    unsetenv("TMPDIR");
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().text(),
              "/nowhere/at/all: no temporary folder can be made here: No such file or directory (TMPDIR "
              "names another "
              "place)");
}

// A child that makes a folder, says where, and is interrupted while `then` runs. Gives its wait status and
// the folder.
template <class Then>
std::pair<int, std::string> interrupted(int signal, Then then) {
    int pipes[2];
    EXPECT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        auto folder = TemporaryFolder::make();
        std::ofstream(folder->file("something")) << "text";
        fs::create_directories(folder->file("a/b"));
        const std::string path = folder->path();
        then(*folder, [&] {
            const ssize_t written = write(pipes[1], path.data(), path.size());
            close(pipes[1]);
            return written > 0;
        });
        _exit(0);
    }
    close(pipes[1]);
    char path[4096];
    const ssize_t got = read(pipes[0], path, sizeof path);
    close(pipes[0]);
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    return {status, std::string(path, got > 0 ? static_cast<std::size_t>(got) : 0)};
}

TEST(TemporaryFolders, GoWhereASignalEndsTheProcess) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const auto [status, path] = interrupted(signal, [](const TemporaryFolder&, const auto& tell) {
            tell();
            while (true) pause();
        });
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
        ASSERT_FALSE(path.empty());
        EXPECT_FALSE(fs::exists(path)) << path;
    }
}

TEST(TemporaryFolders, GoOnlyWhenTheProgramThatWritesThereHasEnded) {
    const auto [status, path] = interrupted(SIGINT, [](const TemporaryFolder& folder, const auto& tell) {
        // It goes on writing for a while, as a compiler may that tidies up itself.
        const std::string file = folder.file("late"), ready = folder.file("ready");
        std::thread([&] {
            while (!fs::exists(ready)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            tell();
        }).detach();
        (void)run(shell("trap 'sleep 0.2; mkdir -p " + file + "/x; exit 1' INT; touch " + ready +
                        "; while :; do sleep 0.05; done"));
        while (true) pause();
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    ASSERT_FALSE(path.empty());
    EXPECT_FALSE(fs::exists(path)) << path;
}

}  // namespace
}  // namespace trimtab::base
