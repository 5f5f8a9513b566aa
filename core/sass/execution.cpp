// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/execution.h"

#include <algorithm>

#include "core/sass/counter_waits.h"

namespace trimtab::sass {
namespace {

// Loads under way at a point of the code, in order of issue.
struct InFlight {
    std::array<std::vector<std::uint64_t>, barrier_count> issued{};  // by barrier: when its loads were
    std::uint64_t copied = 0;                                        // the youngest copy to shared memory
    std::uint64_t waited = 0;                                        // when the warp last waited for memory
    std::uint64_t now = 0;
};

bool is_global_load(const Instruction& i) {
    return (i.is_global() || i.space() == Space::texture) && i.is_load();
}

bool waits_for_copies(const Instruction& i) {
    return i.base() == "DEPBAR";
}

// Waits for memory in one pass of the block.
double pass(const Function& function, const Block& block, InFlight& state) {
    double waits = 0;
    const auto wait_for = [&](std::uint64_t issued) {
        if (issued <= state.waited) return;
        ++waits;
        state.waited = state.now;
    };
    for (std::uint32_t at = block.first; at < block.last; ++at) {
        const Instruction& i = function.instructions[at];
        ++state.now;
        for (const CounterWait& wait : counter_waits(i)) {
            auto& issued = state.issued[wait.counter];
            if (issued.size() <= wait.left) continue;
            const auto last = issued.end() - wait.left;
            wait_for(*(last - 1));
            issued.erase(issued.begin(), last);
        }
        if (waits_for_copies(i)) {
            wait_for(state.copied);
            state.copied = 0;
        }
        if (i.access() == Access::copy) state.copied = state.now;
        if (is_global_load(i) && i.control.write_barrier < barrier_count)
            state.issued[i.control.write_barrier].push_back(state.now);
    }
    return waits;
}

// Of each block, for a pass that comes from where it mostly comes from.
std::vector<double> waits_of_blocks(const Function& function, const ControlFlow& flow,
                                    std::span<const double> executions) {
    const auto count = flow.blocks.size();
    std::vector<double> waits(count);
    std::vector<InFlight> behind(count);
    // Twice: what a loop's end leaves under way is known once it was passed.
    for (int sweep = 0; sweep < 2; ++sweep)
        for (BlockIndex b = 0; b < count; ++b) {
            InFlight state;
            double most = 0;
            for (const BlockIndex before : flow.blocks[b].predecessors)
                if (executions[before] > most) {
                    most = executions[before];
                    state = behind[before];
                }
            waits[b] = pass(function, flow.blocks[b], state);
            behind[b] = state;
        }
    return waits;
}

}  // namespace

Execution execution(const Function& function, const ControlFlow& flow, std::span<const double> executions,
                    double warps) {
    Execution out;
    if (warps <= 0) return out;
    const std::vector<double> waits = waits_of_blocks(function, flow, executions);
    for (BlockIndex b = 0; b < flow.blocks.size(); ++b) {
        const double times = executions[b] / warps;
        if (times <= 0) continue;
        out.memory_waits += times * waits[b];
        for (std::uint32_t at = flow.blocks[b].first; at < flow.blocks[b].last; ++at) {
            const Instruction& i = function.instructions[at];
            if (i.base() == "NOP") continue;
            out.instructions += times;
            out.by_pipe[static_cast<std::size_t>(i.pipe())] += times;
            out.issue_cycles += times * i.control.issue_cycles();
            if (i.base() == "BAR") out.block_barriers += times;
            const Access access = i.access();
            const bool loads = access == Access::load || access == Access::load_pack;
            if (i.space() == Space::shared && access != Access::none) out.shared_accesses += times;
            if (i.space() == Space::local) (loads ? out.local_loads : out.local_stores) += times;
            if (!i.is_global()) continue;
            if (access == Access::atomic)
                out.atomics += times;
            else if (access == Access::store)
                out.global_stores += times;
            else
                out.global_loads += times;
        }
    }
    return out;
}

}  // namespace trimtab::sass
