// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/block_sweep.h"

#include <algorithm>

#include "core/analysis/values/guards.h"

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;

namespace {

// As many as a block could go over by a loop that still pays: shared memory has no more bytes.
constexpr std::uint32_t most_constant_bound = 1u << 18;

}  // namespace

std::optional<FunctionValues> values_of_block(SymbolTable& table, const ptx::Function& function,
                                              std::uint32_t index, const LaunchReads& reads) {
    LaunchReads of_block = reads;
    of_block.assumed.of[0] = Assumed::grid_stays;
    for (const std::size_t d : {1, 2}) {
        if (reads.thread_index[d] || reads.block_size[d]) return std::nullopt;
        if (of_block.assumed.of[d] == Assumed::grid_stays) of_block.assumed.of[d] = Assumed::nothing;
    }
    auto values = FunctionValues::make(table, function, index, of_block);
    if (!values || !values->flow().reducible) return std::nullopt;
    return std::move(*values);
}

bool is_set_by_arguments(const SymbolTable& table, const Symbolic& address) {
    if (address.width != 64 || !is_expressible(table, address)) return false;
    bool good = true;
    table.for_each_atom(address, [&](AtomIndex at) {
        const Atom::Kind kind = table.atom(at).kind;
        good &= kind == Atom::Kind::parameter || kind == Atom::Kind::symbol || kind == Atom::Kind::operation;
    });
    return good;
}

// k >= n, or n <= k.
Symbolic BlockSweep::bound_of_arguments(SymbolTable& table) const {
    const Atom* test = exits.empty() ? nullptr : table.as_operation(exits.front());
    if (test == nullptr || test->operation.op != Operator::setp || test->operands.size() != 2) return {};
    const bool is_index_first = test->operation.comparison == ptx::Comparison::ge;
    if (!is_index_first && test->operation.comparison != ptx::Comparison::le) return {};
    const Symbolic &index = test->operands[is_index_first ? 0 : 1],
                   &end = test->operands[is_index_first ? 1 : 0];
    if (index != table.global_index(Dimension::x, index.width) || !is_expressible(table, end)) return {};
    bool is_of_index = false;
    table.for_each_atom(
        end, [&](AtomIndex at) { is_of_index |= table.atom(at).kind == Atom::Kind::global_index; });
    if (is_of_index) return {};
    if (end.width == 64) return end;
    const auto widened =
        end.width == 32 ? conversion(ptx::Type::s64,
                                     is_signed_type(test->operation.type) ? ptx::Type::s32 : ptx::Type::u32)
                        : std::nullopt;
    return widened ? table.apply(*widened, {end}) : Symbolic{};
}

Symbolic BlockSweeps::as_index(const Symbolic& value, BlockIndex block) const {
    if (value.width == 0 || !table_.is_small(value)) return {};
    const Symbolic known = indices_.with_indices(value, block);
    // In a loop a thread's own number is the index of its first iteration alone.
    const Atom::Kind other =
        kernel_.flow().innermost_loop[block] == no_index ? Atom::Kind::loop_index : Atom::Kind::global_index;
    bool is_other = false;
    table_.for_each_atom(known, [&](AtomIndex at) {
        const Atom& atom = table_.atom(at);
        is_other |= atom.kind == other && atom.dimension == Dimension::x;
    });
    if (is_other) return {};
    return table_.substitute(
        known, replacing(table_.loop_index(Dimension::x, 64), table_.global_index(Dimension::x, 64)));
}

// Within an iteration of the loop.
bool BlockSweeps::leads(BlockIndex from, BlockIndex to, const ptx::Loop& loop) const {
    const auto& blocks = kernel_.flow().blocks;
    return ptx::reached_from(blocks.size(), {from}, [&](BlockIndex at, const auto& go) {
        for (const BlockIndex next : blocks[at].successors)
            if (next != loop.header && loop.contains(next)) go(next);
    })[to];
}

// Of the index before the loop and in it, and at the end of an iteration of the next one.
bool BlockSweeps::add_test(BlockIndex branch, std::uint8_t ways, BlockIndex block, BlockSweep& sweep) {
    if (ways != ptx::taken && ways != ptx::falls_through) return false;
    const std::uint32_t last = kernel_.flow().blocks[branch].last - 1;
    if (kernel_.function().body[last].opcode != ptx::Opcode::bra) return false;
    Symbolic out = kernel_.guard(last);
    if (out.width != 1 || !table_.is_small(out)) return false;
    if (ways == ptx::taken) out = table_.negate(out);
    const std::uint32_t loop = kernel_.flow().innermost_loop[block];
    const auto is_in_loop = [&](BlockIndex at) {
        return loop != no_index && kernel_.flow().loops[loop].contains(at);
    };
    out = indices_.with_indices(out, branch);
    const Symbolic index = table_.loop_index(Dimension::x, 64), g = table_.global_index(Dimension::x, 64),
                   total = table_.total(Dimension::x, 64);
    Symbolic exits = table_.substitute(out, replacing(total, SymbolTable::constant(0, 64)));
    const bool tests_next = exits != out;
    if (tests_next &&
        (!is_in_loop(branch) || table_.substitute(exits, replacing(index, table_.add(index, total))) != out))
        return false;
    // A thread's own number tells nothing of the iteration that it is in.
    bool is_of_others = false;
    table_.for_each_atom(exits, [&](AtomIndex at) {
        const Atom& atom = table_.atom(at);
        is_of_others |=
            atom.kind == Atom::Kind::row_index || atom.kind == Atom::Kind::row_count ||
            atom.kind == Atom::Kind::total || !atom.is_clean() ||
            (atom.kind == Atom::Kind::global_index &&
             (is_in_loop(branch) || atom.dimension != Dimension::x)) ||
            (atom.kind == Atom::Kind::loop_index && (!is_in_loop(branch) || atom.dimension != Dimension::x));
    });
    if (is_of_others) return false;
    exits = table_.substitute(exits, replacing(index, g));
    if (!is_expressible(table_, exits) || trend(table_, exits, Dimension::x) != Trend::rises) return false;
    if (!is_in_loop(branch)) {
        sweep.tests_first = true;
    } else if (tests_next) {
        // What is done behind the test is not done in a thread's last iteration.
        if (leads(branch, block, kernel_.flow().loops[loop])) return false;
        sweep.tests_next = true;
    } else {
        // What is tested behind the instruction was not when that was done.
        if (!kernel_.flow().dominates(branch, block)) return false;
        sweep.tests_first = sweep.tests_next = true;
    }
    if (std::ranges::find(sweep.exits, exits) == sweep.exits.end()) sweep.exits.push_back(std::move(exits));
    return true;
}

std::optional<std::uint32_t> BlockSweeps::constant_bound(const Symbolic& exits, Sweep kind) const {
    const auto is_out = [&](std::uint64_t k) -> std::optional<bool> {
        const Symbolic at = table_.substitute(
            exits, replacing(table_.global_index(Dimension::x, 64), SymbolTable::constant(k, 64)));
        return at.is_constant() ? std::optional(at.constant() != 0) : std::nullopt;
    };
    // A test such as threadIdx.x == 0 has a bound, too, and one such as threadIdx.x == 5 none: of each thread that a
    // block may have it is asked.
    if (kind == Sweep::of_threads) {
        std::optional<std::uint32_t> bound;
        for (std::uint32_t k = 0; k < most_block_threads; k++) {
            const auto out = is_out(k);
            if (!out || (bound && !*out)) return std::nullopt;
            if (*out && !bound) bound = k;
        }
        return bound == 0 ? std::nullopt : bound;
    }
    std::uint32_t first = 0, last = most_constant_bound;
    const auto ends = is_out(last);
    if (!ends || !*ends) return std::nullopt;
    while (first < last) {
        const std::uint32_t middle = first + (last - first) / 2;
        const auto out = is_out(middle);
        if (!out) return std::nullopt;
        if (*out)
            last = middle;
        else
            first = middle + 1;
    }
    // A test that wraps sends the first ones away, too: (unsigned)(k - 3) >= 61 does.
    for (std::uint32_t k = 0; k < first; k++)
        if (const auto out = is_out(k); !out || *out) return std::nullopt;
    return first;
}

// k >= bound, with nothing added to k that could wrap.
bool BlockSweeps::compares_index_alone(const Symbolic& exits) const {
    const Atom* test = table_.as_operation(exits);
    if (test == nullptr || test->operation.op != Operator::setp || test->operands.size() != 2) return false;
    using enum ptx::Comparison;
    const bool is_left = test->operation.comparison == ge || test->operation.comparison == gt;
    if (!is_left && test->operation.comparison != le && test->operation.comparison != lt) return false;
    const Symbolic &index = test->operands[is_left ? 0 : 1], &bound = test->operands[is_left ? 1 : 0];
    const Symbolic k = table_.global_index(Dimension::x, index.width);
    bool is_of_index = false;
    table_.for_each_atom(bound, [&](AtomIndex at) { is_of_index |= at == k.terms[0].atoms[0]; });
    return index == k && !is_of_index;
}

bool BlockSweeps::is_whole(BlockIndex block, BlockSweep& sweep) const {
    if (sweep.exits.empty()) return false;
    if (sweep.is_loop) {
        const std::uint32_t l = kernel_.flow().innermost_loop[block];
        const ptx::Loop& loop = kernel_.flow().loops[l];
        const bool strides = std::ranges::any_of(indices_.loops(), [&](const LoopIndices::Strided& strided) {
            return strided.loop == l && strided.dimension == Dimension::x;
        });
        if (!strides || loop.parent != no_index || !sweep.tests_first || !sweep.tests_next ||
            !indices_.taken_for_granted(l).empty())
            return false;
    }
    for (std::size_t i = 0; i < sweep.exits.size(); i++) {
        const auto bound = constant_bound(sweep.exits[i], sweep.is_loop ? Sweep::of_loop : Sweep::of_threads);
        if (i > 0 && (!bound || bound != sweep.bound)) return false;
        sweep.bound = bound;
    }
    return sweep.bound ||
           (sweep.is_loop && sweep.exits.size() == 1 && compares_index_alone(sweep.exits.front()));
}

}  // namespace trimtab::analysis
