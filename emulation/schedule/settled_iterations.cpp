// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/settled_iterations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <vector>

namespace trimtab::schedule {

namespace {

// What warps did in an iteration of a loop, the same iteration of all its entries taken together.
struct Iteration {
    double instructions = 0, sectors = 0, new_sectors = 0, passes = 0;
};

using Iterations = std::vector<Iteration>;  // from the first

// Are the iterations in (half of `kept`, `kept`] twice what those in the quarter before are, in everything?
bool are_settled(const Iterations& iterations, std::size_t kept) {
    if (iterations.size() < kept) return false;
    const auto sum = [&](std::size_t first, std::size_t last, double Iteration::* of) {
        double total = 0;
        for (std::size_t t = first; t < last; ++t) total += iterations[t].*of;
        return total;
    };
    return std::ranges::all_of(
        std::array{&Iteration::instructions, &Iteration::sectors, &Iteration::new_sectors,
                   &Iteration::passes},
        [&](double Iteration::* of) { return 2 * sum(kept / 4, kept / 2, of) == sum(kept / 2, kept, of); });
}

void add_iterations(const BlockTrace& block, const WarpTrace& warp, const Code& code,
                    std::vector<Iterations>& iterations) {
    std::unordered_map<std::uint64_t, std::uint8_t> seen;  // sectors of a line
    for (const Step& step : warp.steps) {
        const Stretch& stretch = code.stretches[step.stretch];
        Iteration own{.instructions = static_cast<double>(stretch.count)};
        for (std::uint32_t i = 0; i < stretch.requests; ++i) {
            const Request& request = warp.requests[step.first_request + i];
            own.sectors += request.sectors + request.store_slots;
            own.passes += request.passes + request.lanes;
            for (unsigned n = 0; n < request.lines; ++n) {
                const Line& line = block.lines[request.first_line + n];
                std::uint8_t& known = seen[line.number];
                own.new_sectors += std::popcount(static_cast<std::uint8_t>(line.sectors & ~known));
                known |= line.sectors;
            }
        }
        for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d) {
            Iterations& of = iterations[step.loops[d]];
            if (step.iteration[d] > of.size()) continue;
            Iteration& sum = of[step.iteration[d] - 1u];
            sum.instructions += own.instructions;
            sum.sectors += own.sectors;
            sum.new_sectors += own.new_sectors;
            sum.passes += own.passes;
        }
    }
}

}  // namespace

void settle_iterations(KernelTrace& trace) {
    Code& code = trace.code;
    // Fewer iterations, or instructions of a warp in half of them, and warps have hardly fallen into step.
    constexpr std::uint16_t least = 16;
    constexpr double least_instructions = 100;
    if (trace.blocks.empty() || std::ranges::none_of(code.loops, &Loop::is_cut)) return;
    std::vector<Iterations> iterations(code.loops.size());
    for (std::size_t l = 0; l < code.loops.size(); ++l)
        if (code.loops[l].is_cut) iterations[l].resize(code.loops[l].kept_iterations);
    const BlockTrace& block = trace.blocks.front();
    // Others do as the first and the last do.
    const double looked_at = block.warps.size() > 1 ? 2 : 1;
    for (std::size_t w = 0; w < block.warps.size(); w += std::max<std::size_t>(1, block.warps.size() - 1))
        add_iterations(block, block.warps[w], code, iterations);
    for (std::size_t l = 0; l < code.loops.size(); ++l) {
        Loop& loop = code.loops[l];
        if (!loop.is_cut) continue;
        const Iterations& of = iterations[l];
        while (loop.kept_iterations / 2 >= least && are_settled(of, loop.kept_iterations) &&
               are_settled(of, loop.kept_iterations / 2u) &&
               of.back().instructions / looked_at * loop.kept_iterations / 4 >= least_instructions)
            loop.kept_iterations /= 2;
    }
}

}  // namespace trimtab::schedule
