// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's machine code with the counts of one launch: what a trace of a warp is made from.
//
// A warp's way through it: blocks in the order of the code, each Match::executions times (of all warps), whose
// instructions say for themselves which pipe takes them, what they access, which registers they read and write,
// how many cycles they stall and which barriers they set and wait for.
#pragma once

#include <expected>
#include <span>
#include <string>

#include "core/sass/assemble.h"
#include "core/sass/control_flow.h"
#include "core/sass/execution.h"
#include "core/sass/match.h"
#include "trimtab/error.h"

namespace trimtab::sass {

// Enough of it was matched to be believed: most of what runs is counted by its own lines or the flow, and as
// many bytes are accessed as the PTX accessed.
[[nodiscard]] bool is_trusted(const ControlFlow& flow, const Match& match);

struct CountedCode {
    Assembly assembly;
    ControlFlow flow;
    Match match;
    Execution warp;  // the mean warp's

    [[nodiscard]] bool is_trusted() const { return sass::is_trusted(flow, match); }
};

// `counts` and `warps` as match() has them; `cache_folder` as assemble().
[[nodiscard]] std::expected<CountedCode, Error> counted_code(const std::string& ptx,
                                                             const std::string& kernel,
                                                             unsigned compute_capability,
                                                             std::span<const PtxCounts> counts, double warps,
                                                             const std::string& cache_folder);

}  // namespace trimtab::sass
