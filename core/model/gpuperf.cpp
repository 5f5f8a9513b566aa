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
#include "core/model/gpuperf.h"

#include <string>

#include "core/model/gpuperf_equations.h"
#include "core/model/launch_terms.h"

namespace trimtab::model {

namespace {

class GpuPerf : LaunchTerms {
  public:
    explicit GpuPerf(std::string name) : LaunchTerms(std::move(name)) {}
    RationalProgram build() &&;
    RationalProgram build_benefits() &&;

  private:
    void departures();
    void last_level_cache();
    void l1_cache();
    void memory_latency();
    Value wave_cycles(Value blocks, std::string_view wave);

    Value delay_per_transaction_ = zero_, departure_cycles_ = zero_;
    Value dram_bytes_ = zero_, miss_ratio_ = zero_, l1_hits_ = zero_, amat_ = one_;
};

// The slots of the SM that a warp's requests take to depart.
void GpuPerf::departures() {
    // What a sector and a line add to a request, from the device's two delays. Where these are equal they
    // were measured on streams from DRAM in whole lines, which the bandwidth bound speaks for.
    const Value coalesced = device("departure_delay_coalesced_cycles"),
                uncoalesced = device("departure_delay_uncoalesced_cycles");
    const Value of_cache = (uncoalesced < coalesced).named("delays_are_of_cache", "", "");
    const Value cached = number(0.55, sweep);
    const Value raw_sector = (coalesced - uncoalesced) / number(3, "4 sectors in a line against 1");
    const Value per_sector =
        select(of_cache, raw_sector, cached).named("delay_per_sector", "cycles", "departure delay");
    const Value per_line = select(of_cache, max(uncoalesced - raw_sector, zero_), cached)
                               .named("delay_per_line", "cycles", "departure delay");
    delay_per_transaction_ = per_sector + per_line;

    const Value written = store_sectors_ * per_sector * number(0.7 / 0.55, sweep) +
                          store_lines_ * per_line * number(0.9 / 0.55, sweep);
    // Maxwell and Pascal write what does not fill 64 aligned bytes four lanes at a time. Lines of which a
    // store touches less than two sectors are such.
    const Value written_requests = stores_ + atomics_;
    const Value fragments =
        max(written_requests * number(8, "groups of four lanes in a warp"), store_sectors_) *
        number(2.2, sweep);
    const Value partial = share(number(2, "sectors of 64 bytes") - store_sectors_ / max(store_lines_, one_));
    const Value by_fragments = number(50, "Maxwell") <= device("compute_capability") &&
                               device("compute_capability") < number(70, "Volta");
    const Value store_cycles =
        select(by_fragments && zero_ < store_lines_, written + (fragments - written) * partial, written)
            .named("store_cycles", "cycles per warp", "slots that stores take");

    departure_cycles_ = (load_sectors_ * per_sector + load_lines_ * per_line + store_cycles)
                            .named("departure_cycles", "cycles per warp", "departure delays, summed");
}

// Bytes from DRAM, and the miss ratio of (12) that follows.
void GpuPerf::last_level_cache() {
    const Value l2 = device("l2_bytes");
    const Value waves = blocks_ / resident_;
    // Blocks that share data are not in step: some of what they share is fetched more than once.
    const Value sharing = max(resident_ * block_bytes_ / wave_bytes_, one_).named("sharing", "", "");
    const Value drift = square_root(sharing).named("drift", "", "fetched again: blocks are not in step");
    const Value misses_all =
        (one_ - smooth_step(launch_bytes_ / (number(0.8, "share of L2 that one array can hold") * l2)))
            .named("does_not_fit_L2", "", "smooth step at the L2's size");
    // What is live between two rounds: the lines of a round, shared among warps as footprints are.
    const Value live = (line_bytes_ * lines_ / rounds_or_one_ * wave_bytes_ / warp_bytes_ * drift)
                           .named("live_bytes", "bytes", "lines between two rounds of all warps");
    const Value crowded = live / (number(0.5, judged) * l2);
    const Value crowded2 = crowded * crowded;
    const Value lost = (crowded2 / (one_ + crowded2)).named("reuse_lost", "", "of reuse across rounds");
    const Value reused = max(load_bytes_ - warp_bytes_, zero_) * (one_ - one_ / rounds_or_one_);

    const Value again = max(wave_bytes_ * drift * waves - launch_bytes_, zero_) * misses_all;
    dram_bytes_ = (misses_all * (launch_bytes_ + again + lost * reused * warps_ * blocks_))
                      .named("DRAM_bytes", "bytes", "once, again by other waves, again by lost reuse");
    const Value asked = max(sectors_ * sector_bytes_ * warps_ * blocks_, one_);
    miss_ratio_ = share(dram_bytes_ / asked).named("miss_ratio", "", "of (12)");
}

void GpuPerf::l1_cache() {
    // L1 is counted on only where all that the SM's blocks touch stays in it; stores stream through it.
    const Value l1 = device("l1_bytes");
    const Value first = share(sm_bytes_ / max(load_bytes_ * warps_ * blocks_on_sm_, one_));
    const Value fits_l1 = smooth_step(sm_bytes_ / max(number(0.5, judged) * l1, one_));
    l1_hits_ = select(zero_ < device("l1_caches_global_loads"), (one_ - first) * fits_l1, zero_)
                   .named("L1_hit_ratio", "", "footprint of the SM's blocks against L1");
}

void GpuPerf::memory_latency() {
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
Value GpuPerf::wave_cycles(Value blocks, std::string_view wave) {
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

RationalProgram GpuPerf::build() && {
    launch_shape();
    computation();
    requests();
    departures();
    footprints();
    last_level_cache();
    l1_cache();
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

// The equations as published, on this program's terms.
RationalProgram GpuPerf::build_benefits() && {
    launch_shape();
    computation();
    requests();
    departures();
    footprints();
    last_level_cache();
    l1_cache();

    const Value active_sms = min(blocks_, device("sm_count")).named("active_SMs", "SMs", "GPUPerf, table 2");
    const Value warp_size = device("warp_size");
    // A warp of which some lanes are idle because branches parted it would take as many fewer instructions.
    const Value idle =
        one_ - clamped(b_.metric(Metric::active_lanes, bx_, by_, bz_), one_, warp_size) / warp_size;
    const Value diverging = select(zero_ < count(Metric::divergent_branches), insts_ * idle, zero_);
    const Value transaction = line_bytes_;
    const GpuPerfTerms terms = gpuperf_equations(
        b_,
        {.insts = insts_,
         .mem_insts = loads_ + stores_ + atomics_ + local_,
         .sync_insts = barriers_,
         .sfu_insts = count(Metric::special_function_instructions),
         .fp_insts = count(Metric::fp32_instructions) + count(Metric::fp64_instructions),
         .divergence_insts = diverging,
         .bank_conflicts = max(count(Metric::shared_wavefronts) - shared_requests_, zero_),
         .total_warps = blocks_ * warps_,
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
         .dram_lat = device("latency_dram_cycles"),
         .departure_delay = device("departure_delay_coalesced_cycles"),
         .fp_lat = device("latency_fp32_cycles"),
         .hit_lat = device("latency_l1_cycles") * l1_hits_ + device("latency_l2_cycles") * (one_ - l1_hits_),
         .pass_cycles = max(warp_size / device("load_store_units_per_sm"),
                            warp_size * number(4, "bytes a lane") / device("shared_bytes_per_clock"))});
    const Value ns =
        (terms.t_exec / device("sm_clock_hz") * number(1e9, "ns in a second")).named("time", "ns", "");
    return std::move(b_).finish(ns, unlaunchable());
}

}  // namespace

RationalProgram build_gpuperf() {
    return GpuPerf("gpuperf").build();
}

RationalProgram build_gpuperf_benefits() {
    return GpuPerf("gpuperf-benefits").build_benefits();
}

}  // namespace trimtab::model
