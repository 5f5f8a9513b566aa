// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of a plan that is this process's, where several run the same program to do together what one would do alone
// (pipeline/workers/program_task.h).
#pragma once

#include <cstdint>

#include "core/base/json_value.h"

namespace trimtab::runtime {

struct PlanShare {
    std::uint64_t share = 0, shares = 1;

    // Every process counts alike, its own and what is others'.
    [[nodiscard]] bool holds(std::uint64_t number) const { return number % shares == share; }
    // What all would write is the first one's to write.
    [[nodiscard]] bool is_first() const { return share == 0; }
};

// The members "share" and "shares" of a plan, where it has them.
inline PlanShare share_from(const base::JsonValue& plan) {
    PlanShare out;
    if (const auto shares = plan.find("shares")) out.shares = shares->natural();
    if (const auto share = plan.find("share")) out.share = share->natural();
    if (out.share >= out.shares) plan.fail("has no such share");
    return out;
}

}  // namespace trimtab::runtime
