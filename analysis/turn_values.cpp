#include "analysis/turn_values.h"

#include <algorithm>
#include <cstdint>

#include "analysis/guards.h"
#include "analysis/turn_arrays.h"

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::ValueIndex;

namespace {

bool mentions(const SymbolTable& table, const Symbolic& value, Atom::Kind kind, Dimension dimension) {
    bool found = false;
    table.for_each_atom(value, [&](AtomIndex index) {
        const Atom& atom = table.atom(index);
        found |= atom.kind == kind && atom.dimension == dimension;
    });
    return found;
}

AtomIndex atom_of(const Symbolic& value) {
    return value.terms[0].atoms[0];
}

bool is_in(const ptx::Loop& loop, BlockIndex block) {
    return std::ranges::find(loop.blocks, block) != loop.blocks.end();
}

}  // namespace

// --- registers that follow a loop's index ---

LoopIndices::LoopIndices(SymbolTable& table, const FunctionValues& kernel,
                         const std::array<bool, 3>& dimensions)
    : table_(&table), kernel_(&kernel) {
    // Outer loops come first: what inner loops start from may follow an outer one's index.
    for (std::uint32_t l = 0; l < kernel.flow().loops.size(); l++)
        for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z})
            if (dimensions[static_cast<std::size_t>(dimension)] &&
                (stride(l, dimension, Over::threads) ||
                 (kernel.blocks_are_units() && stride(l, dimension, Over::rows))))
                break;
}

Symbolic LoopIndices::with_indices(const Symbolic& value) const {
    return table_->is_small(value) ? table_->substitute(value, functions_) : value;
}

Symbolic LoopIndices::with_indices(const Symbolic& value, BlockIndex at) const {
    if (!table_->is_small(value)) return value;
    Symbolic result = table_->substitute(value, functions_at(at));
    for (const Strided& strided : loops_)
        if (is_in(kernel_->flow().loops[strided.loop], at))
            result = with_next_index(result, strided.dimension, Over::threads);
    return result;
}

std::map<AtomIndex, Symbolic> LoopIndices::functions_at(BlockIndex block) const {
    std::map<AtomIndex, Symbolic> result;
    for (const auto* functions : {&functions_, &row_functions_})
        for (const auto& [phi, function] : *functions)
            if (is_in(kernel_->flow().loops[loop_of_.at(phi)], block)) result.emplace(phi, function);
    return result;
}

const Symbolic* LoopIndices::as_function(AtomIndex phi) const {
    const auto at = functions_.find(phi);
    return at == functions_.end() ? nullptr : &at->second;
}

// A phi is worth an atom of its own, and what its incoming values share of launch registers.
std::optional<AtomIndex> LoopIndices::own_atom(ValueIndex phi) const {
    for (const Term& term : kernel_->value(phi).terms)
        if (term.atoms.size() == 1 && term.coefficient == 1 &&
            kernel_->phi_of(table_->atom(term.atoms[0])) == phi)
            return term.atoms[0];
    return std::nullopt;
}
Symbolic LoopIndices::own_part(ValueIndex phi, ValueIndex incoming) const {
    return table_->subtract(kernel_->value(incoming), table_->unclean_part(kernel_->value(phi)));
}

// What all ways into the loop agree on.
std::optional<Symbolic> LoopIndices::first_value(const ptx::Loop& loop, ValueIndex phi) const {
    const auto& predecessors = kernel_->flow().blocks[loop.header].predecessors;
    const auto& incoming = kernel_->ssa().values[phi].incoming;
    std::optional<Symbolic> first;
    for (std::size_t i = 0; i < predecessors.size(); i++) {
        if (is_in(loop, predecessors[i])) continue;
        if (incoming[i] == no_index || !table_->is_small(kernel_->value(incoming[i]))) return std::nullopt;
        Symbolic value = with_indices(own_part(phi, incoming[i]), loop.header);
        if (first && *first != value) return std::nullopt;
        first = std::move(value);
    }
    return first;
}

// Those whose next turn's value is that of the next index; they may be computed from each other.
void LoopIndices::keep_followers(const ptx::Loop& loop, const std::map<AtomIndex, Symbolic>& to_next,
                                 Candidates& candidates, Dimension dimension, Over over) const {
    const auto& predecessors = kernel_->flow().blocks[loop.header].predecessors;
    const auto follows = [&](const Candidate& candidate, const std::map<AtomIndex, Symbolic>& functions) {
        const Symbolic next = table_->substitute(candidate.function, to_next);
        const auto& incoming = kernel_->ssa().values[candidate.phi].incoming;
        for (std::size_t p = 0; p < predecessors.size(); p++) {
            if (!is_in(loop, predecessors[p])) continue;
            if (incoming[p] == no_index || !table_->is_small(kernel_->value(incoming[p])) ||
                with_next_index(table_->substitute(own_part(candidate.phi, incoming[p]), functions),
                                dimension, over) != next)
                return false;
        }
        return true;
    };
    for (bool changed = true; changed;) {
        changed = false;
        std::map<AtomIndex, Symbolic> functions = functions_at(loop.header);
        for (const auto& [phi, candidate] : candidates) functions[phi] = candidate.function;
        for (auto at = candidates.begin(); at != candidates.end();) {
            const bool good = follows(at->second, functions);
            changed |= !good;
            at = good ? std::next(at) : candidates.erase(at);
        }
    }
}

// The index of the next turn in 32 bits, made 64 bits wide: the launch has it that an index below the bound plus
// the total does not wrap.
Symbolic LoopIndices::with_next_index(const Symbolic& value, Dimension dimension, Over over) const {
    if (over == Over::rows || !table_->is_small(value)) return value;
    std::map<AtomIndex, Symbolic> sums;
    table_->for_each_atom(value, [&](AtomIndex index) {
        const Atom& wide = table_->atom(index);
        if (wide.kind != Atom::Kind::operation || wide.operation.op != Operator::cvt ||
            width_bits(wide.operation.type) != 64 || width_bits(wide.operation.source) != 32 ||
            ptx::is_float(wide.operation.type) || ptx::is_float(wide.operation.source))
            return;
        for (const bool in_loop : {false, true}) {
            const auto next = [&](unsigned width) {
                return table_->add(
                    in_loop ? table_->loop_index(dimension, width) : table_->global_index(dimension, width),
                    table_->total(dimension, width));
            };
            if (wide.operands[0] == next(32)) sums.emplace(index, next(64));
        }
    });
    return sums.empty() ? value : table_->substitute(value, sums);
}

// The 64 bits of rest + k * g, a sum in 32 bits, as those of rest plus k * g: equal where the sum is in the range
// of its type. As g grows from 0 it leaves that range at one end, so that one comparison says it for all
// smaller ones too.
Symbolic LoopIndices::unwrapped(const Symbolic& value, Dimension dimension,
                                std::vector<Symbolic>& granted) const {
    const Symbolic g = table_->global_index(dimension, 64);
    std::map<AtomIndex, Symbolic> sums;
    for (const Term& term : value.terms) {
        for (const AtomIndex index : term.atoms) {
            const Atom& wide = table_->atom(index);
            if (wide.kind != Atom::Kind::operation || wide.operation.op != Operator::cvt ||
                width_bits(wide.operation.type) != 64 || width_bits(wide.operation.source) != 32 ||
                ptx::is_float(wide.operation.type) || ptx::is_float(wide.operation.source))
                continue;
            const bool is_signed = is_signed_type(wide.operation.source);
            Symbolic rest = wide.operands[0];
            const auto at = std::ranges::find(rest.terms, std::vector{atom_of(g)}, &Term::atoms);
            if (at == rest.terms.end()) continue;
            const auto factor = static_cast<std::uint64_t>(sign_extend(at->coefficient, 32));
            rest.terms.erase(at);
            if (mentions(*table_, rest, Atom::Kind::global_index, dimension) ||
                !is_expressible(*table_, rest))
                continue;
            const Symbolic sum =
                table_->add(table_->apply(wide.operation, {rest}), SymbolTable::scaled(g, factor));
            const bool grows = static_cast<std::int64_t>(factor) > 0;
            const std::int64_t last = is_signed ? (grows ? INT32_MAX : INT32_MIN) : (grows ? UINT32_MAX : 0);
            const auto in_range = operation_of(Operator::setp, ptx::Type::s64,
                                               grows ? ptx::Comparison::le : ptx::Comparison::ge);
            granted.push_back(
                table_->apply(*in_range, {sum, SymbolTable::constant(static_cast<std::uint64_t>(last), 64)}));
            sums.emplace(index, sum);
        }
    }
    return table_->substitute(value, sums);
}

std::vector<Symbolic> LoopIndices::taken_for_granted(std::uint32_t loop) const {
    const auto at = granted_.find(loop);
    return at == granted_.end() ? std::vector<Symbolic>() : at->second;
}

// A register that is f(g) on entry, and f(i + total) at the end of a turn that began with it as f(i), is f(i)
// in every turn.
//
// Over rows, blockIdx takes the place of g and of i, and gridDim that of the total: both are the same in every
// launch, and only for what is asked in the loop blockIdx stands for i.
bool LoopIndices::stride(std::uint32_t index, Dimension dimension, Over over) {
    const ptx::Loop& loop = kernel_->flow().loops[index];
    // One name stands for one loop's rows.
    for (const Strided& outer : rows_)
        if (over == Over::rows && outer.dimension == dimension &&
            is_in(kernel_->flow().loops[outer.loop], loop.header))
            return false;
    const bool is_of_rows = over == Over::rows;
    const Symbolic g = is_of_rows ? table_->row_index(dimension, 64) : table_->global_index(dimension, 64);
    const Symbolic i = is_of_rows ? g : table_->loop_index(dimension, 64);
    const Symbolic step = is_of_rows ? table_->row_count(dimension, 64) : table_->total(dimension, 64);
    const std::map<AtomIndex, Symbolic> to_index{{atom_of(g), i}};
    const std::map<AtomIndex, Symbolic> to_next{{atom_of(i), table_->add(i, step)}};
    Candidates candidates, straight;
    for (const ValueIndex phi : kernel_->phis(loop.header)) {
        const auto own = own_atom(phi);
        if (!own) continue;
        auto first = first_value(loop, phi);
        if (first) *first = with_next_index(*first, dimension, over);
        if (!first || !table_->is_clean(*first) ||
            !mentions(*table_, *first, is_of_rows ? Atom::Kind::row_index : Atom::Kind::global_index,
                      dimension))
            continue;
        candidates[*own] = {phi, table_->substitute(*first, to_index), {}};
        if (is_of_rows) continue;
        std::vector<Symbolic> granted;
        const Symbolic sum = unwrapped(*first, dimension, granted);
        if (!granted.empty()) straight[*own] = {phi, table_->substitute(sum, to_index), std::move(granted)};
    }
    keep_followers(loop, to_next, candidates, dimension, over);
    // Pointers that begin at a sum in 32 bits and go on in 64.
    if (!straight.empty()) {
        candidates.merge(straight);
        keep_followers(loop, to_next, candidates, dimension, over);
    }
    if (candidates.empty()) return false;
    for (const auto& [phi, candidate] : candidates) {
        (is_of_rows ? row_functions_ : functions_)[phi] = candidate.function;
        loop_of_[phi] = index;
        auto& granted = granted_[index];
        granted.insert(granted.end(), candidate.granted.begin(), candidate.granted.end());
    }
    (is_of_rows ? rows_ : loops_).push_back({index, dimension});
    return true;
}

// --- what values depend on ---

TurnValues::TurnValues(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
                       const ptx::ControlDependence& control, Dimension dimension, const AgreedValues& agreed)
    : table_(table),
      kernel_(kernel),
      indices_(indices),
      control_(control),
      dimension_(dimension),
      agreed_(agreed),
      homes_(kernel.flow().blocks.size(), outside),
      dependences_(kernel.ssa().values.size()) {
    agreed_.told.resize(dependences_.size());
    agreed_.by_all.resize(dependences_.size());
    agreed_.by_first.resize(dependences_.size());
    agreed_.rounded.resize(dependences_.size());
    for (ValueIndex v = 0; v < dependences_.size(); v++) dependences_[v].on_rounding = agreed_.rounded[v];
    agreed_.of_first_only.resize(homes_.size());
    agreed_.within.resize(dependences_.size(), no_index);
    for (const LoopIndices::Strided& strided : indices.loops())
        if (strided.dimension == dimension)
            for (const BlockIndex block : kernel.flow().loops[strided.loop].blocks)
                homes_[block] = strided.loop;
    merging_branches_.resize(kernel.flow().blocks.size());
    for (const BlockIndex block : kernel.flow().reverse_post_order)
        if (!kernel.phis(block).empty()) merging_branches_[block] = merging_branches(block);
    const auto& body = kernel.function().body;
    of_stack_.resize(body.size());
    for (std::uint32_t i = 0; i < body.size(); i++) {
        if (!kernel.is_reachable(i) || !is_stack_access(kernel, i)) continue;
        if (ptx::is_load(body[i]))
            of_stack_[i] = true;
        else
            stack_stores_.push_back(i);
    }
    // Dependences only grow.
    for (bool changed = true; changed;) {
        changed = false;
        for (ValueIndex v = 0; v < dependences_.size(); v++) {
            if (agreed_.by_all[v] && agreed_.within[v] == no_index) continue;
            Dependence now = dependences_[v];
            now.on_launch |= agreed_.told[v];
            now.join(made(v));
            if (now == dependences_[v]) continue;
            dependences_[v] = now;
            changed = true;
        }
    }
}

BlockIndex TurnValues::block_of(const ptx::Value& value) const {
    if (value.kind == ptx::Value::Kind::phi) return value.block;
    if (value.kind == ptx::Value::Kind::instruction) return kernel_.flow().block_of[value.instruction];
    return 0;
}

// A value of one loop's turn means nothing outside: which turn it is from depends on the total.
bool TurnValues::crosses(ValueIndex value, BlockIndex to) const {
    const std::uint32_t from = home(block_of(kernel_.ssa().values[value]));
    return dependences_[value].on_index && from != outside && from != home(to);
}
bool TurnValues::is_agreed(ValueIndex value, BlockIndex to) const {
    if (!agreed_.by_all[value] && !(agreed_.by_first[value] && agreed_.of_first_only[to])) return false;
    const std::uint32_t within = agreed_.within[value];
    return within == no_index || !is_in(kernel_.flow().loops[within], to);
}
Dependence TurnValues::read(ValueIndex value, BlockIndex to) const {
    if (is_agreed(value, to)) return {.on_rounding = agreed_.rounded[value]};
    Dependence result = dependences_[value];
    result.on_launch |= crosses(value, to);
    return result;
}

Dependence TurnValues::of(const Symbolic& value) const {
    const auto by_atoms = [&](const Symbolic& symbolic) {
        Dependence result;
        table_.for_each_atom(symbolic, [&](AtomIndex index) {
            const Atom& atom = table_.atom(index);
            switch (atom.kind) {
                case Atom::Kind::global_index:
                case Atom::Kind::total:
                case Atom::Kind::warp_index:
                case Atom::Kind::warp_total:
                case Atom::Kind::lane:
                    result.on_launch |= atom.dimension == dimension_;
                    break;
                case Atom::Kind::loop_index:
                    result.on_index |= atom.dimension == dimension_;
                    break;
                case Atom::Kind::opaque:
                    if (const Symbolic* function = indices_.as_function(index))
                        result.join(of(*function));
                    else if (atom.function == kernel_.index())
                        result.join(dependences_[atom.value]);
                    else
                        result.on_launch = true;
                    break;
                default:
                    result.on_launch |= !atom.is_clean();
                    break;
            }
        });
        return result;
    };
    const Dependence result = by_atoms(value);
    // What the total does to one register it may undo to another.
    return result.on_launch && table_.is_small(value) ? by_atoms(indices_.with_indices(value)) : result;
}

Dependence TurnValues::made_phi(const ptx::Value& phi) const {
    Dependence result;
    const auto& flow = kernel_.flow();
    const std::uint32_t at_home = home(phi.block);
    // Carried from turn to turn, and no function of the index.
    if (at_home != outside && flow.loops[at_home].header == phi.block) result.on_launch = true;
    for (const ValueIndex incoming : phi.incoming)
        if (incoming != no_index) result.join(read(incoming, phi.block));
    // Which of them it is, is decided by branches.
    for (const BlockIndex branch : merging_branches_[phi.block]) {
        Dependence decides = uses(flow.blocks[branch].last - 1);
        if (decides.on_index && home(branch) != at_home) decides.on_launch = true;
        result.join(decides);
    }
    return result;
}

// The branches between the block that dominates this one and it, that decide from where it is reached.
std::vector<BlockIndex> TurnValues::merging_branches(BlockIndex block) const {
    const auto& flow = kernel_.flow();
    std::vector<bool> between(flow.blocks.size());
    const BlockIndex above = flow.immediate_dominator[block];
    std::vector<BlockIndex> work{block};
    while (!work.empty()) {
        const BlockIndex at = work.back();
        work.pop_back();
        for (const BlockIndex from : flow.blocks[at].predecessors) {
            if (between[from]) continue;
            between[from] = true;
            if (from != above) work.push_back(from);
        }
    }
    std::vector<BlockIndex> result;
    const auto add = [&](BlockIndex branch) {
        const ptx::BasicBlock& body = flow.blocks[branch];
        if (!between[branch] || body.first == body.last || std::ranges::find(result, branch) != result.end())
            return;
        const ptx::Instruction& last = kernel_.function().body[body.last - 1];
        if (last.opcode == ptx::Opcode::brx || last.guard != no_index) result.push_back(branch);
    };
    for (const BlockIndex from : flow.blocks[block].predecessors) {
        add(from);
        for (const auto& [branch, ways] : control_.deciding(from)) add(branch);
    }
    return result;
}

Dependence TurnValues::made(ValueIndex index) const {
    const ptx::Value& value = kernel_.ssa().values[index];
    const Symbolic& symbolic = kernel_.value(index);
    bool is_itself = symbolic.terms.empty() && symbolic.width == 0;
    for (const Term& term : symbolic.terms)
        for (const AtomIndex at : term.atoms) {
            const Atom& atom = table_.atom(at);
            is_itself |= (atom.kind == Atom::Kind::opaque || atom.kind == Atom::Kind::tainted) &&
                         atom.value == index && indices_.as_function(at) == nullptr;
        }
    Dependence result = of(symbolic);
    const BlockIndex block = block_of(value);
    if (value.kind == ptx::Value::Kind::phi) {
        if (is_itself) result.join(made_phi(value));
        for (const ValueIndex incoming : value.incoming)
            result.on_launch |= incoming != no_index && crosses(incoming, block);
        result.on_launch |= result.on_index && home(block) == outside;
        return result;
    }
    if (value.kind != ptx::Value::Kind::instruction) return result;
    // Of what the thread of index 0 was told it may make more.
    if (agreed_.of_first_only[block]) {
        Dependence by_uses = uses(value.instruction);
        if (value.previous != no_index) by_uses.join(read(value.previous, block));
        if (by_uses.is_same()) return by_uses;
    }
    if (is_itself) {
        result.join(uses(value.instruction));
        if (of_stack_[value.instruction]) result.join(loaded_from_stack(block));
        if (value.previous != no_index) result.join(read(value.previous, block));
    } else {
        for (const ptx::Ssa::Use& use : kernel_.ssa().uses[value.instruction])
            result.on_launch |= use.value != no_index && crosses(use.value, block);
    }
    result.on_launch |= result.on_index && home(block) == outside;
    return result;
}

// What any store left there, and which of them came last.
Dependence TurnValues::loaded_from_stack(BlockIndex block) const {
    Dependence result;
    const bool in_turn = home(block) != outside;
    result.on_index = in_turn;
    for (const std::uint32_t store : stack_stores_) {
        result.join(uses(store));
        if (in_turn) continue;  // what decides within a turn is looked at with the loop
        const BlockIndex from = kernel_.flow().block_of[store];
        result.on_launch |= home(from) != outside;
        for (const auto& [branch, ways] : control_.deciding(from))
            result.join(uses(kernel_.flow().blocks[branch].last - 1));
    }
    return result;
}

Dependence TurnValues::uses(std::uint32_t instruction) const {
    Dependence result;
    const BlockIndex block = kernel_.flow().block_of[instruction];
    for (const ptx::Ssa::Use& use : kernel_.ssa().uses[instruction])
        if (use.value != no_index) result.join(read(use.value, block));
    const ptx::Instruction& made = kernel_.function().body[instruction];
    for (std::size_t i = 0; i < made.operands.size(); i++) {
        const ptx::Operand& operand = made.operands[i];
        if (operand.kind == ptx::Operand::Kind::special) result.join(of(kernel_.operand(instruction, i)));
        for (std::size_t e = 0; e < operand.elements.size(); e++)
            if (operand.elements[e].kind == ptx::Operand::Kind::special) result.on_launch = true;
    }
    if (result.on_index && home(block) == outside) result.on_launch = true;
    return result;
}

}  // namespace trimtab::analysis
