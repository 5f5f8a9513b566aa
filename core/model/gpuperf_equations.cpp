// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/gpuperf_equations.h"

namespace trimtab::model {

GpuPerfTerms gpuperf_equations(RationalProgramBuilder& b, const GpuPerfInputs& in) {
    const Value zero = b.constant(0, ""), one = b.constant(1, "");
    const auto cycles = [](Value value, std::string_view label, std::string_view equation) {
        return value.named(label, "cycles", equation);
    };
    const Value warps_per_sm = in.total_warps / in.active_sms;

    // The computation. (3) counts what no branch repeats; what divergence adds is in (6), at the same rate.
    const Value itilp_max = (in.avg_inst_lat / (in.warp_size / in.simd_width))
                                .named("ITILP_max", "warp instructions", "GPUPerf (5)");
    const Value itilp = min(in.ilp * in.n, itilp_max).named("ITILP", "warp instructions", "GPUPerf (4)");
    const Value straight = in.insts - in.divergence_insts;
    const Value w_parallel =
        cycles(straight * warps_per_sm * (in.avg_inst_lat / itilp), "W_parallel", "GPUPerf (3)");
    const Value avg_dram_lat = cycles(in.dram_lat + max(in.avg_trans_warp - one, zero) * in.departure_delay,
                                      "avg_DRAM_lat", "GPUPerf (13)");
    const Value f_sync = cycles(in.gamma * avg_dram_lat * in.mem_ratio, "F_sync", "GPUPerf (8)");
    const Value o_sync = cycles(in.sync_insts * in.sync_turns * f_sync, "O_sync", "GPUPerf (7)");
    const Value f_sfu = min(max(in.sfu_insts / in.insts - in.sfu_width / in.simd_width, zero), one)
                            .named("F_SFU", "", "GPUPerf (10)");
    const Value o_sfu =
        cycles(in.sfu_insts * warps_per_sm * (in.warp_size / in.sfu_width) * f_sfu, "O_SFU", "GPUPerf (9)");
    const Value o_cfdiv = cycles(in.divergence_insts * warps_per_sm * (in.avg_inst_lat / itilp), "O_CFdiv",
                                 "GPUPerf (6): instructions that divergence adds");
    const Value o_bank = cycles(in.bank_conflicts * warps_per_sm * in.pass_cycles, "O_bank",
                                "GPUPerf (6): passes that bank conflicts add");
    const Value w_serial = cycles(o_sync + o_sfu + o_cfdiv + o_bank, "W_serial", "GPUPerf (6)");
    const Value t_comp = cycles(w_parallel + w_serial, "T_comp", "GPUPerf (2)");

    // Memory.
    const Value amat = cycles(avg_dram_lat * in.miss_ratio + in.hit_lat, "AMAT", "GPUPerf (12)");
    const Value comp_cycles = cycles(in.insts * in.avg_inst_lat / itilp, "comp_cycles", "GPUPerf (A.3)");
    const Value mem_cycles = cycles(in.mem_insts * amat / in.mlp, "mem_cycles", "GPUPerf (A.4)");
    const Value cwp =
        min((mem_cycles + comp_cycles) / comp_cycles, in.n).named("CWP", "warps", "GPUPerf (A.1), (A.2)");
    const Value bw_per_warp = (in.freq_hz * in.bytes_of_request / avg_dram_lat)
                                  .named("BW_per_warp", "bytes a second", "GPUPerf (A.7)");
    const Value mwp_peak = (in.mem_peak_bandwidth / (bw_per_warp * in.active_sms))
                               .named("MWP_peak_bw", "warps", "GPUPerf (A.6)");
    const Value mwp =
        min(min(avg_dram_lat / in.departure_delay, mwp_peak), in.n).named("MWP", "warps", "GPUPerf (A.5)");
    const Value mwp_cp = min(max(one, cwp - one), mwp).named("MWP_cp", "warps", "GPUPerf (15)");
    const Value itmlp = min(in.mlp * mwp_cp, mwp_peak).named("ITMLP", "requests", "GPUPerf (14)");
    const Value waited = in.mem_insts * warps_per_sm / itmlp * amat;
    const Value t_mem = cycles(
        in.moved_bytes ? max(waited, *in.moved_bytes * in.active_sms / in.mem_peak_bandwidth * in.freq_hz)
                       : waited,
        "T_mem", "GPUPerf (11)");

    // What of it is hidden.
    const Value zeta = select(cwp <= mwp, one, zero);
    const Value f_overlap = ((in.n - zeta) / in.n).named("F_overlap", "", "GPUPerf (17)");
    const Value t_overlap = cycles(min(t_comp * f_overlap, t_mem), "T_overlap", "GPUPerf (16)");
    const Value t_exec = cycles(t_comp + t_mem - t_overlap, "T_exec", "GPUPerf (1)");

    // The ideal, and what is lost against it.
    const Value t_fp = cycles(in.fp_insts * warps_per_sm * in.fp_lat / itilp, "T_fp", "GPUPerf (18)");
    const Value transactions_at_once = mwp_peak * in.bytes_of_request / in.transaction_bytes;
    const Value t_mem_min =
        cycles(in.size_of_data * avg_dram_lat / transactions_at_once, "T_mem_min", "GPUPerf (19)");
    // Never below 0, as ITILP is at most its greatest: what rounding leaves is dropped.
    const Value b_itilp =
        cycles(max(w_parallel - straight * warps_per_sm * in.avg_inst_lat / itilp_max, zero), "B_itilp",
               "GPUPerf (20)");
    const Value b_serial = cycles(w_serial + zero, "B_serial", "GPUPerf (21)");
    const Value b_fp = cycles(t_comp - t_fp - b_itilp - b_serial, "B_fp", "GPUPerf (22)");
    const Value b_memlp = cycles(max(t_mem - t_overlap - t_mem_min, zero), "B_memlp", "GPUPerf (23)");
    for (const Value term : {b_itilp, b_serial, b_fp, b_memlp, t_exec}) b.keep(term);
    return {.itilp = itilp,
            .itilp_max = itilp_max,
            .w_parallel = w_parallel,
            .o_sync = o_sync,
            .o_sfu = o_sfu,
            .o_cfdiv = o_cfdiv,
            .o_bank = o_bank,
            .w_serial = w_serial,
            .t_comp = t_comp,
            .amat = amat,
            .itmlp = itmlp,
            .mwp = mwp,
            .cwp = cwp,
            .t_mem = t_mem,
            .t_overlap = t_overlap,
            .t_exec = t_exec,
            .t_fp = t_fp,
            .t_mem_min = t_mem_min,
            .b_itilp = b_itilp,
            .b_serial = b_serial,
            .b_fp = b_fp,
            .b_memlp = b_memlp};
}

}  // namespace trimtab::model
