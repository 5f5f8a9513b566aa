// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/kept_work.h"

#include <algorithm>

#include "emulation/schedule/warp_state.h"

namespace trimtab::schedule {

KeptWork::KeptWork(const KernelTrace& trace, const Caps& few) : trace_(trace) {
    const Count base = count(few);
    all_ = base.instructions;
    const std::size_t loops = trace.code.loops.size();
    std::vector<double> left(loops, 0);
    for (const WarpTrace& warp : trace.blocks.front().warps)
        for (std::size_t l = 0; l < loops; ++l) left[l] += static_cast<double>(warp.iterations[l]);
    for (std::size_t l = 0; l < loops; ++l) left[l] -= base.iterations[l];
    Caps caps = few;
    // Outer loops come first: an iteration of theirs holds iterations of those within.
    for (std::size_t l = 0; l < loops; ++l) {
        if (left[l] < 0.5) continue;
        caps[l] = trace.code.loops[l].kept_iterations;
        const Count more = count(caps);
        caps[l] = few[l];
        if (more.iterations[l] <= base.iterations[l]) continue;
        const double factor = left[l] / (more.iterations[l] - base.iterations[l]);
        all_ += factor * (more.instructions - base.instructions);
        for (std::size_t m = 0; m < loops; ++m) left[m] -= factor * (more.iterations[m] - base.iterations[m]);
    }
}

double KeptWork::share(const Caps& caps) const {
    return all_ > 0 ? std::min(1.0, count(caps).instructions / all_) : 1;
}

KeptWork::Count KeptWork::count(const Caps& caps) const {
    const Work work{.trace = &trace_, .caps = caps};
    WarpSteps steps(work);
    Count out;
    const BlockTrace& block = trace_.blocks.front();
    for (const WarpTrace& warp : block.warps) {
        WarpState w;
        w.block = &block;
        w.trace = &warp;
        w.loops.fill(no_loop);
        for (steps.enter(w); w.next != nullptr; steps.enter(w)) {
            out.instructions += static_cast<double>(w.stretch_end - w.next);
            ++w.step;
        }
    }
    for (const std::uint64_t iterations : steps.iterations())
        out.iterations.push_back(static_cast<double>(iterations));
    return out;
}

}  // namespace trimtab::schedule
