// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/loop_indices.h"

#include <algorithm>
#include <cstdint>

#include "core/analysis/values/guards.h"

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

}  // namespace

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

Symbolic LoopIndices::with_indices(const Symbolic& value, BlockIndex at) const {
    if (!table_->is_small(value)) return value;
    Symbolic result = table_->substitute(value, functions_at(at));
    for (const Strided& strided : loops_)
        if (kernel_->flow().loops[strided.loop].contains(at))
            result = with_next_index(result, strided.dimension, Over::threads);
    return result;
}

std::map<AtomIndex, Symbolic> LoopIndices::functions_at(BlockIndex block) const {
    std::map<AtomIndex, Symbolic> result;
    for (const auto* functions : {&functions_, &row_functions_})
        for (const auto& [phi, function] : *functions)
            if (kernel_->flow().loops[loop_of_.at(phi)].contains(block)) result.emplace(phi, function);
    return result;
}

const Symbolic* LoopIndices::function_at(AtomIndex phi, BlockIndex at) const {
    const auto found = functions_.find(phi);
    return found != functions_.end() && kernel_->flow().loops[loop_of_.at(phi)].contains(at) ? &found->second
                                                                                             : nullptr;
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
        if (loop.contains(predecessors[i])) continue;
        if (incoming[i] == no_index || !table_->is_small(kernel_->value(incoming[i]))) return std::nullopt;
        Symbolic value = with_indices(own_part(phi, incoming[i]), loop.header);
        if (first && *first != value) return std::nullopt;
        first = std::move(value);
    }
    return first;
}

// Those whose next iteration's value is that of the next index; they may be computed from each other.
void LoopIndices::keep_followers(const ptx::Loop& loop, const std::map<AtomIndex, Symbolic>& to_next,
                                 Candidates& candidates, Dimension dimension, Over over) const {
    const auto& predecessors = kernel_->flow().blocks[loop.header].predecessors;
    const auto follows = [&](const Candidate& candidate, const std::map<AtomIndex, Symbolic>& functions) {
        const Symbolic next = table_->substitute(candidate.function, to_next);
        const auto& incoming = kernel_->ssa().values[candidate.phi].incoming;
        for (std::size_t p = 0; p < predecessors.size(); p++) {
            if (!loop.contains(predecessors[p])) continue;
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

// The index of the next iteration in 32 bits, made 64 bits wide: the launch has it that an index below the bound plus
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

// A register that is f(g) on entry, and f(i + total) at the end of an iteration that began with it as f(i), is f(i)
// in every iteration.
//
// Over rows, blockIdx takes the place of g and of i, and gridDim that of the total: both are the same in every
// launch, and only for what is asked in the loop blockIdx stands for i.
bool LoopIndices::stride(std::uint32_t index, Dimension dimension, Over over) {
    const ptx::Loop& loop = kernel_->flow().loops[index];
    // One name stands for one loop's rows.
    for (const Strided& outer : rows_)
        if (over == Over::rows && outer.dimension == dimension &&
            kernel_->flow().loops[outer.loop].contains(loop.header))
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

}  // namespace trimtab::analysis
