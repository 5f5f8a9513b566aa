// GPUPerf's MWP-CWP model (Sim et al., "A Performance Analysis Framework for Identifying Potential Benefits
// in GPGPU Applications", PPoPP 2012), equations 1 to 17 and A.1 to A.7, for devices with caches and for
// launches of any size.
//
// Where it departs from the paper, and why:
// - A launch runs as waves of resident blocks, whole ones and a last one that may be partial, each by
//   equation 1. The paper spreads the warps evenly over the SMs, which hides the cost of a poor last wave.
// - Miss ratios come from footprints: what the blocks that are resident together touch, against the caches.
//   The paper measures them, so cannot know them for a block that never ran.
// - The departure delay and the bandwidth bound ITMLP whatever the MLP; the paper lets MLP exceed the former.
// - CWP is not cut to N before one is taken off it in equation 15: two warps would count as one.
// - Stores do not wait: they take departure slots and bandwidth, and no latency.
// - The overlap of equation 16 is smooth: where both costs are near each other neither hides wholly.
#include "model/gpuperf.h"

#include <string>

#include "model/occupancy_program.h"

namespace trimtab::model {

namespace {

class GpuPerf {
  public:
    RationalProgram build() &&;

  private:
    Value device(const char* field) { return b_.input(std::string("device.") + field); }
    Value number(double value, std::string_view origin = "") { return b_.constant(value, origin); }
    // A fit may stray where it was not measured: what it says is brought back into the metric's range.
    Value clamped(Value raw, Value low, Value high) { return min(max(raw, low), high); }
    Value count(Metric metric) {
        return clamped(b_.metric(metric, bx_, by_, bz_), zero_, number(1e12, "no count is larger"))
            .named(name(metric), "", "profile");
    }
    Value footprint_bytes(Value x, Value y, Value z, std::string_view label, std::string_view what) {
        const Value sectors =
            clamped(b_.metric(Metric::footprint_sectors, x, y, z), one_, number(1e12, "no count is larger"));
        return (sectors * sector_bytes_).named(label, "bytes", what);
    }
    // Smooth maximum: (a^4 + b^4)^(1/4), scaled so that no power overflows.
    Value smooth_max(Value a, Value b) {
        const Value larger = max(max(a, b), tiny_);
        const Value p = a / larger, q = b / larger;
        return larger * square_root(square_root((p * p) * (p * p) + (q * q) * (q * q)));
    }

    void launch_shape();
    void instruction_costs();
    void request_costs();
    void cache_behaviour();
    Value wave_cycles(Value blocks, Value active_sms, std::string_view wave);

    RationalProgramBuilder b_{"gpuperf", "1"};
    Value zero_ = number(0), one_ = number(1), tiny_ = number(1e-30, "keeps quotients finite");
    Value sector_bytes_ = number(32, "CUDA: a sector");
    Value bx_ = b_.input("block.x"), by_ = b_.input("block.y"), bz_ = b_.input("block.z");
    Value gx_ = b_.input("grid.x"), gy_ = b_.input("grid.y"), gz_ = b_.input("grid.z");
    Value threads_ = (bx_ * by_ * bz_).named("threads_per_block", "threads", "");
    OccupancyValues occupancy_ = add_occupancy(b_, threads_);

    // Set by the steps below, in order.
    Value blocks_per_sm_ = one_, warps_ = one_, blocks_ = one_, grid_blocks_ = one_;
    Value issue_cycles_ = zero_, chain_cycles_ = zero_, serial_cycles_ = zero_;
    Value requests_ = zero_, rounds_ = zero_, departure_cycles_ = zero_, transactions_ = one_;
    Value l2_miss_ = zero_, amat_ = zero_, dram_bytes_per_warp_ = zero_;
};

void GpuPerf::launch_shape() {
    grid_blocks_ = (gx_ * gy_ * gz_).named("blocks_of_grid", "blocks", "");
    blocks_per_sm_ = max(occupancy_.blocks_per_sm, one_);
    warps_ =
        clamped(b_.metric(Metric::active_warps, bx_, by_, bz_), one_, max(occupancy_.warps_per_block, one_))
            .named("active_warps", "warps per block", "profile");
    blocks_ = clamped(b_.metric(Metric::active_blocks, bx_, by_, bz_), one_, max(grid_blocks_, one_))
                  .named("active_blocks", "blocks", "profile");
}

// Per warp: cycles of the busiest pipe (equation 3 at full ITILP), of the dependence chain (at ITILP = ILP),
// and of equation 6's serial overheads.
void GpuPerf::instruction_costs() {
    const Value warp_size = device("warp_size");
    const auto pipe = [&](Metric metric, const char* lanes) {
        return count(metric) * warp_size / device(lanes);
    };
    const Value special = count(Metric::special_function_instructions);
    const Value instructions = max(count(Metric::warp_instructions) - special, one_)
                                   .named("insts", "warp instructions per warp", "GPUPerf, table 2");
    const Value issued = (instructions + special) / device("schedulers_per_sm");
    // A shared-memory pass takes the load-store units' addresses or the banks' bytes, whichever is slower.
    const Value shared_pass = max(warp_size / device("load_store_units_per_sm"),
                                  warp_size * number(4, "bytes a lane") / device("shared_bytes_per_clock"))
                                  .named("shared_pass", "cycles", "LD/ST units and bank width");
    const Value shared_requests = count(Metric::shared_requests);
    const Value arithmetic = max(max(pipe(Metric::fp32_instructions, "fp32_lanes_per_sm"),
                                     pipe(Metric::fp64_instructions, "fp64_lanes_per_sm")),
                                 pipe(Metric::integer_instructions, "int32_lanes_per_sm"));
    issue_cycles_ = max(max(issued, arithmetic), shared_requests * shared_pass)
                        .named("issue_cycles", "cycles per warp", "GPUPerf, equation 5, by pipe");
    const Value ilp = max(count(Metric::instruction_parallelism), one_).named("ILP", "instructions", "");
    chain_cycles_ = (instructions * device("latency_fp32_cycles") / ilp)
                        .named("chain_cycles", "cycles per warp", "GPUPerf, equation 3 for one warp");

    const Value sfu_width = device("special_function_lanes_per_sm");
    const Value f_sfu = clamped(special / instructions - sfu_width / device("fp32_lanes_per_sm"), zero_, one_)
                            .named("F_SFU", "", "GPUPerf, equation 10");
    const Value o_sfu =
        (special * warp_size / sfu_width * f_sfu).named("O_SFU", "cycles per warp", "GPUPerf, equation 9");
    const Value conflicts = max(count(Metric::shared_wavefronts) - shared_requests, zero_);
    const Value o_bank =
        (conflicts * shared_pass).named("O_bank", "cycles per warp", "GPUPerf, equation 6: bank conflicts");
    serial_cycles_ = o_sfu + o_bank;
}

// Memory requests of a warp: how many, how many rounds of waiting, and the slots that they take to depart.
void GpuPerf::request_costs() {
    const Value loads = count(Metric::load_requests), stores = count(Metric::store_requests),
                atomics = count(Metric::atomic_requests), local = count(Metric::local_requests);
    requests_ =
        (loads + stores + atomics + local).named("mem_insts", "requests per warp", "GPUPerf, table 2");
    rounds_ = min(count(Metric::dependent_rounds), loads + atomics + local)
                  .named("rounds", "waits per warp", "#mem_insts / MLP");
    // From the two delays of the device: what a 32-byte sector and what a 128-byte line adds to a request.
    const Value coalesced = device("departure_delay_coalesced_cycles"),
                uncoalesced = device("departure_delay_uncoalesced_cycles");
    const Value per_sector = (max(coalesced - uncoalesced, zero_) / number(3, "4 sectors against 1"))
                                 .named("delay_per_sector", "cycles", "departure delays");
    const Value per_line =
        max(uncoalesced - per_sector, zero_).named("delay_per_line", "cycles", "departure delays");
    const Value local_sectors = local * number(4, "local memory is interleaved: coalesced");
    const Value sectors = count(Metric::load_sectors) + count(Metric::store_sectors) + local_sectors;
    const Value lines = count(Metric::load_lines) + count(Metric::store_lines) + local;
    departure_cycles_ = (sectors * per_sector + lines * per_line)
                            .named("departure_cycles", "cycles per warp", "equation 13's delay, summed");
    transactions_ = (sectors / max(rounds_, one_)).named("trans_per_round", "sectors", "avg_trans_warp");
}

void GpuPerf::cache_behaviour() {
    const Value ex = gx_ * bx_, ey = gy_ * by_, ez = gz_ * bz_;
    // Consecutive blocks fill a row of the grid first: the box of threads that `blocks` of them make.
    const auto footprint_of = [&](Value blocks, std::string_view label, std::string_view what) {
        const Value x = min(blocks, gx_), y = clamped(blocks / gx_, one_, gy_),
                    z = clamped(blocks / (gx_ * gy_), one_, gz_);
        return footprint_bytes(x * bx_, y * by_, z * bz_, label, what);
    };
    const Value resident =
        min(blocks_, blocks_per_sm_ * device("sm_count")).named("resident_blocks", "blocks", "");
    const Value waves = blocks_ / resident;
    const Value wave = footprint_of(resident, "wave_bytes", "footprint of all resident blocks");
    const Value all = footprint_bytes(ex, ey, ez, "launch_bytes", "footprint of the launch");
    const Value requested =
        ((count(Metric::load_sectors) + count(Metric::store_sectors)) * sector_bytes_ * warps_ * resident)
            .named("requested_bytes", "bytes per wave", "");
    const Value filled = all / (number(0.8, "share of L2 that other data leave") * device("l2_bytes"));
    const Value filled2 = filled * filled;
    const Value fits = (one_ / (one_ + filled2 * filled2)).named("fits_l2", "", "smooth step");
    const Value traffic = ((one_ - fits) * max(wave * waves, all)).named("dram_bytes", "bytes", "");
    l2_miss_ = clamped(traffic / waves / max(requested, one_), zero_, one_).named("miss_ratio", "", "");
    dram_bytes_per_warp_ = (traffic / (blocks_ * warps_)).named("dram_bytes_per_warp", "bytes", "");
    const Value dram = (device("latency_dram_cycles") +
                        max(transactions_ - one_, zero_) * device("departure_delay_uncoalesced_cycles"))
                           .named("avg_DRAM_lat", "cycles", "GPUPerf, equation 13");
    amat_ = (device("latency_l2_cycles") + (dram - device("latency_l2_cycles")) * l2_miss_)
                .named("AMAT", "cycles", "GPUPerf, equation 12");
}

Value GpuPerf::wave_cycles(Value blocks, Value active_sms, std::string_view wave) {
    const auto label = [&](const char* text) { return std::string(text) + " (" + std::string(wave) + ")"; };
    const Value n = max(blocks * warps_, one_).named(label("N"), "warps per SM", "GPUPerf, table 2");
    const Value t_comp = (max(chain_cycles_, n * issue_cycles_) + n * serial_cycles_)
                             .named(label("T_comp"), "cycles", "GPUPerf, equations 2 to 10");
    const Value comp = max(t_comp / n, tiny_);
    const Value mlp = max(requests_ / max(rounds_, one_), one_);
    const Value mem = requests_ * amat_ / mlp;
    const Value cwp = ((mem + comp) / comp).named(label("CWP"), "warps", "GPUPerf, equation A.2");
    const Value departure = max(departure_cycles_ / max(requests_, one_), tiny_);
    const Value bw_per_warp =
        max(device("sm_clock_hz") * dram_bytes_per_warp_ / max(requests_, one_) / amat_, tiny_)
            .named(label("BW_per_warp"), "bytes/s", "GPUPerf, equation A.7");
    const Value mwp_bw = (device("dram_bytes_per_s") / (bw_per_warp * active_sms))
                             .named(label("MWP_peak_bw"), "warps", "GPUPerf, equation A.6");
    const Value mwp =
        min(min(amat_ / departure, mwp_bw), n).named(label("MWP"), "warps", "GPUPerf, equation A.5");
    const Value mwp_cp =
        min(max(one_, cwp - one_), mwp).named(label("MWP_cp"), "warps", "GPUPerf, equation 15");
    const Value itmlp = min(mlp * mwp_cp, min(mwp_bw, amat_ / departure))
                            .named(label("ITMLP"), "requests", "GPUPerf, equation 14");
    const Value t_mem =
        (requests_ * n * amat_ / max(itmlp, tiny_)).named(label("T_mem"), "cycles", "GPUPerf, equation 11");
    return smooth_max(t_comp, t_mem).named(label("T_exec"), "cycles", "GPUPerf, equation 1");
}

RationalProgram GpuPerf::build() && {
    launch_shape();
    instruction_costs();
    request_costs();
    cache_behaviour();
    const Value sms = min(device("sm_count"), blocks_).named("active_SMs", "SMs", "GPUPerf, table 2");
    const Value busiest = ceil(blocks_ / device("sm_count")).named("blocks_of_busiest_SM", "blocks", "");
    const Value full = floor(busiest / blocks_per_sm_).named("full_waves", "waves", "");
    const Value tail = (busiest - full * blocks_per_sm_).named("tail_blocks", "blocks per SM", "");
    const Value tail_total = max(blocks_ - full * blocks_per_sm_ * device("sm_count"), one_);
    const Value tail_sms = min(device("sm_count"), tail_total);
    const Value full_time = full * wave_cycles(blocks_per_sm_, sms, "full wave");
    const Value tail_time = wave_cycles(max(tail, one_), tail_sms, "last wave");
    const Value cycles = (full_time + select(zero_ < tail, tail_time, zero_)).named("cycles", "cycles", "");
    const Value ns =
        (cycles / device("sm_clock_hz") * number(1e9, "ns in a second") + device("launch_overhead_ns"))
            .named("time", "ns", "");
    const auto within = [&](const char* limit, Value value) { return value <= device(limit); };
    const Value ok = occupancy_.fits && within("max_block_x", bx_) && within("max_block_y", by_) &&
                     within("max_block_z", bz_) && within("max_grid_x", gx_) && within("max_grid_y", gy_) &&
                     within("max_grid_z", gz_);
    return std::move(b_).finish(ns, (!ok).named("unlaunchable", "", "CUDA launch limits"));
}

}  // namespace

RationalProgram build_gpuperf() {
    return GpuPerf{}.build();
}

}  // namespace trimtab::model
