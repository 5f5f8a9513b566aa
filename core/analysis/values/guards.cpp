// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/guards.h"

#include <algorithm>

#include "core/analysis/values/instruction_rules.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;

// Guards stand in a kernel's first few blocks. Code with more paths than this before its first memory access
// shows fewer conditions, no wrong ones.
constexpr unsigned max_path_steps = 3000;
constexpr std::size_t max_conditions = 48;
constexpr unsigned max_path_blocks = 256;
// A counted loop is followed iteration by iteration, this often.
constexpr std::uint8_t max_iterations = 34;

// Follows every path from the entry. The result of a block is a list of conditions, each of which is enough
// to exit without an effect; a constant true alone stands for "always".
class Walk {
  public:
    Walk(SymbolTable& table, const FunctionValues& kernel) : table_(table), kernel_(kernel) {}

    std::vector<ExitCondition> run() {
        std::vector<std::uint8_t> on_path(kernel_.flow().blocks.size());
        return conditions(0, {}, on_path);
    }
    [[nodiscard]] const UnknownTests& unknown_tests() const { return unknown_tests_; }

  private:
    using Conditions = std::vector<ExitCondition>;
    using Bindings = std::map<AtomIndex, Symbolic>;  // phis, as this path sets them

    Conditions always(std::uint32_t instruction) const {
        return {{SymbolTable::constant(1, 1), instruction}};
    }
    static bool is_always(const Conditions& conditions) {
        return conditions.size() == 1 && conditions[0].predicate.is_constant() &&
               conditions[0].predicate.constant() != 0;
    }

    // Does it do more than a thread in the tail may do?
    bool has_effect(std::uint32_t instruction) const {
        const ptx::Instruction& made = kernel_.function().body[instruction];
        return !is_pure(made) && !kernel_.parameter_load(instruction) &&
               !kernel_.is_frame_access(instruction) && !is_every_threads(instruction);
    }
    // A load of one place that every thread of the launch as written makes: so can one more. What it brings
    // decides nothing, for the ways out behind it are all followed.
    bool is_every_threads(std::uint32_t instruction) const {
        const ptx::Instruction& made = kernel_.function().body[instruction];
        if (depth_of_threads_ != 0 || made.opcode != Opcode::ld || made.guard != no_index ||
            made.modifiers.semantics != ptx::MemorySemantics::weak ||
            made.modifiers.space == ptx::Space::shared || made.modifiers.space == ptx::Space::local)
            return false;
        const Symbolic address = kernel_.address(instruction);
        return address.width == 64 && table_.is_small(address) && is_of_launch(address);
    }
    // Of arguments, and where variables are: the same for all threads.
    bool is_of_launch(const Symbolic& value) const {
        bool result = true;
        table_.for_each_atom(value, [&](AtomIndex index) {
            const Atom::Kind kind = table_.atom(index).kind;
            result &=
                kind == Atom::Kind::parameter || kind == Atom::Kind::symbol || kind == Atom::Kind::operation;
        });
        return result;
    }
    // A test of the index against what a load brought.
    void note_unknown(const Symbolic& taken, std::uint32_t branch) {
        bool loads = false;
        std::array<bool, 3> of{};
        table_.for_each_atom(taken, [&](AtomIndex index) {
            const Atom& atom = table_.atom(index);
            if (atom.kind == Atom::Kind::global_index) of[static_cast<std::size_t>(atom.dimension)] = true;
            if (atom.kind != Atom::Kind::opaque || atom.function != kernel_.index()) return;
            const ptx::Value& value = kernel_.ssa().values[atom.value];
            loads |= value.kind == ptx::Value::Kind::instruction &&
                     ptx::is_load(kernel_.function().body[value.instruction]);
        });
        for (std::size_t d = 0; d < 3; d++)
            if (loads && of[d] && !unknown_tests_[d]) unknown_tests_[d] = branch;
    }

    Conditions conditions(BlockIndex block, const Bindings& bindings, std::vector<std::uint8_t>& on_path) {
        // Back where the path has been: a loop, of which it is not known that it ends, unless it counts.
        if (on_path[block] > (counts(block, bindings) ? max_iterations : 0) || ++steps_ > max_path_steps ||
            path_blocks_ >= max_path_blocks)
            return {};
        const ptx::BasicBlock& body = kernel_.flow().blocks[block];
        for (std::uint32_t i = body.first; i < body.last; i++)
            if (has_effect(i)) return {};
        on_path[block]++;
        path_blocks_++;
        Conditions result = leave(block, bindings, on_path);
        path_blocks_--;
        on_path[block]--;
        return result;
    }

    // Is the block in a loop with a counter whose value is known on this path?
    bool counts(BlockIndex block, const Bindings& bindings) const {
        for (std::uint32_t l = kernel_.flow().innermost_loop[block]; l != no_index;
             l = kernel_.flow().loops[l].parent)
            for (const ptx::ValueIndex phi : kernel_.phis(kernel_.flow().loops[l].header))
                if (const auto own = kernel_.value(phi).single_atom(); own) {
                    const auto bound = bindings.find(*own);
                    if (bound != bindings.end() && bound->second.width > 1 && bound->second.is_constant())
                        return true;
                }
        return false;
    }

    Conditions leave(BlockIndex block, const Bindings& bindings, std::vector<std::uint8_t>& on_path) {
        const ptx::BasicBlock& body = kernel_.flow().blocks[block];
        const auto follow = [&](BlockIndex to) { return conditions(to, bind(block, to, bindings), on_path); };
        if (body.first == body.last)
            return body.successors.empty() ? always(no_index) : follow(body.successors[0]);
        const std::uint32_t last = body.last - 1;
        const ptx::Instruction& made = kernel_.function().body[last];
        const bool leaves = made.opcode == Opcode::ret || made.opcode == Opcode::exit;
        if (made.opcode == Opcode::brx) {
            depth_of_threads_++;
            Conditions all = follow_all(body.successors, follow);
            depth_of_threads_--;
            return all;
        }
        if (!leaves && made.opcode != Opcode::bra)
            return body.successors.empty() ? always(last) : follow(body.successors[0]);
        Symbolic taken = kernel_.guard(last);
        if (taken.width == 1 && !table_.is_small(taken)) taken = Symbolic{};
        if (taken.width == 1) taken = table_.substitute(taken, bindings);
        const auto on_taken = [&] { return leaves ? always(last) : follow(body.successors[0]); };
        const auto on_rest = [&] {
            if (body.successors.empty()) return always(last);  // past the function's end
            return follow(body.successors.back());
        };
        if (taken.width == 1 && taken.is_constant()) return taken.constant() != 0 ? on_taken() : on_rest();
        if (taken.width == 1) note_unknown(taken, last);
        // Behind it there may be some threads only.
        const bool parts = taken.width != 1 || !is_of_launch(taken);
        depth_of_threads_ += parts ? 1 : 0;
        const Conditions yes = on_taken(), no = on_rest();
        depth_of_threads_ -= parts ? 1 : 0;
        if (taken.width != 1 || !is_expressible(table_, taken)) return both(yes, no);
        return either(taken, yes, no, last);
    }

    template <typename Follow>
    Conditions follow_all(const std::vector<BlockIndex>& successors, const Follow& follow) {
        Conditions result = always(no_index);
        for (const BlockIndex successor : successors) result = both(result, follow(successor));
        return result;
    }

    Bindings bind(BlockIndex from, BlockIndex to, const Bindings& before) {
        const auto& predecessors = kernel_.flow().blocks[to].predecessors;
        const auto at = std::ranges::find(predecessors, from);
        if (at == predecessors.end()) return before;
        const auto edge = static_cast<std::size_t>(at - predecessors.begin());
        Bindings after = before;
        for (const ptx::ValueIndex v : kernel_.phis(to)) {
            const ptx::Value& phi = kernel_.ssa().values[v];
            // The phi is an atom of its own, plus what its incoming values share.
            const Symbolic& value = kernel_.value(v);
            const AtomIndex* own = nullptr;
            for (const Term& term : value.terms)
                if (term.atoms.size() == 1 && kernel_.phi_of(table_.atom(term.atoms[0])) == v)
                    own = &term.atoms[0];
            const ptx::ValueIndex incoming = phi.incoming[edge];
            if (own == nullptr) continue;
            // Two edges from one block: which one is taken is not known.
            const bool one_edge = std::count(predecessors.begin(), predecessors.end(), from) == 1;
            if (incoming == no_index || !one_edge || !table_.is_small(kernel_.value(incoming))) {
                after.erase(*own);
                continue;
            }
            const Symbolic shared = table_.subtract(value, Symbolic{value.width, {{{*own}, 1}}});
            after[*own] = table_.substitute(table_.subtract(kernel_.value(incoming), shared), before);
        }
        return after;
    }

    Conditions bounded(Conditions conditions) const {
        Conditions result;
        for (ExitCondition& condition : conditions) {
            const Symbolic& predicate = condition.predicate;
            if (predicate.is_constant()) {
                if (predicate.constant() == 0) continue;
                return {condition};
            }
            const bool known = std::ranges::any_of(
                result, [&](const ExitCondition& other) { return other.predicate == predicate; });
            if (!known && result.size() < max_conditions) result.push_back(std::move(condition));
        }
        return result;
    }

    Conditions with(const Symbolic& predicate, const Conditions& conditions) {
        Conditions result;
        for (const ExitCondition& condition : conditions)
            result.push_back(
                {table_.logical(Operator::and_, predicate, condition.predicate), condition.instruction});
        return result;
    }

    // Exits whichever way the branch goes.
    Conditions both(const Conditions& a, const Conditions& b) {
        if (is_always(a)) return b;
        if (is_always(b)) return a;
        Conditions result;
        for (const ExitCondition& left : a)
            for (const ExitCondition& right : b)
                result.push_back(
                    {table_.logical(Operator::and_, left.predicate, right.predicate), left.instruction});
        return bounded(std::move(result));
    }

    Conditions either(const Symbolic& taken, const Conditions& yes, const Conditions& no,
                      std::uint32_t branch) {
        if (is_always(yes) && is_always(no)) return yes;
        const Symbolic not_taken = table_.negate(taken);
        Conditions result;
        const auto append = [&result](const Conditions& more) {
            result.insert(result.end(), more.begin(), more.end());
        };
        // p or (not p and q) is p or q.
        if (is_always(yes)) {
            result.push_back({taken, branch});
            append(no);
        } else if (is_always(no)) {
            result.push_back({not_taken, branch});
            append(yes);
        } else {
            append(both(yes, no));
            append(with(taken, yes));
            append(with(not_taken, no));
        }
        return bounded(std::move(result));
    }

    SymbolTable& table_;
    const FunctionValues& kernel_;
    unsigned steps_ = 0, path_blocks_ = 0;
    unsigned depth_of_threads_ = 0;  // branches on the path that need not go the same way for all threads
    UnknownTests unknown_tests_;
};

// Breaks a predicate into conditions each of which makes it true: a || b, max(a, b) >= c, and what their
// negations come to.
class Alternatives {
  public:
    explicit Alternatives(SymbolTable& table) : table_(table) {}

    void split(const Symbolic& predicate, std::vector<Symbolic>& out) {
        const Atom* made = table_.as_operation(predicate);
        if (made != nullptr && out.size() < max_conditions && ++steps_ < max_path_steps) {
            const Operation& operation = made->operation;
            const std::vector<Symbolic>& operands = made->operands;
            if (operation.op == Operator::or_) {
                split(operands[0], out);
                split(operands[1], out);
                return;
            }
            if (operation.op == Operator::not_ && split_negation(operands[0], out)) return;
            if (operation.op == Operator::setp && split_maximum(operation, operands, out)) return;
            if (operation.op == Operator::and_ && split_conjunction(operands, out)) return;
        }
        if (std::ranges::find(out, predicate) == out.end()) out.push_back(predicate);
    }

  private:
    bool split_negation(const Symbolic& inside, std::vector<Symbolic>& out) {
        const Atom* made = table_.as_operation(inside);
        if (made == nullptr || (made->operation.op != Operator::and_ && made->operation.op != Operator::or_))
            return false;
        const Symbolic left = table_.negate(made->operands[0]), right = table_.negate(made->operands[1]);
        split(table_.logical(made->operation.op == Operator::and_ ? Operator::or_ : Operator::and_, left,
                             right),
              out);
        return true;
    }

    // a && (b || c) is a && b || a && c.
    bool split_conjunction(const std::vector<Symbolic>& operands, std::vector<Symbolic>& out) {
        std::vector<Symbolic> left, right;
        split(operands[0], left);
        split(operands[1], right);
        if (left.size() * right.size() < 2 || left.size() * right.size() > max_conditions) return false;
        for (const Symbolic& a : left)
            for (const Symbolic& b : right) out.push_back(table_.logical(Operator::and_, a, b));
        return true;
    }

    // max(a, b) >= c: a >= c or b >= c; c <= max(a, b) likewise. Only where the comparison and the maximum
    // read their operands with the same sign.
    bool split_maximum(const Operation& comparison, const std::vector<Symbolic>& operands,
                       std::vector<Symbolic>& out) {
        using enum ptx::Comparison;
        const bool rises_left = comparison.comparison == ge || comparison.comparison == gt;
        const bool rises_right = comparison.comparison == le || comparison.comparison == lt;
        if (!rises_left && !rises_right) return false;
        for (std::size_t side = 0; side < 2; side++) {
            const Atom* inner = table_.as_operation(operands[side]);
            const Operator wanted = (side == 0) == rises_left ? Operator::max : Operator::min;
            if (inner == nullptr || inner->operation.op != wanted || inner->operation.type != comparison.type)
                continue;
            for (const Symbolic& choice : inner->operands) {
                std::vector<Symbolic> replaced = operands;
                replaced[side] = choice;
                split(table_.apply(comparison, replaced), out);
            }
            return true;
        }
        return false;
    }

    SymbolTable& table_;
    unsigned steps_ = 0;
};

}  // namespace

std::vector<ExitCondition> exit_conditions(SymbolTable& table, const FunctionValues& kernel,
                                           UnknownTests* unknown) {
    std::vector<ExitCondition> result;
    Walk walk(table, kernel);
    const std::vector<ExitCondition> found = walk.run();
    if (unknown != nullptr) *unknown = walk.unknown_tests();
    for (const ExitCondition& condition : found) {
        std::vector<Symbolic> parts;
        Alternatives(table).split(condition.predicate, parts);
        for (const Symbolic& part : parts) {
            const bool known = std::ranges::any_of(
                result, [&](const ExitCondition& other) { return other.predicate == part; });
            if (!known) result.push_back({part, condition.instruction});
        }
    }
    return result;
}

}  // namespace trimtab::analysis
