#include "analysis/exchange_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "analysis/instruction_rules.h"
#include "analysis/integer_operations.h"
#include "analysis/strided_accesses.h"
#include "analysis/warp_exchange.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::ValueIndex;

constexpr std::uint64_t variable_bytes = 1 << 20;
constexpr unsigned max_steps = 100000;
constexpr Token unset = 0xffffffff;

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
          values_(std::size_t{threads} * ssa_.values.size(), unset),
          at_(threads, Position{piece.from, flow_.blocks[piece.from].first, State::runs}) {
        tokens_.set_threads(threads);
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
        for (ValueIndex v = 0; v < value_count(); v++) {
            if (!is_inside(v)) continue;
            if (values_[v] != unset) outcome_.by_first[v] = values_[v];
            for (unsigned t = 0; t < threads_; t++) {
                const Token token = values_[t * value_count() + v];
                if (token == unset) continue;
                const auto [at, is_new] = outcome_.by_all.emplace(v, token);
                if (at->second != token) at->second = Tokens::unknown;
            }
        }
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
            fail("has a barrier that not all threads come by");
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
            const auto taken = condition(i, t);
            if (!taken) return fail("decides by what is not known");
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
        if (c_.turns.home(to) != TurnValues::outside) return fail("has a loop over its elements in between");
        const auto& predecessors = flow_.blocks[to].predecessors;
        if (std::ranges::count(predecessors, from) != 1) return fail("has two ways between two places");
        const auto edge =
            static_cast<std::size_t>(std::ranges::find(predecessors, from) - predecessors.begin());
        std::vector<std::pair<ValueIndex, Token>> phis;
        for (const ValueIndex phi : c_.kernel.phis(to)) {
            const ValueIndex incoming = ssa_.values[phi].incoming[edge];
            phis.emplace_back(phi, incoming == no_index ? Tokens::unknown : value(incoming, t));
        }
        for (const auto& [phi, token] : phis) set(phi, t, token);
        at_[t] = {to, flow_.blocks[to].first, State::runs};
    }

    // --- values ---

    std::size_t value_count() const { return ssa_.values.size(); }
    bool is_inside(ValueIndex index) const {
        const ptx::Value& value = ssa_.values[index];
        if (value.kind == ptx::Value::Kind::phi)
            return value.block != piece_.from && piece_.blocks[value.block];
        return value.kind == ptx::Value::Kind::instruction &&
               piece_.blocks[flow_.block_of[value.instruction]];
    }
    Token value(ValueIndex index, unsigned t) {
        if (index == no_index) return Tokens::unknown;
        Token& known = values_[t * value_count() + index];
        if (known == unset && is_inside(index)) return Tokens::unknown;
        if (known == unset) known = from_outside(index, t);
        return known;
    }
    // Made before the piece, once for each time that it is run.
    Token from_outside(ValueIndex index, unsigned t) {
        if (const auto bits = number(c_.kernel.value(index), t)) return tokens_.number(*bits);
        if (c_.turns.read(index, piece_.from) == Dependence{}) return tokens_.same_for_all(index);
        auto at = c_.sums.find(index);
        if (at == c_.sums.end())
            at = c_.sums.emplace(index, sum_of_turns(c_.kernel, c_.turns, c_.parts, index)).first;
        return at->second ? tokens_.own_part(index, t) : Tokens::unknown;
    }
    void set(ValueIndex index, unsigned t, Token token) { values_[t * value_count() + index] = token; }

    // Of the thread's number and that of threads alone.
    std::optional<std::uint64_t> number(const Symbolic& value, unsigned t) const {
        if (value.width == 0 || !c_.table.is_small(value)) return std::nullopt;
        std::uint64_t sum = 0;
        for (const Term& term : value.terms) {
            std::uint64_t product = term.coefficient;
            for (const AtomIndex index : term.atoms) {
                const auto factor = number(c_.table.atom(index), t);
                if (!factor) return std::nullopt;
                product *= *factor;
            }
            sum += product;
        }
        return truncate_bits(sum, value.width);
    }
    std::optional<std::uint64_t> number(const Atom& atom, unsigned t) const {
        switch (atom.kind) {
            case Atom::Kind::global_index:
                return atom.dimension == Dimension::x ? std::optional<std::uint64_t>(t) : std::nullopt;
            case Atom::Kind::total:
                return atom.dimension == Dimension::x ? std::optional<std::uint64_t>(threads_) : std::nullopt;
            case Atom::Kind::symbol:
                return exchange_address(c_.variables, shared_variable(function_, c_.module, atom.text));
            case Atom::Kind::operation: {
                std::vector<std::uint64_t> operands;
                for (const Symbolic& part : atom.operands) {
                    const auto bits = number(part, t);
                    if (!bits) return std::nullopt;
                    operands.push_back(*bits);
                }
                return analysis::apply(atom.operation, operands);
            }
            default:
                return std::nullopt;
        }
    }

    // --- instructions ---

    // Is the guard true? Nothing: that is not known.
    std::optional<bool> condition(std::uint32_t i, unsigned t) {
        const ptx::Instruction& made = function_.body[i];
        if (made.guard == no_index) return true;
        const auto bits = tokens_.as_number(value(ssa_.guard(i), t));
        if (!bits) return std::nullopt;
        return (*bits != 0) != made.guard_negated;
    }

    Token operand(std::uint32_t i, std::size_t o, unsigned width, unsigned t) {
        const Operand& read = function_.body[i].operands[o];
        switch (read.kind) {
            case Operand::Kind::reg: {
                Token token = value(ssa_.use(i, static_cast<std::uint16_t>(o)), t);
                if (!read.text.empty()) return Tokens::unknown;  // a part of the register
                const auto bits = tokens_.as_number(token);
                if (read.negated) return bits ? tokens_.number(*bits == 0) : Tokens::unknown;
                return bits && width != 0 ? tokens_.number(truncate_bits(*bits, width)) : token;
            }
            case Operand::Kind::immediate:
                return tokens_.number(width == 0 ? read.bits : truncate_bits(read.bits, width));
            case Operand::Kind::special:
            case Operand::Kind::symbol: {
                const auto bits = number(c_.kernel.operand(i, o), t);
                return bits ? tokens_.number(width == 0 ? *bits : truncate_bits(*bits, width))
                            : Tokens::unknown;
            }
            default:
                return Tokens::unknown;
        }
    }

    void execute(std::uint32_t i, const std::vector<unsigned>& group) {
        const ptx::Instruction& made = function_.body[i];
        const bool touches = is_shared_access(made) && touches_variable(i);
        const bool exchanges = made.opcode == Opcode::shfl || made.opcode == Opcode::redux;
        std::vector<unsigned> active;
        for (const unsigned t : group) {
            const auto taken = condition(i, t);
            if (!taken && (touches || exchanges)) return fail("decides by what is not known");
            if (taken && *taken)
                active.push_back(t);
            else
                skip(i, t, taken.has_value());
        }
        if (active.empty()) return;
        if (exchanges) return exchange(i, active);
        for (const unsigned t : active) {
            if (touches)
                access(i, t);
            else
                compute(i, t);
            if (failed_) return;
        }
    }
    // The registers stay what they were.
    void skip(std::uint32_t i, unsigned t, bool is_known) {
        for_each_result(i, [&](ValueIndex result) {
            set(result, t, is_known ? value(ssa_.values[result].previous, t) : Tokens::unknown);
        });
    }
    template <typename Visit>
    void for_each_result(std::uint32_t i, Visit&& visit) const {
        const ptx::Instruction& made = function_.body[i];
        for (std::uint16_t d = 0; d < made.destination_count; d++) {
            const std::size_t elements = std::max<std::size_t>(1, made.operands[d].elements.size());
            for (std::uint16_t e = 0; e < elements; e++)
                if (const ValueIndex result = ssa_.definition(i, d, e); result != no_index) visit(result);
        }
    }
    bool touches_variable(std::uint32_t i) const {
        const ptx::Variable* variable = shared_place(c_.table, c_.kernel, c_.module, c_.indices, i).variable;
        return variable == nullptr || c_.variables.contains(variable);
    }
    // What it reads is all in its operands.
    bool has_no_state(std::uint32_t i) const {
        return !function_.body[i].modifiers.carry_out &&
               std::ranges::all_of(ssa_.uses[i], [&](const ptx::Ssa::Use& use) {
                   return use.reg == no_index || use.reg < function_.registers.size();
               });
    }

    void compute(std::uint32_t i, unsigned t) {
        const ptx::Instruction& made = function_.body[i];
        const ValueIndex result = ssa_.definition(i);
        Token token = Tokens::unknown;
        if (result != no_index && made.destination_count == 1 && made.operands[0].elements.empty())
            token = computed(i, result, t);
        for_each_result(i, [&](ValueIndex each) { set(each, t, each == result ? token : Tokens::unknown); });
    }
    Token computed(std::uint32_t i, ValueIndex result, unsigned t) {
        const ptx::Instruction& made = function_.body[i];
        if (made.opcode == Opcode::mov && made.operands.size() == 2 && made.operands[1].elements.empty()) {
            const Token moved = operand(i, 1, 0, t);
            if (moved != Tokens::unknown) return moved;
        }
        if (made.opcode == Opcode::selp && made.operands.size() == 4) {
            const auto chosen = tokens_.as_number(operand(i, 3, 1, t));
            if (!chosen) return Tokens::unknown;
            return operand(i, *chosen != 0 ? 1 : 2, 8 * ptx::size_bytes(made.type), t);
        }
        if (const auto bits = calculated(i, t)) return tokens_.number(*bits);
        if (ptx::is_pure(made.opcode) && has_no_state(i)) {
            std::vector<Token> operands;
            for (std::size_t o = 1; o < made.operands.size(); o++) operands.push_back(operand(i, o, 0, t));
            if (operands.size() == 2) {
                for (const Token token : operands) {
                    const Tokens::Sum* sum = tokens_.as_sum(token);
                    if (sum == nullptr || !does(made, *c_.sums.at(sum->of))) continue;
                    if (const auto joined = tokens_.joined(*c_.sums.at(sum->of), operands[0], operands[1]))
                        return *joined;
                }
            }
            if (const auto same = chosen_of_equals(i, operands)) return *same;
            if (const Token token = tokens_.made(i, 0, operands); token != Tokens::unknown) return token;
        }
        // The same for all threads, and made once in each run of the piece.
        const BlockIndex block = flow_.block_of[i];
        if (c_.turns.read(result, block) == Dependence{} && !is_in_inner_loop(block))
            return tokens_.same_for_all(result);
        return Tokens::unknown;
    }
    // The smaller or larger of a floating-point number and itself, of numbers that come out as they are.
    std::optional<Token> chosen_of_equals(std::uint32_t i, const std::vector<Token>& operands) const {
        const ptx::Instruction& made = function_.body[i];
        if ((made.opcode != Opcode::min && made.opcode != Opcode::max) || made.type != ptx::Type::f32 ||
            made.modifiers.xorsign_abs || operands.size() != 2 || operands[0] != operands[1])
            return std::nullopt;
        const auto bits = tokens_.as_number(operands[0]);
        if (!bits || !std::isnormal(std::bit_cast<float>(static_cast<std::uint32_t>(*bits))))
            return std::nullopt;
        return operands[0];
    }
    bool is_in_inner_loop(BlockIndex block) const {
        const std::uint32_t l = flow_.innermost_loop[block];
        if (l == no_index) return false;
        const auto& blocks = flow_.loops[l].blocks;
        return std::ranges::find(blocks, piece_.from) == blocks.end();
    }
    std::optional<std::uint64_t> calculated(std::uint32_t i, unsigned t) {
        const ptx::Instruction& made = function_.body[i];
        const auto operation = integer_operation(made);
        const std::size_t sources = made.operands.size() - made.destination_count;
        if (!operation || sources < operation->arity) return std::nullopt;
        std::vector<std::uint64_t> operands;
        for (unsigned o = 0; o < operation->arity; o++) {
            const auto bits = tokens_.as_number(
                operand(i, made.destination_count + o, width_bits(operation->operand_type(o)), t));
            if (!bits) return std::nullopt;
            operands.push_back(*bits);
        }
        std::uint64_t result = analysis::apply(*operation, operands);
        if (made.modifiers.boolean_op == ptx::BooleanOp::none)
            return sources == operation->arity ? std::optional(result) : std::nullopt;
        const auto other = tokens_.as_number(operand(i, made.operands.size() - 1, 1, t));
        if (!other || sources != operation->arity + 1u) return std::nullopt;
        switch (made.modifiers.boolean_op) {
            case ptx::BooleanOp::and_:
                return result & *other;
            case ptx::BooleanOp::or_:
                return result | *other;
            case ptx::BooleanOp::xor_:
                return result ^ *other;
            default:
                return std::nullopt;
        }
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
                ? tokens_.as_number(value(ssa_.use(i, static_cast<std::uint16_t>(at)), t))
                : exchange_address(c_.variables, shared_variable(function_, c_.module, address.text));
        if (!base) return fail("uses shared memory at a place that is not known");
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
            return fail("shares a place between two threads with no barrier between them");
        if (writes) {
            writers_[cell] = t;
            memory_[cell] = operand(i, 1, 8 * bytes, t);
            return;
        }
        unsigned& reader = readers_.emplace(cell, t).first->second;
        if (reader != t) reader = many_threads;
        const auto content = memory_.find(cell);
        set(ssa_.definition(i), t, content == memory_.end() ? Tokens::unknown : content->second);
    }
    static std::uint64_t variable_of(std::uint64_t cell) { return cell / variable_bytes; }
    bool lies_inside(std::uint64_t cell, unsigned bytes) const {
        return std::ranges::any_of(c_.variables, [&](const ptx::Variable* variable) {
            const std::uint64_t first = *exchange_address(c_.variables, variable);
            return cell >= first && cell + bytes <= first + variable->size_bytes;
        });
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
            if (tokens_.as_number(operand(i, mask, 32, t)) != std::uint64_t{0xffffffff})
                return fail("exchanges values between some threads of a warp");
        if (made.opcode == Opcode::redux) return reduce(i, active);
        if (made.operands.size() != made.destination_count + 4u || made.destination_count > 2)
            return fail("exchanges values in a way that is not followed");
        const std::size_t first = made.destination_count;
        std::map<unsigned, std::pair<Token, bool>> received;
        for (const unsigned t : active) {
            const auto by = tokens_.as_number(operand(i, first + 1, 32, t)),
                       bound = tokens_.as_number(operand(i, first + 2, 32, t));
            if (!by || !bound) return fail("exchanges values in a way that is not followed");
            const auto [lane, is_in_range] =
                shuffle_source(made.modifiers.shuffle, t % warp_size, static_cast<unsigned>(*by & 31),
                               static_cast<unsigned>(*bound));
            const unsigned from = t - t % warp_size + lane;
            received[t] = {operand(i, first, 32, from), is_in_range};
        }
        for (const auto& [t, result] : received) {
            if (const ValueIndex to = ssa_.definition(i); to != no_index) set(to, t, result.first);
            if (made.destination_count > 1)
                if (const ValueIndex to = ssa_.definition(i, 1); to != no_index)
                    set(to, t, tokens_.number(result.second));
        }
    }
    void reduce(std::uint32_t i, const std::vector<unsigned>& active) {
        const ptx::Instruction& made = function_.body[i];
        std::map<unsigned, std::optional<Token>> sums;  // by warp
        for (const unsigned t : active) {
            const Token own = operand(i, 1, 0, t);
            const Tokens::Sum* sum = tokens_.as_sum(own);
            const auto [at, is_new] = sums.emplace(t / warp_size, own);
            if (sum == nullptr || !reduces(made, *c_.sums.at(sum->of)))
                at->second.reset();
            else if (!is_new && at->second)
                at->second = tokens_.joined(*c_.sums.at(sum->of), *at->second, own);
        }
        for (const unsigned t : active)
            set(ssa_.definition(i), t, sums[t / warp_size].value_or(Tokens::unknown));
    }

    const ExchangeContext& c_;
    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    const ptx::Ssa& ssa_;
    Tokens& tokens_;
    const ExchangePiece& piece_;
    unsigned threads_;
    std::vector<Token> values_;  // by thread, then by value
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

std::optional<std::uint64_t> exchange_address(const std::set<const ptx::Variable*>& variables,
                                              const ptx::Variable* variable) {
    const auto at = variables.find(variable);
    if (variable == nullptr || at == variables.end()) return std::nullopt;
    return variable_bytes * (1 + static_cast<std::uint64_t>(std::distance(variables.begin(), at)));
}

void add_touch(ExchangeOutcome::Touches& to, const ExchangeOutcome::Touch& touch, unsigned thread) {
    const auto [at, is_new] = to.emplace(touch, thread);
    if (at->second != thread) at->second = many_threads;
}

std::optional<ExchangeOutcome> run_exchange(const ExchangeContext& context, const ExchangePiece& piece,
                                            unsigned threads, std::string& why) {
    return Run(context, piece, threads).run(why);
}

}  // namespace trimtab::analysis
