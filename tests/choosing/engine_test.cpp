// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a launch, whatever interface it is of: changed where that is legal and predicted faster, else as written, for
// the reason that is told.
#include "choosing/engine.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/choosing/fake_driver.h"
#include "tests/choosing/fake_host.h"

namespace trimtab::choosing {
namespace {

using testing::driver_script;
using ::testing::HasSubstr;

constexpr char hash[] = "00000000000000aa";

class EngineTest : public ::testing::Test {
  protected:
    EngineTest() {
        testing::DriverScript& script = driver_script();
        // Bigger blocks are faster, 128 threads the fastest of all.
        script.predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 100.0 : 1000.0 - block.x;
        };
        script.doubt = 0;
        script.keeps_order = nullptr;
        script.relative_error = 0;
        script.select_result = 1;
        script.best = {128, 1, 1};
        script.others.clear();
        script.selects = 0;
        settings_.report_path = ::testing::TempDir() + "engine_" + std::to_string(getpid()) + ".jsonl";
        std::filesystem::remove(settings_.report_path);
    }
    ~EngineTest() override { std::filesystem::remove(settings_.report_path); }

    void start() {
        bundle_.emplace(description_, hash);
        bundles_.emplace(log_);
        bundles_->add(&bundle_->bundle());
        host_.emplace(*bundles_, hash);
        report_.emplace(settings_.report_path, log_);
        kernel_.emplace(description_.name);
        engine_.emplace(settings_, Engine::Parts{.host = *host_,
                                                 .bundles = *bundles_,
                                                 .report = *report_,
                                                 .log = log_,
                                                 .load_emulation = load_emulation_});
    }
    // Without a report, choices are recalled.
    void start_quiet() {
        settings_.report_path.clear();
        start();
    }

    // A launch of 32 blocks of 32 threads, or another.
    LaunchShape shape(std::uint32_t grid = 32, std::uint32_t block = 32) {
        return {.written = {.grid = {grid, 1, 1}, .block = {block, 1, 1}}, .arguments = arguments_};
    }
    bool recall(const LaunchShape& shape, bool& is_changed) {
        return engine_->recall(*kernel_, shape, [] { return 0u; }, pending_, remembered_, is_changed);
    }
    Decision decide(const LaunchShape& shape, const char* keep = nullptr) {
        pending_ = {};
        return engine_->decide(*kernel_, shape, 0, keep, pending_);
    }
    Decision decide() { return decide(shape()); }
    nlohmann::json last_line() const {
        std::ifstream file(settings_.report_path);
        std::string line, last;
        while (std::getline(file, line)) last = line;
        return last.empty() ? nlohmann::json() : nlohmann::json::parse(last);
    }
    // It goes out as written, and the report says so and why.
    void expect_as_written(const Decision& decision, const LaunchShape& shape, const char* reason) {
        EXPECT_TRUE(is_written(shape, decision.launch))
            << decision.launch.grid.x << " x " << decision.launch.block.x;
        EXPECT_THAT(decision.reason, HasSubstr(reason));
        const nlohmann::json line = last_line();
        ASSERT_TRUE(line.is_object());
        EXPECT_EQ(line["chosen"], line["written"]);
        EXPECT_THAT(line["reason"].get<std::string>(), HasSubstr(reason));
    }

    Settings settings_;
    Log log_{LogLevel::warn};
    analysis::KernelDescription description_ = testing::guarded_kernel();
    std::optional<testing::FakeBundle> bundle_;
    std::optional<Bundles> bundles_;
    std::optional<testing::FakeHost> host_;
    std::optional<Report> report_;
    std::optional<Kernel> kernel_;
    CrossCheck::Load load_emulation_;
    std::optional<Engine> engine_;
    Engine::Pending pending_;
    RememberedChoice remembered_;
    int n_ = 1000, step_ = 1, bound_ = 10;
    float* out_ = nullptr;
    void* arguments_[4] = {&n_, static_cast<void*>(&out_), &step_, &bound_};
};

TEST_F(EngineTest, WhatIsLegalAndFasterIsTaken) {
    start();
    const Decision decision = decide();
    EXPECT_EQ(decision.launch.block.x, 128u);
    EXPECT_EQ(decision.launch.grid.x, 8u);
    EXPECT_EQ(decision.by, By::driver);
    EXPECT_EQ(last_line()["by"], "driver");
    EXPECT_EQ(last_line()["chosen"]["block"][0], 128);
}

TEST_F(EngineTest, TheBlockAsWrittenStaysWhereItIsTheFastest) {
    start();
    driver_script().predict = [](const double*, trimtab_dim3 block) { return block.x == 32 ? 10.0 : 20.0; };
    expect_as_written(decide(), shape(), "the block as written is predicted fastest");
}

TEST_F(EngineTest, ObserveDecidesAndLaunchesAsWritten) {
    settings_.mode = Mode::observe;
    start();
    EXPECT_EQ(decide().launch.block.x, 128u) << "what would have been done";
    EXPECT_EQ(engine_->mode(), Mode::observe);
    EXPECT_EQ(last_line()["by"], "unchanged");
    EXPECT_EQ(last_line()["reason"], "TRIMTAB=observe: launched as written");
    bool is_changed = false;
    EXPECT_FALSE(recall(shape(), is_changed)) << "nothing is to be done by what is remembered";
}

TEST_F(EngineTest, OffLooksAtNothing) {
    settings_.mode = Mode::off;
    start();
    EXPECT_TRUE(engine_->is_active()) << "a report is asked for";
    expect_as_written(decide(), shape(), "TRIMTAB=off");
    EXPECT_EQ(driver_script().selects, 0);
    EXPECT_EQ(kernel_->plan.load(), nullptr);
    start_quiet();
    EXPECT_FALSE(engine_->is_active());
}

TEST_F(EngineTest, SumsAreNotGroupedOtherwiseUnderReassociate0) {
    description_.may_reassociate = true;
    settings_.reassociate = false;
    start();
    expect_as_written(decide(), shape(), "TRIMTAB_REASSOCIATE=0");
    EXPECT_EQ(driver_script().selects, 0);
    settings_.reassociate = true;
    start();
    EXPECT_EQ(decide().launch.block.x, 128u) << "as the build allowed";
    settings_.reassociate = false;
    description_.may_reassociate = false;
    start();
    EXPECT_EQ(decide().launch.block.x, 128u) << "there are no sums to regroup";
}

TEST_F(EngineTest, AGainBelowTheLeastOneChangesNothing) {
    settings_.least_gain = 0.1;
    driver_script().predict = [](const double*, trimtab_dim3 block) { return block.x == 128 ? 910 : 1000; };
    start();
    expect_as_written(decide(), shape(), "gain enough");
    settings_.least_gain = 0.08;
    start();
    EXPECT_EQ(decide().launch.block.x, 128u);
}

// for (i = g; i < n; i += total) out[i] = ...
TEST_F(EngineTest, AGainBelowTheLeastOneChangesNoNumberOfThreadsEither) {
    const auto leaf = [](std::uint32_t parameter) {
        analysis::Expression address;
        address.kind = analysis::Expression::Kind::parameter;
        address.parameter = parameter;
        address.type = ptx::Type::u64;
        return address;
    };
    analysis::Expression index, four;
    index.kind = analysis::Expression::Kind::global_index;
    index.type = four.type = ptx::Type::u64;
    four.bits = 4;
    const auto applied = [](const char* name, analysis::Expression a, analysis::Expression b) {
        return analysis::applied(analysis::decode_operation(name).value(), {std::move(a), std::move(b)});
    };
    description_.dimensions[0].index = analysis::Index::of_total;
    description_.strides = {{analysis::Dimension::x, {description_.guards[0].exits}, ""}};
    description_.guards.clear();
    description_.stride_accesses = {
        {applied("add.u64", leaf(1), applied("mul.lo.u64", index, four)), 4, true, ""}};
    constexpr std::size_t extent = 3;  // of D
    driver_script().predict = [](const double* data, trimtab_dim3) {
        return data[extent] <= 1024 ? 1000.0 : 950.0;
    };
    n_ = 1'000'000;
    out_ = reinterpret_cast<float*>(0x7f0000000000);
    settings_.least_gain = 0.1;
    start();
    expect_as_written(decide(), shape(), "the block as written is predicted fastest");
    settings_.least_gain = 0.01;
    start();
    EXPECT_TRUE(decide().has_other_total);
}

TEST_F(EngineTest, AnUncertainPredictionChangesNothing) {
    driver_script().doubt = TRIMTAB_DOUBT_UNTOLD;
    driver_script().relative_error = 0.7;
    start();
    expect_as_written(decide(), shape(), "uncertain");
    EXPECT_THAT(decide().reason, ::testing::HasSubstr("trimtab profile -- PROGRAM"));
    EXPECT_FALSE(std::isnan(decide().written_ns));
    // As far off as the time is long: that is no time to tell anybody.
    driver_script().relative_error = 40;
    start();
    expect_as_written(decide(), shape(), "uncertain");
    EXPECT_TRUE(std::isnan(decide().written_ns));
    EXPECT_TRUE(std::isnan(decide().chosen_ns));
}

// The times are not known then, but the order is.
TEST_F(EngineTest, WhatArraysHoldMattersWhereTheOrderOfBlocksHangsOnIt) {
    testing::DriverScript& script = driver_script();
    for (const std::uint32_t doubt :
         {TRIMTAB_DOUBT(TRIMTAB_DOUBT_ARRAYS, 0), TRIMTAB_DOUBT(TRIMTAB_DOUBT_NUMBER, 1)}) {
        script.doubt = doubt;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> asked;
        script.keeps_order = [&](trimtab_dim3 first, trimtab_dim3 second) {
            asked.emplace_back(first.x, second.x);
            return 1;
        };
        start();
        const Decision known = decide();
        EXPECT_EQ(known.launch.block.x, 128u) << known.reason;
        EXPECT_EQ(known.doubt, 0u);
        ASSERT_FALSE(asked.empty());
        EXPECT_EQ(asked[0], std::pair(128u, shape().written.block.x));
        for (const int answer : {0, -1}) {
            script.keeps_order = [answer](trimtab_dim3, trimtab_dim3) { return answer; };
            start();
            const Decision kept = decide();
            expect_as_written(kept, shape(), "which block is the fastest is uncertain");
            EXPECT_EQ(kept.doubt, doubt);
        }
        // That the next one gains too little decides nothing.
        script.predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 100.0 : block.x == 64 ? 999.0 : 1000.0;
        };
        script.others = {{64, 1, 1}};
        start();
        expect_as_written(decide(), shape(), "which block is the fastest is uncertain");
        script.others.clear();
    }
}

TEST_F(EngineTest, WhatTheGuardsDoNotTurnAwayChangesNothing) {
    const LaunchShape launch = shape(10, 100);
    start();
    n_ = 5000;  // 128 does not divide 1000, and the threads past them would write
    expect_as_written(decide(launch), launch, "a block that is not legal");
    start();
    n_ = 1000;  // they exit
    const Decision decision = decide(launch);
    EXPECT_EQ(decision.launch.block.x, 128u);
    EXPECT_EQ(decision.launch.grid.x, 8u);
}

TEST_F(EngineTest, ADriverProgramThatOffersAnIllegalBlockIsNotAskedAgain) {
    driver_script().best = {100000, 1, 1};
    start();
    expect_as_written(decide(), shape(), "a block that is not legal");
    driver_script().best = {128, 1, 1};
    n_ = 1001;
    expect_as_written(decide(), shape(), "a block that is not legal");
    EXPECT_EQ(driver_script().selects, 1);
}

TEST_F(EngineTest, AnInterfaceThatKeepsALaunchSaysWhy) {
    start();
    expect_as_written(decide(shape(), "a cooperative launch"), shape(), "a cooperative launch");
    pending_ = {};
    const Decision decision =
        engine_->decide(*kernel_, shape(), 0, nullptr, pending_, "its block is left open; ");
    EXPECT_EQ(decision.launch.block.x, 128u);
    EXPECT_EQ(last_line()["reason"], "its block is left open; predicted fastest");
}

TEST_F(EngineTest, ADeviceWithoutADescriptionChangesNothing) {
    start();
    host_->has_device = false;
    expect_as_written(decide(), shape(), "the device cannot be described");
    host_->has_device = true;
    EXPECT_EQ(decide().launch.block.x, 128u) << "nothing was remembered of it";
}

TEST_F(EngineTest, TheInterfaceCorrectsTheImageOnce) {
    start();
    host_->max_threads_per_block = 64;
    expect_as_written(decide(), shape(), "a block that is not legal");
    start();
    static_cast<void>(decide());
    n_ = 1001;
    static_cast<void>(decide());
    EXPECT_EQ(host_->corrections, 1);
}

TEST_F(EngineTest, ChoicesAreRemembered) {
    start_quiet();
    bool is_changed = false;
    EXPECT_FALSE(recall(shape(), is_changed)) << "nothing was decided yet";
    EXPECT_FALSE(decide().remembered);
    ASSERT_TRUE(recall(shape(), is_changed));
    EXPECT_TRUE(is_changed);
    EXPECT_EQ(remembered_.launch.block.x, 128u);
    EXPECT_EQ(remembered_.launch.grid.x, 8u);
    EXPECT_TRUE(decide().remembered);
    EXPECT_EQ(driver_script().selects, 1);
    n_ = 1001;
    EXPECT_FALSE(recall(shape(), is_changed)) << "another size";
    // What is best as written is recalled as that.
    static_cast<void>(decide(shape(8, 128)));
    ASSERT_TRUE(recall(shape(8, 128), is_changed));
    EXPECT_FALSE(is_changed);
}

TEST_F(EngineTest, ALaunchThatFailedGoesOutAsWrittenFromThenOn) {
    start();
    EXPECT_EQ(decide().launch.block.x, 128u);
    engine_->give_up(*kernel_, shape(), pending_, "out of resources");
    expect_as_written(decide(), shape(), "the chosen tile failed to launch: out of resources");
    n_ = 1001;
    EXPECT_EQ(decide().launch.block.x, 128u) << "of other sizes nothing is known";
    start_quiet();
    bool is_changed = true;
    EXPECT_EQ(decide().launch.block.x, 128u);
    engine_->give_up(*kernel_, shape(), pending_, "out of resources");
    ASSERT_TRUE(recall(shape(), is_changed));
    EXPECT_FALSE(is_changed);
}

TEST_F(EngineTest, WithoutAClockNothingIsLearntAndTheLogSaysSo) {
    settings_.learn.is_on = true;
    driver_script().others = {{256, 1, 1}, {64, 1, 1}};
    ::testing::internal::CaptureStderr();
    start_quiet();
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("cannot be timed"));
    const Decision decision = decide();
    EXPECT_EQ(decision.launch.block.x, 128u);
    EXPECT_FALSE(decision.awaits_check);
    bool is_changed = false;
    EXPECT_TRUE(recall(shape(), is_changed));
}

TEST_F(EngineTest, AChoiceIsCheckedByTheInterfacesCode) {
    settings_.crosscheck = {.leaders = 2, .seconds = 5, .launch = 1000};
    driver_script().others = {{256, 1, 1}};
    load_emulation_ = [](std::string&) -> CrossCheck::Emulate {
        return [](const EmulationQuestion&, char*, std::size_t) { return emulation_done; };
    };
    start_quiet();
    EXPECT_FALSE(decide().awaits_check) << "its code is not kept";
    host_->code_of_program = std::make_shared<const std::vector<std::byte>>(8);
    n_ = 1001;
    EXPECT_TRUE(decide().awaits_check);
    bool is_changed = false;
    EXPECT_FALSE(recall(shape(), is_changed)) << "its launches are counted";
    engine_->finish();
}

TEST_F(EngineTest, TheSummaryCountsWhatWasTold) {
    ::testing::internal::CaptureStderr();
    {
        Log log(LogLevel::summary);
        settings_.report_path.clear();
        start();
        Engine engine(settings_, {.host = *host_, .bundles = *bundles_, .report = *report_, .log = log});
        static_cast<void>(engine.decide(*kernel_, shape(), 0, nullptr, pending_));
        static_cast<void>(engine.decide(*kernel_, shape(), 0, "a cooperative launch", pending_));
        engine.finish();
    }
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("2 launches of 1 kernel, 1 changed"));
}

}  // namespace
}  // namespace trimtab::choosing
