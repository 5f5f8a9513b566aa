// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The re-blocking proof of one kernel in one image: rules 1 to 4 and 6.
#pragma once

#include <array>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/source_places.h"
#include "core/analysis/sharing/warp_bytes.h"
#include "core/analysis/values/function_values.h"
#include "core/analysis/values/guards.h"
#include "core/checker/certificate.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

struct Proof {
    Verdict verdict = Verdict::fixed;
    std::array<DimensionUse, 3> dimensions{};
    std::vector<Guard> guards;
    std::vector<GridStrideLoop> strides;
    std::vector<GridStrideAccess> stride_accesses, apart;
    bool needs_one_iteration_a_thread = false;
    std::vector<Reason> reasons;
    // What the reasons are about: the use of indices, exchange within warps, anything else.
    struct Obstacles {
        bool indices = false, warps = false, others = false;
    } obstacles;
    bool race_free = false;
    bool reassociates = false;  // it rests on floating-point sums being equal in any order
    bool uses_float_atomics = false;
    // That a block may have, so that what it keeps in shared memory is each thread's own; 0: any number.
    std::uint32_t most_threads = 0;
    // And that it must have, for its first threads to fill or flush what the block shares; 0: any number.
    std::uint32_t least_threads = 0;
    // What the exchange of values between a block's threads needs.
    std::optional<WarpBytes> dynamic_shared;
    std::optional<Expression> dynamic_bytes;  // or what tables and bins need
    // What stands in the way of tables and bins, or of a sum of the launch, in shared memory.
    std::optional<Reason> shared_miss;
    // Why loops over a block's threads do not allow other blocks, where it has such loops.
    std::vector<Reason> near_misses;

    // What the proof rests on, for who wants to know more of the kernel. Empty where the code could not be
    // followed.
    // The kernel first, with the calls that could be written out in place, then what it calls otherwise.
    std::vector<FunctionValues> functions;
    std::list<ptx::Function> rewritten;  // theirs
    std::vector<ExitCondition> conditions;

    // And for who checks it: certify.h.
    LaunchAssumption assumed;
    struct Loop {  // of each of `strides`
        ptx::BlockIndex header = ptx::no_index;
        bool widens = false;
    };
    std::vector<Loop> loops;
    std::vector<checker::Exchange> exchanges;
    std::set<std::uint32_t> exchanging;
    struct Tables {
        ptx::Function function;  // as it fills them
        std::set<std::uint32_t> fills;
        std::set<ptx::BlockIndex> loops;
    };
    std::optional<Tables> tables;
};

// `may_reassociate`: where nothing else stands, floating-point sums are taken to be equal in any order.
[[nodiscard]] Proof prove(SymbolTable& table, const ptx::Module& module, const ptx::Function& kernel,
                          bool may_reassociate = false);

}  // namespace trimtab::analysis
