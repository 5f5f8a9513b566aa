// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/paper_round.h"

#include <algorithm>
#include <bit>
#include <map>

#include "core/ptx/opcodes.h"
#include "emulation/opencl/pruning/reuse_distance.h"
#include "emulation/schedule/work_count.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trimtab::pruning {

namespace {

using schedule::Kind;
using schedule::Resource;

constexpr std::array memories{Component::lm, Component::cm, Component::gm, Component::cc, Component::gc};

// Equations (16) to (18) for all warps of a trace.
double memory_cycles(const CountedTrace& trace, Component component, const Latencies& latencies) {
    const std::size_t c = index(component);
    const double accesses = trace.accesses[c];
    if (accesses == 0) return 0;
    const double delay = trace.busy_cycles[c] / accesses;
    const double latency = latencies.latency(component) - latencies.delay(component) + delay;
    return accesses * std::max(trace.warps * delay, latency) + std::min(trace.warps * delay, latency) - delay;
}

// Section 4.1.1: copies, conversions of integers and getelementptr, which in PTX is the arithmetic on 64-bit integers.
bool is_left_out(const schedule::Instruction& i, const KernelCode* code) {
    if (i.kind == Kind::free || i.resource == Resource::branch) return true;
    if (code == nullptr || i.source >= code->function.body.size()) return false;
    const ptx::Instruction& written = code->function.body[i.source];
    if (written.opcode == ptx::Opcode::cvt)
        return !ptx::is_float(written.type) && !ptx::is_float(written.source_type);
    return i.resource == Resource::integer && ptx::is_pure(written.opcode) &&
           (ptx::size_bytes(written.type) == 8 || written.modifiers.multiply_part == ptx::MultiplyPart::wide);
}

// What a warp does, an access at a time.
struct Access {
    Component component = Component::gc;
    double transactions = 0, weight = 1;
    const schedule::Request* request = nullptr;  // of global memory
};

class WarpReader {
  public:
    WarpReader(const schedule::TracedLaunch& launch, const KernelCode* code)
        : code_(launch.trace.code), machine_(launch.machine), kernel_(code) {}

    void read(const schedule::WarpTrace& warp, CountedTrace& sums, std::vector<Access>& accesses) {
        weigh(warp);
        for (const schedule::Step& step : warp.steps) {
            const schedule::Stretch& stretch = code_.stretches[step.stretch];
            const double weight = weight_of(step);
            std::uint32_t request = step.first_request;
            for (std::uint32_t n = stretch.first; n < stretch.first + stretch.count; ++n) {
                const schedule::Instruction& i = code_.instructions[n];
                const schedule::Request* const asked = i.has_request ? &warp.requests[request++] : nullptr;
                if (asked != nullptr && asked->lanes == 0) continue;
                if (i.kind == Kind::constant)
                    accesses.push_back({.component = Component::cc, .transactions = 1, .weight = weight});
                else if (i.kind == Kind::shared)
                    accesses.push_back({.component = Component::lm,
                                        .transactions = static_cast<double>(asked->passes),
                                        .weight = weight});
                else if (asked != nullptr)
                    accesses.push_back({.weight = weight, .request = asked});
                else if (i.kind == Kind::arithmetic && !is_left_out(i, kernel_))
                    add_arithmetic(i, weight, sums);
            }
        }
    }

  private:
    void add_arithmetic(const schedule::Instruction& i, double weight, CountedTrace& sums) const {
        const auto add = [&](Resource resource, double slots) {
            const schedule::Pipe& pipe = machine_.of(resource);
            const Component unit = resource == Resource::special_function ? Component::sfu : Component::fpu;
            sums.busy_cycles[index(unit)] +=
                weight * slots * pipe.gap_cycles / (pipe.per_scheduler ? machine_.schedulers : 1);
        };
        add(i.resource, i.slots);
        if (i.second_slots > 0) add(i.second, i.second_slots);
    }

    [[nodiscard]] static std::size_t depth_of(const schedule::Step& step) {
        std::size_t depth = 0;
        while (depth < schedule::loop_depth && step.loops[depth] != schedule::no_loop) ++depth;
        return depth;
    }
    // The iterations that a trace lacks are done by the later half of those that it keeps.
    void weigh(const schedule::WarpTrace& warp) {
        std::vector<double> kept(code_.loops.size()), late(code_.loops.size());
        const schedule::Step* before = nullptr;
        for (const schedule::Step& step : warp.steps) {
            bool is_new = false;
            for (std::size_t d = 0; d < depth_of(step); ++d) {
                is_new = is_new || before == nullptr || before->loops[d] != step.loops[d] ||
                         before->iteration[d] != step.iteration[d];
                if (!is_new) continue;
                ++kept[step.loops[d]];
                if (schedule::is_late(code_, step, d)) ++late[step.loops[d]];
            }
            before = &step;
        }
        weights_.assign(code_.loops.size(), 1);
        for (std::size_t l = 0; l < weights_.size(); ++l)
            if (late[l] > 0)
                weights_[l] = 1 + std::max(0.0, static_cast<double>(warp.iterations[l]) - kept[l]) / late[l];
    }
    [[nodiscard]] double weight_of(const schedule::Step& step) const {
        const std::size_t depth = depth_of(step);
        return depth > 0 && schedule::is_late(code_, step, depth - 1) ? weights_[step.loops[depth - 1]] : 1;
    }

    const schedule::Code& code_;
    const schedule::Machine& machine_;
    const KernelCode* kernel_;
    std::vector<double> weights_;  // by loop, of its late iterations
};

std::uint64_t sequence_of(const schedule::WarpTrace& warp) {
    std::vector<std::uint64_t> sequence = warp.iterations;
    for (const schedule::Step& step : warp.steps) sequence.push_back(step.stretch);
    return XXH3_64bits(sequence.data(), sequence.size() * sizeof(std::uint64_t));
}

}  // namespace

Latencies latencies_of(const schedule::Machine& machine) {
    Latencies out;
    const auto set = [&](Component c, double latency, double delay) {
        // A latency is never less than the transfer that it ends with.
        out.latency_cycles[index(c)] = std::max(latency, delay);
        out.delay_cycles[index(c)] = delay;
    };
    const auto &l2 = machine.of(Resource::l2), &dram = machine.of(Resource::dram),
               &constant = machine.of(Resource::constant), &shared = machine.of(Resource::shared);
    // A slot of L2 is a segment of two sectors, which a line of the constant cache is.
    set(Component::lm, shared.latency_cycles, shared.gap_cycles);
    set(Component::cc, constant.latency_cycles, constant.gap_cycles);
    set(Component::cm, l2.latency_cycles, l2.gap_cycles);
    set(Component::gc, l2.latency_cycles, l2.gap_cycles / 2);
    set(Component::gm, dram.latency_cycles, dram.gap_cycles);
    return out;
}

Bounds paper_bounds(std::span<const CountedTrace> traces, const Latencies& latencies) {
    double fpu = 0, sfu = 0;
    std::array<double, component_count> greatest{}, sum{};
    for (const CountedTrace& trace : traces) {
        fpu += trace.warps * trace.busy_cycles[index(Component::fpu)];
        sfu += trace.warps * trace.busy_cycles[index(Component::sfu)];
        for (const Component component : memories) {
            const double cycles = memory_cycles(trace, component, latencies);
            greatest[index(component)] = std::max(greatest[index(component)], cycles);
            sum[index(component)] += cycles;
        }
    }
    Bounds out{.best_cycles = std::max(fpu, sfu), .worst_cycles = fpu + sfu};
    for (const Component component : memories) {
        out.best_cycles = std::max(out.best_cycles, greatest[index(component)]);
        out.worst_cycles += sum[index(component)];
    }
    return out;
}

PaperRound::PaperRound(const schedule::TracedLaunch& launch, std::uint32_t at_once, const KernelCode* code)
    : latencies_(latencies_of(launch.machine)) {
    const auto& blocks = launch.trace.blocks;
    if (blocks.empty()) return;
    WarpReader reader(launch, code);
    std::map<std::uint64_t, CountedTrace> of_sequence;
    struct Warp {
        CountedTrace* sums = nullptr;
        const schedule::BlockTrace* block = nullptr;
        std::uint64_t apart = 0;  // what line numbers are moved by
        std::vector<Access> accesses{};
    };
    std::vector<Warp> warps;
    std::size_t most = 0;
    for (std::uint32_t g = 0; g < at_once; ++g) {
        const schedule::BlockTrace& block = blocks[g % blocks.size()];
        for (const schedule::WarpTrace& warp : block.warps) {
            signature_.push_back(sequence_of(warp));
            CountedTrace& sums = of_sequence[signature_.back()];
            ++sums.warps;
            warps.push_back({.sums = &sums, .block = &block, .apart = (g / blocks.size()) << 40});
            reader.read(warp, sums, warps.back().accesses);
            most = std::max(most, warps.back().accesses.size());
        }
    }
    std::ranges::sort(signature_);
    // Accesses in the order in which the warps make them, one of each in turn, by reuse distance (section 4.2.3).
    ReuseCache l2(launch.machine.l2_bytes / 128);
    const auto add = [&](CountedTrace& to, Component component, double transactions, double weight) {
        if (transactions == 0) return;
        to.accesses[index(component)] += weight;
        to.busy_cycles[index(component)] += weight * transactions * latencies_.delay(component);
    };
    for (std::size_t a = 0; a < most; ++a)
        for (Warp& warp : warps) {
            if (a >= warp.accesses.size()) continue;
            const Access& one = warp.accesses[a];
            if (one.request == nullptr) {
                add(*warp.sums, one.component, one.transactions, one.weight);
                continue;
            }
            unsigned missing = 0, found = 0;
            for (std::uint32_t n = 0; n < one.request->lines; ++n) {
                const schedule::Line& line = warp.block->lines[one.request->first_line + n];
                const std::uint32_t lacks = l2.missing(line.number + warp.apart, line.sectors);
                missing += static_cast<unsigned>(std::popcount(lacks));
                found += static_cast<unsigned>(std::popcount(line.sectors & ~lacks));
            }
            add(*warp.sums, Component::gm, missing, one.weight);
            add(*warp.sums, Component::gc, found, one.weight);
        }
    for (auto& [sequence, sums] : of_sequence) {
        for (std::size_t c = 0; c < component_count; ++c) {
            sums.busy_cycles[c] /= sums.warps;
            sums.accesses[c] /= sums.warps;
        }
        traces_.push_back(sums);
    }
}

}  // namespace trimtab::pruning
