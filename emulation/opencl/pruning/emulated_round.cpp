// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/emulated_round.h"

#include <algorithm>

namespace trimtab::pruning {

namespace {

using schedule::Kind;

class WarpReader {
  public:
    WarpReader(const schedule::TracedLaunch& launch, const Latencies& latencies)
        : code_(launch.trace.code), latencies_(latencies) {}

    // `apart`: what line numbers are moved by.
    void read(const schedule::BlockTrace& block, const schedule::WarpTrace& warp, std::uint64_t apart,
              WalkedWarp& out) {
        out.operations.clear(), out.accesses.clear(), out.lines.clear();
        weigh(warp);
        for (std::size_t s = 0; s < warp.steps.size(); ++s) {
            const schedule::Step& step = warp.steps[s];
            const schedule::Stretch& stretch = code_.stretches[step.stretch];
            std::uint32_t request = step.first_request;
            double fpu = 0, sfu = 0;
            const auto flush = [&] {
                add(out, Component::fpu, fpu, weights_[s]);
                add(out, Component::sfu, sfu, weights_[s]);
                fpu = sfu = 0;
            };
            for (std::uint32_t i = stretch.first; i < stretch.first + stretch.count; ++i) {
                const schedule::Instruction& one = code_.instructions[i];
                const schedule::Request* const asked = one.has_request ? &warp.requests[request++] : nullptr;
                switch (one.kind) {
                    case Kind::free:
                    case Kind::wait_for_all:
                        break;
                    case Kind::barrier:
                        flush();
                        out.operations.push_back({.weight = weights_[s], .is_barrier = true});
                        break;
                    case Kind::load:
                    case Kind::store:
                    case Kind::atomic:
                    case Kind::shared:
                    case Kind::constant:
                        flush();
                        add_access(out, one, asked, block, apart, weights_[s]);
                        break;
                    default:
                        if (one.resource == schedule::Resource::branch) break;
                        fpu += latencies_.fpu_cycles(one);
                        sfu += latencies_.sfu_cycles(one);
                        break;
                }
            }
            flush();
        }
    }

  private:
    static void add(WalkedWarp& out, Component component, double cycles, float weight) {
        if (cycles > 0)
            out.operations.push_back(
                {.busy_cycles = static_cast<float>(cycles), .weight = weight, .component = component});
    }

    static void add_access(WalkedWarp& out, const schedule::Instruction& one, const schedule::Request* asked,
                           const schedule::BlockTrace& block, std::uint64_t apart, float weight) {
        WalkedAccess access{.operation = static_cast<std::uint32_t>(out.operations.size()),
                            .first_line = static_cast<std::uint32_t>(out.lines.size())};
        if (one.kind == Kind::shared) {
            access.space = Space::local;
            access.passes = asked == nullptr ? 1 : asked->passes;
            if (asked != nullptr && asked->lanes == 0) return;
        } else if (one.kind == Kind::constant) {
            // Where it lies is not recorded: a line of its own for each instruction, which all warps read.
            access.space = Space::constant;
            out.lines.push_back({.line = (std::uint64_t{1} << 58) + one.source, .sectors = 1});
        } else {
            if (asked == nullptr || asked->lanes == 0) return;
            for (std::uint32_t i = 0; i < asked->lines; ++i) {
                const schedule::Line& line = block.lines[asked->first_line + i];
                out.lines.push_back({.line = line.number + apart, .sectors = line.sectors});
            }
        }
        access.line_count = static_cast<std::uint32_t>(out.lines.size()) - access.first_line;
        out.accesses.push_back(access);
        out.operations.push_back({.weight = weight, .component = Component::gc});
    }

    // The iterations that a trace lacks are done by the second half of those that it keeps.
    void weigh(const schedule::WarpTrace& warp) {
        weights_.assign(warp.steps.size(), 1.0f);
        for (std::size_t l = 0; l < code_.loops.size() && l < warp.iterations.size(); ++l) {
            const std::uint16_t half = std::max<std::uint16_t>(1, code_.loops[l].kept_iterations / 2);
            double first = 0, second = 0;
            const auto depth_of = [&](const schedule::Step& step) {
                return static_cast<std::size_t>(std::ranges::find(step.loops, l) - step.loops.begin());
            };
            for (std::size_t s = 0; s < warp.steps.size(); ++s) {
                const schedule::Step& step = warp.steps[s];
                const std::size_t depth = depth_of(step);
                if (depth == schedule::loop_depth) continue;
                bool is_new = s == 0;
                if (!is_new)
                    for (std::size_t d = 0; d <= depth; ++d)
                        is_new = is_new || warp.steps[s - 1].loops[d] != step.loops[d] ||
                                 warp.steps[s - 1].iteration[d] != step.iteration[d];
                if (is_new) (step.iteration[depth] > half ? second : first) += weights_[s];
            }
            const double left = static_cast<double>(warp.iterations[l]) - first - second;
            if (second <= 0 || left < 0.5) continue;
            const auto factor = static_cast<float>(1 + left / second);
            for (std::size_t s = 0; s < warp.steps.size(); ++s) {
                const std::size_t depth = depth_of(warp.steps[s]);
                if (depth != schedule::loop_depth && warp.steps[s].iteration[depth] > half)
                    weights_[s] *= factor;
            }
        }
    }

    const schedule::Code& code_;
    const Latencies& latencies_;
    std::vector<float> weights_;  // by step
};

}  // namespace

Round emulated_round(const schedule::TracedLaunch& launch, std::uint32_t at_once, const Latencies& latencies,
                     double latency_factor, CachedRound& cached) {
    std::vector<WalkedWarp> warps;
    WarpReader reader(launch, latencies);
    const auto& blocks = launch.trace.blocks;
    std::uint32_t warps_per_group = 1;
    for (std::uint32_t g = 0; g < at_once && !blocks.empty(); ++g) {
        const schedule::BlockTrace& block = blocks[g % blocks.size()];
        warps_per_group = static_cast<std::uint32_t>(block.warps.size());
        for (const schedule::WarpTrace& warp : block.warps) {
            warps.emplace_back();
            reader.read(block, warp, (g / blocks.size()) << 48, warps.back());
        }
    }
    return cached.classify(warps, warps_per_group, latency_factor);
}

}  // namespace trimtab::pruning
