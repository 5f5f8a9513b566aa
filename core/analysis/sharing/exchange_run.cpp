// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/exchange_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/sharing/warp_exchange.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/ptx/shuffle.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::ValueIndex;

constexpr unsigned max_steps = 100000;

class Run {
  public:
    Run(const ExchangeContext& context, const ExchangePiece& piece, unsigned threads)
        : c_(context),
          function_(context.kernel.function()),
          flow_(context.kernel.flow()),
          ssa_(context.kernel.ssa()),
          tokens_(context.tokens),
          piece_(piece),
          threads_(threads),
          values_(context, piece, threads),
          at_(threads, Position{piece.from, flow_.blocks[piece.from].first, State::runs}) {
        order_.resize(flow_.blocks.size());
        for (std::size_t i = 0; i < flow_.reverse_post_order.size(); i++)
            order_[flow_.reverse_post_order[i]] = static_cast<std::uint32_t>(i);
    }

    std::optional<ExchangeOutcome> run(std::string& why) {
        while (!failed_ && step()) {
        }
        why = failure_;
        if (failed_) return std::nullopt;
        end_phase();
        outcome_.tail = std::move(phase_);
        for (const auto& [cell, content] : memory_) outcome_.memory[cell] = content;
        values_.write_outcome(outcome_.by_all, outcome_.by_first);
        return std::move(outcome_);
    }

  private:
    enum class State : std::uint8_t { runs, waits, done };
    struct Position {
        BlockIndex block = 0;
        std::uint32_t instruction = 0;
        State state = State::runs;
    };

    void fail(std::string text) {
        if (!failed_) failure_ = std::move(text);
        failed_ = true;
    }

    // The threads that are furthest behind go on together, to the end of their block or to a barrier.
    bool step() {
        if (++steps_ > max_steps) fail("goes on for too long");
        std::vector<unsigned> group;
        std::pair<std::uint32_t, std::uint32_t> least{no_index, no_index};
        for (unsigned t = 0; t < threads_; t++) {
            if (at_[t].state != State::runs) continue;
            const std::pair place{order_[at_[t].block], at_[t].instruction};
            if (place < least) group.clear(), least = place;
            if (place == least) group.push_back(t);
        }
        if (group.empty()) return release();
        advance(group);
        return true;
    }

    // All wait at one barrier, or all are done.
    bool release() {
        const auto done =
            std::ranges::count_if(at_, [](const Position& at) { return at.state == State::done; });
        if (done == static_cast<std::ptrdiff_t>(threads_)) return false;
        if (done != 0 || std::ranges::any_of(at_, [&](const Position& at) {
                return at.instruction != at_[0].instruction || at.block != at_[0].block;
            })) {
            fail("has a barrier that not all threads reach");
            return false;
        }
        end_phase();
        if (!behind_barrier_) outcome_.head = std::move(phase_);
        behind_barrier_ = true;
        phase_.clear();
        for (Position& at : at_) {
            at.state = State::runs;
            at.instruction++;
        }
        return true;
    }
    void end_phase() {
        if (!behind_barrier_) outcome_.head = phase_;
        readers_.clear();
        writers_.clear();
    }

    void advance(const std::vector<unsigned>& group) {
        const BlockIndex block = at_[group[0]].block;
        const std::uint32_t last = flow_.blocks[block].last;
        for (std::uint32_t i = at_[group[0]].instruction; i < last && !failed_; i++) {
            if (is_block_barrier(c_.kernel, i)) {
                for (const unsigned t : group) at_[t] = {block, i, State::waits};
                return;
            }
            const ptx::Instruction& made = function_.body[i];
            if (made.opcode == Opcode::bra) return branch(group, block, i);
            if (block == piece_.to && (made.opcode == Opcode::ret || made.opcode == Opcode::exit)) {
                for (const unsigned t : group) go(t, block, no_index);
                return;
            }
            if (made.opcode == Opcode::ret || made.opcode == Opcode::exit || made.opcode == Opcode::brx ||
                made.opcode == Opcode::trap)
                return fail("ends threads on the way");
            execute(i, group);
        }
        if (failed_) return;
        if (flow_.blocks[block].successors.size() != 1 && block != piece_.to)
            return fail("ends threads on the way");
        for (const unsigned t : group)
            go(t, block, block == piece_.to ? no_index : flow_.blocks[block].successors[0]);
    }
    void branch(const std::vector<unsigned>& group, BlockIndex block, std::uint32_t i) {
        // Where the piece ends, threads may part.
        for (const unsigned t : group) {
            if (block == piece_.to) {
                go(t, block, no_index);
                continue;
            }
            const auto taken = values_.condition(i, t);
            if (!taken) return fail("decides by an unknown value");
            const auto& successors = flow_.blocks[block].successors;
            go(t, block, *taken ? successors.front() : successors.back());
        }
    }
    void go(unsigned t, BlockIndex from, BlockIndex to) {
        if (to == no_index) {
            at_[t].state = State::done;
            return;
        }
        if (!piece_.blocks[to] || to == piece_.from) return fail("leaves by another way");
        if (c_.labels.home(to) != Labels::outside) return fail("has a loop over its elements in between");
        const auto& predecessors = flow_.blocks[to].predecessors;
        if (std::ranges::count(predecessors, from) != 1) return fail("has two ways between two places");
        const auto edge =
            static_cast<std::size_t>(std::ranges::find(predecessors, from) - predecessors.begin());
        std::vector<std::pair<ValueIndex, Token>> phis;
        for (const ValueIndex phi : c_.kernel.phis(to)) {
            const ValueIndex incoming = ssa_.values[phi].incoming[edge];
            phis.emplace_back(phi, incoming == no_index ? Tokens::unknown : values_.value(incoming, t));
        }
        for (const auto& [phi, token] : phis) values_.set(phi, t, token);
        at_[t] = {to, flow_.blocks[to].first, State::runs};
    }

    // --- instructions ---

    void execute(std::uint32_t i, const std::vector<unsigned>& group) {
        const ptx::Instruction& made = function_.body[i];
        const bool touches = is_shared_access(made) && touches_variable(i);
        const bool exchanges = made.opcode == Opcode::shfl || made.opcode == Opcode::redux;
        std::vector<unsigned> active;
        for (const unsigned t : group) {
            const auto taken = values_.condition(i, t);
            if (!taken && (touches || exchanges || i == c_.watched))
                return fail("decides by an unknown value");
            if (taken && *taken)
                active.push_back(t);
            else
                values_.skip(i, t, taken.has_value());
        }
        if (active.empty()) return;
        if (exchanges) return exchange(i, active);
        for (const unsigned t : active) {
            if (i == c_.watched)
                outcome_.watched.emplace_back(t, values_.operand(i, made.operands.size() - 1, 0, t));
            if (touches)
                access(i, t);
            else
                values_.compute(i, t);
            if (failed_) return;
        }
    }
    bool touches_variable(std::uint32_t i) const {
        const ptx::Variable* variable = shared_place(c_.table, c_.kernel, c_.module, c_.indices, i).variable;
        return variable == nullptr || c_.variables.contains(variable);
    }

    // --- shared memory ---

    void access(std::uint32_t i, unsigned t) {
        const ptx::Instruction& made = function_.body[i];
        const unsigned bytes = ptx::size_bytes(made.type);
        if (is_reduction(made) || made.modifiers.vector_width > 1 || (bytes != 4 && bytes != 8) ||
            made.operands.size() != 2)
            return fail(fmt::format("has {} where its threads exchange values", made.mnemonic));
        const std::size_t at = ptx::is_load(made) ? 1 : 0;
        const Operand& address = made.operands[at];
        std::optional<std::uint64_t> base =
            address.reg != no_index
                ? tokens_.as_number(values_.value(ssa_.use(i, static_cast<std::uint16_t>(at)), t))
                : exchange_address(c_.variables, shared_variable(function_, c_.module, address.text));
        if (!base) return fail("uses shared memory at an unknown address");
        const std::uint64_t cell = *base + static_cast<std::uint64_t>(address.offset) + address.bits;
        if (!lies_inside(cell, bytes)) return fail("goes past the end of its shared memory");
        if (cell % bytes != 0 || !sizes_.emplace(variable_of(cell), bytes).first->second ||
            sizes_.at(variable_of(cell)) != bytes)
            return fail("uses shared memory in pieces of several sizes");
        const bool writes = !ptx::is_load(made);
        // Whole registers: what is extended or cut off is another value.
        const ValueIndex whole = writes ? ssa_.use(i, 1) : ssa_.definition(i);
        if (whole != no_index && c_.kernel.value(whole).width != 8 * bytes)
            return fail("uses shared memory in pieces of several sizes");
        add_touch(phase_, {cell, i, writes}, t);
        const auto other = [&](const std::unordered_map<std::uint64_t, unsigned>& threads) {
            const auto found = threads.find(cell);
            return found != threads.end() && found->second != t;
        };
        if (other(writers_) || (writes && other(readers_)))
            return fail("lets two threads use one address with no barrier between them");
        if (writes) {
            writers_[cell] = t;
            memory_[cell] = values_.operand(i, 1, 8 * bytes, t);
            return;
        }
        unsigned& reader = readers_.emplace(cell, t).first->second;
        if (reader != t) reader = many_threads;
        const auto content = memory_.find(cell);
        values_.set(ssa_.definition(i), t, content == memory_.end() ? Tokens::unknown : content->second);
    }
    static std::uint64_t variable_of(std::uint64_t cell) { return cell / exchange_variable_bytes; }
    bool lies_inside(std::uint64_t cell, unsigned bytes) {
        for (const ptx::Variable* variable : c_.variables) {
            const std::uint64_t first = *exchange_address(c_.variables, variable);
            const bool is_dynamic = variable->size_bytes == 0;
            if (cell < first ||
                cell + bytes > first + (is_dynamic ? exchange_variable_bytes : variable->size_bytes))
                continue;
            if (is_dynamic) outcome_.dynamic_bytes = std::max(outcome_.dynamic_bytes, cell + bytes - first);
            return true;
        }
        return false;
    }

    // --- warps ---

    void exchange(std::uint32_t i, const std::vector<unsigned>& active) {
        const ptx::Instruction& made = function_.body[i];
        // Whole warps, and all of each is named.
        std::map<unsigned, unsigned> lanes;
        for (const unsigned t : active) lanes[t / warp_size]++;
        const std::size_t mask = made.operands.size() - 1;
        for (const auto& [warp, count] : lanes)
            if (count != warp_size) return fail("exchanges values between some threads of a warp");
        for (const unsigned t : active)
            if (tokens_.as_number(values_.operand(i, mask, 32, t)) != std::uint64_t{0xffffffff})
                return fail("exchanges values between some threads of a warp");
        if (made.opcode == Opcode::redux) return reduce(i, active);
        if (made.operands.size() != made.destination_count + 4u || made.destination_count > 2)
            return fail("exchanges values in a way that the proof does not follow");
        const std::size_t first = made.destination_count;
        std::map<unsigned, std::pair<Token, bool>> received;
        for (const unsigned t : active) {
            const auto by = tokens_.as_number(values_.operand(i, first + 1, 32, t)),
                       bound = tokens_.as_number(values_.operand(i, first + 2, 32, t));
            if (!by || !bound) return fail("exchanges values in a way that the proof does not follow");
            const auto [lane, is_in_range] =
                ptx::shuffle_source(made.modifiers.shuffle, t % warp_size, static_cast<std::uint32_t>(*by),
                                    static_cast<std::uint32_t>(*bound));
            const unsigned from = t - t % warp_size + lane;
            received[t] = {values_.operand(i, first, 32, from), is_in_range};
        }
        for (const auto& [t, result] : received) {
            if (const ValueIndex to = ssa_.definition(i); to != no_index) values_.set(to, t, result.first);
            if (made.destination_count > 1)
                if (const ValueIndex to = ssa_.definition(i, 1); to != no_index)
                    values_.set(to, t, tokens_.number(result.second));
        }
    }
    void reduce(std::uint32_t i, const std::vector<unsigned>& active) {
        const ptx::Instruction& made = function_.body[i];
        std::map<unsigned, std::optional<Token>> sums;  // by warp
        for (const unsigned t : active) {
            const Token own = values_.operand(i, 1, 0, t);
            const Tokens::Sum* sum = tokens_.as_sum(own);
            const auto [at, is_new] = sums.emplace(t / warp_size, own);
            if (sum == nullptr || !reduces(made, *c_.sums.at(sum->of)))
                at->second.reset();
            else if (!is_new && at->second)
                at->second = tokens_.joined(*c_.sums.at(sum->of), *at->second, own);
        }
        for (const unsigned t : active)
            values_.set(ssa_.definition(i), t, sums[t / warp_size].value_or(Tokens::unknown));
    }

    const ExchangeContext& c_;
    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    const ptx::Ssa& ssa_;
    Tokens& tokens_;
    const ExchangePiece& piece_;
    unsigned threads_;
    ExchangeValues values_;
    std::vector<Position> at_;
    std::vector<std::uint32_t> order_;  // by block
    std::unordered_map<std::uint64_t, Token> memory_;
    std::map<std::uint64_t, std::uint64_t> sizes_;                   // of accesses, by variable
    std::unordered_map<std::uint64_t, unsigned> readers_, writers_;  // of this phase, by cell
    ExchangeOutcome::Touches phase_;
    bool behind_barrier_ = false, failed_ = false;
    unsigned steps_ = 0;
    std::string failure_;
    ExchangeOutcome outcome_;
};

}  // namespace

void add_touch(ExchangeOutcome::Touches& to, const ExchangeOutcome::Touch& touch, unsigned thread) {
    const auto [at, is_new] = to.emplace(touch, thread);
    if (at->second != thread) at->second = many_threads;
}

std::optional<ExchangeOutcome> run_exchange(const ExchangeContext& context, const ExchangePiece& piece,
                                            unsigned threads, std::string& why) {
    return Run(context, piece, threads).run(why);
}

}  // namespace trimtab::analysis
