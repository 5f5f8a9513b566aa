// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/cached_launch_terms.h"

namespace trimtab::model {

void CachedLaunchTerms::cached_launch() {
    launch_shape();
    computation();
    requests();
    departures();
    footprints();
    last_level_cache();
    l1_cache();
}

// The slots of the SM that a warp's requests take to depart.
void CachedLaunchTerms::departures() {
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
void CachedLaunchTerms::last_level_cache() {
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

void CachedLaunchTerms::l1_cache() {
    // L1 is counted on only where all that the SM's blocks touch stays in it; stores stream through it.
    const Value l1 = device("l1_bytes");
    const Value first = share(sm_bytes_ / max(load_bytes_ * warps_ * blocks_on_sm_, one_));
    const Value fits_l1 = smooth_step(sm_bytes_ / max(number(0.5, judged) * l1, one_));
    l1_hits_ = select(zero_ < device("l1_caches_global_loads"), (one_ - first) * fits_l1, zero_)
                   .named("L1_hit_ratio", "", "footprint of the SM's blocks against L1");
}

}  // namespace trimtab::model
