// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in parentheses are the paper's equations. It knows no cache, and no start of a launch: every request goes to
// DRAM. It counts coalesced and uncoalesced requests apart; a profile has the lines that requests touch. A request of the
// second kind has one transaction for each thread, as on the GPUs of the paper, so that the mean tells how many are of
// which kind.
#include "core/model/mwp_cwp.h"

#include "core/model/launch_terms.h"

namespace trimtab::model {

namespace {

class MwpCwp : LaunchTerms {
  public:
    MwpCwp() : LaunchTerms("mwp-cwp") {}
    RationalProgram build() &&;
};

RationalProgram MwpCwp::build() && {
    launch_shape();
    computation();
    requests();

    const Value sms = device("sm_count"), clock = device("sm_clock_hz"), warp_size = device("warp_size");
    const Value active_sms = min(blocks_, sms).named("active_SMs", "SMs", "");
    const Value at_once = min(occ_, ceil(blocks_ / active_sms));
    const Value n = (at_once * warps_).named("N", "warps per SM", "(20)");
    const Value repeats = (blocks_ / (at_once * active_sms)).named("Rep", "", "(21)");

    const Value transactions = max((load_lines_ + store_lines_) / requests_, one_);
    const Value uncoalesced =
        share((transactions - one_) / (warp_size - one_)).named("Weight_uncoal", "", "(13)");
    const Value delay_uncoalesced = device("departure_delay_uncoalesced_cycles");
    const Value latency = device("latency_dram_cycles");
    const Value latency_uncoalesced =
        (latency + (warp_size - one_) * delay_uncoalesced).named("Mem_L_Uncoal", "cycles", "(11)");
    const Value mean_latency =
        (latency_uncoalesced * uncoalesced + latency * (one_ - uncoalesced)).named("Mem_L", "cycles", "(10)");
    const Value delay = (delay_uncoalesced * warp_size * uncoalesced +
                         device("departure_delay_coalesced_cycles") * (one_ - uncoalesced))
                            .named("Departure_delay", "cycles", "(15)");

    const Value warp_bytes = sectors_ / requests_ * sector_bytes_;
    const Value warp_bytes_per_s = clock * warp_bytes / mean_latency;
    const Value mwp_bandwidth =
        (device("dram_bytes_per_s") / (warp_bytes_per_s * active_sms)).named("MWP_peak_BW", "warps", "(6)");
    const Value mwp =
        max(min(min(mean_latency / delay, mwp_bandwidth), n), one_).named("MWP", "warps", "(5)");

    // An instruction takes as long as its scheduler and its lanes are taken: 4 cycles on the paper's eight lanes.
    const Value issue_cycles =
        max(one_ / device("schedulers_per_sm"), warp_size / device("fp32_lanes_per_sm"));
    const Value comp = (issue_cycles * max(all_insts_, one_)).named("Comp_cycles", "cycles", "(19)");
    const Value mem = (mean_latency * requests_).named("Mem_cycles", "cycles", "(18)");
    const Value cwp = min((mem + comp) / comp, n).named("CWP", "warps", "(8), (9)");
    const Value period = comp / requests_;
    const Value few = mem + comp + period * (mwp - one_);           // (22)
    const Value by_memory = mem * n / mwp + period * (mwp - one_);  // (23)
    const Value by_computation = mean_latency + comp * n;           // (24)
    const Value all_overlap = n <= mwp && n <= cwp;
    const Value without_barriers =
        select(all_overlap, few, select(mwp <= cwp || mem < comp, by_memory, by_computation)) * repeats;
    const Value barriers =
        (delay * (mwp - one_) * barriers_ * at_once * repeats).named("Synch_cost", "cycles", "(26)");
    const Value cycles = (without_barriers + barriers).named("Exec_cycles", "cycles", "(27)");
    const Value ns = (cycles / clock * number(1e9, "ns in a second")).named("time", "ns", "");
    return std::move(b_).finish(ns, unlaunchable());
}

}  // namespace

RationalProgram build_mwp_cwp() {
    return MwpCwp().build();
}

}  // namespace trimtab::model
