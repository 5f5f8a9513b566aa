// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tools that a signal ends leave nothing in the folder of temporary files.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

class Interrupted : public testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/interrupted-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        temporary_ = folder_ / "tmp";
        fs::create_directory(temporary_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    // Runs the tool until `is_under_way`, sends it the signal, and gives the signal that it died of.
    template <class Condition>
    int signalled(std::vector<std::string> words, Condition is_under_way) {
        const pid_t child = fork();
        if (child == 0) {
            setenv("TMPDIR", temporary_.c_str(), 1);
            setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
            std::vector<char*> arguments;
            for (std::string& word : words) arguments.push_back(word.data());
            arguments.push_back(nullptr);
            execv(arguments.front(), arguments.data());
            _exit(99);
        }
        for (int i = 0; i < 12000 && !is_under_way(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_TRUE(is_under_way());
        kill(child, GetParam());
        int status = 0;
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
    }
    fs::path folder_, temporary_;
};

TEST_P(Interrupted, ARunLeavesNothing) {
    const fs::path begun = folder_ / "begun";
    const std::string script = "touch " + begun.string() + "; exec sleep 60";
    const std::string page = folder_ / "report.html";
    EXPECT_EQ(
        signalled({TRIMTAB_BINARY_DIR "/bin/trimtab", "run", "--report", page, "--", "/bin/sh", "-c", script},
                  [&] { return fs::exists(begun); }),
        GetParam());
    EXPECT_TRUE(fs::is_empty(temporary_)) << fs::directory_iterator(temporary_)->path();
}

TEST_P(Interrupted, ABuildLeavesNothing) {
    std::ofstream(folder_ / "slow.cu")
        << "#include <thrust/sort.h>\n#include <thrust/device_vector.h>\n"
           "void sort(thrust::device_vector<int>& v) { thrust::sort(v.begin(), v.end()); }\n";
    const auto is_compiling = [&] {
        for (const auto& entry : fs::directory_iterator(temporary_))
            if (entry.path().filename().string().starts_with("trimtab-")) return true;
        return false;
    };
    EXPECT_EQ(
        signalled({TRIMTAB_BINARY_DIR "/bin/trimtab++", "-c", folder_ / "slow.cu", "-o", folder_ / "slow.o"},
                  is_compiling),
        GetParam());
    // clang's own temporary files are clang's.
    for (const auto& entry : fs::directory_iterator(temporary_))
        EXPECT_FALSE(entry.path().filename().string().starts_with("trimtab")) << entry.path();
}

INSTANTIATE_TEST_SUITE_P(BySignal, Interrupted, testing::Values(SIGINT, SIGTERM));

}  // namespace
