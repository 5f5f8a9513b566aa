// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch's time is bounded by its SMs, by what they share (L2, DRAM, the dispatcher), and by waiting; each
// bound is a count of the launch over a rate of the device. Where two bounds are near each other neither
// hides wholly: they meet in smooth maxima.
#include "core/model/trimtab_model.h"

#include <string>

#include "core/model/launch_terms.h"

namespace trimtab::model {

namespace {

constexpr auto sweep_turing =
    "read off saturated matrix products in the block sweeps published with KLARAPTOR, RTX 2070 SUPER";

std::string program_name(const TrimtabTerms& terms) {
    for (const NamedTerm& term : trimtab_terms())
        if (!(terms.*term.member)) return "trimtab-without-" + std::string(term.name);
    return "trimtab";
}

class TrimtabModel : LaunchTerms {
  public:
    explicit TrimtabModel(const TrimtabTerms& terms) : LaunchTerms(program_name(terms)), terms_(terms) {}
    RationalProgram build() &&;

  private:
    Value zero_unless(bool wanted, Value value) { return wanted ? value : zero_; }
    void without_coalescing();
    void store_groups();
    void l1_cache();
    void l2_slots();
    void last_level_cache();
    void memory_latency();
    Value phased_cycles(Value blocks, Value block_cycles, Value l2_cycles, Value chain);
    Value wave_cycles(Value blocks, Value mean_blocks, std::string_view wave);
    Value sm_cycles();

    TrimtabTerms terms_;
    Value partial_sectors_ = zero_, group_share_ = zero_, groups_ = zero_;
    Value l1_hits_ = zero_;
    Value slots_ = zero_, l2_cycles_ = zero_, queue_ = zero_;
    Value dram_bytes_ = zero_, miss_ratio_ = zero_, amat_ = one_;
};

void TrimtabModel::without_coalescing() {
    load_sectors_ = number(4, "a line's sectors") * (loads_ + local_);
    load_lines_ = loads_ + local_;
    store_sectors_ = number(4, "a line's sectors") * (stores_ + atomics_);
    store_lines_ = stores_ + atomics_;
    sectors_ = load_sectors_ + store_sectors_;
}

// Sectors that are not written wholly are read, merged and written. Maxwell and Pascal write 64 aligned bytes
// at once, and what does not fill them four lanes at a time: lines of which a request touches less than two
// sectors are such.
void TrimtabModel::store_groups() {
    const Value capability = device("compute_capability");
    const Value by_groups =
        number(50, "Maxwell") <= capability && capability < number(70, "Volta") && zero_ < store_lines_;
    groups_ = max((stores_ + atomics_) * number(8, "groups of four lanes in a warp"), store_sectors_);
    group_share_ =
        select(by_groups, share(number(2, "sectors of 64 bytes") - store_sectors_ / max(store_lines_, one_)),
               zero_)
            .named("store_groups_share", "", "of stores, four lanes at a time");
    partial_sectors_ = count(Metric::store_partial_sectors) * (one_ - group_share_);
    if (!terms_.partial_stores) partial_sectors_ = group_share_ = zero_;
}

// Hits in L1, where global loads are cached there: sectors that the SM's blocks touched before, unless the
// lines of one round of all its warps crowd them out.
void TrimtabModel::l1_cache() {
    const Value l1 = max(device("l1_bytes"), one_);
    const Value first = share(sm_bytes_ / max(load_bytes_ * warps_ * blocks_on_sm_, one_));
    const Value live = line_bytes_ * load_lines_ / rounds_or_one_ * sm_bytes_ / warp_bytes_;
    const Value crowded = live / (number(0.5, judged) * l1);
    const Value kept = one_ / (one_ + crowded * crowded);
    l1_hits_ = select(zero_ < device("l1_caches_global_loads"), (one_ - first) * kept, zero_)
                   .named("L1_hit_ratio", "", "footprint of the SM's blocks; lines of a round against L1");
    if (!terms_.l1_hits) l1_hits_ = zero_;
}

// Cycles that a warp's requests take of the SM's path to memory (slots_), and of L2's throughput if all SMs
// ask alike (l2_cycles_).
void TrimtabModel::l2_slots() {
    const Value of_load = number(0.55, sweep);
    const Value written = store_sectors_ * number(0.7, sweep) + store_lines_ * number(0.9, sweep);
    const Value grouped = groups_ * number(2.2, sweep);
    // What L1 has takes the load-store units' addresses, its tags and its data alone: on Volta and later a line a cycle, for
    // the lines of rows lie in one of its four banks (Khairy et al., Accel-Sim, 2020) where rows are whole lines, as they
    // mostly are; and as many bytes a cycle as shared memory, which is the same memory.
    const Value beyond = (load_sectors_ + load_lines_) * of_load;
    const Value within =
        max((loads_ + local_) * device("warp_size") / device("load_store_units_per_sm"),
            max(load_lines_, load_sectors_ * sector_bytes_ / device("shared_bytes_per_clock")));
    const Value is_banked = number(70, "Volta") <= device("compute_capability");
    const Value spared = select(is_banked, max(beyond - within, zero_) * l1_hits_, zero_)
                             .named("slots_spared", "cycles per warp", "by loads that L1 has");
    const Value loading = beyond - spared;
    slots_ = (loading + written + (grouped - written) * group_share_)
                 .named("slots", "cycles per warp", "sectors and lines through the SM");
    queue_ = of_load + of_load;

    const Value of_line = number(0.5, sweep_turing);
    const Value loaded = (load_sectors_ + of_line * load_lines_) * (one_ - l1_hits_);
    const Value stored = store_sectors_ + of_line * store_lines_ + partial_sectors_;
    const Value stored_groups = groups_ * number(3, "2.2 cycles a group, in sectors of GTX 1080 Ti's L2");
    const Value units = loaded + stored + (stored_groups - stored) * group_share_;
    const Value sector_cycles =
        (sector_bytes_ * device("sm_count") /
         (device("l2_bytes_per_clock") * number(0.85, "share of peak: 78 % and 90 % measured, Jia et al.")))
            .named("L2_sector_cycles", "cycles", "an SM's share of L2, all SMs asking");
    l2_cycles_ = (units * sector_cycles).named("L2_cycles", "cycles per warp", "of an SM's share of L2");
    if (!terms_.l2_bandwidth) l2_cycles_ = zero_;
}

// Bytes from DRAM, and the share of loads that wait for it.
void TrimtabModel::last_level_cache() {
    const Value l2 = device("l2_bytes");
    const Value fitting = number(0.8, "share of L2 that one array can hold, judged") * l2;
    const Value misses = (one_ - smooth_step(launch_bytes_ / fitting))
                             .named("does_not_fit_L2", "", "smooth step at the L2's size");
    // Blocks that share data are in step only as far as L2 bridges the gaps between them.
    const Value sharing = max(resident_ * block_bytes_ / wave_bytes_, one_)
                              .named("sharing", "", "blocks that touch the same sector");
    const Value out_of_step =
        (wave_bytes_ / (wave_bytes_ + l2)).named("out_of_step", "", "the wave's data against L2");
    const Value drift = terms_.drift ? (one_ + (sharing - one_) * out_of_step * out_of_step)
                                           .named("drift", "", "times that the wave fetches a sector")
                                     : one_;
    const Value crowded_wave = wave_bytes_ / fitting;
    const Value not_kept = (one_ - one_ / (one_ + crowded_wave * crowded_wave))
                               .named("not_kept", "", "from one wave to the next");
    const Value again = max(wave_bytes_ * drift * blocks_ / resident_ - launch_bytes_, zero_) * not_kept;

    // Rows that warps walk along: what is live between two rounds of all of them, shared as footprints are.
    const Value live = (line_bytes_ * lines_ / rounds_or_one_ * wave_bytes_ / warp_bytes_ * drift)
                           .named("live_bytes", "bytes", "lines between two rounds of all warps");
    const Value crowded = live / (number(0.5, judged) * l2);
    const Value crowded2 = crowded * crowded;
    const Value lost = (crowded2 / (one_ + crowded2)).named("reuse_lost", "", "of reuse across rounds");
    const Value reused = max(load_bytes_ - warp_bytes_, zero_) * (one_ - one_ / rounds_or_one_);

    const Value lost_bytes = zero_unless(terms_.lost_reuse, lost * reused * warps_ * blocks_);
    // Local memory of the threads that are resident at once, where that is more than L2 keeps beside the
    // rest.
    const Value local_live =
        device("warp_size") * warps_ * resident_ * b_.input("image.local_bytes_per_thread");
    const Value local_bytes = (local_ * line_bytes_ * warps_ * blocks_ *
                               (one_ - smooth_step(local_live / (number(0.5, judged) * l2))))
                                  .named("local_bytes", "bytes", "local memory that L2 does not keep");
    const Value global_bytes =
        (misses * (launch_bytes_ + again + lost_bytes))
            .named("global_bytes", "bytes", "once, again by other waves, again by lost reuse");
    dram_bytes_ = (global_bytes + local_bytes).named("DRAM_bytes", "bytes", "");
    const Value asked = max(load_sectors_ * sector_bytes_ * warps_ * blocks_, one_);
    miss_ratio_ = share(dram_bytes_ / asked).named("miss_ratio", "", "loads that wait for DRAM");
    if (!terms_.dram) miss_ratio_ = dram_bytes_ = zero_;
}

void TrimtabModel::memory_latency() {
    const Value queued =
        zero_unless(terms_.own_requests, max(sectors_ / rounds_or_one_ - one_, zero_) * queue_);
    const Value l2 = device("latency_l2_cycles") + queued;
    const Value dram = max(device("latency_dram_cycles"), device("latency_l2_cycles")) + queued;
    const Value behind_l1 = l2 * (one_ - miss_ratio_) + dram * miss_ratio_;
    // A round waits for the slowest of its requests: for L2 if one of them misses L1.
    const Value of_round = max(loads_ / rounds_or_one_, one_);
    const Value misses_l1 = min((one_ - l1_hits_) * of_round, one_);
    amat_ = max(device("latency_l1_cycles") * (one_ - misses_l1) + behind_l1 * misses_l1, one_)
                .named("AMAT", "cycles", "GPUPerf (12), two levels of cache, of a round");
}

// Between two barriers a block's warps do the same kind of thing: they wait for memory together, then compute
// together. Alone on an SM a block takes the sum of its phases, each of them a latency or the work of its
// warps; other blocks fill the SM meanwhile.
Value TrimtabModel::phased_cycles(Value blocks, Value block_cycles, Value l2_cycles, Value chain) {
    const Value loading = smooth_max(rounds_ * amat_, warps_ * sharp_max(slots_, l2_cycles));
    const Value shared_latency = shared_requests_ / number(3, "loads of shared memory in flight, judged") *
                                 device("latency_shared_cycles");
    const Value computing = smooth_max(chain + shared_latency, warps_ * max(pipe_cycles_, serial_cycles_));
    const Value alone = loading + computing;
    return square_root(alone * alone + block_cycles * block_cycles * max(blocks * blocks - one_, zero_));
}

// One wave in which the busiest SM runs `blocks` blocks, and an SM on average `mean_blocks`.
Value TrimtabModel::wave_cycles(Value blocks, Value mean_blocks, std::string_view wave) {
    const auto in_wave = [&](const char* text) { return std::string(text) + " (" + std::string(wave) + ")"; };
    const Value n = (blocks * warps_).named(in_wave("N"), "warps per SM", "");
    // What all SMs share is asked for by the mean SM, yet a busier one waits longer for its part.
    const Value half = number(0.5, judged);
    const Value shared = l2_cycles_ * (half + half * mean_blocks / blocks);
    // Of issue and arithmetic half is hidden behind requests to memory, or the other way round; shared memory, which is
    // asked by the same path, hides it as two throughputs hide each other: abstract emulation shows it, and RTX 3090 times.
    const Value unhidden = max(pipe_cycles_, slots_) + half * min(pipe_cycles_, slots_) - slots_;
    const Value own = slots_ + sharp_max(unhidden, serial_cycles_);
    const Value per_warp =
        sharp_max(own, shared).named(in_wave("cycles_per_warp"), "cycles", "the SM's pipes, or L2");
    const Value ending = terms_.ending ? one_ + number(0.4, "stencils of 64 to 1024 threads in the sweeps") /
                                                    (occ_ * rounds_or_one_)
                                       : one_;
    const Value busy = (n * per_warp * ending).named(in_wave("busy"), "cycles", "");
    const Value chain = zero_unless(terms_.latency, insts_ * device("latency_fp32_cycles") / ilp_);
    const Value waits = (zero_unless(terms_.latency, rounds_ * amat_) + chain)
                            .named(in_wave("waits"), "cycles", "rounds of memory, chains of results");
    const Value unphased = smooth_max(busy, waits);
    const Value phased =
        terms_.phases ? select(zero_ < barriers_,
                               phased_cycles(blocks, per_warp * warps_ * ending, shared, chain), unphased)
                            .named(in_wave("phased"), "cycles", "where barriers part a block's work")
                      : unphased;
    const Value start = zero_unless(
        terms_.dispatch, blocks * occupancy_.warps_per_block * number(2, "to start a warp, judged"));
    return (phased + start).named(in_wave("T_wave"), "cycles", "");
}

// The busiest SM's waves.
Value TrimtabModel::sm_cycles() {
    const Value mean = blocks_ / device("sm_count");
    if (!terms_.waves) {
        const Value at_once = max(min(mean, occ_), one_ / device("sm_count"));
        return mean / at_once * wave_cycles(at_once, at_once, "wave");
    }
    const Value busiest = ceil(mean).named("blocks_of_busiest_SM", "blocks", "");
    const Value full = floor(busiest / occ_).named("full_waves", "waves", "");
    const Value rest = (busiest - full * occ_).named("last_wave_blocks", "blocks per SM", "");
    const Value mean_rest = max(mean - full * occ_, one_ / device("sm_count"));
    const Value full_cycles = select(zero_ < full, full * wave_cycles(occ_, occ_, "full wave"), zero_)
                                  .named("full_waves_cycles", "cycles", "");
    const Value last_cycles =
        select(zero_ < rest, wave_cycles(max(rest, one_), mean_rest, "last wave"), zero_)
            .named("last_wave_cycles", "cycles", "");
    return full_cycles + last_cycles;
}

RationalProgram TrimtabModel::build() && {
    if (!terms_.residency)
        occupancy_.blocks_per_sm = min(occupancy_.blocks_per_sm, one_) * occupancy_.by_threads;
    launch_shape();
    if (terms_.spills) spills();
    computation();
    requests();
    if (!terms_.coalescing) without_coalescing();
    footprints();
    store_groups();
    l1_cache();
    l2_slots();
    last_level_cache();
    memory_latency();

    const Value clock = device("sm_clock_hz");
    const Value sm = sm_cycles().named("SM_cycles", "cycles", "all waves of an SM");
    const Value dispatch =
        zero_unless(
            terms_.dispatch,
            grid_blocks_ * number(2, "clocks a block, stencils of 512 x 512 in the sweeps, GTX 1080 Ti"))
            .named("dispatch_cycles", "cycles", "blocks start one by one");
    const Value dram =
        (dram_bytes_ / (device("dram_bytes_per_s") * number(0.85, "share of peak that streams reach")) *
         clock)
            .named("DRAM_cycles", "cycles", "the bandwidth bound");
    const Value overlapped = square_root(smooth_max(smooth_max(sm * sm, dram * dram), dispatch * dispatch));
    const Value ns = (overlapped / clock * number(1e9, "ns in a second") + device("launch_overhead_ns"))
                         .named("time", "ns", "");
    return std::move(b_).finish(ns, unlaunchable());
}

}  // namespace

std::span<const NamedTerm> trimtab_terms() {
    static constexpr NamedTerm table[] = {
        {"coalescing", &TrimtabTerms::coalescing},
        {"partial_stores", &TrimtabTerms::partial_stores},
        {"residency", &TrimtabTerms::residency},
        {"waves", &TrimtabTerms::waves},
        {"latency", &TrimtabTerms::latency},
        {"own_requests", &TrimtabTerms::own_requests},
        {"l2_bandwidth", &TrimtabTerms::l2_bandwidth},
        {"l1_hits", &TrimtabTerms::l1_hits},
        {"dram", &TrimtabTerms::dram},
        {"drift", &TrimtabTerms::drift},
        {"lost_reuse", &TrimtabTerms::lost_reuse},
        {"spills", &TrimtabTerms::spills},
        {"phases", &TrimtabTerms::phases},
        {"ending", &TrimtabTerms::ending},
        {"dispatch", &TrimtabTerms::dispatch},
    };
    static_assert(sizeof(TrimtabTerms) == std::size(table) * sizeof(bool));
    return table;
}

RationalProgram build_trimtab_model(const TrimtabTerms& terms) {
    return TrimtabModel(terms).build();
}

}  // namespace trimtab::model
