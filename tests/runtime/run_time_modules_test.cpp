// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that the program loads while it runs, against a cache and a `trimtab prepare` of the test's own.
#include "runtime/modules/run_time_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "runtime/launches/launcher.h"
#include "tests/runtime/fake_backend.h"

namespace trimtab::runtime {
namespace {

using testing::driver_script;
using testing::FakeBundle;
using testing::guarded_kernel;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string ptx(int number) {
    return "// " + std::to_string(number) + "\n.version 8.0\n.target sm_75\n.address_size 64\n";
}

class RunTimeModulesTest : public ::testing::Test {
  protected:
    RunTimeModulesTest() {
        folder_ = fs::path(::testing::TempDir()) /
                  ("modules_" + std::to_string(getpid()) + "_" +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder_);
        driver_script().predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 1.0 : 2.0;
        };
        driver_script().doubt = 0;
        driver_script().select_result = 1;
        driver_script().best = {128, 1, 1};
    }
    ~RunTimeModulesTest() override { fs::remove_all(folder_); }

    void start(ModulesMode mode) {
        settings_.modules = mode;
        limits_.between_looks = std::chrono::milliseconds(0);
        modules_.emplace(
            settings_, bundles_, registrations_, log_, ModuleCache(folder_.string()),
            [this](const std::string& source, const std::string& /*annotations*/) {
                started_.push_back(source);
                return starter_answer_;
            },
            limits_);
        launcher_.emplace(settings_, calls_, bundles_, report_, log_, &*modules_);
    }
    void load(const void* handle, const std::string& text) {
        modules_->loaded(handle, recognise_module(static_cast<const void*>(text.c_str())));
    }
    void take(const void* handle, const void* function) {
        modules_->took_kernel(handle, function, guarded_kernel().name.c_str(), HandleKind::driver_function);
    }
    // The width of the block that a launch of this handle gets, which is written as 32.
    unsigned launched(const void* function) {
        int n = 1000, step = 1, bound = 1;
        float* out = nullptr;
        void* arguments[4] = {&n, static_cast<void*>(&out), &step, &bound};
        const LaunchShape shape{
            .written = {.grid = {32, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 0},
            .arguments = arguments,
            .function = function,
            .of_driver_api = true};
        unsigned width = 0;
        launcher_->launch(registrations_.find(function), shape, nullptr,
                          [&](const trimtab_dim3&, const trimtab_dim3& block, std::uint64_t) {
                              width = block.x;
                              return cudaSuccess;
                          });
        return width;
    }
    std::string reason(const void* function) {
        return modules_->find(*registrations_.find(function)->module, guarded_kernel().name).kernel.reason;
    }
    void add_bundle(const std::string& text) {
        const auto bytes = std::as_bytes(std::span(text));
        auto& bundle = bundle_storage_.emplace_back(
            std::make_unique<FakeBundle>(guarded_kernel(), recognise_module(bytes).hash));
        bundles_.add(&bundle->bundle());
    }

    fs::path folder_;
    Settings settings_;
    RunTimeModules::Limits limits_;
    BackendCalls calls_ = testing::fake_calls();
    Log log_{LogLevel::off};
    Bundles bundles_{log_};
    Report report_{"", log_};
    Registrations registrations_;
    std::string starter_answer_;
    std::vector<std::string> started_;
    std::vector<std::unique_ptr<FakeBundle>> bundle_storage_;
    std::optional<RunTimeModules> modules_;
    std::optional<Launcher> launcher_;
    char handles_[8] = {}, functions_[8] = {};
};

TEST_F(RunTimeModulesTest, ModulesOfKernelsWithABlockOfTheirOwnAreToldAtOnce) {
    start(ModulesMode::background);
    const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
    const std::string own = ".visible .entry a(.param .u64 p)\n.reqntid 128, 1, 1\n{ ret; }\n";
    load(&handles_[0], head + own);
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_EQ(reason(&functions_[0]), "the kernel is compiled for blocks of 128 x 1 x 1 (.reqntid)");
    load(&handles_[1], head + own + ".visible .entry b()\n.reqntid 64\n{ ret; }\n");
    take(&handles_[1], &functions_[1]);
    EXPECT_EQ(reason(&functions_[1]), "the kernel is compiled for blocks of 128 x 1 x 1; 64 (.reqntid)");
    EXPECT_TRUE(started_.empty());
    // Another kernel of the module has none.
    load(&handles_[2], head + own + ".visible .entry b()\n.maxntid 64\n{ ret; }\n");
    take(&handles_[2], &functions_[2]);
    EXPECT_EQ(reason(&functions_[2]), "its driver program is being prepared");
    EXPECT_EQ(started_.size(), 1);
}

TEST_F(RunTimeModulesTest, ADriverProgramOfTheProgramsOwnIsFoundByTheModulesHash) {
    start(ModulesMode::cached);
    add_bundle(ptx(1));
    load(&handles_[0], ptx(1));
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 128);
    load(&handles_[1], ptx(2));
    take(&handles_[1], &functions_[1]);
    EXPECT_EQ(launched(&functions_[1]), 32);
    EXPECT_THAT(reason(&functions_[1]), HasSubstr("is not prepared"));
    EXPECT_TRUE(started_.empty());
}

TEST_F(RunTimeModulesTest, AHandleThatComesAgainIsAnotherKernels) {
    start(ModulesMode::cached);
    add_bundle(ptx(1));
    load(&handles_[0], ptx(1));
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 128);
    modules_->unloading(&handles_[0]);
    EXPECT_EQ(registrations_.find(&functions_[0]), nullptr);
    load(&handles_[0], ptx(2));
    EXPECT_EQ(registrations_.find(&functions_[0]), nullptr);
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 32);
    // Its context went without a word, and the address came again for a module that is not known.
    take(&handles_[5], &functions_[0]);
    EXPECT_EQ(registrations_.find(&functions_[0]), nullptr);
}

TEST_F(RunTimeModulesTest, LaunchesGoOutAsWrittenUntilTheDriverProgramsAreThere) {
    start(ModulesMode::background);
    load(&handles_[0], ptx(1));
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_EQ(started_.size(), 1);
    EXPECT_TRUE(fs::exists(started_[0]));
    EXPECT_EQ(reason(&functions_[0]), "its driver program is being prepared");
    add_bundle(ptx(1));
    EXPECT_EQ(launched(&functions_[0]), 128);
    EXPECT_EQ(started_.size(), 1);
}

TEST_F(RunTimeModulesTest, FewAreStartedAtOnceAndTheOthersLater) {
    limits_.started_at_once = 2;
    start(ModulesMode::background);
    const ModuleCache cache(folder_.string());
    const auto hash = [](const std::string& text) {
        return recognise_module(std::as_bytes(std::span(text))).hash;
    };
    for (int i = 0; i < 4; ++i) {
        load(&handles_[i], ptx(i));
        take(&handles_[i], &functions_[i]);
        EXPECT_EQ(launched(&functions_[i]), 32);
    }
    EXPECT_EQ(started_.size(), 2);
    // The first has failed; its kernel is never launched again.
    cache.begin_attempt(hash(ptx(0)));
    EXPECT_EQ(launched(&functions_[3]), 32);
    EXPECT_EQ(launched(&functions_[2]), 32);
    EXPECT_EQ(started_.size(), 3);
}

TEST_F(RunTimeModulesTest, AnotherProcessAtWorkIsLeftToIt) {
    start(ModulesMode::background);
    const ModuleCache cache(folder_.string());
    ASSERT_TRUE(cache.make_folder());
    const std::string text = ptx(1);
    const std::string hash = recognise_module(std::as_bytes(std::span(text))).hash;
    std::string error;
    std::optional<FileLock> lock;
    lock.emplace(FileLock::take(cache.lock(hash), false, error).value());
    load(&handles_[0], text);
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_TRUE(started_.empty());
    EXPECT_FALSE(FileLock::take(cache.lock(hash), false, error));
    lock.reset();
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_EQ(started_.size(), 1);
}

TEST_F(RunTimeModulesTest, FailuresAreRememberedAndCutsTriedAgain) {
    const ModuleCache cache(folder_.string());
    ASSERT_TRUE(cache.make_folder());
    const std::string failing = ptx(1), cut = ptx(2), often_cut = ptx(3);
    const auto hash = [](const std::string& text) {
        return recognise_module(std::as_bytes(std::span(text))).hash;
    };
    cache.begin_attempt(hash(failing));
    cache.remember_failure(hash(failing), "there is no compiler\nat all");
    cache.begin_attempt(hash(cut));
    for (int i = 0; i < 3; ++i) cache.begin_attempt(hash(often_cut));
    start(ModulesMode::background);
    for (int i = 0; i < 3; ++i) {
        load(&handles_[i], ptx(i + 1));
        take(&handles_[i], &functions_[i]);
        EXPECT_EQ(launched(&functions_[i]), 32);
    }
    EXPECT_EQ(reason(&functions_[0]), "its module could not be prepared: there is no compiler");
    EXPECT_THAT(reason(&functions_[2]), HasSubstr("was cut off"));
    EXPECT_EQ(started_.size(), 1);
    // Nor is it tried twice in one run.
    cache.begin_attempt(hash(cut));
    EXPECT_EQ(launched(&functions_[1]), 32);
    EXPECT_THAT(reason(&functions_[1]), HasSubstr("was cut off"));
}

TEST_F(RunTimeModulesTest, WhatCannotBeStartedIsSaidOnce) {
    starter_answer_ = "there is no trimtab";
    start(ModulesMode::wait);
    load(&handles_[0], ptx(1));
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_EQ(started_.size(), 1);
    EXPECT_THAT(reason(&functions_[0]), HasSubstr("there is no trimtab"));
}

TEST_F(RunTimeModulesTest, WaitingHasAnEnd) {
    limits_.longest_wait = std::chrono::milliseconds(30);
    start(ModulesMode::wait);
    load(&handles_[0], ptx(1));
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 32);
    EXPECT_EQ(reason(&functions_[0]), "its driver program is being prepared");
    add_bundle(ptx(1));
    EXPECT_EQ(launched(&functions_[0]), 128);
}

TEST_F(RunTimeModulesTest, LibrariesKernelsFunctionsAndModulesAreOne) {
    start(ModulesMode::cached);
    add_bundle(ptx(1));
    load(&handles_[0], ptx(1));
    modules_->took_kernel(&handles_[0], &functions_[0], guarded_kernel().name.c_str(),
                          HandleKind::library_kernel);
    modules_->same_kernel(&functions_[0], &functions_[1]);
    modules_->same_module(&handles_[0], &handles_[1]);
    take(&handles_[1], &functions_[2]);
    ASSERT_NE(registrations_.find(&functions_[1]), nullptr);
    EXPECT_EQ(registrations_.find(&functions_[1]), registrations_.find(&functions_[2]));
    EXPECT_EQ(launched(&functions_[2]), 128);
    modules_->unloading(&handles_[0]);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(registrations_.find(&functions_[i]), nullptr);
    take(&handles_[1], &functions_[2]);
    EXPECT_EQ(registrations_.find(&functions_[2]), nullptr);
}

TEST_F(RunTimeModulesTest, EndlessModulesAreNotAllRemembered) {
    limits_.modules = 8;
    limits_.bytes = 4096;
    start(ModulesMode::background);
    for (int i = 0; i < 1000; ++i) {
        load(&handles_[0], ptx(i));
        take(&handles_[0], &functions_[0]);
        EXPECT_EQ(registrations_.find(&functions_[0]) != nullptr, i < 8);
        modules_->unloading(&handles_[0]);
    }
    // The first come again as those that they were.
    add_bundle(ptx(3));
    load(&handles_[0], ptx(3));
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 128);
}

TEST_F(RunTimeModulesTest, ImagesAreToldApart) {
    const auto why = [](const std::string& bytes) {
        return recognise_module(std::as_bytes(std::span(bytes))).why_none;
    };
    EXPECT_EQ(why(ptx(1)), "");
    EXPECT_THAT(why("\x7f"
                    "ELF and more"),
                HasSubstr("machine code"));
    EXPECT_THAT(why("text"), HasSubstr("unknown kind"));
    EXPECT_THAT(why(""), HasSubstr("cut short"));
    EXPECT_THAT(why(".version 8.0 \x01"), HasSubstr("unknown kind"));
    EXPECT_THAT(why(".version 8.0" + std::string(max_module_bytes, ' ')), HasSubstr("larger than"));
    EXPECT_EQ(recognise_module(static_cast<const void*>(nullptr)).kind, ModuleImage::Kind::none);
    EXPECT_EQ(recognise_module(static_cast<const void*>("")).kind, ModuleImage::Kind::none);
    testing::FakeFatBinary fat_binary("content");
    EXPECT_EQ(recognise_module(static_cast<const void*>(fat_binary.wrapper())).hash, fat_binary.hash());
    const std::string cut("\x50\xed\x55\xba\x01\0\x10\0\xff\0\0\0\0\0\0\0", 16);
    EXPECT_THAT(why(cut), HasSubstr("cut short"));
}

// Threads load, launch and unload while a module becomes ready: a launch is as written or as chosen.
TEST_F(RunTimeModulesTest, ThreadsLoadAndLaunch) {
    start(ModulesMode::background);
    constexpr int thread_count = 8, rounds = 300;
    struct Own {
        char handle = 0, function = 0;
    };
    std::vector<Own> own(thread_count);
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back([&, t] {
            Own& mine = own[static_cast<std::size_t>(t)];
            for (int i = 0; i < rounds; ++i) {
                load(&mine.handle, ptx(i % 4));
                take(&mine.handle, &mine.function);
                for (int k = 0; k < 5; ++k) {
                    const unsigned width = launched(&mine.function);
                    if (width != 32 && (width != 128 || i % 4 != 1)) ++wrong;
                }
                modules_->unloading(&mine.handle);
            }
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    add_bundle(ptx(1));
    threads.clear();
    EXPECT_EQ(wrong, 0);
    load(&handles_[0], ptx(1));
    take(&handles_[0], &functions_[0]);
    EXPECT_EQ(launched(&functions_[0]), 128);
}

}  // namespace
}  // namespace trimtab::runtime
