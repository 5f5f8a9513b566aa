// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in parentheses are the paper's equations.
#include "core/model/gpuperf.h"

#include <string>

#include "core/model/cached_launch_terms.h"
#include "core/model/gpuperf_equations.h"

namespace trimtab::model {

namespace {

class GpuPerf : CachedLaunchTerms {
  public:
    explicit GpuPerf(std::string name) : CachedLaunchTerms(std::move(name)) {}
    RationalProgram build_as_printed() &&;
    RationalProgram build_for_benefits() &&;

  private:
    // Of both; what is printed of the rest.
    GpuPerfInputs printed();
    Value instruction_latency();
    RationalProgram finish(const GpuPerfInputs& inputs) &&;
};

GpuPerfInputs GpuPerf::printed() {
    const Value active_sms = min(blocks_, device("sm_count")).named("active_SMs", "SMs", "GPUPerf, table 2");
    const Value warp_size = device("warp_size");
    // A warp of which some lanes are idle because branches parted it would take as many fewer instructions.
    const Value idle =
        one_ - clamped(b_.metric(Metric::active_lanes, bx_, by_, bz_), one_, warp_size) / warp_size;
    const Value diverging = select(zero_ < count(Metric::divergent_branches), insts_ * idle, zero_);
    const Value transaction = line_bytes_;
    const Value total_warps = blocks_ * warps_;
    return {
        .insts = insts_,
        .mem_insts = requests_,
        .mem_ratio = requests_ / insts_,
        .sync_insts = barriers_,
        .sync_turns = total_warps / active_sms,
        .sfu_insts = count(Metric::special_function_instructions),
        .fp_insts = count(Metric::fp32_instructions) + count(Metric::fp64_instructions),
        .divergence_insts = diverging,
        .bank_conflicts = max(count(Metric::shared_wavefronts) - shared_requests_, zero_),
        .total_warps = total_warps,
        .active_sms = active_sms,
        .n = min(occ_, ceil(blocks_ / active_sms)) * warps_,
        .avg_trans_warp = max(lines_ / requests_, one_),
        .avg_inst_lat = device("latency_fp32_cycles"),
        .miss_ratio = miss_ratio_,
        .size_of_data = launch_bytes_ / transaction / active_sms,
        .ilp = ilp_,
        .mlp = max(requests_ / rounds_or_one_, one_),
        .warp_size = warp_size,
        .simd_width = device("fp32_lanes_per_sm"),
        .sfu_width = device("special_function_lanes_per_sm"),
        .freq_hz = device("sm_clock_hz"),
        .mem_peak_bandwidth = device("dram_bytes_per_s"),
        .transaction_bytes = transaction,
        .bytes_of_request = transaction,
        .dram_lat = device("latency_dram_cycles"),
        .departure_delay = device("departure_delay_coalesced_cycles"),
        .fp_lat = device("latency_fp32_cycles"),
        .hit_lat = device("latency_l1_cycles") * l1_hits_ + device("latency_l2_cycles") * (one_ - l1_hits_),
        .gamma = number(64, "GPUPerf, table 2"),
        .pass_cycles = max(warp_size / device("load_store_units_per_sm"),
                           warp_size * number(4, "bytes a lane") / device("shared_bytes_per_clock")),
        .moved_bytes = {},
    };
}

// Of the instructions that a warp executes, each kind with its own latency. Special functions are not among (2)'s insts.
Value GpuPerf::instruction_latency() {
    const auto architecture = [&](const char* field) {
        return b_.input(std::string("architecture.") + field);
    };
    const Value fp64 = count(Metric::fp64_instructions), integer = count(Metric::integer_instructions);
    const Value shared = min(shared_requests_, insts_);
    const Value others = max(insts_ - fp64 - integer - shared, zero_);
    const Value all = max(fp64 + integer + shared + others, one_);
    return (fp64 * architecture("latency_fp64_cycles") + integer * architecture("latency_integer_cycles") +
            shared * device("latency_shared_cycles") + others * device("latency_fp32_cycles")) /
           all;
}

RationalProgram GpuPerf::finish(const GpuPerfInputs& inputs) && {
    const GpuPerfTerms terms = gpuperf_equations(b_, inputs);
    const Value ns =
        (terms.t_exec / device("sm_clock_hz") * number(1e9, "ns in a second")).named("time", "ns", "");
    return std::move(b_).finish(ns, unlaunchable());
}

RationalProgram GpuPerf::build_as_printed() && {
    cached_launch();
    return std::move(*this).finish(printed());
}

// Why each: docs/model.md, "GPUPerf's terms".
RationalProgram GpuPerf::build_for_benefits() && {
    cached_launch();
    GpuPerfInputs inputs = printed();
    inputs.avg_inst_lat = instruction_latency();
    // No warp waits for its stores.
    inputs.mem_insts = loads_ + atomics_ + local_;
    const Value asked = max(inputs.mem_insts, one_);
    inputs.mlp = max(inputs.mem_insts / rounds_or_one_, one_);
    inputs.avg_trans_warp = max(load_lines_ / asked, one_);
    // A barrier's wait is of all warps that are there, once; and of loads that a warp has in flight together it waits for
    // one.
    inputs.sync_turns = inputs.sync_turns / max(inputs.n, one_);
    inputs.mem_ratio = inputs.mem_insts / inputs.mlp / insts_;
    inputs.gamma = b_.input("architecture.barrier_gamma");
    // What DRAM brings for a request, stores too; a scattered one is no line, but as many sectors as it touches.
    inputs.bytes_of_request = max(sectors_ * sector_bytes_ / asked, sector_bytes_);
    inputs.moved_bytes = dram_bytes_ / inputs.active_sms;
    return std::move(*this).finish(inputs);
}

}  // namespace

RationalProgram build_gpuperf() {
    return GpuPerf("gpuperf").build_as_printed();
}

RationalProgram build_gpuperf_benefits() {
    return GpuPerf("gpuperf-benefits").build_for_benefits();
}

}  // namespace trimtab::model
