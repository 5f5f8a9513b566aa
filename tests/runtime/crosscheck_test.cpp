// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_CROSSCHECK in the launcher: when a choice changes, what is said and kept, and that whatever becomes of the
// emulation, launches go on.
#include "choosing/crosscheck/crosscheck.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "choosing/choices/leaders.h"
#include "tests/runtime/fake_process.h"
#include "tests/runtime/launcher_fixture.h"

namespace trimtab::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto no_hang = 120s;  // what must be over at once is over by then on any machine

// The driver program's leaders are 128 and 96 threads; 32 are as written.
class CrossCheckTest : public LauncherTest {
  protected:
    CrossCheckTest() {
        settings_.crosscheck = {.leaders = 4, .seconds = 60, .launch = 5};
        ::trimtab::runtime::testing::driver_script().others = {dim(96)};
        ::trimtab::runtime::testing::driver_script().predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 100.0 : block.x == 96 ? 101.0 : 1000.0 - block.x;
        };
        load_emulation_ = [this](std::string&) -> CrossCheck::Emulate {
            return [this](const EmulationQuestion& question, char* why, std::size_t why_bytes) {
                const std::int32_t answer = emulate_(question, why, why_bytes);
                ++answered_;
                return answer;
            };
        };
    }

    ~CrossCheckTest() override { launcher_.reset(); }  // what emulates is gone next

    // 96 threads are four times as fast.
    static std::int32_t other_is_faster(const EmulationQuestion& question) {
        for (std::uint32_t i = 0; i < question.launch_count; ++i)
            question.launches[i].ns = question.launches[i].launch.block.x == 96 ? 100 : 400;
        return emulation_done;
    }
    static bool is_called_off(const EmulationQuestion& question) {
        return question.is_called_off(question.context);
    }
    static void wait_until_called_off(const EmulationQuestion& question) {
        while (!is_called_off(question)) std::this_thread::sleep_for(1ms);
    }
    void wait_for_answers(int count) const {
        const auto end = std::chrono::steady_clock::now() + no_hang;
        while (answered_ < count && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
        ASSERT_GE(answered_, count);
        // The last answer is written down before the thread ends, which it does when nothing waits for it.
        while (is_working() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
        ASSERT_FALSE(is_working());
    }
    // Is there a thread of the cross-check's?
    [[nodiscard]] static bool is_working() {
        std::error_code gone;  // threads end while the folder is read
        for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
            std::string name;
            std::getline(std::ifstream(thread.path() / "comm"), name);
            if (name == CrossCheck::thread_name) return true;
        }
        return false;
    }
    void launch_n(int n) { EXPECT_EQ(launch(n, dim((static_cast<std::uint32_t>(n) + 31) / 32), dim(32)), 0); }
    [[nodiscard]] std::uint32_t last_width() const { return launched_.back().block.x; }
    template <typename Body>
    std::string said_during(const Body& body) {
        ::testing::internal::CaptureStderr();
        body();
        return ::testing::internal::GetCapturedStderr();
    }

    std::function<std::int32_t(const EmulationQuestion&, char*, std::size_t)> emulate_ =
        [](const EmulationQuestion& question, char*, std::size_t) { return other_is_faster(question); };
    std::atomic<int> answered_ = 0;
};

TEST_F(CrossCheckTest, AChoiceChangesAtTheFixedLaunchAndStays) {
    report_to_file();
    settings_.log = LogLevel::info;
    start();
    const std::string said = said_during([&] {
        launch_n(1000);
        wait_for_answers(1);
        for (int i = 2; i <= 8; ++i) launch_n(1000);
        launcher_->finish();
    });
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(launched_[static_cast<std::size_t>(i)].block.x, i < 4 ? 128u : 96u) << i;
    EXPECT_EQ(launched_.back().grid.x, 11u);  // what covers 1024 threads
    EXPECT_THAT(said, HasSubstr("cross-check changed at this launch: emulation finds 96x1x1 300 % faster"));
    EXPECT_THAT(said, HasSubstr("cross-check of 1 choice: 1 changed, 0 confirmed"));
    const auto lines = report_lines();
    ASSERT_EQ(lines.size(), 8u);
    EXPECT_EQ(lines[0]["by"], "driver");
    EXPECT_EQ(lines[3]["by"], "remembered");
    EXPECT_FALSE(lines[3].contains("crosscheck"));
    EXPECT_EQ(lines[4]["by"], "crosscheck");
    EXPECT_EQ(lines[4]["remembered"], false);
    EXPECT_EQ(lines[4]["chosen"]["block"], nlohmann::json({96, 1, 1}));
    EXPECT_EQ(lines[4]["predicted_ns"]["chosen"], 101);
    EXPECT_EQ(lines[4]["crosscheck"]["end"], "changed");
    EXPECT_EQ(lines[4]["crosscheck"]["launches"].size(), 3u);
    EXPECT_EQ(lines[4]["crosscheck"]["launches"][1]["emulated_ns"], 100);
    EXPECT_EQ(lines[5]["by"], "remembered");
    EXPECT_FALSE(lines[5].contains("crosscheck"));
}

// Without a log or a report, launches take the short way: their number is the same.
TEST_F(CrossCheckTest, TheFixedLaunchIsTheSameWhereNothingIsTold) {
    settings_.log = LogLevel::off;
    start();
    launch_n(1000);
    wait_for_answers(1);
    for (int i = 2; i <= 7; ++i) launch_n(1000);
    for (int i = 0; i < 7; ++i)
        EXPECT_EQ(launched_[static_cast<std::size_t>(i)].block.x, i < 4 ? 128u : 96u) << i;
}

TEST_F(CrossCheckTest, ObservedLaunchesStayAsWritten) {
    settings_.mode = Mode::observe;
    start();
    launch_n(1000);
    wait_for_answers(1);
    for (int i = 2; i <= 7; ++i) launch_n(1000);
    for (const auto& launched : launched_) EXPECT_EQ(launched.block.x, 32u);
}

TEST_F(CrossCheckTest, EverySizeIsCheckedAndCountedByItself) {
    std::atomic<int> asked = 0;
    emulate_ = [&](const EmulationQuestion& question, char*, std::size_t) {
        ++asked;
        return other_is_faster(question);
    };
    start();
    launch_n(1000);
    launch_n(2000);
    wait_for_answers(2);
    for (int i = 2; i <= 5; ++i) launch_n(1000);
    EXPECT_EQ(last_width(), 96u);
    launch_n(2000);
    EXPECT_EQ(last_width(), 128u);
    EXPECT_EQ(asked, 2);
}

TEST_F(CrossCheckTest, WhatIsAskedIsTheLaunchAndNothingElse) {
    EmulationQuestion seen;
    std::vector<LaunchToEmulate> launches;
    std::vector<std::byte> parameters;
    std::string kernel;
    emulate_ = [&](const EmulationQuestion& question, char*, std::size_t) {
        seen = question;
        launches.assign(question.launches, question.launches + question.launch_count);
        parameters.assign(question.parameters, question.parameters + question.parameter_bytes);
        kernel = question.kernel;
        return other_is_faster(question);
    };
    start();
    out_ = reinterpret_cast<float*>(0x7f0000001230);
    launch_n(1000);
    wait_for_answers(1);
    EXPECT_EQ(kernel, description_.name);
    ASSERT_EQ(launches.size(), 3u);
    EXPECT_EQ(launches[0].launch.block.x, 128u);
    EXPECT_EQ(launches[0].launch.grid.x, 8u);
    EXPECT_EQ(launches[1].launch.block.x, 96u);
    EXPECT_EQ(launches[2].launch.block.x, 32u);  // as written
    EXPECT_EQ(launches[2].launch.grid.x, 32u);
    EXPECT_GT(seen.code_bytes, 0u);
    int n = 0;
    std::memcpy(&n, &parameters[description_.parameters[0].offset], sizeof n);
    EXPECT_EQ(n, 1000);
}

TEST_F(CrossCheckTest, LeadersAreTheChoiceTheBestAndTheLaunchAsWritten) {
    start();
    const char* slug = nullptr;
    const trimtab_device& device = *calls_.emulated_device(0, &slug);
    const trimtab_image image{.registers_per_thread = 32,
                              .static_shared_bytes = 0,
                              .local_bytes_per_thread = 0,
                              .max_threads_per_block = 1024};
    const LaunchShape shape{.written = {.grid = dim(32), .block = dim(32)}, .arguments = arguments(1000)};
    Decision decision;
    decision.launch.grid = dim(8);
    decision.launch.block = dim(128);
    const auto widths = [&](std::uint32_t count) {
        const Leaders leaders =
            leaders_of(decision, {description_, bundle_->driver(), device, image}, shape, count);
        EXPECT_LT(leaders.written, leaders.launches.size());
        EXPECT_EQ(leaders.launches[leaders.written].launch.block.x, 32u);
        EXPECT_EQ(leaders.launches[leaders.written].launch.grid.x, 32u);
        EXPECT_EQ(leaders.launches[leaders.written].predicted_ns, 968);
        std::vector<std::uint32_t> out;
        for (const CheckedLaunch& one : leaders.launches) out.push_back(one.launch.block.x);
        return out;
    };
    EXPECT_THAT(widths(4), ::testing::ElementsAre(128, 96, 32));
    ::trimtab::runtime::testing::driver_script().others = {dim(96), dim(32), dim(64), dim(160)};
    EXPECT_THAT(widths(4), ::testing::ElementsAre(128, 96, 32, 64));
    EXPECT_THAT(widths(2), ::testing::ElementsAre(128, 96, 32));
    // Where nothing was found better than the launch as written, that is the choice.
    decision.launch.grid = decision.launch.block = dim(32);
    EXPECT_THAT(widths(2), ::testing::ElementsAre(32, 128, 96));
    ::trimtab::runtime::testing::driver_script().doubt = TRIMTAB_DOUBT_UNTOLD;
    EXPECT_TRUE(
        leaders_of(decision, {description_, bundle_->driver(), device, image}, shape, 4).launches.empty());
}

TEST_F(CrossCheckTest, AnAnswerThatComesLateIsForLaterProcesses) {
    const std::string file = ::testing::TempDir() + "late_" + std::to_string(getpid()) + ".sqlite";
    std::filesystem::remove(file);
    settings_.choices_path = file;
    std::atomic<bool> may_answer = false;
    emulate_ = [&](const EmulationQuestion& question, char*, std::size_t) {
        while (!may_answer && !is_called_off(question)) std::this_thread::sleep_for(1ms);
        return other_is_faster(question);
    };
    settings_.log = LogLevel::info;
    start();
    const std::string said = said_during([&] {
        for (int i = 1; i <= 6; ++i) launch_n(1000);
        may_answer = true;
        wait_for_answers(1);
        for (int i = 7; i <= 20; ++i) launch_n(1000);
        launcher_->finish();
    });
    for (const auto& launched : launched_) EXPECT_EQ(launched.block.x, 128u);
    EXPECT_THAT(said, HasSubstr("cross-check late at this launch: not ready at launch 5"));
    EXPECT_THAT(said, HasSubstr("for later processes"));
    EXPECT_THAT(said, HasSubstr("0 changed, 0 confirmed, 0 not judged, 1 late, 0 not finished"));
    const LaunchShape written{.written = {.grid = dim(32), .block = dim(32)}, .arguments = arguments(1000)};
    const auto launched =
        testing::launched_by_new_process(file, description_, fat_binary_, *bundle_, written, settings_);
    EXPECT_EQ(launched.written.block.x, 96u);
    // Choices that were not checked are others.
    Settings unchecked = settings_;
    unchecked.crosscheck = {};
    EXPECT_EQ(testing::launched_by_new_process(file, description_, fat_binary_, *bundle_, written, unchecked)
                  .written.block.x,
              128u);
    std::filesystem::remove(file);
}

TEST_F(CrossCheckTest, LaunchZeroIsForLaterProcessesAlone) {
    const std::string file = ::testing::TempDir() + "zero_" + std::to_string(getpid()) + ".sqlite";
    std::filesystem::remove(file);
    settings_.choices_path = file;
    settings_.crosscheck.launch = 0;
    settings_.log = LogLevel::info;
    start();
    const std::string said = said_during([&] {
        launch_n(1000);
        wait_for_answers(1);
        for (int i = 2; i <= 20; ++i) launch_n(1000);
        launcher_->finish();
    });
    for (const auto& launched : launched_) EXPECT_EQ(launched.block.x, 128u);
    EXPECT_THAT(said, HasSubstr("300 % faster"));
    EXPECT_THAT(said, HasSubstr("for later processes"));
    const LaunchShape written{.written = {.grid = dim(32), .block = dim(32)}, .arguments = arguments(1000)};
    EXPECT_EQ(testing::launched_by_new_process(file, description_, fat_binary_, *bundle_, written, settings_)
                  .written.block.x,
              96u);
    std::filesystem::remove(file);
}

// A process that ends first leaves no word of it: the next one checks the choice again.
TEST_F(CrossCheckTest, WhatWasNotFinishedIsNotKept) {
    const std::string file = ::testing::TempDir() + "unfinished_" + std::to_string(getpid()) + ".sqlite";
    std::filesystem::remove(file);
    settings_.choices_path = file;
    emulate_ = [](const EmulationQuestion& question, char*, std::size_t) -> std::int32_t {
        wait_until_called_off(question);
        return emulation_called_off;
    };
    report_to_file();
    settings_.log = LogLevel::info;
    start();
    const std::string said = said_during([&] {
        launch_n(1000);
        launcher_->finish();
    });
    EXPECT_THAT(said, HasSubstr("0 changed, 0 confirmed, 0 not judged, 0 late, 1 not finished"));
    launcher_.reset();
    emulate_ = [](const EmulationQuestion& question, char*, std::size_t) {
        return other_is_faster(question);
    };
    Log log(LogLevel::off);
    Launcher next(settings_, calls_, *bundles_, *report_, log, nullptr, load_emulation_);
    EXPECT_EQ(report_lines().size(), 1u);
    registrations_.find(&host_function_)->plan = nullptr;  // it was the other launcher's
    answered_ = 0;
    const LaunchShape shape{.written = {.grid = dim(32), .block = dim(32)}, .arguments = arguments(1000)};
    const auto nothing = [](const trimtab_dim3&, const trimtab_dim3&, std::uint64_t) { return cudaSuccess; };
    EXPECT_EQ(next.launch(registrations_.find(&host_function_), shape, nullptr, nothing), cudaSuccess);
    EXPECT_EQ(report_lines().back()["by"], "driver");
    wait_for_answers(1);
    next.finish();
    std::filesystem::remove(file);
}

TEST_F(CrossCheckTest, AFaultOfTheEmulationLeavesTheChoice) {
    emulate_ = [](const EmulationQuestion&, char* why, std::size_t why_bytes) -> std::int32_t {
        std::snprintf(why, why_bytes, "illegal address 0x0 by thread (0,0,0)");
        return emulation_failed;
    };
    settings_.log = LogLevel::info;
    start();
    const std::string said = said_during([&] {
        launch_n(1000);
        wait_for_answers(1);
        for (int i = 2; i <= 9; ++i) launch_n(1000);
        launcher_->finish();
    });
    for (const auto& launched : launched_) EXPECT_EQ(launched.block.x, 128u);
    EXPECT_THAT(said, HasSubstr("cross-check not judged at this launch: illegal address 0x0 by thread"));
    EXPECT_THAT(said, HasSubstr("1 not judged"));
}

TEST_F(CrossCheckTest, AnEmulationThatThrowsIsNeverReady) {
    emulate_ = [this](const EmulationQuestion&, char*, std::size_t) -> std::int32_t {
        ++answered_;
        throw std::runtime_error("of the test");
    };
    start();
    launch_n(1000);
    wait_for_answers(1);
    for (int i = 2; i <= 9; ++i) launch_n(1000);
    launcher_->finish();
    for (const auto& launched : launched_) EXPECT_EQ(launched.block.x, 128u);
}

TEST_F(CrossCheckTest, ABudgetThatIsUsedUpIsSaid) {
    settings_.crosscheck.seconds = 0.02;
    emulate_ = [](const EmulationQuestion& question, char*, std::size_t) -> std::int32_t {
        wait_until_called_off(question);
        return emulation_called_off;
    };
    settings_.log = LogLevel::info;
    start();
    const std::string said = said_during([&] {
        launch_n(1000);
        wait_for_answers(1);
        for (int i = 2; i <= 9; ++i) launch_n(1000);
    });
    EXPECT_EQ(last_width(), 128u);
    EXPECT_THAT(said, HasSubstr("not judged at this launch: 0.02 s were not enough"));
}

TEST_F(CrossCheckTest, WithoutTheLibraryThereIsOneLineAndNoMore) {
    settings_.log = LogLevel::warn;
    load_emulation_ = [this](std::string& error) -> CrossCheck::Emulate {
        error = "libtrimtab_crosscheck.so: cannot open shared object file";
        ++answered_;
        return {};
    };
    start();
    const std::string said = said_during([&] {
        launch_n(1000);
        wait_for_answers(1);
        for (int n = 1000; n < 1100; ++n)
            for (int i = 2; i <= 9; ++i) launch_n(n);
        launcher_->finish();
    });
    for (const auto& launched : launched_) EXPECT_EQ(launched.block.x, 128u);
    EXPECT_EQ(answered_, 1);
    EXPECT_EQ(
        said,
        "trimtab: TRIMTAB_CROSSCHECK: libtrimtab_crosscheck.so: cannot open shared object file: choices are "
        "not checked\n");
}

TEST_F(CrossCheckTest, TheEndOfTheProcessWaitsForNoEmulation) {
    settings_.crosscheck.seconds = 3600;
    std::atomic<bool> is_at_work = false;
    emulate_ = [&](const EmulationQuestion& question, char*, std::size_t) -> std::int32_t {
        is_at_work = true;
        wait_until_called_off(question);
        return emulation_called_off;
    };
    start();
    for (int n = 1000; n < 1050; ++n) launch_n(n);
    while (!is_at_work) std::this_thread::sleep_for(1ms);
    const auto begin = std::chrono::steady_clock::now();
    launcher_->finish();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, no_hang);
    // Launches of programs that are not over yet when their atexit handlers run.
    for (int n = 1000; n < 1060; ++n) launch_n(n);
    EXPECT_EQ(last_width(), 128u);
}

// The child has the parent's memory, and no thread that would ever answer: it neither waits nor hangs.
TEST_F(CrossCheckTest, AForkedChildGoesOnWithWhatWasChosen) {
    std::atomic<bool> is_at_work = false;
    emulate_ = [&](const EmulationQuestion& question, char*, std::size_t) {
        is_at_work = true;
        wait_until_called_off(question);
        return other_is_faster(question);
    };
    settings_.log = LogLevel::off;
    settings_.crosscheck.seconds = 3600;
    start();
    launch_n(1000);
    while (!is_at_work) std::this_thread::sleep_for(1ms);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        for (int i = 0; i < 20; ++i) launch_n(1000);
        bool is_right = last_width() == 128;
        launch_n(2000);
        is_right = is_right && last_width() == 128;
        launcher_->finish();
        launcher_.reset();
        _exit(is_right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    launch_n(1000);
    launcher_->finish();
}

TEST_F(CrossCheckTest, AProcessChecksSoManyAndNoMore) {
    settings_.log = LogLevel::off;
    start();
    const int count = static_cast<int>(CrossCheck::most_checks) + 40;
    for (int n = 1000; n < 1000 + count; ++n) launch_n(n);
    wait_for_answers(static_cast<int>(CrossCheck::most_checks));
    EXPECT_EQ(answered_, static_cast<int>(CrossCheck::most_checks));
    for (int i = 2; i <= 6; ++i) launch_n(1000 + count - 1);
    EXPECT_EQ(last_width(), 128u);
}

TEST_F(CrossCheckTest, OffAsksNothing) {
    settings_.crosscheck.leaders = 0;
    start();
    for (int i = 0; i < 20; ++i) launch_n(1000);
    launcher_->finish();
    EXPECT_EQ(answered_, 0);
    EXPECT_EQ(testing::driver_script().selects, 1);
}

// Every launch before the fifth of its size has one block, and those from it on another, whichever threads make them.
TEST_F(CrossCheckTest, ThreadsLaunchWhileChecksComeIn) {
    settings_.log = LogLevel::off;
    settings_.crosscheck.launch = 300;
    start();
    std::atomic<int> wrong = 0, changed = 0;
    constexpr int thread_count = 4, sizes = 8, launches = 2000;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < thread_count; ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < launches; ++i) {
                    int n = 1000 + (i + t) % sizes, step = 1, bound = 10;
                    float* out = nullptr;
                    void* arguments[4] = {&n, static_cast<void*>(&out), &step, &bound};
                    const LaunchShape shape{.written = {.grid = dim(32), .block = dim(32)},
                                            .arguments = arguments};
                    launcher_->launch(
                        registrations_.find(&host_function_), shape, nullptr,
                        [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                            if (block.x == 96 && grid.x == 11)
                                ++changed;
                            else if (block.x != 128 || grid.x != 8)
                                ++wrong;
                            return cudaSuccess;
                        });
                }
            });
    }
    wait_for_answers(sizes);
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(changed, 0);
    EXPECT_EQ(answered_, sizes);
}

}  // namespace
}  // namespace trimtab::runtime
