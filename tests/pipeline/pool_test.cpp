// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pool against workers that misbehave (fake_worker.cpp).
#include "pipeline/workers/pool.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace trimtab::workers {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fake(const std::string& manner) {
    return "exec " TRIMTAB_BINARY_DIR "/bin/trimtab_fake_worker " + manner;
}

class Pool : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/pool-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string mark() const { return " " + folder_ + "/mark"; }

    // The squares that came; what was left is in `left_`.
    std::map<std::size_t, long> squares(const std::vector<std::string>& commands, std::size_t count,
                                        std::chrono::milliseconds silence = std::chrono::seconds(120),
                                        std::shared_ptr<const Shared> shared = nullptr) {
        WorkerPool pool({.commands = commands, .silence = silence, .beginning = silence},
                        [this](const std::string& text) { warnings_.push_back(text); });
        std::map<std::size_t, long> out;
        left_ = pool.run(
            count, [&](std::size_t) { return Task{.head = json::object(), .shared = shared}; },
            [&](std::size_t i, const json& answer) -> std::expected<void, Error> {
                const auto square = answer.at("square").get<long>();
                if (square < 0) return std::unexpected(Error{"a square below zero"});
                EXPECT_FALSE(out.contains(i)) << "a task was taken twice";
                out[i] = square;
                processes_.insert(answer.at("process").get<pid_t>());
                body_bytes_ = answer.at("body_bytes").get<std::size_t>();
                return {};
            },
            [&](const PoolProgress& progress) {
                EXPECT_LE(progress.done, progress.total);
                EXPECT_LE(progress.part, 1.0);
                EXPECT_LE(progress.workers, commands.size());
            });
        return out;
    }
    static std::map<std::size_t, long> all(std::size_t count) {
        std::map<std::size_t, long> out;
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<long>(i * i);
        return out;
    }

    std::string folder_;
    std::vector<std::string> warnings_;
    std::vector<WorkerPool::Left> left_;
    std::set<pid_t> processes_;
    std::size_t body_bytes_ = 0;
};

TEST_F(Pool, AllTasksAreDoneByAllWorkers) {
    EXPECT_EQ(squares(std::vector(3, fake("together" + mark())), 30), all(30));
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_THAT(warnings_, IsEmpty());
    EXPECT_EQ(processes_.size(), 3U);
    // They end with the pool.
    for (const pid_t process : processes_) EXPECT_EQ(kill(process, 0), -1);
}

TEST_F(Pool, NoTasksStartNobody) {
    EXPECT_EQ(squares({"touch " + folder_ + "/started"}, 0), all(0));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/started"));
}

TEST_F(Pool, ATaskOfALostWorkerGoesToAnother) {
    EXPECT_EQ(squares({fake("dies-once" + mark()), fake("follows" + mark())}, 20), all(20));
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("was ended by signal 9")));
}

TEST_F(Pool, AWorkerThatIsAloneIsStartedAgain) {
    EXPECT_EQ(squares({fake("dies-once" + mark())}, 5), all(5));
    EXPECT_THAT(left_, IsEmpty());
}

TEST_F(Pool, AHungWorkerIsEndedAndItsTaskDoneByAnother) {
    EXPECT_EQ(squares({fake("hangs-once" + mark()), fake("follows" + mark())}, 20, std::chrono::seconds(3)),
              all(20));
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_THAT(warnings_, Contains(HasSubstr("says nothing for 3 s")));
}

TEST_F(Pool, ATaskThatThreeWorkersAreLostWithIsLeftAndTheOthersAreDone) {
    auto expected = all(8);
    expected.erase(3);
    EXPECT_EQ(squares({fake("poisoned"), fake("poisoned")}, 8), expected);
    ASSERT_EQ(left_.size(), 1U);
    EXPECT_EQ(left_[0].task, 3U);
    EXPECT_TRUE(left_[0].was_tried);
    EXPECT_THAT(left_[0].why, HasSubstr(" workers were lost with it; the last was ended by signal 9"));
    EXPECT_THAT(warnings_.size(), AnyOf(3U, 4U));  // 4: the other one began after three losses
}

TEST_F(Pool, ATaskThatIsItsOnlyWorkersEndIsTriedLast) {
    auto expected = all(8);
    expected.erase(3);
    EXPECT_EQ(squares({fake("poisoned")}, 8), expected);
    ASSERT_EQ(left_.size(), 1U);
    EXPECT_EQ(left_[0].task, 3U);
    EXPECT_TRUE(left_[0].was_tried);
}

// The one that is well begins when the other has already lost the only task and is there again.
TEST_F(Pool, ATaskWaitsForAWorkerThatItWasNotLostWith) {
    EXPECT_EQ(squares({fake("garbage" + mark()), fake("second" + mark())}, 1), all(1));
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(Pool, AWorkerThatOnlyAnswersGarbageIsStartedThreeTimes) {
    EXPECT_EQ(squares({fake("garbage" + mark()), fake("second" + mark())}, 40), all(40));
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_LE(std::filesystem::file_size(folder_ + "/mark"), 3U);
}

TEST_F(Pool, WhereNobodyWorksAllIsLeftInOrder) {
    EXPECT_THAT(squares({"exit 7", "/no/such/program"}, 3), IsEmpty());
    ASSERT_EQ(left_.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(left_[i].task, i);
        EXPECT_FALSE(left_[i].was_tried);
    }
    EXPECT_THAT(warnings_, Contains(HasSubstr("ended with status 7")));
}

TEST_F(Pool, WhatIsNoAnswerEndsTheWorker) {
    const std::pair<const char*, const char*> manners[] = {
        {"garbage", "is no message: \"Segmentation fault (core dumped)\""},
        {"banner", "is no message: \"Welcome to node7\""},
        {"old", "is of another Trimtab"},
        {"untyped", "type must be string"},
        {"wrong", "its answer is not taken: a square below zero"},
        {"unasked", "answers what it was not asked"}};
    for (const auto& [manner, says] : manners) {
        warnings_.clear();
        // The other one begins when the first has been ended.
        const std::string file = mark() + "-" + manner;
        EXPECT_EQ(squares({fake(manner + file), fake("second" + file)}, 12), all(12)) << manner;
        EXPECT_THAT(left_, IsEmpty()) << manner;
        EXPECT_THAT(warnings_, Contains(HasSubstr(says))) << manner;
    }
}

TEST_F(Pool, NobodyWaitsForAWorkerThatDoesNotBegin) {
    EXPECT_EQ(squares({fake("mute"), fake("slow")}, 10), all(10));
    EXPECT_THAT(left_, IsEmpty());
    // Alone it is started anew, and given up in the end.
    EXPECT_THAT(squares({fake("mute")}, 2, std::chrono::milliseconds(300)), IsEmpty());
    EXPECT_EQ(left_.size(), 2U);
}

TEST_F(Pool, WhatTasksShareGoesToAWorkerThatReadsSlowly) {
    const std::size_t bytes = 40 << 20;
    const auto shared = std::make_shared<const Shared>(
        Shared{.id = "program", .head = json::object(), .body = std::string(bytes, 'x')});
    EXPECT_EQ(squares({fake("reads-late"), fake("reads-late")}, 6, std::chrono::seconds(120), shared),
              all(6));
    EXPECT_EQ(body_bytes_, bytes);
}

TEST(ReadWorkers, TakesNumbersCommandsAndNumbersOfCommands) {
    EXPECT_THAT(read_workers("ssh node7 trimtab worker").value(), ElementsAre("ssh node7 trimtab worker"));
    EXPECT_EQ(read_workers("64*srun -n 1 trimtab worker").value(),
              std::vector<std::string>(64, "srun -n 1 trimtab worker"));
    EXPECT_THAT(read_workers("7zip").value(), ElementsAre("7zip"));
    for (const char* text : {"", " ", "0", "0*x", "3*", "3* ", "100000", "99999999999999999999999"})
        EXPECT_FALSE(read_workers(text)) << text;
}

}  // namespace
}  // namespace trimtab::workers
