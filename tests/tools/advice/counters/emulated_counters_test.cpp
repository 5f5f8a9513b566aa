// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the emulator counts, written as ncu would have written it: advice of the file is advice of the emulator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/tools/advice/defect_kernels.h"
#include "tools/advice/counters/measured_advice.h"
#include "tools/advice/counters/ncu_csv.h"
#include "tools/advice/rules.h"
#include "tools/trimtab/kernel_facts.h"

namespace trimtab::tools {
namespace {

using advice::Finding;
using emulator::InstructionClass;
using emulator::InstructionProfile;
using model::Metric;

// Of gains: a file has no footprints and no rounds of waiting, and sums where the emulator has instructions.
constexpr double same_gain = 0.3;
// The emulator's gain lies in the file's range, or so near to it.
constexpr double beyond_range = 1.1;

advice::KernelFacts facts_of_kernel(const std::string& name) {
    return facts_of(defect_kernels().kernels[find_kernel(defect_kernels(), name).value()].record.description);
}

// The columns of a raw page.
struct Columns {
    std::string names = R"("ID","Kernel Name","Block Size","Grid Size","Device","CC")",
                units = R"("","","block","grid","","")", values;
    void add(std::string_view metric, std::string_view unit, double value) {
        names += fmt::format(",\"{}\"", metric);
        units += fmt::format(",\"{}\"", unit);
        values += fmt::format(",\"{:.9g}\"", value);
    }
};

std::string ncu_file(const emulator::LaunchProfile& profile, const std::string& kernel,
                     const model::Device& device) {
    const advice::Question question(profile, device.values);
    const double warps = question[Metric::active_warps] * question[Metric::active_blocks];
    const double sampled = warps / std::max(1.0, profile.counted_active_warps);
    double load_bytes = 0, store_bytes = 0, conflicts = 0, conversions = 0;
    for (const InstructionProfile& one : profile.instructions) {
        const auto bytes = static_cast<double>(one.count.bytes),
                   requests = static_cast<double>(one.count.requests);
        if (one.kind == InstructionClass::global_load) load_bytes += bytes * sampled;
        if (one.kind == InstructionClass::global_store) store_bytes += bytes * sampled;
        if (one.kind == InstructionClass::shared_memory)
            conflicts += sampled * std::max(0.0, static_cast<double>(one.count.wavefronts) -
                                                     std::max(requests, bytes / 128));
        if (one.kind == InstructionClass::conversion)
            conversions += static_cast<double>(one.count.thread) * sampled;
    }
    const double lanes = question[Metric::active_lanes];
    const auto terms = question.terms();
    const auto size = [](const trimtab_dim3& of) { return fmt::format("({}, {}, {})", of.x, of.y, of.z); };
    Columns columns;
    columns.values = fmt::format("\"0\",\"{}\",\"{}\",\"{}\",\"0\",\"7.5\"", kernel, size(profile.block),
                                 size(profile.grid));
    const auto count = [&](std::string_view metric, double value) { columns.add(metric, "", value); };
    const auto total = [&](std::string_view metric, Metric of) { count(metric, question[of] * warps); };
    columns.add("gpu__time_duration.sum", "nsecond", profile.time_ns);
    columns.add("dram__bytes.sum", "byte", terms.at("DRAM_bytes"));
    columns.add("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "%",
                100 * terms.at("L1_hit_ratio"));
    total("smsp__inst_executed.sum", Metric::warp_instructions);
    count("smsp__thread_inst_executed_per_inst_executed.ratio", lanes);
    for (const auto& [what, requests, sectors, lines] :
         {std::tuple{"ld", Metric::load_requests, Metric::load_sectors, Metric::load_lines},
          std::tuple{"st", Metric::store_requests, Metric::store_sectors, Metric::store_lines}}) {
        total(fmt::format("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", what), requests);
        total(fmt::format("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", what), sectors);
        total(fmt::format("l1tex__t_set_accesses_pipe_lsu_mem_global_op_{}.sum", what), lines);
    }
    columns.add("smsp__sass_data_bytes_mem_global_op_ld.sum", "byte", load_bytes);
    columns.add("smsp__sass_data_bytes_mem_global_op_st.sum", "byte", store_bytes);
    total("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", Metric::local_requests);
    count("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", 0);
    total("smsp__sass_inst_executed_op_shared.sum", Metric::shared_requests);
    total("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", Metric::shared_wavefronts);
    count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", conflicts);
    count("smsp__inst_executed_op_branch.sum", profile.branches * sampled);
    count("smsp__sass_branch_targets_threads_divergent.sum", profile.divergent_branches * sampled);
    total("smsp__inst_executed_pipe_fp64.sum", Metric::fp64_instructions);
    count("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", conversions);
    count("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",
          question[Metric::fp32_instructions] * warps * lanes);
    count("smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
          std::max(0.0, question[Metric::integer_instructions] * warps * lanes - conversions));
    count("smsp__inst_executed_pipe_xu.sum",
          question[Metric::special_function_instructions] * warps + conversions / lanes);
    count("launch__registers_per_thread", profile.image.registers_per_thread);
    columns.add("launch__shared_mem_per_block_static", "byte/block", profile.image.static_shared_bytes);
    columns.add("launch__shared_mem_per_block_dynamic", "byte/block", profile.dynamic_shared_bytes);
    // A warp's cycles between two instructions of which one needs the other's result, the one of its issue among them.
    count("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1);
    count("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
          std::max(0.0, device.values.latency_fp32_cycles / question[Metric::instruction_parallelism] - 1));
    count("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
          question[Metric::barriers] > 0 ? 1 : 0);
    return columns.names + "\n" + columns.units + "\n" + columns.values + "\n";
}

struct Case {
    std::string rule;  // that it is about
    OneRun run;
    double agrees = same_gain;
};

void PrintTo(const Case& one, std::ostream* out) {
    *out << one.rule;
}

class SameCounters : public testing::TestWithParam<Case> {};

TEST_P(SameCounters, GiveTheSameFindings) {
    const auto& [rule, run, agrees] = GetParam();
    const model::Device device = model::find_device("rtx2070super").value();
    const emulator::LaunchProfile profile = profile_of(run);
    advice::KernelFacts facts = facts_of_kernel(profile.kernel);
    // extern "C" kernels have no parameters in their names; what these have is of none but these types.
    facts.demangled += "(const float *, float *, int, int)";
    const std::vector<Finding> by_emulator = advice::findings(profile, device.values, facts);

    const std::string file = ncu_file(profile, facts.demangled, device);
    const auto launches = advice::read_ncu_csv(file, "emulated.csv");
    ASSERT_TRUE(launches) << launches.error().text();
    const advice::Advice advised =
        advice::advise_counted(*launches, device, {{launches->front().kernel, facts}});
    const advice::KernelAdvice& kernel = advised.kernels.front();
    EXPECT_TRUE(kernel.measured->lacking_rules.empty());
    EXPECT_NEAR(kernel.measured->model_ns / profile.time_ns, 1, 0.1);

    std::string both;
    for (const Finding& one : by_emulator) both += fmt::format("emulator {} {:.2f}\n", one.rule, one.gain);
    for (const Finding& one : kernel.findings)
        both += fmt::format("file {} {:.2f} ({:.2f} to {:.2f})\n", one.rule, one.gain, one.least, one.most);
    for (const Finding& one : by_emulator) {
        if (std::ranges::find(kernel.measured->code_rules, one.rule) != kernel.measured->code_rules.end())
            continue;
        const auto same = std::ranges::find(kernel.findings, one.rule, &Finding::rule);
        ASSERT_NE(same, kernel.findings.end()) << one.rule << "\n" << both;
        EXPECT_NEAR(same->gain / one.gain, 1, agrees) << one.rule << "\n" << both;
        EXPECT_LE(same->least, one.gain * beyond_range) << one.rule << "\n" << both;
        EXPECT_GE(same->most, one.gain / beyond_range) << one.rule << "\n" << both;
    }
    // What the emulator does not name gains less than 5 % by it, and here as much as agrees with that.
    for (const Finding& one : kernel.findings)
        if (std::ranges::find(by_emulator, one.rule, &Finding::rule) == by_emulator.end())
            EXPECT_LE(one.gain, 1.05 * (1 + same_gain)) << one.rule << "\n" << both;
    EXPECT_EQ(kernel.findings.front().rule, rule) << both;
    EXPECT_NE(std::ranges::find(kernel.findings, rule, &Finding::rule), kernel.findings.end()) << both;
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, SameCounters,
    testing::Values(Case{"uncoalesced-load", {"row_sums", {"2=65536", "3=128"}, 256, 256}},
                    Case{"uncoalesced-store", {"fill_rows", {"1=65536", "2=128"}, 256, 256}},
                    Case{"bank-conflicts", {"columns", {"2=20"}, 4096, 32}},
                    // How much of memory's traffic is local memory's no counter tells.
                    Case{"local-memory", {"window", {"2=262144", "3=256"}, 1024, 256}, 0.4},
                    Case{"accidental-double", {"relaxed", {"2=262144", "3=128"}, 1024, 256}},
                    Case{"divergence", {"sides", {"2=262144", "3=256"}, 1024, 256}},
                    Case{"low-occupancy", {"far_sums", {"2=32"}, 1024, 64}},
                    Case{"too-few-blocks", {"powers", {"2=8192", "3=1024"}, 8, 1024}},
                    Case{"poor-last-wave", {"powers", {"2=45056", "3=1024"}, 44, 1024}}),
    [](const auto& test) {
        std::string name = test.param.rule;
        std::ranges::replace(name, '-', '_');
        return name;
    });

}  // namespace
}  // namespace trimtab::tools
