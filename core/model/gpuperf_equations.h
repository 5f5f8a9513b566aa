// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPUPerf's analytical model and its potential benefits (Sim, Dasgupta, Kim, Vuduc: "A Performance Analysis
// Framework for Identifying Potential Benefits in GPGPU Applications", PPoPP 2012), equations (1) to (23) and
// (A.1) to (A.7), over whatever stands for its table 2.
#pragma once

#include <optional>

#include "core/model/rational_program.h"

namespace trimtab::model {

// Table 2. Counts of instructions are a warp's.
struct GpuPerfInputs {
    Value insts;      // without those of the special function units; both sides of divergent branches
    Value mem_insts;  // requests to memory
    Value mem_ratio;  // of (8): mem_insts / insts
    Value sync_insts;
    Value sync_turns;  // of (7): total_warps / active_sms
    Value sfu_insts, fp_insts;
    Value divergence_insts;  // of `insts`, those that are there only because branches diverge
    Value bank_conflicts;    // passes over shared memory beyond one a request
    Value total_warps, active_sms;
    Value n;               // warps that an SM runs at once
    Value avg_trans_warp;  // transactions of a request
    Value avg_inst_lat;    // cycles
    Value miss_ratio;
    Value
        size_of_data;  // transactions that an SM needs once: the paper leaves the unit open, (19) settles it
    Value ilp, mlp;

    Value warp_size, simd_width, sfu_width, freq_hz, mem_peak_bandwidth, transaction_bytes;
    Value bytes_of_request;  // of (A.7): transaction_bytes
    Value dram_lat, departure_delay, fp_lat, hit_lat;
    Value gamma;        // of (8)
    Value pass_cycles;  // of one pass over shared memory
    std::optional<Value>
        moved_bytes;  // that DRAM moves for an SM: if there is one, (11) is no less than they take
};

// In cycles of the SM's clock, unless named otherwise.
struct GpuPerfTerms {
    Value itilp, itilp_max, w_parallel;                      // (3) to (5)
    Value o_sync, o_sfu, o_cfdiv, o_bank, w_serial, t_comp;  // (2), (6) to (10)
    Value amat, itmlp, mwp, cwp, t_mem;                      // (11) to (15), appendix A
    Value t_overlap, t_exec;                                 // (1), (16), (17)
    Value t_fp, t_mem_min;                                   // (18), (19)
    Value b_itilp, b_serial, b_fp, b_memlp;                  // (20) to (23)
};

// Every term is named in the program as the paper names it ("B_itilp").
[[nodiscard]] GpuPerfTerms gpuperf_equations(RationalProgramBuilder& builder, const GpuPerfInputs& inputs);

}  // namespace trimtab::model
