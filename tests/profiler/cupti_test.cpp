// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of GPUs, without one: metric names, passes and configurations of every chip that CUPTI knows, by its host half;
// the order of the target half's calls, its errors and what becomes of its counters, on a library in CUPTI's place.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/cupti/counters.h"
#include "profiler/cupti/range_counters.h"
#include "tests/profiler/stand_in_cupti.h"

namespace trimtab::profiler::cupti {
namespace {

using model::Metric;
using testing::AllOf;
using testing::Contains;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

// --- CUPTI itself, its host half ---

class Chips : public testing::Test {
  protected:
    void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
        GTEST_SKIP() << "CUPTI opens a library with RTLD_DEEPBIND, which AddressSanitizer does not allow";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
        GTEST_SKIP() << "CUPTI opens a library with RTLD_DEEPBIND, which AddressSanitizer does not allow";
#endif
#endif
        auto opened = Library::open();
        if (!opened) GTEST_SKIP() << opened.error().text();
        library_ = std::move(*opened);
    }
    std::shared_ptr<const Library> library_;
};

TEST_F(Chips, AllHaveTheCountersInFewPasses) {
    const std::vector<std::string> chips = library_->chips();
    EXPECT_THAT(chips, AllOf(Contains("TU106"), Contains("GA100"), Contains("GH100")));
    const auto few = counters_for({}), all = counters_for({.atomics = true, .shared = true, .local = true});
    std::size_t known = 0;
    for (const std::string& chip : chips) {
        auto host = HostProfiler::open(library_, chip);
        // Of those that the range profiler does not take, CUPTI says so itself.
        if (!host) {
            EXPECT_THAT(host.error().text(), HasSubstr("NOT_SUPPORTED")) << chip;
            continue;
        }
        ++known;
        const bool is_volta = chip.starts_with("GV");
        const auto plan = host->plan(few);
        ASSERT_TRUE(plan) << plan.error().text();
        EXPECT_THAT(plan->missing, IsEmpty()) << chip;
        EXPECT_FALSE(plan->image.empty()) << chip;
        EXPECT_EQ(plan->passes, is_volta ? 6u : 3u) << chip;
        auto second = HostProfiler::open(library_, chip);
        ASSERT_TRUE(second);
        const auto whole = second->plan(all);
        ASSERT_TRUE(whole) << whole.error().text();
        EXPECT_THAT(whole->missing, IsEmpty()) << chip;
        // Together they take fewer passes than counters.
        EXPECT_LE(whole->passes, is_volta ? 11u : 6u) << chip;
        EXPECT_GT(whole->passes, plan->passes) << chip;
        EXPECT_LT(whole->passes, all.size()) << chip;
    }
    EXPECT_GE(known, 25u);
}

TEST_F(Chips, WhatAChipLacksIsLeftOutAndNamed) {
    auto host = HostProfiler::open(library_, "TU106");
    ASSERT_TRUE(host) << host.error().text();
    const auto plan = host->plan({"smsp__inst_executed.sum", "no_such_counter.sum"});
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_THAT(plan->counters, ElementsAre("smsp__inst_executed.sum"));
    EXPECT_THAT(plan->missing, ElementsAre("no_such_counter.sum"));
    EXPECT_EQ(plan->passes, 1u);
    auto none = HostProfiler::open(library_, "TU106");
    EXPECT_THAT(none->plan({"no_such_counter.sum"}).error().text(), HasSubstr("none of the counters"));
}

TEST_F(Chips, AnUnknownChipIsSaidWithThoseThatAreKnown) {
    const auto host = HostProfiler::open(library_, "TU107");
    ASSERT_FALSE(host);
    EXPECT_THAT(host.error().text(),
                AllOf(HasSubstr("the chip TU107"), HasSubstr("TU106"), HasSubstr("did you mean")));
}

TEST(CuptiLibrary, ThatIsNotThereIsOneLine) {
    EXPECT_THAT(Library::open("/nowhere/libcupti.so.13").error().text(),
                AllOf(HasSubstr("/nowhere/libcupti.so.13 cannot be loaded"), HasSubstr("LD_LIBRARY_PATH")));
    // A library that is not CUPTI.
    EXPECT_THAT(Library::open("libm.so.6").error().text(), HasSubstr("it has no cupti"));
}

// --- What is counted of a kernel ---

TEST(Counters, AreThoseOfWhatTheCodeCanDo) {
    const std::string of_atomics = "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
                      of_shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
    EXPECT_EQ(counters_for({}).size(), 6u);
    EXPECT_THAT(counters_for({.atomics = true}), AllOf(Contains(of_atomics), Not(Contains(of_shared))));
    EXPECT_THAT(counters_for({.shared = true}), AllOf(Contains(of_shared), Not(Contains(of_atomics))));
}

TEST(Counters, BecomeMetricsOfAnActiveWarp) {
    // 8 warps, each 3 loads of 4 sectors, a store of one, an atomic of two; half of the lanes at work.
    const std::map<std::string, double> counters{{"smsp__inst_executed.sum", 800},
                                                 {"smsp__thread_inst_executed.sum", 12800},
                                                 {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 24},
                                                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 96},
                                                 {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 8},
                                                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 8},
                                                 {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", 8},
                                                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", 16}};
    EXPECT_THAT(metrics_of(counters, 8),
                UnorderedElementsAre(Pair(Metric::load_requests, 3), Pair(Metric::load_sectors, 12),
                                     Pair(Metric::store_requests, 1), Pair(Metric::store_sectors, 3),
                                     Pair(Metric::atomic_requests, 1), Pair(Metric::active_lanes, 16)));
    EXPECT_THAT(metrics_of(counters, 0), IsEmpty());
}

TEST(Counters, OutliersAreFencedByQuartiles) {
    EXPECT_THAT(fenced_mean({10, 11, 12, 13, 14}), DoubleEq(12));
    EXPECT_THAT(fenced_mean({10, 11, 12, 13, 900}), DoubleEq(11.5));
    EXPECT_THAT(fenced_mean({5}), DoubleEq(5));
    EXPECT_THAT(fenced_mean({7, 7, 7, 7, 8}), DoubleEq(7));  // no spread: whatever differs is outside
}

// --- The target half, on a library in CUPTI's place ---

class StandIn : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = Library::open(TRIMTAB_STAND_IN_CUPTI);
        ASSERT_TRUE(opened) << opened.error().text();
        library_ = std::move(*opened);
        handle_ = dlopen(TRIMTAB_STAND_IN_CUPTI, RTLD_NOW | RTLD_NOLOAD);
        ASSERT_NE(handle_, nullptr);
        begin({});
    }
    void TearDown() override {
        if (handle_ != nullptr) dlclose(handle_);
    }
    void begin(const CuptiScript& script) {
        reinterpret_cast<StandInBegin>(dlsym(handle_, "stand_in_begin"))(&script);
    }
    std::string calls() { return reinterpret_cast<StandInCalls>(dlsym(handle_, "stand_in_calls"))(); }
    std::expected<RangeCounters, Error> open() {
        return RangeCounters::open(library_, nullptr, 0, {"a.sum", "local.sum", "b.sum"});
    }
    RepeatedLaunch counted() {
        return {.restore =
                    [this] {
                        ++restored_;
                        return true;
                    },
                .launch =
                    [this] {
                        ++launched_;
                        return true;
                    }};
    }
    std::shared_ptr<const Library> library_;
    void* handle_ = nullptr;
    int restored_ = 0, launched_ = 0;
};

TEST_F(StandIn, CallsComeInTheirOrderAndALaunchIsMadeOncePerPass) {
    {
        auto counters = open();
        ASSERT_TRUE(counters) << counters.error().text();
        EXPECT_EQ(counters->chip(), "TU106");
        EXPECT_THAT(counters->plan().missing, ElementsAre("local.sum"));
        const auto values = counters->count(counted());
        ASSERT_TRUE(values) << values.error().text();
        EXPECT_THAT(*values, UnorderedElementsAre(Pair("a.sum", 103), Pair("b.sum", 203)));
        EXPECT_EQ(launched_, 3);
        EXPECT_EQ(restored_, 3);
        // Again, with the same session.
        ASSERT_TRUE(counters->count(counted()));
    }
    const std::string pass = " start push pop stop",
                      counted_once = " config" + pass + pass + pass + " decode evaluate";
    EXPECT_EQ(calls(), "initialize chip availability availability enable" + counted_once + counted_once +
                           " disable deinitialize");
}

TEST_F(StandIn, ForbiddenCountersAreOneLineThatSaysWhatToDo) {
    begin({.failing = "enable", .error = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES});
    EXPECT_THAT(open().error().text(), AllOf(HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
                                             HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
    begin({.chip = "XX999"});
    EXPECT_THAT(open().error().text(), AllOf(HasSubstr("the chip XX999"), HasSubstr("TU106, GH100")));
}

TEST_F(StandIn, WhateverCallFailsItIsSaidAndEveryPassIsStopped) {
    for (const char* failing : {"initialize", "chip", "availability", "enable", "config", "start", "push",
                                "pop", "stop", "decode", "evaluate"}) {
        begin({.failing = failing, .error = CUPTI_ERROR_NOT_SUPPORTED});
        launched_ = 0;
        auto counters = open();
        const auto values = counters ? counters->count(counted()) : std::unexpected(counters.error());
        ASSERT_FALSE(values) << failing;
        EXPECT_THAT(values.error().text(), HasSubstr("CUPTI: ")) << failing;
        const std::string said = calls();
        if (said.contains(" push")) EXPECT_THAT(said, HasSubstr(" stop")) << failing;
    }
}

TEST_F(StandIn, ALaunchThatFailsAndRangesThatAreDroppedAreErrors) {
    auto counters = open();
    ASSERT_TRUE(counters);
    RepeatedLaunch failing = counted();
    failing.launch = [] { return false; };
    EXPECT_THAT(counters->count(failing).error().text(), HasSubstr("the launch failed"));
    EXPECT_TRUE(counters->count(counted())) << "the session is of no use after a launch that failed";
    failing = counted();
    failing.restore = [] { return false; };
    EXPECT_THAT(counters->count(failing).error().text(), HasSubstr("cannot be put back"));
    begin({.dropped = 1});
    auto others = open();
    ASSERT_TRUE(others);
    EXPECT_THAT(others->count(counted()).error().text(), HasSubstr("dropped"));
}

}  // namespace
}  // namespace trimtab::profiler::cupti
