// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice of made-up files of `ncu --csv` (raw.csv, details.csv), beside numbers worked by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/read_text.h"
#include "tools/advice/counters/measured_advice.h"
#include "tools/advice/counters/measured_kernel.h"
#include "tools/advice/counters/names.h"
#include "tools/advice/counters/ncu_csv.h"
#include "tools/advice/report.h"
#include "tools/advice/rules.h"

namespace trimtab::advice {
namespace {

std::vector<CountedLaunch> launches_of(const std::string& name) {
    const auto text = base::read_text(TRIMTAB_SOURCE_DIR "/tests/tools/advice/counters/" + name);
    return read_ncu_csv(*text, name).value();
}

const model::Device& turing() {
    static const model::Device device = model::find_device("rtx2070super").value();
    return device;
}

Advice advice_of(const std::string& name) {
    return advise_counted(launches_of(name), turing());
}

const Finding* found(const KernelAdvice& kernel, std::string_view rule) {
    const auto place = std::ranges::find(kernel.findings, rule, &Finding::rule);
    return place == kernel.findings.end() ? nullptr : &*place;
}

TEST(Quantities, ComeByWhicheverMetricsThereAre) {
    std::map<std::string_view, double> values{{"gpu__time_duration.sum", 2},
                                              {"dram__bytes.sum.per_second", 7}};
    EXPECT_EQ(Quantities(values).find("dram_bytes"), 14);
    values["dram__bytes_read.sum"] = 5;
    EXPECT_EQ(Quantities(values).find("dram_bytes"), 14);
    values["dram__bytes_write.sum"] = 1;
    EXPECT_EQ(Quantities(values).find("dram_bytes"), 6);
    values["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = 10;
    values["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"] = 4;
    values["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"] = 16;
    EXPECT_EQ(Quantities(values).find("load_sectors"), 40);
    EXPECT_EQ(Quantities(values).find("load_bytes"), 640);
    values["smsp__inst_executed.sum"] = 8;
    values["smsp__thread_inst_executed.sum"] = 160;
    EXPECT_EQ(Quantities(values).find("lanes"), 20);
    EXPECT_EQ(Quantities(values).find("store_sectors"), std::nullopt);
    EXPECT_EQ(metrics_for("conversions"),
              (std::set<std::string_view>{"smsp__sass_thread_inst_executed_op_conversion_pred_on.sum",
                                          "smsp__thread_inst_executed_per_inst_executed.ratio"}));
    for (const std::string_view name : needed_by_all()) EXPECT_TRUE(is_quantity(name)) << name;
}

// What is asked for must be what is read.
TEST(Quantities, AskForMetricsThatAreKnown) {
    for (const Rule& rule : rules()) {
        if (!rule.counters) continue;
        for (const std::string& quantity : *rule.counters) {
            EXPECT_FALSE(metrics_for(quantity).empty()) << quantity;
            for (const std::string_view metric : metrics_for(quantity))
                EXPECT_NE(counter_named(metric), nullptr) << metric;
        }
    }
    const auto broken = parse_rules(
        R"({"rules": [{"id": "x", "ask": "tile-loads", "least_gain": 1, "by": "you", "counters": ["luck"], "title": "", "remedy": "", "from": ""}]})",
        "rules.json");
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().text().find("rules[0].counters[0]"), std::string::npos) << broken.error().text();
}

// 1.2e9 bytes in 3189.5 us; 6 304 039 warp instructions issued, 6 291 456 of them once; 67 108 864 sectors of 2 097 152
// requests.
TEST(MeasuredRecord, IsWhatGehrkeDerives) {
    const CountedLaunch launch = launches_of("raw.csv").front();
    const DerivedMetrics metrics =
        derive(record_of(Quantities(launch.values), used_resources(launch.values), turing()));
    EXPECT_NEAR(metrics.instructions_per_byte_dram, 32 * 6304039 / 1.2e9, 1e-12);
    EXPECT_NEAR(metrics.dram_bytes_per_s, 1.2e9 / 3.1895e-3, 1);
    EXPECT_NEAR(metrics.dram_share, 1.2e9 / 3.1895e-3 / 448.064e9, 1e-9);
    EXPECT_NEAR(metrics.balance, 32 * 4 * 40 * turing().values.sm_clock_hz / 448.064e9, 1e-9);
    EXPECT_NEAR(metrics.transactions_per_request, 32, 1e-12);
    EXPECT_NEAR(metrics.l1_hit_share, 0.4, 1e-12);
    EXPECT_NEAR(metrics.l2_hit_share, 0.069, 1e-12);
    EXPECT_NEAR(metrics.serialisation, 12583.0 / 6304039, 1e-12);
    EXPECT_EQ(metrics.spill_share, 0);
    EXPECT_NEAR(metrics.l2_bytes_per_s, 32 * 40273510 / 3.1895e-3, 1);
}

// A warp's 32 lanes read 128 bytes a request, which are 4 sectors; memory moved 1.2e9 bytes, of which 268 697 600 were asked for:
// side by side it moves 4.47 times less.
TEST(RawPage, FindsUncoalescedLoads) {
    const Advice advice = advice_of("raw.csv");
    ASSERT_EQ(advice.kernels.size(), 2u);
    const KernelAdvice& kernel = advice.kernels[0];
    EXPECT_EQ(kernel.facts.demangled, "row_sums(const float *, float *, int, int)");
    EXPECT_EQ(kernel.label.bound, Bound::memory);
    EXPECT_EQ(kernel.label.limiter, "dram");
    EXPECT_EQ(kernel.bottleneck, "memory-bound: the memory's bandwidth is 84 % used");
    EXPECT_NEAR(kernel.share, 3189.5 / (3189.5 + 370), 1e-9);
    EXPECT_EQ(kernel.measured->plain, Bound::memory);
    const Finding* const finding = found(kernel, "uncoalesced-load");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding, &kernel.findings.front());
    EXPECT_EQ(finding->evidence.front().text,
              "its loads move 32 sectors per request; 4 would hold all that their lanes ask for");
    constexpr double of_memory = 1.2e9 / 268697600;
    EXPECT_NEAR(finding->gain / of_memory, 1, 0.05);
    EXPECT_LT(finding->least, 2);  // memory may move as much as before
    EXPECT_NEAR(finding->saves_ns, 3189.5e3 * (1 - 1 / finding->gain), 1);
    EXPECT_EQ(found(kernel, "uncoalesced-store"), nullptr);
    EXPECT_EQ(found(kernel, "bank-conflicts"), nullptr);
    EXPECT_EQ(found(kernel, "accidental-double"), nullptr);
    // The model with these counts is near what was measured, by which it was fitted.
    EXPECT_NEAR(kernel.measured->model_ns / 3189.5e3, 1, 0.25);
    EXPECT_TRUE(kernel.measured->lacking_rules.empty());
    EXPECT_EQ(kernel.measured->code_rules,
              (std::vector<std::string>{"partial-sectors", "sum-in-memory", "reuse", "missing-restrict"}));
}

// Two launches of 180 and 190 us. Of a warp's two shared requests one takes 32 passes: 33 passes, where 2 would do.
TEST(RawPage, FindsBankConflicts) {
    const KernelAdvice kernel = advice_of("raw.csv").kernels[1];
    EXPECT_EQ(kernel.launches, 2u);
    EXPECT_NEAR(kernel.time_ns, 185e3, 1e-6);
    EXPECT_NEAR(kernel.total_ns, 370e3, 1e-6);
    EXPECT_EQ(kernel.label.limiter, "l1");
    const Finding* const finding = found(kernel, "bank-conflicts");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding, &kernel.findings.front());
    EXPECT_EQ(finding->evidence.front().text,
              "conflicts in banks: its accesses take 16.5 passes over shared memory a request");
    EXPECT_GT(finding->gain, 1.5);
    EXPECT_EQ(found(kernel, "uncoalesced-load"), nullptr);
    EXPECT_EQ(kernel.occupancy.blocks_per_sm, 1u);  // 1024 threads of Turing's 1024
    EXPECT_NEAR(*kernel.measured->achieved_occupancy, 0.88, 1e-12);
    // Of 32.5 cycles between two instructions 14 are for the queue of shared memory.
    ASSERT_FALSE(kernel.measured->stalls.empty());
    EXPECT_EQ(kernel.measured->stalls.front().reason, "MIO Throttle");
    EXPECT_NEAR(kernel.measured->stalls.front().share, 14 / 32.5, 1e-12);
}

TEST(DetailsPage, LabelsAndSaysWhatItLacks) {
    const Advice advice = advice_of("details.csv");
    const KernelAdvice& kernel = advice.kernels.front();
    EXPECT_EQ(kernel.bottleneck, "memory-bound: the memory's bandwidth is 84 % used");
    EXPECT_TRUE(kernel.findings.empty());
    const Measured& measured = *kernel.measured;
    EXPECT_EQ(measured.model_ns, 0);
    EXPECT_NE(std::ranges::find(measured.lacking_rules, "uncoalesced-load"), measured.lacking_rules.end());
    for (const char* metric :
         {"smsp__sass_data_bytes_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"})
        EXPECT_NE(std::ranges::find(measured.lacking_metrics, metric), measured.lacking_metrics.end())
            << metric;
    // What it has need not be collected.
    for (const char* metric :
         {"launch__registers_per_thread", "smsp__inst_executed.sum", "gpu__time_duration.sum"})
        EXPECT_EQ(std::ranges::find(measured.lacking_metrics, metric), measured.lacking_metrics.end())
            << metric;
    const std::string text = to_text(advice);
    EXPECT_NE(text.find("ncu --csv --page raw --metrics "), std::string::npos) << text;
    EXPECT_NE(text.find("Achieved Occupancy"), std::string::npos) << text;
    EXPECT_NE(text.find("Registers Per Thread"), std::string::npos) << text;
    EXPECT_EQ(text.find("advice      none"), std::string::npos) << "it was not asked: " << text;
    const auto json = nlohmann::json::parse(to_json(advice));
    const auto& counters = json["kernels"][0]["measured"]["counters"];
    EXPECT_EQ(counters["Memory Workload Analysis"]["L2 Hit Rate"]["value"], 6.9);
    EXPECT_EQ(counters["GPU Speed Of Light Throughput"]["Duration"]["unit"], "second");
}

// Nothing was timed, and no throughput counted: no bound is named.
TEST(Counters, ThatTellNoBoundGetNone) {
    CountedLaunch launch{.kernel = "k",
                         .device = {},
                         .compute_capability = 75,
                         .grid = {.x = 80, .y = 1, .z = 1},
                         .block = {.x = 128, .y = 1, .z = 1},
                         .values = {}};
    launch.values["smsp__inst_executed.sum"] = 1e6;
    const KernelAdvice kernel = advise_counted({launch}, turing()).kernels.front();
    EXPECT_FALSE(kernel.measured->is_labelled);
    EXPECT_TRUE(kernel.bottleneck.starts_with("not known")) << kernel.bottleneck;
    EXPECT_TRUE(kernel.findings.empty());
    EXPECT_FALSE(kernel.measured->plain);
}

TEST(ParameterTypes, AreToldByNamesOfOwnTypesAlone) {
    EXPECT_TRUE(tells_parameter_types("scale(const float *, float *, int)"));
    EXPECT_TRUE(tells_parameter_types("scale(float const*, unsigned long)"));
    EXPECT_TRUE(tells_parameter_types("void k<4>(double *)"));
    for (const char* name :
         {"scale", "_Z5scalePf", "k(Body *, int)", "k(void *)", "k(const void*, float*)", "k(T1)"})
        EXPECT_FALSE(tells_parameter_types(name)) << name;
}

}  // namespace
}  // namespace trimtab::advice
