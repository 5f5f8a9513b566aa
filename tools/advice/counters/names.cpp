// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/names.h"

#include <algorithm>

namespace trimtab::advice {
namespace {

constexpr std::string_view speed_of_light_section = "GPU Speed Of Light Throughput";
constexpr std::string_view compute_section = "Compute Workload Analysis";
constexpr std::string_view memory_section = "Memory Workload Analysis";
constexpr std::string_view scheduler_section = "Scheduler Statistics";
constexpr std::string_view warp_state_section = "Warp State Statistics";
constexpr std::string_view instructions_section = "Instruction Statistics";
constexpr std::string_view launch_section = "Launch Statistics";
constexpr std::string_view occupancy_section = "Occupancy";
constexpr std::string_view source_counters_section = "Source Counters";

}  // namespace

// Both names as Nsight Compute's sections pair them; metrics are CUPTI's, `launch__`, `derived__` and `sm__maximum` names Nsight
// Compute's own.
std::span<const CounterName> counter_names() {
    using enum Dimension;
    static constexpr CounterName table[] = {
        {"gpu__time_duration.sum", "Duration", speed_of_light_section, seconds},
        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput",
         speed_of_light_section, percent},
        {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput",
         speed_of_light_section, percent},
        {"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX Cache Throughput",
         speed_of_light_section, percent},
        {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 Cache Throughput", speed_of_light_section,
         percent},
        {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput", speed_of_light_section,
         percent},
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "", "", percent},
        {"gpc__cycles_elapsed.max", "Elapsed Cycles", speed_of_light_section, count},
        {"sm__cycles_active.avg", "SM Active Cycles", speed_of_light_section, count},
        {"gpc__cycles_elapsed.avg.per_second", "SM Frequency", speed_of_light_section, hertz},
        {"dram__cycles_elapsed.avg.per_second", "DRAM Frequency", speed_of_light_section, hertz},
        {"sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active", compute_section, count},
        {"sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed", compute_section, count},
        {"sm__inst_issued.avg.per_cycle_active", "Issued Ipc Active", compute_section, count},
        {"sm__inst_issued.avg.pct_of_peak_sustained_active", "Issue Slots Busy", compute_section, percent},
        {"sm__instruction_throughput.avg.pct_of_peak_sustained_active", "SM Busy", compute_section, percent},
        {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "ALU", compute_section, percent},
        {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "FMA", compute_section, percent},
        {"sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active", "FP16", compute_section, percent},
        {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", "FP64", compute_section, percent},
        {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "LSU", compute_section, percent},
        {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "Tensor", compute_section,
         percent},
        {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "XU", compute_section, percent},
        {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
        {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
        {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "", "", percent},
        {"dram__bytes.sum.per_second", "Memory Throughput", memory_section, bytes_per_second},
        {"l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate", memory_section, percent},
        {"lts__t_sector_hit_rate.pct", "L2 Hit Rate", memory_section, percent},
        {"dram__bytes.sum", "", memory_section, bytes},
        {"dram__bytes_read.sum", "", memory_section, bytes},
        {"dram__bytes_write.sum", "", memory_section, bytes},
        {"dram__bytes_op_read.sum", "", memory_section, bytes},
        {"dram__bytes_op_write.sum", "", memory_section, bytes},
        {"lts__t_sectors.sum", "", memory_section, count},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", memory_section, count},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "", memory_section, count},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", memory_section, count},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "", memory_section, count},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "", memory_section, count},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "", memory_section, count},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "", memory_section, count},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "", memory_section, count},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "", memory_section, count},
        {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum", "", "", count},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", "", memory_section, bytes},
        {"sm__sass_data_bytes_mem_global_op_ld.sum", "", "", bytes},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "", memory_section, bytes},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "", "", percent},
        {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "", memory_section, count},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "", memory_section, count},
        {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum", "", "", count},
        {"smsp__sass_data_bytes_mem_global_op_st.sum", "", memory_section, bytes},
        {"sm__sass_data_bytes_mem_global_op_st.sum", "", "", bytes},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "", memory_section, bytes},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "", "", percent},
        {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "", memory_section, count},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "", "", count},
        {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "", "", percent},
        {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum", "", "", count},
        {"smsp__sass_inst_executed_op_shared.sum", "", memory_section, count},
        {"smsp__inst_executed_op_shared_ld.sum", "", "", count},
        {"smsp__inst_executed_op_shared_st.sum", "", "", count},
        {"smsp__inst_executed_op_shared_atom.sum", "", "", count},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "", memory_section, count},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", memory_section, count},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", memory_section, count},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "", memory_section, count},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", memory_section, count},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", memory_section, count},
        {"derived__memory_l1_wavefronts_shared_excessive", "", memory_section, count},
        {"smsp__warps_active.avg.per_cycle_active", "Active Warps Per Scheduler", scheduler_section, count},
        {"smsp__warps_eligible.avg.per_cycle_active", "Eligible Warps Per Scheduler", scheduler_section,
         count},
        {"smsp__average_warp_latency_per_inst_issued.ratio", "Warp Cycles Per Issued Instruction",
         warp_state_section, count},
        {"smsp__thread_inst_executed_per_inst_executed.ratio", "Avg. Active Threads Per Warp",
         warp_state_section, count},
        {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
         "Avg. Not Predicated Off Threads Per Warp", warp_state_section, count},
        {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "Stall Barrier", stall_section,
         count},
        {"smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
         "Stall Branch Resolving", stall_section, count},
        {"smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", "Stall Dispatch Stall",
         stall_section, count},
        {"smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", "Stall Drain", stall_section,
         count},
        {"smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "Stall GMMA", stall_section, count},
        {"smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", "Stall IMC Miss", stall_section,
         count},
        {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "Stall LG Throttle",
         stall_section, count},
        {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "Stall Long Scoreboard",
         stall_section, count},
        {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
         "Stall Math Pipe Throttle", stall_section, count},
        {"smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", "Stall Membar", stall_section,
         count},
        {"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "Stall MIO Throttle",
         stall_section, count},
        {"smsp__average_warps_issue_stalled_misc_per_issue_active.ratio", "Stall Misc", stall_section, count},
        {"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", "Stall No Instruction",
         stall_section, count},
        {"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", "Stall Not Selected",
         stall_section, count},
        {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "Selected", stall_section,
         count},
        {"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
         "Stall Short Scoreboard", stall_section, count},
        {"smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", "Stall Sleeping", stall_section,
         count},
        {"smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio", "Stall Tex Throttle",
         stall_section, count},
        {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "Stall Wait", stall_section, count},
        {"smsp__inst_executed.sum", "Executed Instructions", instructions_section, count},
        {"sm__inst_executed.sum", "", "", count},
        {"smsp__inst_issued.sum", "Issued Instructions", instructions_section, count},
        {"smsp__thread_inst_executed.sum", "", "", count},
        {"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", "", instructions_section, count},
        {"smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", "", instructions_section, count},
        {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "", instructions_section, count},
        {"smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "", instructions_section, count},
        {"smsp__sass_thread_inst_executed_op_control_pred_on.sum", "", instructions_section, count},
        {"smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "", instructions_section, count},
        {"smsp__inst_executed_pipe_alu.sum", "", instructions_section, count},
        {"smsp__inst_executed_pipe_fma.sum", "", instructions_section, count},
        {"smsp__inst_executed_pipe_fp64.sum", "", instructions_section, count},
        {"smsp__inst_executed_pipe_xu.sum", "", instructions_section, count},
        {"launch__grid_size", "Grid Size", launch_section, count},
        {"launch__block_size", "Block Size", launch_section, count},
        {"launch__block_dim_x", "", "", count},
        {"launch__block_dim_y", "", "", count},
        {"launch__block_dim_z", "", "", count},
        {"launch__grid_dim_x", "", "", count},
        {"launch__grid_dim_y", "", "", count},
        {"launch__grid_dim_z", "", "", count},
        {"launch__registers_per_thread", "Registers Per Thread", launch_section, count},
        {"launch__shared_mem_per_block_driver", "Driver Shared Memory Per Block", launch_section, bytes},
        {"launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block", launch_section, bytes},
        {"launch__shared_mem_per_block_static", "Static Shared Memory Per Block", launch_section, bytes},
        {"launch__sm_count", "# SMs", launch_section, count},
        {"launch__waves_per_multiprocessor", "Waves Per SM", launch_section, count},
        {"launch__occupancy_limit_blocks", "Block Limit SM", occupancy_section, count},
        {"launch__occupancy_limit_registers", "Block Limit Registers", occupancy_section, count},
        {"launch__occupancy_limit_shared_mem", "Block Limit Shared Mem", occupancy_section, count},
        {"launch__occupancy_limit_warps", "Block Limit Warps", occupancy_section, count},
        {"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy", occupancy_section, percent},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy", occupancy_section,
         percent},
        {"sm__warps_active.avg.per_cycle_active", "Achieved Active Warps Per SM", occupancy_section, count},
        {"smsp__inst_executed_op_branch.sum", "Branch Instructions", source_counters_section, count},
        {"smsp__sass_inst_executed_op_branch.sum", "", "", count},
        {"smsp__sass_average_branch_targets_threads_uniform.pct", "Branch Efficiency",
         source_counters_section, percent},
        {"smsp__sass_branch_targets_threads_divergent.sum", "", source_counters_section, count},
        {"smsp__sass_branch_targets_threads_uniform.sum", "", "", count},
        {"device__attribute_multiprocessor_count", "", "", count},
    };
    return table;
}

const CounterName* counter_named(std::string_view metric) {
    const auto found = std::ranges::find(counter_names(), metric, &CounterName::metric);
    return found == counter_names().end() ? nullptr : &*found;
}

const CounterName* counter_labelled(std::string_view label, Dimension dimension) {
    if (label.empty()) return nullptr;
    const CounterName* any = nullptr;
    for (const CounterName& name : counter_names()) {
        if (name.label != label && name.metric != label) continue;
        if (name.dimension == dimension) return &name;
        any = &name;
    }
    return any;
}

}  // namespace trimtab::advice
