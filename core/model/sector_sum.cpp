// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/sector_sum.h"

#include "core/model/launch_terms.h"

namespace trimtab::model {

namespace {

class SectorSum : LaunchTerms {
  public:
    SectorSum() : LaunchTerms("sectors") {}
    RationalProgram build() && {
        launch_shape();
        requests();
        const Value busiest = ceil(blocks_ / device("sm_count"));
        const Value cycles = busiest * warps_ * max(sectors_, one_);
        const Value ns =
            (cycles / device("sm_clock_hz") * number(1e9, "ns in a second") + device("launch_overhead_ns"))
                .named("time", "ns", "a sector a clock and SM");
        return std::move(b_).finish(ns, unlaunchable());
    }
};

}  // namespace

RationalProgram build_sector_sum() {
    return SectorSum().build();
}

}  // namespace trimtab::model
