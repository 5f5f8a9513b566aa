// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/machine_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/sass/control_flow.h"
#include "core/sass/counted_code.h"
#include "core/sass/match.h"
#include "emulation/schedule/sass_costs.h"
#include "emulation/schedule/trace_writer.h"

namespace trimtab::schedule {

namespace {

constexpr double little = 1e-6;
constexpr std::uint16_t least_kept_iterations = 4;

// What warps that ran the same instructions equally often do of the code.
struct Plan {
    sass::Match match;
};

class MachineTracer {
  public:
    MachineTracer(const sass::Assembly& assembly, const emulator::CompiledKernel& kernel,
                  const BuiltCode& ptx, const RecordedBlocks& recorded, const CodeDevice& device)
        : function_(assembly.function),
          flow_(sass::control_flow(assembly.function)),
          kernel_(kernel),
          ptx_(ptx),
          recorded_(recorded),
          device_(device) {}

    std::expected<KernelTrace, std::string> run() {
        if (!flow_.complete) return std::unexpected("it branches through registers");
        find_lines();
        find_children();
        build_code();
        const auto& blocks = recorded_.blocks;
        std::map<std::vector<std::uint32_t>, Plan> plans;
        for (std::size_t b = 0; b < blocks.size(); ++b)
            for (std::size_t w = 0; w < blocks[b].warps.size(); ++w) {
                const auto& entered = recorded_.entered[b][w];
                if (plans.contains(entered)) continue;
                if (plans.size() == most_plans) return std::unexpected("its warps go too many ways");
                sass::Match match = sass::match(function_, flow_, counts_of(entered), 1);
                if (!sass::is_trusted(flow_, match))
                    return std::unexpected(
                        fmt::format("{:.0f} % of what runs was matched, {:.0f} of {:.0f} bytes of a lane",
                                    match.counted_share * 100, match.sass_bytes, match.ptx_bytes));
                if (plans.empty()) set_kept_iterations(match);
                plans.emplace(entered, Plan{.match = std::move(match)});
            }
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            BlockTrace& made = out_.blocks.emplace_back();
            made.block = blocks[b].block;
            made.lines = blocks[b].lines;
            for (std::size_t w = 0; w < blocks[b].warps.size(); ++w) {
                own_memory_ = own_memory(b, w);
                own_lines_.clear();
                made.warps.push_back(warp_trace(plans.at(recorded_.entered[b][w]), blocks[b].warps[w]));
            }
        }
        return std::move(out_);
    }

  private:
    static constexpr std::size_t most_plans = 64;

    // --- the code ---

    // By line of the PTX, its instruction in the kernel's numbering.
    void find_lines() {
        for (const auto& function : kernel_.code(true, true).functions)
            for (std::size_t i = 0; i < function->source->body.size(); ++i)
                line_[function->source->body[i].line] =
                    function->instruction_base + static_cast<std::uint32_t>(i);
        of_ptx_.assign(ptx_.stretch_at.size(), nullptr);
        for (const Instruction& instruction : ptx_.code.instructions)
            if (instruction.source < of_ptx_.size()) of_ptx_[instruction.source] = &instruction;
    }

    void build_code() {
        Code& code = out_.code;
        code.waits_by_counters = true;
        // Maxwell, Pascal: ptxas gives only the last of several loads a counter, and lets DEPBAR count them.
        code.loads_end_in_order = function_.layout == sass::Layout::grouped;
        const CodeCounters counters = counters_of(function_);
        code.registers_of_counter = counters.registers;
        code.register_count = sass::barrier_count * counters.registers;
        code.regions = ptx_.code.regions;
        if (code.regions.empty()) code.regions.emplace_back();
        std::uint32_t region = 0;
        for (const sass::Block& block : flow_.blocks) {
            Stretch stretch{.first = static_cast<std::uint32_t>(code.instructions.size())};
            for (std::uint32_t i = block.first; i < block.last; ++i) {
                const sass::Instruction& own = function_.instructions[i];
                if (own.base() == "NOP") continue;
                const auto found = line_.find(own.line);
                const std::uint32_t source = found == line_.end() ? none : found->second;
                const Instruction* of_ptx = source < of_ptx_.size() ? of_ptx_[source] : nullptr;
                if (of_ptx != nullptr) region = of_ptx->region;
                const auto first_register = static_cast<std::uint32_t>(code.registers.size());
                Instruction made = sass_cost_of(own, of_ptx, device_, counters, code.registers);
                made.first_register = first_register;
                made.region = region;
                made.source = source;
                local_words_.push_back(none);
                if (own.space() == sass::Space::local && own.access() != sass::Access::none)
                    local_words_.back() = local_word(own);
                // An array's element: where the PTX went.
                if (made.kind == Kind::local && own.space() == sass::Space::local &&
                    local_words_.back() == none)
                    made.has_request =
                        of_ptx != nullptr && of_ptx->kind == Kind::local && of_ptx->has_request;
                made.has_request = made.has_request || local_words_.back() != none;
                if (made.has_request) ++stretch.requests;
                code.instructions.push_back(made);
            }
            stretch.count = static_cast<std::uint32_t>(code.instructions.size()) - stretch.first;
            code.stretches.push_back(stretch);
        }
        for (const sass::Loop& loop : flow_.loops) {
            const std::uint32_t line = function_.instructions[flow_.blocks[loop.header].first].line;
            const auto found = line_.find(line);
            code.loops.push_back({.parent = loop.parent == sass::no_index ? none : loop.parent,
                                  .name = found == line_.end() ? std::string("code without lines")
                                                               : fmt::format("PTX line {}", line)});
        }
    }

    // Which 4-byte word of a thread's own memory it accesses; none: an address that the code does not state.
    [[nodiscard]] static std::uint32_t local_word(const sass::Instruction& i) {
        constexpr std::string_view stack = "[R1";
        constexpr std::uint32_t most_bytes = 1 << 20;
        for (const std::string& operand : i.operands) {
            if (!operand.starts_with(stack) || operand.size() <= stack.size()) continue;
            const char next = operand[stack.size()];
            if (next == ']') return 0;
            if (next != '+') return none;
            std::string_view number = std::string_view(operand).substr(stack.size() + 1);
            if (number.starts_with("0x")) number.remove_prefix(2);
            std::uint32_t bytes = 0;
            const auto [end, error] =
                std::from_chars(number.data(), number.data() + number.size(), bytes, 16);
            return error == std::errc{} && *end == ']' && bytes < most_bytes ? bytes / 4 : none;
        }
        return none;
    }

    // As many iterations of the PTX as were recorded: fewer of loops around others, if any such was.
    void set_kept_iterations(const sass::Match& match) {
        std::uint16_t around = kept_iterations;
        for (const Loop& loop : ptx_.code.loops) around = std::min(around, loop.kept_iterations);
        std::vector<std::uint16_t> recorded(out_.code.loops.size(), kept_iterations);
        for (const Loop& loop : out_.code.loops)
            if (loop.parent != none) recorded[loop.parent] = around;
        for (std::size_t l = 0; l < out_.code.loops.size(); ++l)
            out_.code.loops[l].kept_iterations = static_cast<std::uint16_t>(std::clamp(
                recorded[l] / match.loops[l].copies, double{least_kept_iterations}, double(recorded[l])));
    }

    // --- how often ---

    [[nodiscard]] std::vector<sass::PtxCounts> counts_of(const std::vector<std::uint32_t>& entered) const {
        std::vector<sass::PtxCounts> out;
        for (const auto& function : kernel_.code(true, true).functions) {
            sass::PtxCounts& one = out.emplace_back();
            one.function = function->source;
            for (std::size_t i = 0; i < function->source->body.size(); ++i)
                one.executions.push_back(entered[function->counted_at[i]]);
        }
        return out;
    }

    // --- a warp's way ---

    // Blocks and inner loops of each loop, and of no loop (last), in the order of the code.
    struct Member {
        bool is_loop = false;
        std::uint32_t index = 0;
    };
    void find_children() {
        members_.resize(flow_.loops.size() + 1);
        std::vector<bool> is_listed(flow_.loops.size(), false);
        for (sass::BlockIndex b = 0; b < flow_.blocks.size(); ++b) {
            Member member{.is_loop = false, .index = b};
            for (std::uint32_t l = flow_.innermost_loop[b];; l = flow_.loops[l].parent) {
                auto& list = l == sass::no_index ? members_.back() : members_[l];
                if (!member.is_loop || !is_listed[member.index]) list.push_back(member);
                if (member.is_loop) {
                    if (is_listed[member.index]) break;
                    is_listed[member.index] = true;
                }
                if (l == sass::no_index) break;
                member = {.is_loop = true, .index = l};
            }
        }
    }

    struct Way {
        const Plan* plan = nullptr;
        const WarpTrace* ptx = nullptr;
        WarpTrace out;
        std::vector<double> due_blocks, due_entries, due_iterations;  // fractions left over
        // By access of the PTX: the requests that it made, and how many of them have been taken.
        std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> requests;
        std::unordered_map<std::uint32_t, std::size_t> taken;
        std::array<std::uint16_t, loop_depth> loops{no_loop, no_loop, no_loop}, iteration{};
    };

    WarpTrace warp_trace(const Plan& plan, const WarpTrace& ptx) {
        Way way;
        way.plan = &plan;
        way.ptx = &ptx;
        way.due_blocks.assign(flow_.blocks.size(), 0);
        way.due_entries.assign(flow_.loops.size(), 0);
        way.due_iterations.assign(flow_.loops.size(), 0);
        for (std::size_t l = 0; l < flow_.loops.size(); ++l)
            way.out.iterations.push_back(
                static_cast<std::uint64_t>(std::llround(plan.match.executions[flow_.loops[l].header])));
        for (const Step& step : ptx.steps) {
            const Stretch& stretch = ptx_.code.stretches[step.stretch];
            std::uint32_t request = step.first_request;
            for (std::uint32_t i = stretch.first; i < stretch.first + stretch.count; ++i)
                if (ptx_.code.instructions[i].has_request)
                    way.requests[ptx_.code.instructions[i].source].push_back(request++);
        }
        pass(way, members_.size() - 1, 1, 0);
        return std::move(way.out);
    }

    // One iteration of a loop that has so many; of no loop, the whole code.
    void pass(Way& way, std::size_t loop, double iterations, std::size_t depth) {
        for (const Member& member : members_[loop]) {
            if (member.is_loop) {
                enter(way, member.index, iterations, depth);
                continue;
            }
            double& due = way.due_blocks[member.index];
            due += way.plan->match.executions[member.index] / iterations;
            if (due < 1 - little) continue;
            due = std::max(0.0, std::min(due - 1, 1.0));
            step(way, member.index);
        }
    }

    void enter(Way& way, std::uint32_t loop, double iterations, std::size_t depth) {
        const sass::LoopMatch& match = way.plan->match.loops[loop];
        if (match.iterations < little) return;
        const double entries = std::max(match.entries, little);
        double& due = way.due_entries[loop];
        due += std::min(1.0, entries / iterations);
        if (due < 1 - little) return;
        due = std::max(0.0, due - 1);
        double& left = way.due_iterations[loop];
        left += match.iterations / std::max(entries, std::min(1.0, iterations));
        const auto own = static_cast<std::uint64_t>(left + little);
        left -= static_cast<double>(own);
        const auto loops = way.loops;
        const auto iteration = way.iteration;
        const bool is_numbered = depth < loop_depth;
        const std::uint64_t kept =
            is_numbered ? std::min<std::uint64_t>(own, out_.code.loops[loop].kept_iterations) : own;
        if (kept < own) out_.code.loops[loop].is_cut = true;
        if (is_numbered) way.loops[depth] = static_cast<std::uint16_t>(loop);
        for (std::uint64_t t = 1; t <= kept && way.out.steps.size() < most_steps_of_warp; ++t) {
            if (is_numbered) way.iteration[depth] = static_cast<std::uint16_t>(t);
            pass(way, loop, match.iterations, depth + 1);
        }
        way.loops = loops;
        way.iteration = iteration;
    }

    void step(Way& way, std::uint32_t block) {
        const Stretch& stretch = out_.code.stretches[block];
        Step& step = way.out.steps.emplace_back();
        step.stretch = block;
        step.first_request = static_cast<std::uint32_t>(way.out.requests.size());
        step.loops = way.loops;
        step.iteration = way.iteration;
        for (std::uint32_t i = stretch.first; i < stretch.first + stretch.count; ++i) {
            const Instruction& instruction = out_.code.instructions[i];
            if (!instruction.has_request) continue;
            if (local_words_[i] != none) {
                way.out.requests.push_back(own_request(instruction, local_words_[i]));
                continue;
            }
            const auto found = way.requests.find(instruction.source);
            Request& request = way.out.requests.emplace_back();
            if (found == way.requests.end()) continue;
            // Where the code goes on longer than what was recorded, as it went on before.
            std::size_t& taken = way.taken[instruction.source];
            request = way.ptx->requests[found->second[taken++ % found->second.size()]];
        }
    }

    // The lanes' words of one offset lie side by side: a line for each word.
    Request own_request(const Instruction& instruction, std::uint32_t word) {
        const auto words = static_cast<std::uint16_t>(std::max(1.0f, instruction.slots));
        auto& lines = out_.blocks.back().lines;
        const auto [known, is_new] =
            own_lines_.try_emplace({word, words}, static_cast<std::uint32_t>(lines.size()));
        if (is_new)
            for (std::uint16_t i = 0; i < words; ++i)
                lines.push_back({.number = own_memory_ + word + i, .sectors = 15});
        Request request;
        request.lanes = 32;
        request.lines = request.in_one_bank = words;
        request.sectors = static_cast<std::uint16_t>(4 * words);
        request.store_slots = static_cast<float>(2 * words);  // two whole segments of 64 bytes
        request.first_line = known->second;
        return request;
    }

    static constexpr std::size_t most_steps_of_warp = 200'000;

    const sass::Function& function_;
    const sass::ControlFlow flow_;
    const emulator::CompiledKernel& kernel_;
    const BuiltCode& ptx_;
    const RecordedBlocks& recorded_;
    const CodeDevice& device_;
    std::unordered_map<std::uint32_t, std::uint32_t> line_;
    std::vector<const Instruction*> of_ptx_;  // by place in the kernel's numbering
    std::vector<std::vector<Member>> members_;
    std::vector<std::uint32_t> local_words_;  // by instruction of the code; none: no access to a known one
    std::uint64_t own_memory_ = 0;            // of the warp that is traced: a line number
    std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint32_t> own_lines_;  // by word and width
    KernelTrace out_;
};

}  // namespace

std::expected<KernelTrace, std::string> machine_trace(const sass::Assembly& assembly,
                                                      const emulator::CompiledKernel& kernel,
                                                      const BuiltCode& ptx, const RecordedBlocks& recorded,
                                                      const CodeDevice& device) {
    return MachineTracer(assembly, kernel, ptx, recorded, device).run();
}

}  // namespace trimtab::schedule
