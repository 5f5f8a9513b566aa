// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPUPerf's MWP-CWP model (Sim, Dasgupta, Kim, Vuduc: "A Performance Analysis Framework for Identifying
// Potential Benefits in GPGPU Applications", PPoPP 2012; sections 4 and appendix A), for devices with caches
// and for launches of any size. Numbers in parentheses below are its equations.
//
// Where it departs from the paper, and why:
// - A launch runs as waves of resident blocks, whole ones and a last one that may be partial, each by (1).
// The
//   paper spreads the warps evenly over the SMs, which hides what a poor last wave costs.
// - Miss ratios come from footprints: what the warps that are resident together touch, against the caches.
// The
//   paper measures them, so cannot know them for a block that never ran.
// - Departures are slots of the SM, part of T_comp, as (2) asks of "the cost of executing memory
//   instructions". In (A.5) they bound the overlap of requests, beyond which (14) then lets MLP go.
// - The bandwidth bound of (14) is taken over the launch, not over a wave: waves share what a short one
// leaves.
// - All warps overlap their waits. (15) lets CWP - 1 of them, which makes two warps slower than one, and
// counts
//   computation twice that (16) hides already.
// - ITILP's two regimes (4) are both kept: the latency-bound one is a wait, beside the waits for memory.
// - The overlap (16) is smooth: where both costs are near each other neither hides wholly.
#include "core/model/waves_model.h"

#include <string>

#include "core/model/cached_launch_terms.h"

namespace trimtab::model {

namespace {

class WavesModel : CachedLaunchTerms {
  public:
    WavesModel() : CachedLaunchTerms("waves") {}
    RationalProgram build() &&;

  private:
    void memory_latency();
    Value wave_cycles(Value blocks, std::string_view wave);

    Value amat_ = one_;
};

void WavesModel::memory_latency() {
    const Value l2_latency = device("latency_l2_cycles");
    const Value transactions = (sectors_ / rounds_or_one_).named("avg_trans_warp", "sectors", "of a round");
    const Value queued = max(transactions - one_, zero_) * delay_per_transaction_;
    const Value dram_latency =
        (device("latency_dram_cycles") + queued).named("avg_DRAM_lat", "cycles", "(13)");
    const Value behind_l1 =
        (l2_latency + queued) * (one_ - miss_ratio_) + max(dram_latency, l2_latency) * miss_ratio_;
    amat_ = max(device("latency_l1_cycles") * l1_hits_ + behind_l1 * (one_ - l1_hits_), one_)
                .named("AMAT", "cycles", "(12), two levels of cache");
}

// (1) for one wave in which the busiest SM runs `blocks` blocks.
Value WavesModel::wave_cycles(Value blocks, std::string_view wave) {
    const auto in_wave = [&](const char* text) { return std::string(text) + " (" + std::string(wave) + ")"; };
    const Value n = (blocks * warps_).named(in_wave("N"), "warps per SM", "table 2");

    // (3) with (4): at ITILP = ILP * N the warps wait for their own results, at ITILP_max for the pipe. The
    // former wait overlaps as waits for memory do.
    const Value chain = (insts_ * device("latency_fp32_cycles") / ilp_)
                            .named("W_latency", "cycles", "(3) at ITILP = ILP * N");
    const Value w_parallel =
        (n * pipe_cycles_).named(in_wave("W_parallel"), "cycles", "(3) at ITILP_max (5)");
    // (7), (8) with Gamma = 1 a warp of the block: the paper's 64 is its devices' alone. Other resident
    // blocks fill in while one waits.
    const Value o_sync =
        (barriers_ * warps_ * amat_ * min(requests_ / insts_, one_)).named("O_sync", "cycles", "(7), (8)");
    // A block's warps end together, with nothing behind them unless other blocks are resident or rounds many.
    const Value ending = one_ + number(0.48, "1024-thread convolutions in the sweeps, GTX 1080 Ti") /
                                    (occ_ * occ_ * rounds_or_one_);
    const Value t_comp = ((w_parallel + n * (departure_cycles_ + serial_cycles_)) * ending + o_sync)
                             .named(in_wave("T_comp"), "cycles", "(2)");

    const Value mlp = requests_ / rounds_or_one_;
    const Value itmlp = (mlp * n).named(in_wave("ITMLP"), "requests", "(14)");
    const Value t_mem = select(zero_ < rounds_, requests_ * n * amat_ / itmlp, zero_)
                            .named(in_wave("T_mem"), "cycles", "(11)");
    const Value comp_cycles = t_comp / n;
    const Value cwp =
        min((t_mem + comp_cycles) / comp_cycles, n).named(in_wave("CWP"), "warps", "(A.1), (A.2)");
    const Value mwp =
        min(amat_ * requests_ / max(departure_cycles_, one_), n).named(in_wave("MWP"), "warps", "(A.5)");
    // (17): where computation bounds, the last warp's own period has nothing to hide under.
    const Value exposed =
        select(cwp <= mwp, min(comp_cycles, t_mem), zero_).named(in_wave("exposed"), "cycles", "(17)");
    const Value start = blocks * occupancy_.warps_per_block * number(2, "clocks to start a warp, judged");
    return (smooth_max(t_comp, t_mem + chain) + exposed + start)
        .named(in_wave("T_exec"), "cycles", "(1), (16)");
}

RationalProgram WavesModel::build() && {
    cached_launch();
    memory_latency();

    const Value sms = device("sm_count"), clock = device("sm_clock_hz");
    const Value busiest = ceil(blocks_ / sms).named("blocks_of_busiest_SM", "blocks", "");
    const Value full = floor(busiest / occ_).named("full_waves", "waves", "");
    const Value rest = (busiest - full * occ_).named("last_wave_blocks", "blocks per SM", "");
    const Value full_cycles = select(zero_ < full, full * wave_cycles(occ_, "full wave"), zero_)
                                  .named("full_waves_cycles", "cycles", "");
    const Value last_cycles = select(zero_ < rest, wave_cycles(max(rest, one_), "last wave"), zero_)
                                  .named("last_wave_cycles", "cycles", "");
    const Value sm_cycles = (full_cycles + last_cycles).named("SM_cycles", "cycles", "all waves of an SM");
    const Value dispatch = (grid_blocks_ * number(2,
                                                  "clocks a block, stencils of 512 x 512 in the sweeps, "
                                                  "GTX 1080 Ti"))
                               .named("dispatch_cycles", "cycles", "blocks start one by one");
    const Value dram_cycles =
        (dram_bytes_ / (device("dram_bytes_per_s") * number(0.85, "share of peak that streams reach")) *
         clock)
            .named("DRAM_cycles", "cycles", "(14), (A.6): the bandwidth bound");
    // Fourth powers: SMs, dispatcher and DRAM work beside each other.
    const Value overlapped = square_root(
        smooth_max(smooth_max(sm_cycles * sm_cycles, dram_cycles * dram_cycles), dispatch * dispatch));
    const Value ns = (overlapped / clock * number(1e9, "ns in a second") + device("launch_overhead_ns"))
                         .named("time", "ns", "");

    return std::move(b_).finish(ns, unlaunchable());
}

}  // namespace

RationalProgram build_waves_model() {
    return WavesModel().build();
}

}  // namespace trimtab::model
