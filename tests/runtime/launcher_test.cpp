// What happens to a launch: against a backend and a driver program that do what the test says.
#include "runtime/launches/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "runtime/modules/registrations.h"
#include "tests/runtime/fake_backend.h"

namespace trimtab::runtime {
namespace {

using testing::driver_script;
using testing::FakeBundle;
using testing::FakeFatBinary;
using testing::guarded_kernel;
using ::testing::HasSubstr;
using testing::Launched;
using testing::script;

constexpr trimtab_dim3 dim(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    return {x, y, z};
}

// One kernel of a registered fat binary, and the launches that reach the backend.
class LauncherTest : public ::testing::Test {
  protected:
    LauncherTest() {
        script().device = 0;
        script().device_count = 1;
        script().last_error = cudaSuccess;
        script().max_threads_per_block = 1024;
        // Bigger blocks are faster, 128 threads the fastest of all.
        driver_script().predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 100.0 : 1000.0 - block.x;
        };
        driver_script().uncertain = false;
        driver_script().select_result = 1;
        driver_script().best = dim(128);
        driver_script().selects = 0;
    }

    void start(const std::function<void(FakeBundle&)>& spoil = {},
               const std::function<void(std::string&)>& edit_json = {}) {
        bundle_.emplace(description_, fat_binary_.hash(), edit_json);
        if (spoil) spoil(*bundle_);
        start_without_bundle();
        bundles_->add(&bundle_->bundle());
    }
    void start_without_bundle() {
        log_.emplace(settings_.log);
        bundles_.emplace(*log_);
        report_.emplace(settings_.report_path, *log_);
        launcher_.emplace(settings_, calls_, *bundles_, *report_, *log_);
        handle_ = registrations_.add_fat_binary(fat_binary_.wrapper());
        registrations_.add_function(handle_, &host_function_, description_.name.c_str());
    }

    cudaError_t launch(int n, trimtab_dim3 grid, trimtab_dim3 block, std::uint64_t shared_bytes = 0,
                       const char* keep = nullptr) {
        const LaunchShape shape{
            .grid = grid, .block = block, .dynamic_shared_bytes = shared_bytes, .arguments = arguments(n)};
        return launch(shape, keep);
    }
    cudaError_t launch(const LaunchShape& shape, const char* keep = nullptr) {
        return launcher_->launch(registrations_.find(&host_function_), shape, keep,
                                 [this](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                                     launched_.push_back({grid, block});
                                     const cudaError_t status = answer_(launched_.back());
                                     if (status != cudaSuccess) script().last_error = status;
                                     return status;
                                 });
    }
    void* const* arguments(int n) {
        n_ = n;
        return arguments_;
    }
    void expect_last(trimtab_dim3 grid, trimtab_dim3 block) const {
        ASSERT_FALSE(launched_.empty());
        EXPECT_TRUE(same(launched_.back().grid, grid))
            << launched_.back().grid.x << "x" << launched_.back().grid.y;
        EXPECT_TRUE(same(launched_.back().block, block)) << launched_.back().block.x;
    }
    std::vector<nlohmann::json> report_lines() const {
        std::ifstream file(settings_.report_path);
        std::vector<nlohmann::json> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
        return lines;
    }
    void report_to_file() {
        settings_.report_path = ::testing::TempDir() + "launches_" + std::to_string(getpid()) + ".jsonl";
        std::filesystem::remove(settings_.report_path);
    }

    analysis::KernelDescription description_ = guarded_kernel();
    FakeFatBinary fat_binary_{"one fat binary"};
    Settings settings_;
    BackendCalls calls_ = testing::fake_calls();
    std::optional<Log> log_;
    std::optional<FakeBundle> bundle_;
    std::optional<Bundles> bundles_;
    std::optional<Report> report_;
    Registrations registrations_;
    std::optional<Launcher> launcher_;
    void** handle_ = nullptr;
    char host_function_ = 0;
    int n_ = 0, step_ = 1, bound_ = 10;
    float* out_ = nullptr;
    void* arguments_[4] = {&n_, &out_, &step_, &bound_};
    std::function<cudaError_t(const Launched&)> answer_ = [](const Launched&) { return cudaSuccess; };
    std::vector<Launched> launched_;
};

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
    launch({.grid = dim(32), .block = dim(32), .dynamic_shared_bytes = 0, .arguments = nullptr});
    expect_last(dim(32), dim(32));
    launch(1000, dim(32), dim(32), 0, "a cooperative launch");
    expect_last(dim(32), dim(32));
    driver_script().uncertain = true;
    launch(1001, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    driver_script().uncertain = false;
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

TEST_F(LauncherTest, ChecksWhatADriverProgramOffers) {
    start();
    driver_script().best = dim(2048);  // more than a block may have
    launch(1000, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    driver_script().best = dim(64, 2);  // the kernel never reads y
    launch(1001, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    // The kernel's image takes no more than 64 threads.
    script().max_threads_per_block = 64;
    driver_script().best = dim(128);
    start();
    launch(1002, dim(32), dim(32));
    expect_last(dim(32), dim(32));
}

TEST_F(LauncherTest, ADriverProgramThatAnswersNonsenseIsNotAskedAgain) {
    const auto expect_distrust = [this](const char* said) {
        SCOPED_TRACE(said);
        ::testing::internal::CaptureStderr();
        start();
        for (int n = 900; n < 950; ++n) launch(n, dim(32), dim(32));
        const std::string text = ::testing::internal::GetCapturedStderr();
        EXPECT_THAT(text, HasSubstr(said));
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
        for (const Launched& launched : launched_) EXPECT_TRUE(same(launched.block, dim(32)));
        EXPECT_LE(driver_script().selects, 1);
        driver_script().selects = 0;
        driver_script().select_result = 1;
        driver_script().best = dim(128);
        driver_script().predict = [](const double*, trimtab_dim3 block) { return 1000.0 - block.x; };
    };
    driver_script().best = dim(0);
    expect_distrust("a block that is not legal");
    driver_script().best = dim(1u << 31);
    expect_distrust("a block that is not legal");
    driver_script().predict = [](const double*, trimtab_dim3) { return std::nan(""); };
    expect_distrust("predicts a time that is none");
    driver_script().predict = [](const double*, trimtab_dim3 block) { return block.x == 128 ? -1.0 : 5.0; };
    expect_distrust("predicts a time that is none");
    driver_script().select_result = 1000;
    expect_distrust("more blocks than it was asked for");
}

TEST_F(LauncherTest, ADeviceThatCannotBeDescribedIsAskedAgain) {
    static int answers_from = 0, asked = 0;
    asked = 0;
    answers_from = 3;
    calls_.emulated_device = [](int ordinal, const char** slug) {
        return ++asked < answers_from ? nullptr : testing::fake_calls().emulated_device(ordinal, slug);
    };
    ::testing::internal::CaptureStderr();
    start();
    for (int n = 0; n < 10; ++n) launch(1000 - n, dim(32), dim(32));
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    EXPECT_THAT(text, HasSubstr("device 0 cannot be described"));
    expect_last(dim(8), dim(128));
    EXPECT_EQ(asked, 3);
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

TEST_F(LauncherTest, FallsBackToTheLaunchAsWrittenAndStaysThere) {
    start();
    answer_ = [](const Launched& launched) {
        return launched.block.x == 128 ? cudaErrorLaunchOutOfResources : cudaSuccess;
    };
    EXPECT_EQ(launch(1000, dim(32), dim(32)), cudaSuccess);
    ASSERT_EQ(launched_.size(), 2u);
    expect_last(dim(32), dim(32));
    EXPECT_EQ(script().last_error, cudaSuccess) << "the program must not see the failed try";
    EXPECT_EQ(launch(1000, dim(32), dim(32)), cudaSuccess);
    EXPECT_EQ(launched_.size(), 3u);
    // An error of the launch as written is the program's.
    answer_ = [](const Launched&) { return cudaErrorInvalidValue; };
    EXPECT_EQ(launch(1000, dim(32), dim(32)), cudaErrorInvalidValue);
    EXPECT_EQ(script().last_error, cudaErrorInvalidValue);
}

TEST_F(LauncherTest, ErrorsThatNoConfigurationCausesAreTheProgramsOwn) {
    start();
    // A kernel before this one has faulted, which the launch as written would meet, too.
    answer_ = [](const Launched&) { return cudaErrorIllegalAddress; };
    EXPECT_EQ(launch(1000, dim(32), dim(32)), cudaErrorIllegalAddress);
    EXPECT_EQ(launched_.size(), 1u);
    expect_last(dim(8), dim(128));
    EXPECT_EQ(take_last_error(calls_), cudaErrorIllegalAddress);
    // It says nothing about the block.
    answer_ = [](const Launched&) { return cudaSuccess; };
    launch(1000, dim(32), dim(32));
    expect_last(dim(8), dim(128));
}

TEST_F(LauncherTest, TheProgramsPendingErrorOutlivesAFailedTry) {
    start();
    script().last_error = cudaErrorMemoryAllocation;  // which the program has not asked for yet
    answer_ = [](const Launched& launched) {
        return launched.block.x == 128 ? cudaErrorLaunchOutOfResources : cudaSuccess;
    };
    EXPECT_EQ(launch(1000, dim(32), dim(32)), cudaSuccess);
    EXPECT_EQ(peek_at_last_error(calls_), cudaErrorMemoryAllocation);
    EXPECT_EQ(take_last_error(calls_), cudaErrorMemoryAllocation);
    EXPECT_EQ(take_last_error(calls_), cudaSuccess);
    // A later error of the program's own comes in its place.
    script().last_error = cudaErrorMemoryAllocation;
    PendingError(calls_).restore();
    script().last_error = cudaErrorInvalidValue;
    EXPECT_EQ(take_last_error(calls_), cudaErrorInvalidValue);
    EXPECT_EQ(take_last_error(calls_), cudaSuccess);
}

TEST_F(LauncherTest, NothingIsDecidedInACapture) {
    report_to_file();
    start();
    const LaunchShape shape{.grid = dim(32), .block = dim(32), .arguments = arguments(1000)};
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

TEST_F(LauncherTest, AnUnwritableReportIsNoFailure) {
    settings_.report_path = "/nonexistent/folder/report.jsonl";
    ::testing::internal::CaptureStderr();
    start();
    launch(1000, dim(32), dim(32));
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("TRIMTAB_REPORT=/nonexistent"));
    expect_last(dim(8), dim(128));
}

TEST_F(LauncherTest, SpoiledBundlesLeaveLaunchesAlone) {
    const auto expect_as_written = [this](const char* said, const std::function<void(FakeBundle&)>& spoil,
                                          const std::function<void(std::string&)>& edit = {}) {
        SCOPED_TRACE(said);
        ::testing::internal::CaptureStderr();
        start(spoil, edit);
        launch(1000, dim(32), dim(32));
        launch(1001, dim(32), dim(32));
        const std::string text = ::testing::internal::GetCapturedStderr();
        EXPECT_THAT(text, HasSubstr(said));
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), *said == '\0' ? 0 : 1) << text;
        expect_last(dim(32), dim(32));
    };
    expect_as_written("ABI 99", [](FakeBundle& bundle) { bundle.bundle().abi = 99; });
    expect_as_written("has ABI 7", [](FakeBundle& bundle) { bundle.driver().abi = 7; });
    expect_as_written("incomplete", [](FakeBundle& bundle) { bundle.driver().struct_bytes = 16; });
    expect_as_written("incomplete", [](FakeBundle& bundle) { bundle.driver().select = nullptr; });
    expect_as_written("takes 3 data parameters", [](FakeBundle& bundle) { bundle.driver().data_count = 3; });
    expect_as_written("", [](FakeBundle& bundle) { bundle.bundle().driver_count = 0; });
    expect_as_written("no record", [](FakeBundle& bundle) { bundle.bundle().json = nullptr; });
    expect_as_written("name no fat binary",
                      [](FakeBundle& bundle) { bundle.bundle().fat_binary_hash = nullptr; });
    const auto edit = [&](const char* said, const char* from, const char* to) {
        expect_as_written(said, {}, [=](std::string& json) {
            const std::size_t place = json.find(from);
            ASSERT_NE(place, std::string::npos);
            json.replace(place, std::strlen(from), to);
        });
    };
    edit("not a JSON object", "{", "[");
    edit("another version", R"("abi":2,"compiler")", R"("abi":1,"compiler")");
    edit("no list of kernels", R"("kernels")", R"("colonels")");
    edit("setp", "setp.ge.s32", "setp.ge.s33");
    edit("", "_Z7guardediPfii", "_Z7another_iPfii");
    expect_as_written("not a JSON object", {}, [](std::string& json) { json.resize(json.size() / 2); });
}

TEST_F(LauncherTest, AKernelWithoutABundleOrAFatBinaryIsLaunchedAsWritten) {
    start_without_bundle();
    launch(1000, dim(32), dim(32));
    expect_last(dim(32), dim(32));
    // A function that was never registered goes straight through.
    EXPECT_EQ(registrations_.find(&launched_), nullptr);
    int forwarded = 0;
    EXPECT_EQ(launcher_->launch(nullptr, {}, nullptr,
                                [&](const trimtab_dim3&, const trimtab_dim3&, std::uint64_t) {
                                    ++forwarded;
                                    return cudaSuccess;
                                }),
              cudaSuccess);
    EXPECT_EQ(forwarded, 1);
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
                    .grid = dim(blocks), .block = dim(32), .dynamic_shared_bytes = 0, .arguments = arguments};
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
