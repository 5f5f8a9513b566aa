// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/names.h"

#include <algorithm>

namespace trimtab::advice {
namespace {

using enum Dimension;

constexpr std::string_view speed_of_light = "GPU Speed Of Light Throughput";
constexpr std::string_view compute = "Compute Workload Analysis";
constexpr std::string_view memory = "Memory Workload Analysis";
constexpr std::string_view scheduler = "Scheduler Statistics";
constexpr std::string_view warp_state = "Warp State Statistics";
constexpr std::string_view instructions = "Instruction Statistics";
constexpr std::string_view launch = "Launch Statistics";
constexpr std::string_view occupancy = "Occupancy";
constexpr std::string_view source_counters = "Source Counters";

// Both names as Nsight Compute's sections pair them; metrics are CUPTI's, `launch__`, `derived__` and `sm__maximum` names Nsight
// Compute's own.
constexpr CounterName table[] = {
    {"gpu__time_duration.sum", "Duration", speed_of_light, seconds},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", speed_of_light, percent},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", speed_of_light,
     percent},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX Cache Throughput", speed_of_light,
     percent},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 Cache Throughput", speed_of_light, percent},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput", speed_of_light, percent},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "", "", percent},
    {"gpc__cycles_elapsed.max", "Elapsed Cycles", speed_of_light, count},
    {"sm__cycles_active.avg", "SM Active Cycles", speed_of_light, count},
    {"gpc__cycles_elapsed.avg.per_second", "SM Frequency", speed_of_light, hertz},
    {"dram__cycles_elapsed.avg.per_second", "DRAM Frequency", speed_of_light, hertz},
    {"sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active", compute, count},
    {"sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed", compute, count},
    {"sm__inst_issued.avg.per_cycle_active", "Issued Ipc Active", compute, count},
    {"sm__inst_issued.avg.pct_of_peak_sustained_active", "Issue Slots Busy", compute, percent},
    {"sm__instruction_throughput.avg.pct_of_peak_sustained_active", "SM Busy", compute, percent},
    {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "ALU", compute, percent},
    {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "FMA", compute, percent},
    {"sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active", "FP16", compute, percent},
    {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", "FP64", compute, percent},
    {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "LSU", compute, percent},
    {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "Tensor", compute, percent},
    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "XU", compute, percent},
    {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
    {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
    {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
    {"dram__bytes.sum.per_second", "Memory Throughput", memory, bytes_per_second},
    {"l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate", memory, percent},
    {"lts__t_sector_hit_rate.pct", "L2 Hit Rate", memory, percent},
    {"dram__bytes.sum", "", memory, bytes},
    {"dram__bytes_read.sum", "", memory, bytes},
    {"dram__bytes_write.sum", "", memory, bytes},
    {"dram__bytes_op_read.sum", "", memory, bytes},
    {"dram__bytes_op_write.sum", "", memory, bytes},
    {"lts__t_sectors.sum", "", memory, count},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", memory, count},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "", memory, count},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", memory, count},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "", memory, count},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "", memory, count},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "", memory, count},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "", memory, count},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "", memory, count},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "", memory, count},
    {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum", "", "", count},
    {"smsp__sass_data_bytes_mem_global_op_ld.sum", "", memory, bytes},
    {"sm__sass_data_bytes_mem_global_op_ld.sum", "", "", bytes},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "", memory, bytes},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "", "", percent},
    {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "", memory, count},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "", memory, count},
    {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum", "", "", count},
    {"smsp__sass_data_bytes_mem_global_op_st.sum", "", memory, bytes},
    {"sm__sass_data_bytes_mem_global_op_st.sum", "", "", bytes},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "", memory, bytes},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "", "", percent},
    {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "", memory, count},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "", "", count},
    {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "", "", percent},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum", "", "", count},
    {"smsp__sass_inst_executed_op_shared.sum", "", memory, count},
    {"smsp__inst_executed_op_shared_ld.sum", "", "", count},
    {"smsp__inst_executed_op_shared_st.sum", "", "", count},
    {"smsp__inst_executed_op_shared_atom.sum", "", "", count},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "", memory, count},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", memory, count},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", memory, count},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "", memory, count},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", memory, count},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", memory, count},
    {"derived__memory_l1_wavefronts_shared_excessive", "", memory, count},
    {"smsp__warps_active.avg.per_cycle_active", "Active Warps Per Scheduler", scheduler, count},
    {"smsp__warps_eligible.avg.per_cycle_active", "Eligible Warps Per Scheduler", scheduler, count},
    {"smsp__average_warp_latency_per_inst_issued.ratio", "Warp Cycles Per Issued Instruction", warp_state,
     count},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", "Avg. Active Threads Per Warp", warp_state, count},
    {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "Avg. Not Predicated Off Threads Per Warp",
     warp_state, count},
    {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "Stall Barrier", stall_section,
     count},
    {"smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio", "Stall Branch Resolving",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", "Stall Dispatch Stall",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", "Stall Drain", stall_section, count},
    {"smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "Stall GMMA", stall_section, count},
    {"smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", "Stall IMC Miss", stall_section,
     count},
    {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "Stall LG Throttle",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "Stall Long Scoreboard",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
     "Stall Math Pipe Throttle", stall_section, count},
    {"smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", "Stall Membar", stall_section, count},
    {"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "Stall MIO Throttle",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_misc_per_issue_active.ratio", "Stall Misc", stall_section, count},
    {"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", "Stall No Instruction",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", "Stall Not Selected",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "Selected", stall_section, count},
    {"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", "Stall Short Scoreboard",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", "Stall Sleeping", stall_section,
     count},
    {"smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio", "Stall Tex Throttle",
     stall_section, count},
    {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "Stall Wait", stall_section, count},
    {"smsp__inst_executed.sum", "Executed Instructions", instructions, count},
    {"sm__inst_executed.sum", "", "", count},
    {"smsp__inst_issued.sum", "Issued Instructions", instructions, count},
    {"smsp__thread_inst_executed.sum", "", "", count},
    {"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", "", instructions, count},
    {"smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", "", instructions, count},
    {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "", instructions, count},
    {"smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "", instructions, count},
    {"smsp__sass_thread_inst_executed_op_control_pred_on.sum", "", instructions, count},
    {"smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "", instructions, count},
    {"smsp__inst_executed_pipe_alu.sum", "", instructions, count},
    {"smsp__inst_executed_pipe_fma.sum", "", instructions, count},
    {"smsp__inst_executed_pipe_fp64.sum", "", instructions, count},
    {"smsp__inst_executed_pipe_xu.sum", "", instructions, count},
    {"launch__grid_size", "Grid Size", launch, count},
    {"launch__block_size", "Block Size", launch, count},
    {"launch__block_dim_x", "", "", count},
    {"launch__block_dim_y", "", "", count},
    {"launch__block_dim_z", "", "", count},
    {"launch__grid_dim_x", "", "", count},
    {"launch__grid_dim_y", "", "", count},
    {"launch__grid_dim_z", "", "", count},
    {"launch__registers_per_thread", "Registers Per Thread", launch, count},
    {"launch__shared_mem_per_block_driver", "Driver Shared Memory Per Block", launch, bytes},
    {"launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block", launch, bytes},
    {"launch__shared_mem_per_block_static", "Static Shared Memory Per Block", launch, bytes},
    {"launch__sm_count", "# SMs", launch, count},
    {"launch__waves_per_multiprocessor", "Waves Per SM", launch, count},
    {"launch__occupancy_limit_blocks", "Block Limit SM", occupancy, count},
    {"launch__occupancy_limit_registers", "Block Limit Registers", occupancy, count},
    {"launch__occupancy_limit_shared_mem", "Block Limit Shared Mem", occupancy, count},
    {"launch__occupancy_limit_warps", "Block Limit Warps", occupancy, count},
    {"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy", occupancy, percent},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy", occupancy, percent},
    {"sm__warps_active.avg.per_cycle_active", "Achieved Active Warps Per SM", occupancy, count},
    {"smsp__inst_executed_op_branch.sum", "Branch Instructions", source_counters, count},
    {"smsp__sass_inst_executed_op_branch.sum", "", "", count},
    {"smsp__sass_average_branch_targets_threads_uniform.pct", "Branch Efficiency", source_counters, percent},
    {"smsp__sass_branch_targets_threads_divergent.sum", "", source_counters, count},
    {"smsp__sass_branch_targets_threads_uniform.sum", "", "", count},
    {"device__attribute_multiprocessor_count", "", "", count},
};

}  // namespace

std::span<const CounterName> counter_names() {
    return table;
}

const CounterName* counter_named(std::string_view metric) {
    const auto* const found = std::ranges::find(table, metric, &CounterName::metric);
    return found == std::end(table) ? nullptr : found;
}

const CounterName* counter_labelled(std::string_view label, Dimension dimension) {
    if (label.empty()) return nullptr;
    const CounterName* any = nullptr;
    for (const CounterName& name : table) {
        if (name.label != label && name.metric != label) continue;
        if (name.dimension == dimension) return &name;
        any = &name;
    }
    return any;
}

}  // namespace trimtab::advice
