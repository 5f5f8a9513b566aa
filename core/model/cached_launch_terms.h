// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What several models estimate of a launch's caches from its footprints, where a paper would measure: the slots that a
// warp's requests take, the share of them that misses L2, and that hits L1.
#pragma once

#include "core/model/launch_terms.h"

namespace trimtab::model {

class CachedLaunchTerms : protected LaunchTerms {
  protected:
    using LaunchTerms::LaunchTerms;

    // All of the launch's terms, and those below.
    void cached_launch();

    Value delay_per_transaction_ = zero_, departure_cycles_ = zero_;
    Value dram_bytes_ = zero_, miss_ratio_ = zero_, l1_hits_ = zero_;

  private:
    void departures();
    void last_level_cache();
    void l1_cache();
};

}  // namespace trimtab::model
