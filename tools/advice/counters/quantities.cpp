// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/quantities.h"

#include <algorithm>
#include <array>

namespace trimtab::advice {
namespace {

// One way to tell a quantity: the sum of metrics, all of which must be there.
struct Way {
    std::array<std::string_view, 4> metrics{};
    double factor = 1;
    std::string_view times{}, over{};  // quantities above in the table
};
struct Quantity {
    std::string_view name;
    std::array<Way, 4> ways{};  // the first that can be gone; the first is what one should collect
};

// A warp instruction of a kind is counted by thread where no pipe is its own: the lanes that it has on average make warps of it.
constexpr Quantity quantity_table[] = {
    {"time", {{{{"gpu__time_duration.sum"}}}}},
    {"instructions", {{{{"smsp__inst_executed.sum"}}, {{"sm__inst_executed.sum"}}}}},
    {"issued", {{{{"smsp__inst_issued.sum"}}}}},
    {"lanes",
     {{{{"smsp__thread_inst_executed_per_inst_executed.ratio"}},
       {{"smsp__thread_inst_executed.sum"}, 1, {}, "instructions"}}}},
    {"load_requests", {{{{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}}}}},
    {"load_sectors",
     {{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}},
       {{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"}, 1, "load_requests"}}}},
    {"load_lines", {{{{"l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum"}}}}},
    {"load_bytes",
     {{{{"smsp__sass_data_bytes_mem_global_op_ld.sum"}},
       {{"sm__sass_data_bytes_mem_global_op_ld.sum"}},
       {{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"}, 1, "load_sectors"},
       {{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"}, 0.32, "load_sectors"}}}},
    {"store_requests", {{{{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}}}}},
    {"store_sectors",
     {{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}},
       {{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"}, 1, "store_requests"}}}},
    {"store_lines", {{{{"l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum"}}}}},
    {"store_bytes",
     {{{{"smsp__sass_data_bytes_mem_global_op_st.sum"}},
       {{"sm__sass_data_bytes_mem_global_op_st.sum"}},
       {{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"}, 1, "store_sectors"},
       {{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"}, 0.32, "store_sectors"}}}},
    {"atomic_requests",
     {{{{"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
         "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"}}}}},
    {"atomic_sectors",
     {{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
         "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"}}}}},
    {"local_requests",
     {{{{"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
         "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"}}}}},
    {"local_load_misses", {{{{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum"}}}}},
    {"shared_requests",
     {{{{"smsp__sass_inst_executed_op_shared.sum"}},
       {{"smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum",
         "smsp__inst_executed_op_shared_atom.sum"}},
       {{"smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum"}}}}},
    {"shared_wavefronts",
     {{{{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}},
       {{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}}}}},
    {"shared_conflicts",
     {{{{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}},
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
         "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"}},
       {{"derived__memory_l1_wavefronts_shared_excessive"}}}}},
    {"branches", {{{{"smsp__inst_executed_op_branch.sum"}}}}},
    {"divergent_branches", {{{{"smsp__sass_branch_targets_threads_divergent.sum"}}}}},
    {"fp32_instructions",
     {{{{"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"}, 1, {}, "lanes"},
       {{"smsp__inst_executed_pipe_fma.sum"}}}}},
    {"fp64_instructions",
     {{{{"smsp__inst_executed_pipe_fp64.sum"}},
       {{"smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"}, 1, {}, "lanes"}}}},
    {"integer_instructions",
     {{{{"smsp__sass_thread_inst_executed_op_integer_pred_on.sum"}, 1, {}, "lanes"},
       {{"smsp__inst_executed_pipe_alu.sum"}}}}},
    {"conversions", {{{{"smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"}, 1, {}, "lanes"}}}},
    {"special_instructions", {{{{"smsp__inst_executed_pipe_xu.sum"}}}}},
    {"dram_bytes",
     {{{{"dram__bytes.sum"}},
       {{"dram__bytes_read.sum", "dram__bytes_write.sum"}},
       {{"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"}},
       {{"dram__bytes.sum.per_second"}, 1, "time"}}}},
    {"l2_sectors", {{{{"lts__t_sectors.sum"}}}}},
    {"l2_hit_share", {{{{"lts__t_sector_hit_rate.pct"}, 0.01}}}},
    {"l1_hit_share",
     {{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"}, 1, {}, "load_sectors"},
       {{"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"}, 0.01},
       {{"l1tex__t_sector_hit_rate.pct"}, 0.01}}}},
    {"registers", {{{{"launch__registers_per_thread"}}}}},
    {"static_shared", {{{{"launch__shared_mem_per_block_static"}}}}},
    {"dynamic_shared", {{{{"launch__shared_mem_per_block_dynamic"}}}}},
    {"achieved_occupancy", {{{{"sm__warps_active.avg.pct_of_peak_sustained_active"}, 0.01}}}},
    {"cycles_between_dependent",
     {{{{"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
         "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"}}}}},
    {"barrier_stall", {{{{"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"}}}}},
};

struct PipeUse {
    std::string_view metric, name, title;
    bool is_memory = false;
};
// Of metrics of one name the first that is there counts.
constexpr PipeUse uses[] = {
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram", "the memory's bandwidth", true},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "dram", "the memory's bandwidth", true},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "l2", "L2", true},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "l1", "L1 and shared memory", true},
    {"sm__inst_issued.avg.pct_of_peak_sustained_active", "issue", "the schedulers", false},
    {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "fp32", "single-precision arithmetic",
     false},
    {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "fp32", "single-precision arithmetic",
     false},
    {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "fp64", "double-precision arithmetic",
     false},
    {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", "fp64", "double-precision arithmetic",
     false},
    {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", "integer", "integer arithmetic", false},
    {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "integer", "integer arithmetic", false},
    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "special", "the special function units",
     false},
    {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "lsu", "the load-store units", true},
    {"sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active", "fp16", "half-precision arithmetic",
     false},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor", "the tensor cores", false},
    {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "tensor", "the tensor cores", false},
};

const Quantity* quantity_named(std::string_view name) {
    const auto* const found = std::ranges::find(quantity_table, name, &Quantity::name);
    return found == std::end(quantity_table) ? nullptr : found;
}

}  // namespace

Quantities::Quantities(const std::map<std::string_view, double>& values) {
    const auto told = [&](const Way& way) -> std::optional<double> {
        if (way.metrics[0].empty()) return std::nullopt;
        double sum = 0;
        for (const std::string_view metric : way.metrics) {
            if (metric.empty()) break;
            const auto found = values.find(metric);
            if (found == values.end()) return std::nullopt;
            sum += found->second;
        }
        sum *= way.factor;
        if (!way.times.empty()) {
            const auto other = find(way.times);
            if (!other) return std::nullopt;
            sum *= *other;
        }
        if (!way.over.empty()) {
            const auto other = find(way.over);
            if (!other || !(*other > 0)) return std::nullopt;
            sum /= *other;
        }
        return sum;
    };
    for (const Quantity& quantity : quantity_table)
        for (const Way& way : quantity.ways)
            if (const auto value = told(way)) {
                values_.emplace(quantity.name, *value);
                break;
            }
}

std::optional<double> Quantities::find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
}

bool is_quantity(std::string_view name) {
    return quantity_named(name) != nullptr;
}

const std::vector<std::string_view>& needed_by_all() {
    static const std::vector<std::string_view> names{"instructions", "lanes",          "load_requests",
                                                     "load_sectors", "store_requests", "store_sectors",
                                                     "registers",    "static_shared",  "dynamic_shared"};
    return names;
}

std::set<std::string_view> metrics_for(std::string_view quantity) {
    std::set<std::string_view> out;
    const Quantity* const known = quantity_named(quantity);
    if (known == nullptr) return out;
    const Way& way = known->ways.front();
    for (const std::string_view metric : way.metrics)
        if (!metric.empty()) out.insert(metric);
    for (const std::string_view other : {way.times, way.over})
        if (!other.empty()) out.merge(metrics_for(other));
    return out;
}

std::vector<UsedResource> used_resources(const std::map<std::string_view, double>& values) {
    std::vector<UsedResource> out;
    for (const PipeUse& use : uses) {
        const auto found = values.find(use.metric);
        if (found == values.end() || std::ranges::find(out, use.name, &UsedResource::name) != out.end())
            continue;
        out.push_back(
            {.name = use.name, .title = use.title, .is_memory = use.is_memory, .share = found->second / 100});
    }
    return out;
}

}  // namespace trimtab::advice
