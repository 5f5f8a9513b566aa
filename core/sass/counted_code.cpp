// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/counted_code.h"

#include <cmath>

namespace trimtab::sass {

bool is_trusted(const ControlFlow& flow, const Match& match) {
    // Judged: ptxas drops some accesses; a loop that was matched wrongly is off by its unrolling.
    constexpr double least_share = 0.5, most_off = 0.25;
    if (!flow.complete || match.counted_share < least_share) return false;
    return std::abs(match.sass_bytes - match.ptx_bytes) <= most_off * match.ptx_bytes;
}

std::expected<CountedCode, Error> counted_code(const std::string& ptx, const std::string& kernel,
                                               unsigned compute_capability, std::span<const PtxCounts> counts,
                                               double warps, const std::string& cache_folder) {
    auto assembly = assemble(ptx, kernel, compute_capability, cache_folder);
    if (!assembly) return std::unexpected(assembly.error());
    CountedCode out{.assembly = std::move(*assembly), .flow = {}, .match = {}, .warp = {}};
    out.flow = control_flow(out.assembly.function);
    out.match = match(out.assembly.function, out.flow, counts, warps);
    out.warp = execution(out.assembly.function, out.flow, out.match.executions, warps);
    return out;
}

}  // namespace trimtab::sass
