// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPUPerf's equations as published, against numbers worked by hand on its Tesla C2050 (table 3).
#include "core/model/gpuperf_equations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "core/model/performance_model.h"

namespace trimtab::model {
namespace {

// Table 2's counts; the rest is table 3's.
struct Counts {
    double insts = 100, mem_insts = 10, sync_insts = 0, sfu_insts = 0, fp_insts = 40, divergence_insts = 0,
           bank_conflicts = 0, warps_per_sm = 96, n = 8, avg_trans_warp = 1, miss_ratio = 0.5,
           size_of_data = 0, ilp = 1, mlp = 1, hit_lat = 130;
};

std::map<std::string, double> terms_of(const RationalProgram& program, const std::vector<double>& values) {
    std::map<std::string, double> terms;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!program.nodes[i].label.empty()) terms[program.nodes[i].label] = values[i];
    return terms;
}

std::map<std::string, double> terms_of(const Counts& counts) {
    RationalProgramBuilder b("test");
    const auto number = [&b](double value) { return b.constant(value, ""); };
    const GpuPerfTerms terms = gpuperf_equations(b, {.insts = number(counts.insts),
                                                     .mem_insts = number(counts.mem_insts),
                                                     .mem_ratio = number(counts.mem_insts / counts.insts),
                                                     .sync_insts = number(counts.sync_insts),
                                                     .sync_turns = number(counts.warps_per_sm),
                                                     .sfu_insts = number(counts.sfu_insts),
                                                     .fp_insts = number(counts.fp_insts),
                                                     .divergence_insts = number(counts.divergence_insts),
                                                     .bank_conflicts = number(counts.bank_conflicts),
                                                     .total_warps = number(counts.warps_per_sm * 14),
                                                     .active_sms = number(14),
                                                     .n = number(counts.n),
                                                     .avg_trans_warp = number(counts.avg_trans_warp),
                                                     .avg_inst_lat = number(18),
                                                     .miss_ratio = number(counts.miss_ratio),
                                                     .size_of_data = number(counts.size_of_data),
                                                     .ilp = number(counts.ilp),
                                                     .mlp = number(counts.mlp),
                                                     .warp_size = number(32),
                                                     .simd_width = number(32),
                                                     .sfu_width = number(4),
                                                     .freq_hz = number(1.15e9),
                                                     .mem_peak_bandwidth = number(144e9),
                                                     .transaction_bytes = number(128),
                                                     .bytes_of_request = number(128),
                                                     .dram_lat = number(440),
                                                     .departure_delay = number(20),
                                                     .fp_lat = number(18),
                                                     .hit_lat = number(counts.hit_lat),
                                                     .gamma = number(64),
                                                     .pass_cycles = number(2),
                                                     .moved_bytes = {}});
    const RationalProgram program = std::move(b).finish(terms.t_exec, number(0));
    return terms_of(program, program.trace({}, [](Metric, double, double, double) { return 0.0; }));
}

void expect(const std::map<std::string, double>& terms, const char* label, double value) {
    ASSERT_TRUE(terms.contains(label)) << label;
    EXPECT_NEAR(terms.at(label), value, 1e-5 * std::abs(value) + 1e-9) << label;
}

// 8 warps of ILP 1.5 leave the pipe idle; serialisation of every kind.
TEST(GpuPerfEquations, ComputeBoundAndSerialised) {
    const auto t = terms_of({.sync_insts = 2,
                             .sfu_insts = 20,
                             .divergence_insts = 10,
                             .bank_conflicts = 5,
                             .avg_trans_warp = 3,
                             .size_of_data = 1000,
                             .ilp = 1.5,
                             .mlp = 2});
    expect(t, "ITILP_max", 18);
    expect(t, "ITILP", 12);
    expect(t, "W_parallel", 90 * 96 * 1.5);
    expect(t, "avg_DRAM_lat", 480);
    expect(t, "F_sync", 64 * 480 * 0.1);
    expect(t, "O_sync", 2 * 96 * 3072);
    expect(t, "F_SFU", 0.2 - 0.125);
    expect(t, "O_SFU", 20 * 96 * 8 * 0.075);
    expect(t, "O_CFdiv", 10 * 96 * 1.5);
    expect(t, "O_bank", 5 * 96 * 2);
    expect(t, "W_serial", 589824 + 1152 + 1440 + 960);
    expect(t, "T_comp", 12960 + 593376);
    expect(t, "AMAT", 480 * 0.5 + 130);
    expect(t, "comp_cycles", 150);
    expect(t, "mem_cycles", 1850);
    expect(t, "CWP", 8);                 // N; (1850 + 150) / 150 is 13.3
    expect(t, "MWP_peak_bw", 33.54037);  // 144e9 / (1.15e9 * 128 / 480 * 14)
    expect(t, "MWP", 8);
    expect(t, "MWP_cp", 7);
    expect(t, "ITMLP", 14);
    expect(t, "T_mem", 10 * 96 / 14.0 * 370);
    expect(t, "F_overlap", 7 / 8.0);
    expect(t, "T_overlap", 25371.4286);  // all of T_mem
    expect(t, "T_exec", 606336);
    expect(t, "T_fp", 40 * 96 * 1.5);
    expect(t, "T_mem_min", 14311.111);  // 1000 * 480 / 33.54037
    expect(t, "B_itilp", 12960 - 90 * 96);
    expect(t, "B_serial", 593376);
    expect(t, "B_fp", 606336 - 5760 - 4320 - 593376);
    expect(t, "B_memlp", 0);
}

TEST(GpuPerfEquations, MemoryBound) {
    const auto t = terms_of({.insts = 20,
                             .fp_insts = 4,
                             .warps_per_sm = 480,
                             .n = 48,
                             .miss_ratio = 1,
                             .size_of_data = 3000,
                             .ilp = 2,
                             .hit_lat = 18});
    expect(t, "ITILP", 18);
    expect(t, "AMAT", 458);
    expect(t, "CWP", 48);
    expect(t, "MWP_peak_bw", 30.745342);
    expect(t, "MWP", 22);  // 440 / 20
    expect(t, "ITMLP", 22);
    expect(t, "T_mem", 10 * 480 / 22.0 * 458);
    expect(t, "F_overlap", 1);
    expect(t, "T_overlap", 9600);  // all of T_comp
    expect(t, "T_exec", 99927.2727);
    expect(t, "B_itilp", 0);
    expect(t, "B_serial", 0);
    expect(t, "T_mem_min", 42933.3333);
    expect(t, "B_memlp", 99927.2727 - 9600 - 42933.3333);
    expect(t, "B_fp", 9600 - 4 * 480);
}

TEST(GpuPerfEquations, NoRequestsNoMemory) {
    const auto t = terms_of({.mem_insts = 0, .miss_ratio = 0});
    expect(t, "T_mem", 0);
    expect(t, "CWP", 1);
    expect(t, "T_exec", t.at("T_comp"));
}

// --- The program on low-level metrics: which of the benefits is the largest, for kernels of the kinds that
// the paper's sections 6.2 to 6.4 discuss.

using Table = std::map<Metric, double>;

std::map<std::string, double> benefits_of(const Table& metrics, trimtab_dim3 extent, trimtab_dim3 block,
                                          double bytes_per_thread) {
    const auto program = performance_model("gpuperf-benefits");
    EXPECT_TRUE(program);
    const trimtab_image image{.registers_per_thread = 20,
                              .static_shared_bytes = 0,
                              .local_bytes_per_thread = 0,
                              .max_threads_per_block = 0};
    const auto inputs = input_values(**program, *find_device("c2050"), image,
                                     {.extent = extent, .block = block, .dynamic_shared_bytes = 0});
    return terms_of(**program, (*program)->trace(inputs, [&](Metric metric, double x, double y, double z) {
        if (metric == Metric::footprint_sectors) return x * y * z * bytes_per_thread / 32;
        const auto found = metrics.find(metric);
        return found == metrics.end() ? 0.0 : found->second;
    }));
}

std::string largest_benefit(const std::map<std::string, double>& terms) {
    std::string largest = "B_itilp";
    for (const char* name : {"B_serial", "B_fp", "B_memlp"})
        if (terms.at(name) > terms.at(largest)) largest = name;
    return largest;
}

Table table(double blocks, double warps) {
    using enum Metric;
    return {{active_blocks, blocks}, {active_warps, warps}, {instruction_parallelism, 1.5},
            {active_lanes, 32},      {load_requests, 4},    {load_sectors, 16},
            {load_lines, 4},         {store_requests, 1},   {store_sectors, 4},
            {store_lines, 1},        {dependent_rounds, 4}, {warp_instructions, 2000},
            {fp32_instructions, 400}};
}

TEST(GpuPerfBenefits, OfInefficientArithmetic) {  // 6.2, 6.3: the baseline of FMM_U, the first reductions
    const auto t = benefits_of(table(840, 8), {840 * 256, 1, 1}, {256, 1, 1}, 20);
    EXPECT_EQ(largest_benefit(t), "B_fp");
    EXPECT_EQ(t.at("B_memlp"), 0);
    EXPECT_EQ(t.at("B_itilp"), 0);
}

TEST(GpuPerfBenefits, OfFewWarps) {  // 6.4: tpacf gains by parallelism, not by what was done to its memory
    Table metrics = table(14, 2);
    metrics[Metric::fp32_instructions] = 1500;
    const auto t = benefits_of(metrics, {14 * 64, 1, 1}, {64, 1, 1}, 20);
    EXPECT_EQ(largest_benefit(t), "B_itilp");
}

TEST(GpuPerfBenefits, OfSerialisation) {  // 6.1: special functions beside few others; 6.3: bank conflicts
    Table metrics = table(840, 8);
    metrics[Metric::special_function_instructions] = 1000;
    EXPECT_EQ(largest_benefit(benefits_of(metrics, {840 * 256, 1, 1}, {256, 1, 1}, 20)), "B_serial");
    metrics = table(840, 8);
    metrics[Metric::shared_requests] = 100;
    metrics[Metric::shared_wavefronts] = 3200;
    EXPECT_EQ(largest_benefit(benefits_of(metrics, {840 * 256, 1, 1}, {256, 1, 1}, 20)), "B_serial");
}

TEST(GpuPerfBenefits, OfExposedLatency) {  // 6.4: what tiling and reuse would win
    Table metrics = table(14, 4);
    metrics[Metric::warp_instructions] = 12;
    metrics[Metric::fp32_instructions] = 2;
    const auto t = benefits_of(metrics, {14 * 128, 1, 1}, {128, 1, 1}, 20);
    EXPECT_EQ(largest_benefit(t), "B_memlp");
}

}  // namespace
}  // namespace trimtab::model
