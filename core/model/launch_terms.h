// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every performance model starts from: the launch's shape, its residency, a warp's computation, its
// requests to memory and its footprints, as nodes of a rational program. Per warp, unless named otherwise.
#pragma once

#include <string>
#include <string_view>

#include "core/model/metrics.h"
#include "core/model/occupancy_program.h"
#include "core/model/rational_program.h"

namespace trimtab::model {

class LaunchTerms {
  protected:
    explicit LaunchTerms(std::string name) : b_(std::move(name)) {}

    // Where constants of several models are from.
    static constexpr auto sweep =
        "read off saturated cases in the block sweeps published with KLARAPTOR, GTX 1080 Ti";
    static constexpr auto judged = "a round number: results move little with it";

    Value device(const char* field) { return b_.input(std::string("device.") + field); }
    Value number(double value, std::string_view origin = "") { return b_.constant(value, origin); }
    // A fit may stray where nothing was measured: what it says is brought back into the metric's range. NaN
    // becomes `low`.
    Value clamped(Value raw, Value low, Value high) { return min(max(raw, low), high); }
    Value share(Value raw) { return clamped(raw, zero_, one_); }
    Value count(Metric metric);
    Value footprint_bytes(Value x, Value y, Value z);
    // The footprint of `blocks` consecutive blocks: they fill a row of the grid first, then a plane.
    Value box_of_blocks(Value blocks);
    // sqrt(a^2 + b^2): a smooth maximum, exact on every machine as powers are not.
    Value smooth_max(Value a, Value b) { return square_root(a * a + b * b); }
    // The same with fourth powers: sharper.
    Value sharp_max(Value a, Value b) { return square_root(smooth_max(a * a, b * b)); }
    // 1 while x is small, 1/2 at x = 1, then soon 0.
    Value smooth_step(Value x);

    void launch_shape();
    // Registers that ptxas spills: accesses to local memory that PTX does not show.
    void spills();
    // GPUPerf (PPoPP 2012), (3) to (5) and (9), (10): insts_, pipe_cycles_, ilp_, serial_cycles_.
    void computation();
    void requests();
    void footprints();
    // What the launch needs of the device: occupancy and the limits of each dimension.
    Value unlaunchable();

    RationalProgramBuilder b_;
    Value zero_ = number(0), one_ = number(1);
    Value sector_bytes_ = number(32, "CUDA: a sector"), line_bytes_ = number(128, "CUDA: a cache line");
    Value bx_ = b_.input("block.x"), by_ = b_.input("block.y"), bz_ = b_.input("block.z");
    Value gx_ = b_.input("grid.x"), gy_ = b_.input("grid.y"), gz_ = b_.input("grid.z");
    Value threads_ = (bx_ * by_ * bz_).named("threads_per_block", "threads", "");
    OccupancyValues occupancy_ = add_occupancy(b_, threads_);

    // Set by the steps, in order.
    Value occ_ = one_, warps_ = one_, blocks_ = one_, grid_blocks_ = one_, resident_ = one_,
          blocks_on_sm_ = one_;
    Value all_insts_ = one_, insts_ = one_, pipe_cycles_ = zero_, ilp_ = one_, serial_cycles_ = zero_;
    Value barriers_ = zero_, shared_requests_ = zero_, spilled_ = zero_;
    Value loads_ = zero_, stores_ = zero_, atomics_ = zero_, local_ = zero_;
    Value requests_ = one_, rounds_ = zero_, rounds_or_one_ = one_;
    // With local memory's, which is interleaved and so coalesced; load_bytes_ is of global loads alone.
    Value load_sectors_ = zero_, load_lines_ = zero_, store_sectors_ = zero_, store_lines_ = zero_;
    Value load_bytes_ = zero_, sectors_ = zero_, lines_ = zero_;
    Value warp_bytes_ = one_, block_bytes_ = one_, sm_bytes_ = one_, wave_bytes_ = one_, launch_bytes_ = one_;
};

}  // namespace trimtab::model
