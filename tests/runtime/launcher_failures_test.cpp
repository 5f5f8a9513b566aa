// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches where something fails: the driver program, the device, the bundle, the report, the launch itself.
#include <gmock/gmock.h>

#include <cstring>

#include "runtime/launches/body_function.h"
#include "tests/runtime/launcher_fixture.h"

namespace trimtab::runtime {
namespace {

using testing::driver_script;
using testing::FakeBundle;
using ::testing::HasSubstr;
using testing::Launched;
using testing::script;

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
    expect_distrust("predicts an invalid time");
    driver_script().predict = [](const double*, trimtab_dim3 block) { return block.x == 128 ? -1.0 : 5.0; };
    expect_distrust("predicts an invalid time");
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

TEST_F(LauncherTest, ABodyThatADriverLaunchCannotHaveLeavesTheProgramsErrorAlone) {
    start();
    calls_.get_func_by_symbol = [](cudaFunction_t*, const void*) {
        return script().last_error = cudaErrorInvalidDeviceFunction;
    };
    RegisteredKernel* const kernel = registrations_.find(&host_function_);
    ASSERT_NE(kernel, nullptr);
    char named = 0;
    const auto as_named = reinterpret_cast<CUfunction>(&named);
    CUfunction function = as_named;
    EXPECT_EQ(function_of_body(calls_, *kernel, function), cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(function, as_named);
    EXPECT_EQ(take_last_error(calls_), cudaSuccess) << "the program must not see the failed try";
    script().last_error = cudaErrorMemoryAllocation;  // which the program has not asked for yet
    EXPECT_EQ(function_of_body(calls_, *kernel, function), cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(take_last_error(calls_), cudaErrorMemoryAllocation);
    EXPECT_EQ(take_last_error(calls_), cudaSuccess);
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
    edit("1911c1236d89daa4:1:7: not valid JSON", "{", "[");
    edit("another version", R"("abi":2,"compiler")", R"("abi":1,"compiler")");
    edit("record has no member \"kernels\"", R"("kernels")", R"("colonels")");
    edit("setp", "setp.ge.s32", "setp.ge.s33");
    edit("", "_Z7guardediPfii", "_Z7another_iPfii");
    expect_as_written("not valid JSON", {}, [](std::string& json) { json.resize(json.size() / 2); });
    expect_as_written("record is not an object", {}, [](std::string& json) { json = "[]"; });
}

TEST_F(LauncherTest, TheBuildSaysWhyThereIsNoDriverProgram) {
    report_to_file();
    const auto reason_of = [&](const std::string& more) {
        start([](FakeBundle& bundle) { bundle.bundle().driver_count = 0; },
              [&](std::string& json) { json.insert(json.find("{\"description\"") + 1, more); });
        launch(1000, dim(32), dim(32));
        expect_last(dim(32), dim(32));
        return report_lines().back()["reason"].get<std::string>();
    };
    EXPECT_EQ(reason_of(R"("no_driver": "it ran for too long", )"),
              "it has no driver program: it ran for too long");
    EXPECT_EQ(reason_of(""), "it has no driver program");
    EXPECT_EQ(reason_of(R"("no_driver": 3, )"), "it has no driver program");
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

}  // namespace
}  // namespace trimtab::runtime
