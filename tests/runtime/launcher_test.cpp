// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a launch, and what is remembered and reported of it.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/runtime/launcher_fixture.h"

namespace trimtab::runtime {
namespace {

using testing::driver_script;
using ::testing::HasSubstr;
using testing::Launched;
using testing::script;

TEST_F(LauncherTest, LaunchesTheFasterBlockWithTheGridThatCoversTheThreads) {
    start();
    EXPECT_EQ(launch(1000, dim(32), dim(32)), cudaSuccess);
    // 32 * 32 = 1024 threads: 8 blocks of 128.
    expect_last(dim(8), dim(128));
    EXPECT_EQ(launch(1000, dim(11), dim(96)), cudaSuccess);
    // 1056 threads: 8.25 blocks of 128.
    expect_last(dim(9), dim(128));
}

TEST_F(LauncherTest, LeavesTheBlockThatIsPredictedFastest) {
    start();
    driver_script().predict = [](const double*, trimtab_dim3 block) { return block.x == 32 ? 10.0 : 20.0; };
    launch(1000, dim(32), dim(32));
    expect_last(dim(32), dim(32));
}

TEST_F(LauncherTest, AGainTooSmallToTellChangesNothing) {
    start();
    double others_ns = 996;  // .4 % less
    driver_script().predict = [&](const double*, trimtab_dim3 block) {
        return block.x == 32 ? 1000.0 : others_ns;
    };
    launch(1000, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    others_ns = 994;
    launch(1001, dim(32), dim(32));
    expect_last(dim(8), dim(128));
    settings_.least_gain = 0.1;
    start();
    launch(1001, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    settings_.least_gain = 0;
    others_ns = 999.99;
    start();
    launch(1001, dim(32), dim(32));
    expect_last(dim(8), dim(128));
}

TEST_F(LauncherTest, LeavesLaunchesThatCannotBeJudged) {
    start();
    // n beyond the extent: blocks past it would write; 1000 threads are no multiple of 128.
    launch(5000, dim(10), dim(100));
    expect_last(dim(10), dim(100));
    launch(1000, dim(32), dim(32), 64);
    expect_last(dim(32), dim(32));
    launch({.written = {.grid = dim(32), .block = dim(32), .dynamic_shared_bytes = 0}, .arguments = nullptr});
    expect_last(dim(32), dim(32));
    launch(1000, dim(32), dim(32), 0, "a cooperative launch");
    expect_last(dim(32), dim(32));
    driver_script().doubt = TRIMTAB_DOUBT_UNTOLD;
    launch(1001, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    driver_script().doubt = 0;
    driver_script().select_result = -1;
    launch(1002, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    driver_script().select_result = 0;
    launch(1003, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    driver_script().select_result = 1;
    driver_script().predict = [](const double*, trimtab_dim3) { return std::nan(""); };
    launch(1004, dim(32), dim(32));
    expect_last(dim(32), dim(32));
}

TEST_F(LauncherTest, RemembersByWhatTheDescriptionPutsInTheMemo) {
    start();
    launch(1000, dim(32), dim(32));
    launch(1000, dim(32), dim(32));
    step_ = 7;  // not in the memo
    launch(1000, dim(32), dim(32));
    bound_ = 15;  // 10 and 15 have four bits
    launch(1000, dim(32), dim(32));
    out_ = reinterpret_cast<float*>(64);
    launch(1000, dim(32), dim(32));
    EXPECT_EQ(driver_script().selects, 1);
    bound_ = 16;
    launch(1000, dim(32), dim(32));
    EXPECT_EQ(driver_script().selects, 2);
    launch(999, dim(32), dim(32));
    EXPECT_EQ(driver_script().selects, 3);
    launch(999, dim(16), dim(64));
    EXPECT_EQ(driver_script().selects, 4);
    EXPECT_EQ(launched_.size(), 8u);
    for (const Launched& launched : launched_) EXPECT_EQ(launched.block.x, 128u);
}

TEST_F(LauncherTest, RemembersForEachDevice) {
    script().device_count = 2;
    start();
    launch(1000, dim(32), dim(32));
    script().device = 1;
    launch(1000, dim(32), dim(32));
    EXPECT_EQ(driver_script().selects, 2);
    launch(1000, dim(32), dim(32));
    script().device = 0;
    launch(1000, dim(32), dim(32));
    EXPECT_EQ(driver_script().selects, 2);
}

TEST_F(LauncherTest, NothingIsDecidedInACapture) {
    report_to_file();
    start();
    const LaunchShape shape{.written = {.grid = dim(32), .block = dim(32)}, .arguments = arguments(1000)};
    bool captures = true;
    const auto launch_once = [&] {
        return launcher_->launch(
            registrations_.find(&host_function_), shape, nullptr,
            [this](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                launched_.push_back({grid, block});
                return cudaSuccess;
            },
            [&] { return captures; });
    };
    EXPECT_EQ(launch_once(), cudaSuccess);
    expect_last(dim(32), dim(32));
    EXPECT_EQ(driver_script().selects, 0);
    EXPECT_TRUE(report_lines().empty());
    captures = false;
    EXPECT_EQ(launch_once(), cudaSuccess);
    expect_last(dim(8), dim(128));
    // What is remembered by now is no reason either.
    captures = true;
    EXPECT_EQ(launch_once(), cudaSuccess);
    expect_last(dim(32), dim(32));
    EXPECT_EQ(report_lines().size(), 1u);
}

TEST_F(LauncherTest, OffAndObserveLaunchAsWritten) {
    settings_.mode = Mode::off;
    start();
    launch(1000, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    EXPECT_EQ(driver_script().selects, 0);
    settings_.mode = Mode::observe;
    report_to_file();
    start();
    launch(1000, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    const auto lines = report_lines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0]["by"], "unchanged");
    EXPECT_EQ(lines[0]["chosen"]["block"], nlohmann::json::parse("[128,1,1]"));
    EXPECT_EQ(lines[0]["predicted_ns"]["chosen"], 100.0);
}

TEST_F(LauncherTest, ReportsOneLineALaunch) {
    report_to_file();
    start();
    launch(1000, dim(32), dim(32));
    launch(1000, dim(32), dim(32));
    launch(1000, dim(32), dim(32), 16);
    const auto lines = report_lines();
    ASSERT_EQ(lines.size(), 3u);
    const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
    EXPECT_NEAR(lines[0]["time"].get<double>(), now.count(), 60);
    nlohmann::json first = lines[0];
    first.erase("time");
    EXPECT_EQ(first, nlohmann::json::parse(R"({
        "kernel": "_Z7guardediPfii", "device": "rtx2070super",
        "data": {"n": 1000.0, "step": 1.0, "bound": 10.0, "extent.x": 1024.0},
        "written": {"grid": [32,1,1], "block": [32,1,1]}, "chosen": {"grid": [8,1,1], "block": [128,1,1]},
        "predicted_ns": {"written": 968.0, "chosen": 100.0}, "by": "driver", "remembered": false,
        "reason": "predicted fastest"})"));
    EXPECT_EQ(lines[1]["by"], "remembered");
    EXPECT_EQ(lines[1]["remembered"], true);
    EXPECT_EQ(lines[1]["predicted_ns"], lines[0]["predicted_ns"]);
    EXPECT_EQ(lines[2]["by"], "unchanged");
    EXPECT_THAT(lines[2]["reason"], HasSubstr("dynamic shared memory"));
    EXPECT_TRUE(lines[2]["predicted_ns"]["written"].is_null());
    std::filesystem::remove(settings_.report_path);
}

TEST_F(LauncherTest, ReportsThePredictionsOfAllLegalBlocksOnce) {
    report_to_file();
    settings_.report_blocks = true;
    start();
    launch(1000, dim(32), dim(32));
    launch(1000, dim(32), dim(32));
    launch(1000, dim(32), dim(32), 16);
    const auto lines = report_lines();
    ASSERT_EQ(lines.size(), 3u);
    ASSERT_EQ(lines[0]["blocks"].size(), 32u);  // every multiple of 32 up to 1024
    EXPECT_EQ(lines[0]["blocks"][0], nlohmann::json::parse("[32,1,1,968.0]"));
    EXPECT_EQ(lines[0]["blocks"][3], nlohmann::json::parse("[128,1,1,100.0]"));
    EXPECT_FALSE(lines[1].contains("blocks"));
    EXPECT_FALSE(lines[2].contains("blocks"));
    std::filesystem::remove(settings_.report_path);
}

TEST_F(LauncherTest, ABundleThatLeavesTakesItsDriverWithIt) {
    start();
    launch(1000, dim(32), dim(32));
    expect_last(dim(8), dim(128));
    bundles_->remove(&bundle_->bundle());
    registrations_.forget_plans(&bundle_->bundle());
    launch(1000, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    registrations_.remove_fat_binary(handle_);
    EXPECT_EQ(registrations_.find(&host_function_), nullptr);
}

TEST_F(LauncherTest, EightThreadsLaunchTheRightGrids) {
    start();
    driver_script().predict = [](const double* data, trimtab_dim3 block) {
        // Even n: 128 is best. Odd n: the block as written.
        const bool even = static_cast<long>(data[0]) % 2 == 0;
        return (block.x == 128) == even ? 1.0 : 2.0;
    };
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            int step = t;
            int bound = 10;
            float* out = nullptr;
            for (int i = 0; i < 20000; ++i) {
                // More different sizes than are remembered, some of them often.
                int n = i % 3 == 0 ? 500 + (i * 7 + t) % 8000 : 100 + i % 16;
                void* arguments[4] = {&n, &out, &step, &bound};
                const auto blocks = static_cast<std::uint32_t>((n + 31) / 32);
                const LaunchShape shape{
                    .written = {.grid = dim(blocks), .block = dim(32), .dynamic_shared_bytes = 0},
                    .arguments = arguments};
                launcher_->launch(registrations_.find(&host_function_), shape, nullptr,
                                  [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                                      const bool even = n % 2 == 0;
                                      const bool right =
                                          even ? block.x == 128 && grid.x == (blocks * 32 + 127) / 128
                                               : block.x == 32 && grid.x == blocks;
                                      if (!right) ++wrong;
                                      return cudaSuccess;
                                  });
            }
        });
    }
    threads.clear();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trimtab::runtime
