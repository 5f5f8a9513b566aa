// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_LEARN=1 over a backend whose launches take the time that the test says.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tests/runtime/launcher_fixture.h"

namespace trimtab::runtime {
namespace {

using testing::driver_script;
using testing::Launched;

// One device whose clock moves with its launches. Events are numbers.
struct EventScript {
    double clock_ns = 0;
    std::uintptr_t next = 1;
    std::map<CUevent, double> recorded;
    int records = 0, queries = 0;
    bool is_ready = true;
    CUresult create = CUDA_SUCCESS, record = CUDA_SUCCESS, query = CUDA_SUCCESS;
};
EventScript& events() {
    static EventScript script;
    return script;
}

class LearningTest : public LauncherTest {
  protected:
    LearningTest() {
        events() = {};
        settings_.learn.is_on = true;
        settings_.learn.share = 1;
        auto& driver = calls_.driver;
        driver.event_create = [](CUevent* event, unsigned) {
            *event = reinterpret_cast<CUevent>(events().next++);
            return events().create;
        };
        driver.event_destroy = [](CUevent) { return CUDA_SUCCESS; };
        driver.event_record = [](CUevent event, CUstream) {
            ++events().records;
            events().recorded[event] = events().clock_ns;
            return events().record;
        };
        driver.event_query = [](CUevent) {
            ++events().queries;
            return events().query != CUDA_SUCCESS ? events().query
                   : events().is_ready            ? CUDA_SUCCESS
                                                  : CUDA_ERROR_NOT_READY;
        };
        driver.event_elapsed_time = [](float* milliseconds, CUevent begin, CUevent end) {
            *milliseconds = static_cast<float>((events().recorded[end] - events().recorded[begin]) / 1e6);
            return CUDA_SUCCESS;
        };
        // 128 threads are predicted fastest, and 64 are.
        driver_script().others = {dim(256), dim(64), dim(512)};
        driver_script().predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 1000.0 : block.x == 256 ? 1100.0 : block.x == 64 ? 1200.0 : 1500.0;
        };
        answer_ = [this](const Launched& launched) {
            events().clock_ns += time_ns_(launched.block.x);
            return cudaSuccess;
        };
    }

    cudaError_t launch_in_stream(int n = 1000) {
        const LaunchShape shape{.written = {.grid = dim(32), .block = dim(32)},
                                .arguments = arguments(n),
                                .stream = CU_STREAM_LEGACY};
        return launch(shape);
    }
    void launch_often(int times) {
        for (int i = 0; i < times; ++i) EXPECT_EQ(launch_in_stream(), cudaSuccess);
    }

    std::function<double(unsigned)> time_ns_ = [](unsigned threads) {
        return threads == 64 ? 900.0 : 1000.0 + threads;
    };
};

TEST_F(LearningTest, KeepsTheFastestAndTimesNoMore) {
    report_to_file();
    start();
    launch_often(100);
    expect_last(dim(16), dim(64));
    const int records = events().records;
    EXPECT_GT(records, 0);
    launch_often(100);
    EXPECT_EQ(events().records, records) << "events are recorded on, though it has settled";
    expect_last(dim(16), dim(64));
    std::set<unsigned> tried;
    for (const Launched& one : launched_) tried.insert(one.block.x);
    EXPECT_THAT(tried, ::testing::ElementsAre(32, 64, 128, 256, 512)) << "the one as written among them";
    std::size_t told = 0;
    for (const auto& line : report_lines()) {
        if (!line.contains("learned")) continue;
        ++told;
        EXPECT_EQ(line["by"], "learned");
        EXPECT_EQ(line["chosen"]["block"][0], 64);
        const auto& learned = line["learned"];
        EXPECT_EQ(learned["launches"].size(), 5u);
        EXPECT_EQ(learned["launches"][0]["block"][0], 128);
        EXPECT_NEAR(learned["launches"][learned["chosen"].get<std::size_t>()]["measured_ns"].get<double>(),
                    900, 1);
    }
    EXPECT_EQ(told, 1u);
}

TEST_F(LearningTest, IsOffUnlessAskedForAndForGraphsNodes) {
    settings_.learn.is_on = false;
    start();
    launch_often(50);
    EXPECT_EQ(events().records, 0);
    settings_.learn.is_on = true;
    start();
    for (int i = 0; i < 50; ++i) launch(1000, dim(32), dim(32));  // in no stream
    EXPECT_EQ(events().records, 0);
    expect_last(dim(8), dim(128));
}

TEST_F(LearningTest, GoesOnWhereEventsFail) {
    const auto expect_predicted = [this](const char* what) {
        SCOPED_TRACE(what);
        start();
        launch_often(500);
        expect_last(dim(8), dim(128));
        EXPECT_EQ(testing::script().last_error, cudaSuccess);
        EXPECT_LT(events().records, 40) << "it is tried on and on";
        events() = {};
    };
    events().create = CUDA_ERROR_OUT_OF_MEMORY;
    expect_predicted("create");
    events().record = CUDA_ERROR_INVALID_HANDLE;
    expect_predicted("record");
    events().query = CUDA_ERROR_ILLEGAL_ADDRESS;
    expect_predicted("query");
    events().is_ready = false;
    expect_predicted("never ready");
}

TEST_F(LearningTest, ALaunchThatFailsIsNotTimedAndLeavesItsErrorToTheProgram) {
    start();
    launch_often(1);
    answer_ = [](const Launched&) { return cudaErrorIllegalAddress; };
    EXPECT_EQ(launch_in_stream(), cudaErrorIllegalAddress);
    EXPECT_EQ(launch_in_stream(), cudaErrorIllegalAddress);
}

TEST_F(LearningTest, AContextThatEndsTakesItsEventsAway) {
    start();
    events().is_ready = false;
    launch_often(6);
    const auto before = events().recorded;
    launcher_->context_ends();
    events().is_ready = true;
    events().recorded.clear();
    launch_often(100);
    expect_last(dim(16), dim(64));
    for (const auto& [event, time] : before)
        EXPECT_FALSE(events().recorded.contains(event)) << "an event of the context that has ended";
}

TEST_F(LearningTest, TimesAreComparedWithThePredictionForTheirOwnData) {
    // `bound` is in the key by its power of two alone, and the work is in proportion to it: 64 threads are launched
    // with the larger ones. By the times alone they would seem slower.
    driver_script().predict = [](const double* data, trimtab_dim3 block) {
        const double fastest = block.x == 128 ? 1000.0 : block.x == 64 ? 1010.0 : 5000.0;
        return fastest * data[2];
    };
    driver_script().others = {dim(64)};
    time_ns_ = [this](unsigned threads) {
        return (threads == 64 ? 900.0 : 1000.0) * bound_ * (threads < 64 ? 5 : 1);
    };
    start();
    for (int i = 0; i < 200; ++i) {
        bound_ = i % 2 == 0 ? 9 : 15;
        launch_in_stream();
    }
    expect_last(dim(16), dim(64));
}

TEST_F(LearningTest, WhatWasLearntIsKeptForOtherProcesses) {
    settings_.choices_path = ::testing::TempDir() + "learnt_" + std::to_string(getpid()) + ".sqlite";
    std::filesystem::remove(settings_.choices_path);
    start();
    launch_often(100);
    launcher_->finish();
    const int records = events().records;
    start();  // as another process would
    launch_often(1);
    expect_last(dim(16), dim(64));
    EXPECT_EQ(events().records, records);
    // Without TRIMTAB_LEARN a choice is the driver program's.
    settings_.learn.is_on = false;
    start();
    launch_often(1);
    expect_last(dim(8), dim(128));
    std::filesystem::remove(settings_.choices_path);
}

}  // namespace
}  // namespace trimtab::runtime
