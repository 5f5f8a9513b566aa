// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/work_count.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

namespace trimtab::schedule {

namespace {

constexpr std::size_t outside = std::numeric_limits<std::size_t>::max();

// The innermost loop of a step, by its place in the step; `outside` of all.
std::size_t innermost(const Step& step) {
    std::size_t depth = outside;
    for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d) depth = d;
    return depth;
}

unsigned segments(unsigned sectors) {
    return static_cast<unsigned>(std::popcount((sectors | sectors >> 1) & 5u));
}

// Sectors of a line that some access has touched.
struct TouchedLine {
    std::uint8_t read = 0, written = 0, late = 0;
    std::array<float, 4> share{};  // of each sector that comes from DRAM, by the access that asks for least
    std::size_t loop = outside;    // of those that are late
};
using TouchedLines = std::unordered_map<std::uint64_t, TouchedLine>;

// A loop's iterations, of the warps of a block.
struct LoopIterations {
    double kept = 0, late = 0, all = 0;
    [[nodiscard]] double growth() const { return late > 0 ? std::max(0.0, all - kept) / late : 0; }
};

class Counter {
  public:
    Counter(const KernelTrace& trace, const Machine& machine)
        : trace_(trace), code_(trace.code), machine_(machine) {}

    WorkCount count(double blocks) {
        WorkCount out;
        const auto traced = static_cast<double>(trace_.blocks.size());
        double b = 0;
        for (const BlockTrace& block : trace_.blocks) {
            const double rest = blocks - b++;
            if (rest <= 0) break;
            out.add(of_block(block), std::ceil(rest / traced));
        }
        const double rounds = std::max(1.0, std::floor(blocks / traced));
        if (b >= traced)
            out.cycles[index(Resource::l2)] +=
                rounds * first_touches(cached_, iterations_, true) * gap(Resource::l2);
        return out;
    }

  private:
    [[nodiscard]] double gap(Resource resource) const { return machine_.of(resource).gap_cycles; }
    [[nodiscard]] double latency(Resource resource) const { return machine_.of(resource).latency_cycles; }

    WorkCount of_block(const BlockTrace& block) {
        WorkCount out;
        TouchedLines lines;
        std::vector<LoopIterations> of_block(code_.loops.size());
        iterations_.resize(code_.loops.size());
        for (const WarpTrace& warp : block.warps) {
            std::vector<LoopIterations> own(code_.loops.size());
            std::vector<WorkCount> late(code_.loops.size()), kept(code_.loops.size());
            count_iterations(warp, own);
            for (const Step& step : warp.steps) {
                if (!is_kept(code_, step)) continue;
                const std::size_t depth = innermost(step);
                const WorkCount of_step = count_step(block, warp, step);
                out.add(of_step, 1);
                if (depth == outside) continue;
                kept[step.loops[depth]].add(of_step, 1);
                if (is_late(code_, step, depth)) late[step.loops[depth]].add(of_step, 1);
            }
            for (std::size_t l = 0; l < own.size(); ++l) {
                const double left = std::max(0.0, own[l].all - own[l].kept);
                if (own[l].late > 0)
                    out.add(late[l], left / own[l].late);
                else if (own[l].kept > 0)
                    out.add(kept[l], left / own[l].kept);
                for (LoopIterations* const sum : {&of_block[l], &iterations_[l]}) {
                    sum->kept += own[l].kept;
                    sum->late += own[l].late;
                    sum->all += own[l].all;
                }
            }
        }
        // Early iterations first: what later ones touch for the first time is what further ones do, too.
        for (const bool late : {false, true})
            for (const WarpTrace& warp : block.warps)
                for (const Step& step : warp.steps) {
                    if (!is_kept(code_, step)) continue;
                    const std::size_t depth = innermost(step);
                    if ((depth != outside && is_late(code_, step, depth)) == late)
                        touch(block, warp, step, late ? step.loops[depth] : outside, lines);
                }
        out.cycles[index(Resource::dram)] += first_touches(lines, of_block, false) * gap(Resource::dram);
        return out;
    }

    void count_iterations(const WarpTrace& warp, std::vector<LoopIterations>& own) const {
        const Step* before = nullptr;
        for (const Step& step : warp.steps) {
            if (!is_kept(code_, step)) continue;
            bool is_new = false;  // with a loop's iteration, those of the loops in it are
            for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d) {
                is_new = is_new || before == nullptr || before->loops[d] != step.loops[d] ||
                         before->iteration[d] != step.iteration[d];
                if (!is_new) continue;
                LoopIterations& of = own[step.loops[d]];
                ++of.kept;
                if (is_late(code_, step, d)) ++of.late;
            }
            before = &step;
        }
        for (std::size_t l = 0; l < own.size(); ++l)
            own[l].all = l < warp.iterations.size() ? static_cast<double>(warp.iterations[l]) : own[l].kept;
    }

    [[nodiscard]] WorkCount count_step(const BlockTrace& block, const WarpTrace& warp,
                                       const Step& step) const {
        WorkCount out;
        const Stretch& stretch = code_.stretches[step.stretch];
        std::size_t request = step.first_request;
        for (std::uint32_t n = 0; n < stretch.count; ++n) {
            const Instruction& i = code_.instructions[stretch.first + n];
            if (i.kind == Kind::free) continue;
            out.cycles[index(Resource::issue)] += gap(Resource::issue) / machine_.issues_per_cycle;
            out.serial_cycles += gap(Resource::issue) + i.stall_cycles;
            const Request* const asked = i.has_request ? &warp.requests[request++] : nullptr;
            if (asked != nullptr && asked->lanes == 0) continue;
            count_instruction(block, i, asked, out);
        }
        return out;
    }

    void take(WorkCount& out, Resource resource, double slots) const {
        const double cycles = slots * gap(resource);
        out.cycles[index(resource)] += cycles;
        out.serial_cycles += cycles;
    }

    void count_instruction(const BlockTrace& block, const Instruction& i, const Request* asked,
                           WorkCount& out) const {
        const auto wait_for = [&](std::initializer_list<Resource> resources) {
            for (const Resource resource : resources) out.serial_cycles += latency(resource);
        };
        const double tags =
            asked == nullptr ? i.slots : (machine_.has_banked_l1 ? asked->in_one_bank : asked->lines);
        const bool is_memory = i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::atomic ||
                               i.kind == Kind::shared || i.kind == Kind::local;
        if (!is_memory) {
            take(out, i.resource, i.slots);
            wait_for({i.resource});
            out.serial_cycles += i.extra_latency_cycles;
            if (i.second_slots > 0) {
                take(out, i.second, i.second_slots);
                wait_for({i.second});
            }
            return;
        }
        take(out, Resource::load_store, i.slots);
        if (i.kind == Kind::shared) {
            take(out, Resource::shared, asked->passes);
            return wait_for({Resource::shared});
        }
        const bool is_load =
            i.kind == Kind::load || (i.kind == Kind::local && asked != nullptr && !i.ends_when_issued);
        if (is_load && i.resource == Resource::texture) take(out, Resource::texture, asked->sectors);
        take(out, Resource::l1, is_load ? std::max(tags, asked->sectors / machine_.l1_sectors_a_slot) : tags);
        wait_for({Resource::l1, Resource::texture});
        if (asked == nullptr) {
            // Without a hit rate it stays in L1.
            if (!machine_.l1_hit_rate) return;
            wait_for({Resource::l2, Resource::dram});
            out.serial_cycles += i.slots * (2 * gap(Resource::l2) + 4 * gap(Resource::dram) * most_share());
            return;
        }
        if (i.kind == Kind::load && !keeps_in_l1(i))
            for (unsigned n = 0; n < asked->lines; ++n)
                take(out, Resource::l2, segments(block.lines[asked->first_line + n].sectors));
        else if (i.kind == Kind::store || i.kind == Kind::atomic)
            take(out, Resource::l2, asked->store_slots);
        if (i.kind == Kind::atomic) take(out, Resource::atomic, asked->passes);
        // By itself it may miss every cache; what passes through them is counted where it is touched first.
        wait_for({Resource::l2, Resource::dram, Resource::atomic});
        out.serial_cycles += asked->sectors * (gap(Resource::l2) + gap(Resource::dram) * most_share());
    }

    [[nodiscard]] double most_share() const {
        double most = 1;
        for (const Access& access : trace_.accesses) most = std::max(most, access.dram_sectors);
        return most;
    }

    // A share of its lines is found in a cache, whatever was there before.
    [[nodiscard]] bool has_hit_rate(const Instruction& i) const {
        return i.kind == Kind::load && machine_.has_caches && (machine_.l1_hit_rate || machine_.l2_hit_rate);
    }

    [[nodiscard]] bool keeps_in_l1(const Instruction& i) const {
        return i.caches_in_l1 && machine_.l1_bytes > 0;
    }

    void touch(const BlockTrace& block, const WarpTrace& warp, const Step& step, std::size_t loop,
               TouchedLines& lines) {
        const Stretch& stretch = code_.stretches[step.stretch];
        std::size_t request = step.first_request;
        for (std::uint32_t n = 0; n < stretch.count; ++n) {
            const Instruction& i = code_.instructions[stretch.first + n];
            if (!i.has_request) continue;
            const Request& asked = warp.requests[request++];
            if (has_hit_rate(i) || asked.lanes == 0 || i.access == none ||
                (i.kind != Kind::load && i.kind != Kind::store))
                continue;
            const auto share = static_cast<float>(trace_.accesses[i.access].dram_sectors);
            for (unsigned k = 0; k < asked.lines; ++k) {
                const Line& line = block.lines[asked.first_line + k];
                touch(lines[line.number], line.sectors, i.kind == Kind::store, share, loop);
                if (i.kind == Kind::load && keeps_in_l1(i))
                    touch(cached_[line.number], line.sectors, false, 1, loop);
            }
        }
    }

    static void touch(TouchedLine& line, std::uint8_t sectors, bool writes, float share, std::size_t loop) {
        const auto seen = static_cast<std::uint8_t>(line.read | line.written);
        const auto fresh = static_cast<std::uint8_t>(sectors & ~seen);
        if (fresh != 0 && loop != outside) {
            line.late |= fresh;
            line.loop = loop;
        }
        for (unsigned s = 0; s < line.share.size(); ++s) {
            if ((sectors >> s & 1) == 0) continue;
            line.share[s] = (fresh >> s & 1) != 0 ? share : std::min(line.share[s], share);
        }
        (writes ? line.written : line.read) |= sectors;
    }

    // Sectors (or segments of two) that are touched, all iterations included: read, unless they are written, too, for
    // then they may have been written first.
    [[nodiscard]] double first_touches(const TouchedLines& touched,
                                       const std::vector<LoopIterations>& iterations, bool by_segment) const {
        double out = 0;
        for (const auto& [number, line] : touched) {
            const auto amount = [&](std::uint8_t sectors) {
                if (by_segment) return static_cast<double>(segments(sectors));
                double sum = 0;
                for (unsigned s = 0; s < line.share.size(); ++s)
                    if ((sectors >> s & 1) != 0) sum += static_cast<double>(line.share[s]);
                return sum;
            };
            const auto all = static_cast<std::uint8_t>(line.read | line.written);
            out += amount(all);
            // Only of loops that are in no other: that would touch the same again.
            if (line.late == 0 || code_.loops[line.loop].parent != none) continue;
            out += amount(line.late) * iterations[line.loop].growth();
        }
        return out;
    }

    const KernelTrace& trace_;
    const Code& code_;
    const Machine& machine_;
    TouchedLines cached_;                     // by L1, of all blocks
    std::vector<LoopIterations> iterations_;  // likewise
};

}  // namespace

WorkCount work_count(const KernelTrace& trace, const Machine& machine, double blocks) {
    return Counter(trace, machine).count(blocks);
}

}  // namespace trimtab::schedule
