// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gehrke's measured profiles (tables 6.1 to 6.17 of the thesis): derived metrics within their rounding, and what
// bounds each kernel.
#include "tools/advice/bottleneck.h"

#include <gtest/gtest.h>

namespace trimtab::advice {
namespace {

// Tesla C2050 with ECC; GeForce GTX 960.
constexpr double fermi_instructions = 515e9, fermi_dram = 115e9;
constexpr double maxwell_instructions = 1206e9, maxwell_dram = 112e9;

struct Fixture {
    const char* name;
    double time_us, per_byte_dram, per_byte_l2, dram_gb, l2_gb, l2_hit, executed_of_issued, issue_share;
    Bound label;
    const char* limiter;
};

void PrintTo(const Fixture& fixture, std::ostream* out) {
    *out << fixture.name;
}

// The counters that its rates came from.
ProfileRecord record_of(const Fixture& fixture, double instructions_per_s, double dram_per_s) {
    const double time_s = fixture.time_us * 1e-6, dram_bytes = fixture.dram_gb * 1e9 * time_s;
    ProfileRecord record;
    record.time_s = time_s;
    record.dram_transactions = dram_bytes / 32;
    record.l2_transactions = fixture.l2_gb * 1e9 * time_s / 32;
    record.instructions_issued = fixture.per_byte_dram * dram_bytes;
    record.instructions_executed = record.instructions_issued * fixture.executed_of_issued;
    record.l2_hit_share = fixture.l2_hit;
    record.peak_instructions_per_s = instructions_per_s;
    record.peak_dram_bytes_per_s = dram_per_s;
    return record;
}

class Fermi : public testing::TestWithParam<Fixture> {};

TEST_P(Fermi, MetricsAndLabelAreTheThesiss) {
    const Fixture& fixture = GetParam();
    const DerivedMetrics metrics = derive(record_of(fixture, fermi_instructions, fermi_dram));
    EXPECT_NEAR(metrics.balance, 4.5, 0.05);
    EXPECT_NEAR(metrics.dram_bytes_per_s / 1e9, fixture.dram_gb, 1e-6);
    EXPECT_NEAR(metrics.instructions_per_byte_dram, fixture.per_byte_dram, 1e-9);
    // Independent of what the record was made from: issued instructions over L2's bytes.
    EXPECT_NEAR(metrics.instructions_per_byte_l2 / fixture.per_byte_l2, 1, 0.06);
    if (fixture.issue_share > 0) EXPECT_NEAR(metrics.issue_share, fixture.issue_share, 0.012);
    DerivedMetrics as_measured = metrics;
    as_measured.instructions_per_byte_l2 = fixture.per_byte_l2;
    const Label label = bound(as_measured, {});
    EXPECT_EQ(label.bound, fixture.label);
    EXPECT_EQ(label.limiter, fixture.limiter);
}

// Issue shares are compared where the thesis gives the share of instructions that were issued once.
INSTANTIATE_TEST_SUITE_P(
    Thesis, Fermi,
    testing::Values(
        Fixture{"SGEMM", 35960, 28, 4.19, 16, 106, 0.89, 0.66, 0, Bound::memory, "l2"},
        Fixture{"SGEMM optimised", 5420, 10.93, 5.49, 31.6, 62.9, 0.66, 1, 0.67, Bound::compute, "issue"},
        Fixture{"stencil", 3106, 3.71, 3.10, 87.6, 104.8, 0.52, 1, 0, Bound::memory, "dram"},
        Fixture{"stencil optimised", 2150, 3.38, 3.71, 111.5, 101.7, 0.36, 1, 0.73, Bound::memory, "dram"},
        Fixture{"RK4 shared", 17175, 1.10, 1.27, 96, 83, 0.24, 0.92, 0.19, Bound::memory, "dram"},
        Fixture{"RK4 registers", 14279, 1.25, 1.31, 96, 91, 0.35, 0.87, 0.20, Bound::memory, "dram"},
        Fixture{"RK4 final", 11420, 1.51, 1.54, 92, 90, 0.40, 0.89, 0.24, Bound::memory, "dram"}),
    [](const auto& test) {
        std::string name = test.param.name;
        for (char& c : name)
            if (c == ' ') c = '_';
        return name;
    });

TEST(Maxwell, Rk4IsBoundByDoublesWhichThePlainRuleMisses) {
    ProfileRecord record =
        record_of({"RK4", 10779, 823, 81, 0.079, 0.798, 0.92, 1, 0, Bound::compute, "fp64"},
                  maxwell_instructions, maxwell_dram);
    record.pipes = {{.name = "fp32", .is_memory = false, .share = 0.1},   // "Low"
                    {.name = "fp64", .is_memory = false, .share = 0.8}};  // "High": 7 to 9 of 10
    const DerivedMetrics metrics = derive(record);
    EXPECT_NEAR(metrics.balance, 10.7, 0.1);
    EXPECT_EQ(plain_bound(metrics), Bound::latency);
    const Label label = bound(metrics, record.pipes);
    EXPECT_EQ(label.bound, Bound::compute);
    EXPECT_EQ(label.limiter, "fp64");
}

TEST(Maxwell, Rk4WithFloatLiteralsIsBoundByFloats) {
    ProfileRecord record = record_of({"RK4", 325, 528, 49, 2.15, 23, 0.93, 1, 0, Bound::compute, "fp32"},
                                     maxwell_instructions, maxwell_dram);
    const Label label = bound(derive(record), {{.name = "fp32", .is_memory = false, .share = 1},
                                               {.name = "fp64", .is_memory = false, .share = 0.1}});
    EXPECT_EQ(label.limiter, "fp32");
}

TEST(Maxwell, SgemmIsBoundByL2) {
    const Fixture fixture{"SGEMM", 17674, 82, 7.2, 16, 182, 0.91, 1, 0, Bound::memory, "l2"};
    const Label label = bound(derive(record_of(fixture, maxwell_instructions, maxwell_dram)), {});
    EXPECT_EQ(label.bound, Bound::memory);
    EXPECT_EQ(label.limiter, "l2");
}

TEST(Bottleneck, NothingBusyIsLatency) {
    EXPECT_EQ(bound({{.name = "dram", .is_memory = true, .share = 0.3},
                     {.name = "issue", .is_memory = false, .share = 0.45}})
                  .bound,
              Bound::latency);
    EXPECT_EQ(bound(std::vector<Utilisation>{}).bound, Bound::latency);
    EXPECT_EQ(bound({{.name = "shared", .is_memory = true, .share = 0.6}}).limiter, "shared");
}

TEST(DerivedMetrics, OfTable71) {
    ProfileRecord record;
    record.time_s = 1e-3;
    record.instructions_issued = 1000;
    record.instructions_executed = 900;
    record.l2_transactions = 800;
    record.l1_local_load_misses = 50;
    record.l1_hits = 30;
    record.l1_misses = 10;
    record.load_requests = 20;
    record.branches = 40;
    record.divergent_branches = 10;
    record.shared_accesses = 100;
    record.bank_conflicts = 25;
    const DerivedMetrics metrics = derive(record);
    EXPECT_DOUBLE_EQ(metrics.serialisation, 0.1);
    EXPECT_DOUBLE_EQ(metrics.spill_share, 0.5);  // 2 * 4 * 50 of 800
    EXPECT_DOUBLE_EQ(metrics.l1_hit_share, 0.75);
    EXPECT_DOUBLE_EQ(metrics.transactions_per_request, 2);
    EXPECT_DOUBLE_EQ(metrics.divergence, 0.25);
    EXPECT_DOUBLE_EQ(metrics.bank_conflicts_per_access, 0.25);
    // No DRAM traffic, no peaks: nothing is divided by zero.
    EXPECT_EQ(metrics.instructions_per_byte_dram, 0);
    EXPECT_EQ(metrics.balance, 0);
    EXPECT_EQ(derive(ProfileRecord{}).serialisation, 0);
}

}  // namespace
}  // namespace trimtab::advice
