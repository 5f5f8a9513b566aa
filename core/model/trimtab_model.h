// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trimtab's own performance model as a rational program. docs/model.md derives it term by term.
#pragma once

#include <span>
#include <string_view>

#include "core/model/rational_program.h"

namespace trimtab::model {

// Each can be left out, to see what it is worth.
struct TrimtabTerms {
    bool coalescing = true;      // sectors and lines of requests; without: four sectors in one line each
    bool partial_stores = true;  // sectors that a store fills in part
    bool residency = true;       // limits of block slots and registers; without: threads alone
    bool waves = true;           // whole waves and a last one; without: an even spread over the SMs
    bool latency = true;         // waiting for memory and for results
    bool own_requests = true;    // a warp's sectors queue behind each other
    bool l2_bandwidth = true;    // L2's throughput, which all SMs share
    bool l1_hits = true;         // reuse in L1, where the device caches global loads there
    bool dram = true;            // bandwidth of memory
    bool drift = true;           // blocks that share data fetch it again as they fall out of step
    bool lost_reuse = true;      // rows that warps walk along are evicted between rounds
    bool spills = true;          // registers that ptxas keeps in local memory
    bool phases = true;          // what a block does between two barriers waits for what it did before
    bool ending = true;          // a block's warps end together, with nothing behind them
    bool dispatch = true;        // blocks and warps start one by one
};

struct NamedTerm {
    std::string_view name;  // as the member
    bool TrimtabTerms::* member;
};
[[nodiscard]] std::span<const NamedTerm> trimtab_terms();

// Named "trimtab", or "trimtab-without-<term>" where one term is off.
[[nodiscard]] RationalProgram build_trimtab_model(const TrimtabTerms& terms = {});

}  // namespace trimtab::model
