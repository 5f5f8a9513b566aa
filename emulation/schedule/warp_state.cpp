// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/warp_state.h"

#include <algorithm>
#include <cmath>

namespace trimtab::schedule {

namespace {

// Iterations of a loop each time that the warp comes to it, on average.
double iterations_at_a_time(const Code& code, const WarpTrace& warp, std::size_t loop) {
    const auto all = static_cast<double>(warp.iterations[loop]);
    const std::uint32_t parent = code.loops[loop].parent;
    return parent == none ? all : all / std::max(1.0, static_cast<double>(warp.iterations[parent]));
}

}  // namespace

WarpSteps::WarpSteps(const Work& work)
    : code_(work.trace->code),
      caps_(work.caps),
      most_at_a_time_(code_.loops.size(), 0),
      iterations_(code_.loops.size(), 0) {
    if (caps_.empty()) return;
    for (std::size_t l = 0; l < code_.loops.size(); ++l)
        for (const BlockTrace& block : work.trace->blocks)
            for (const WarpTrace& warp : block.warps)
                most_at_a_time_[l] = std::max(most_at_a_time_[l], iterations_at_a_time(code_, warp, l));
}

double WarpSteps::cap(const WarpTrace& warp, std::uint16_t loop) const {
    const double all = caps_[loop];
    if (!code_.loops[loop].is_cut || most_at_a_time_[loop] <= all) return all;
    return std::ceil(all * iterations_at_a_time(code_, warp, loop) / most_at_a_time_[loop]);
}

bool WarpSteps::is_kept(const WarpTrace& warp, const Step& step) const {
    if (caps_.empty()) return true;
    for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d)
        if (step.iteration[d] > cap(warp, step.loops[d])) return false;
    return true;
}

void WarpSteps::count_iterations(WarpState& w, const Step& step) {
    bool is_new = false;  // with a loop's iteration, those of the loops in it are
    w.cut_loop = w.late_loop = no_loop;
    for (std::size_t d = 0; d < loop_depth; ++d) {
        is_new = is_new || step.loops[d] != w.loops[d] || step.iteration[d] != w.iteration[d];
        if (step.loops[d] == no_loop) continue;
        if (is_new) ++iterations_[step.loops[d]];
        const Loop& loop = code_.loops[step.loops[d]];
        if (!loop.is_cut) continue;
        w.cut_loop = step.loops[d];
        // Already before half of those that are kept, so that what follows differs from it in nothing but its iterations.
        if (step.iteration[d] > loop.kept_iterations / 4) w.late_loop = step.loops[d];
    }
    w.loops = step.loops;
    w.iteration = step.iteration;
}

void WarpSteps::enter(WarpState& w) {
    w.next = nullptr;
    for (; w.step < w.trace->steps.size(); ++w.step) {
        const Step& step = w.trace->steps[w.step];
        if (!is_kept(*w.trace, step)) continue;
        count_iterations(w, step);
        const Stretch& stretch = code_.stretches[step.stretch];
        if (stretch.count == 0) continue;
        w.next = code_.instructions.data() + stretch.first;
        w.stretch_end = w.next + stretch.count;
        w.request = w.trace->requests.data() + step.first_request;
        return;
    }
}

}  // namespace trimtab::schedule
