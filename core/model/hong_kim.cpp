// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in parentheses are the paper's equations. It knows no cache: every request goes to DRAM.
#include "core/model/hong_kim.h"

#include "core/model/launch_terms.h"

namespace trimtab::model {

namespace {

class HongKim : LaunchTerms {
  public:
    HongKim() : LaunchTerms("hong-kim") {}
    RationalProgram build() &&;
};

RationalProgram HongKim::build() && {
    launch_shape();
    computation();
    requests();

    const Value sms = device("sm_count"), clock = device("sm_clock_hz");
    const Value active_sms = min(blocks_, sms).named("active_SMs", "SMs", "");
    const Value at_once = min(occ_, ceil(blocks_ / active_sms));
    const Value n = (at_once * warps_).named("N", "warps per SM", "");
    const Value repeats = (blocks_ / (at_once * active_sms)).named("Rep", "", "(21)");

    // (10) to (14): a request that is not coalesced makes one transaction a line.
    const Value transactions =
        max((load_lines_ + store_lines_) / requests_, one_).named("transactions", "per request", "");
    const Value uncoalesced = device("departure_delay_uncoalesced_cycles");
    const Value latency = (device("latency_dram_cycles") + (transactions - one_) * uncoalesced)
                              .named("Mem_L", "cycles", "(11)");
    const Value delay =
        select(transactions <= one_, device("departure_delay_coalesced_cycles"), uncoalesced * transactions)
            .named("departure_delay", "cycles", "(15)");
    const Value mwp_latency = latency / delay;
    const Value bytes = sectors_ / requests_ * sector_bytes_;
    const Value warp_bytes_per_s = clock * bytes / latency;
    const Value mwp_bandwidth = device("dram_bytes_per_s") / (warp_bytes_per_s * active_sms);
    const Value mwp = max(min(min(mwp_latency, mwp_bandwidth), n), one_).named("MWP", "warps", "(5) to (9)");

    const Value comp =
        (max(all_insts_, one_) / device("schedulers_per_sm")).named("Comp_cycles", "cycles", "(19)");
    const Value mem = (latency * requests_).named("Mem_cycles", "cycles", "(18)");
    const Value cwp = min((mem + comp) / comp, n).named("CWP", "warps", "(8)");
    const Value period = comp / requests_;
    // (22) to (24).
    const Value few = mem + comp + period * (mwp - one_);
    const Value by_memory = mem * n / mwp + period * (mwp - one_);
    const Value by_computation = latency + comp * n;
    const Value all_overlap = n <= mwp && n <= cwp;
    const Value cycles = select(all_overlap, few, select(mwp <= cwp, by_memory, by_computation)) * repeats;
    const Value ns = (cycles / clock * number(1e9, "ns in a second") + device("launch_overhead_ns"))
                         .named("time", "ns", "");
    return std::move(b_).finish(ns, unlaunchable());
}

}  // namespace

RationalProgram build_hong_kim() {
    return HongKim().build();
}

}  // namespace trimtab::model
