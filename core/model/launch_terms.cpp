// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/launch_terms.h"

namespace trimtab::model {

Value LaunchTerms::count(Metric metric) {
    return clamped(b_.metric(metric, bx_, by_, bz_), zero_, number(1e12, "no count is larger"))
        .named(name(metric), "", "profile");
}

Value LaunchTerms::footprint_bytes(Value x, Value y, Value z) {
    return clamped(b_.metric(Metric::footprint_sectors, x, y, z), one_, number(1e12, "no count is larger")) *
           sector_bytes_;
}

Value LaunchTerms::box_of_blocks(Value blocks) {
    const auto extent = [&](const char* axis) { return b_.input(std::string("extent.") + axis); };
    const Value x = min(min(blocks, gx_) * bx_, extent("x"));
    const Value y = min(floor(clamped(blocks / gx_, one_, gy_) * by_), extent("y"));
    const Value z = min(floor(clamped(blocks / (gx_ * gy_), one_, gz_) * bz_), extent("z"));
    return footprint_bytes(x, y, z);
}

Value LaunchTerms::smooth_step(Value x) {
    const Value x2 = x * x;
    return one_ / (one_ + x2 * x2);
}

void LaunchTerms::launch_shape() {
    grid_blocks_ = (gx_ * gy_ * gz_).named("grid_blocks", "blocks", "");
    occ_ = max(occupancy_.blocks_per_sm, one_);
    warps_ =
        clamped(b_.metric(Metric::active_warps, bx_, by_, bz_), one_, max(occupancy_.warps_per_block, one_))
            .named("active_warps", "warps per block", "profile");
    blocks_ = clamped(b_.metric(Metric::active_blocks, bx_, by_, bz_), one_, max(grid_blocks_, one_))
                  .named("active_blocks", "blocks", "profile");
    resident_ = min(blocks_, occ_ * device("sm_count")).named("resident_blocks", "blocks", "a full wave");
}

// The busiest pipe is what (5) calls SIMD_width.
void LaunchTerms::spills() {
    const Value words = b_.input("image.local_bytes_per_thread") / number(4, "bytes of a register");
    spilled_ = select(count(Metric::local_requests) < one_,
                      words * number(2, "each is written and read at least once"), zero_)
                   .named("spilled", "requests per warp", "local memory that no access of the PTX explains");
}

void LaunchTerms::computation() {
    const Value warp_size = device("warp_size");
    const auto pipe = [&](Metric metric, const char* lanes) {
        return count(metric) * warp_size / device(lanes);
    };
    const Value special = count(Metric::special_function_instructions);
    all_insts_ = max(count(Metric::warp_instructions), one_) + spilled_;
    insts_ = max(all_insts_ - special, one_).named("insts", "warp instructions", "#insts");
    pipe_cycles_ = max(max(all_insts_ / device("schedulers_per_sm"),
                           pipe(Metric::fp32_instructions, "fp32_lanes_per_sm")),
                       max(pipe(Metric::fp64_instructions, "fp64_lanes_per_sm"),
                           pipe(Metric::integer_instructions, "int32_lanes_per_sm")))
                       .named("pipe_cycles", "cycles per warp", "busiest of issue, FP32, FP64, integer");
    ilp_ = clamped(b_.metric(Metric::instruction_parallelism, bx_, by_, bz_), one_, warp_size)
               .named("ILP", "instructions", "profile");

    const Value sfu_width = device("special_function_lanes_per_sm");
    const Value f_sfu = share(special / insts_ - sfu_width / device("fp32_lanes_per_sm"))
                            .named("F_SFU", "", "GPUPerf (10): visible share of special functions");
    const Value o_sfu =
        (special * warp_size / sfu_width * f_sfu).named("O_SFU", "cycles per warp", "GPUPerf (9)");
    // A request takes the load-store units' addresses once, and the banks as often as conflicts repeat it: where the units
    // are the narrower, a first conflict costs nothing.
    shared_requests_ = count(Metric::shared_requests);
    const Value units = shared_requests_ * warp_size / device("load_store_units_per_sm");
    const Value banks = max(count(Metric::shared_wavefronts), shared_requests_) * warp_size *
                        number(4, "bytes a lane") / device("shared_bytes_per_clock");
    const Value shared = max(units, banks)
                             .named("shared_cycles", "cycles per warp",
                                    "addresses, or passes over the banks: O_bank of GPUPerf (6)");
    serial_cycles_ = o_sfu + shared;
    barriers_ = count(Metric::barriers);
}

void LaunchTerms::requests() {
    loads_ = count(Metric::load_requests);
    stores_ = count(Metric::store_requests);
    atomics_ = count(Metric::atomic_requests);
    local_ = count(Metric::local_requests) + spilled_;
    requests_ = max(loads_ + stores_ + atomics_ + local_, one_).named("mem_insts", "requests", "#mem_insts");
    // Half of local accesses are loads, of which the compiler keeps four in flight.
    const Value local_rounds = local_ / number(8, "half of them loads, four in flight");
    rounds_ = (min(count(Metric::dependent_rounds), loads_ + atomics_) + local_rounds)
                  .named("rounds", "waits per warp", "#mem_insts / MLP");
    rounds_or_one_ = max(rounds_, one_);

    const Value local_sectors = local_ * number(4, "local memory is interleaved: coalesced");
    load_sectors_ = count(Metric::load_sectors) + local_sectors;
    load_lines_ = count(Metric::load_lines) + local_;
    store_sectors_ = count(Metric::store_sectors);
    store_lines_ = count(Metric::store_lines);
    load_bytes_ = count(Metric::load_sectors) * sector_bytes_;
    sectors_ = load_sectors_ + store_sectors_;
    lines_ = count(Metric::load_lines) + store_lines_;
}

void LaunchTerms::footprints() {
    blocks_on_sm_ = min(occ_, ceil(blocks_ / device("sm_count"))).named("blocks_on_SM", "blocks", "");
    const Value warp_size = device("warp_size");
    const Value x = min(bx_, warp_size);
    const Value y = clamped(floor(warp_size / x), one_, by_);
    const Value z = clamped(floor(warp_size / (x * y)), one_, bz_);
    warp_bytes_ = (footprint_bytes(x, y, z) * min(threads_, warp_size) / (x * y * z))
                      .named("warp_bytes", "bytes", "footprint of a warp");
    block_bytes_ = footprint_bytes(bx_, by_, bz_).named("block_bytes", "bytes", "footprint of a block");
    sm_bytes_ = box_of_blocks(blocks_on_sm_).named("SM_bytes", "bytes", "footprint of the blocks on an SM");
    wave_bytes_ = box_of_blocks(resident_).named("wave_bytes", "bytes", "footprint of all resident blocks");
    // Blocks that do nothing touch nothing, and a launch no more than its blocks one by one.
    launch_bytes_ = min(box_of_blocks(grid_blocks_), blocks_ * block_bytes_)
                        .named("launch_bytes", "bytes", "footprint of the launch");
}

Value LaunchTerms::unlaunchable() {
    const auto within = [&](Value value, const char* limit) { return value <= device(limit); };
    const Value legal = occupancy_.fits && within(bx_, "max_block_x") && within(by_, "max_block_y") &&
                        within(bz_, "max_block_z") && within(gx_, "max_grid_x") &&
                        within(gy_, "max_grid_y") && within(gz_, "max_grid_z");
    return (!legal).named("unlaunchable", "", "CUDA launch limits");
}

}  // namespace trimtab::model
