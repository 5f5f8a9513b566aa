// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/loops/row_loops.h"

#include <algorithm>

#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/values/guards.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::Opcode;

class RowLoops {
  public:
    RowLoops(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices)
        : table_(table), kernel_(kernel), flow_(kernel.flow()), indices_(indices) {}

    std::expected<std::vector<StridedLoop>, Fault> run() const {
        std::vector<StridedLoop> result;
        for (const LoopIndices::Strided& rows : indices_.rows()) {
            auto loop = bounds(rows);
            if (!loop)
                return std::unexpected(
                    Fault{3, flow_.blocks[flow_.loops[rows.loop].header].first,
                          "loops over rows up to a bound that does not follow from the arguments"});
            result.push_back(std::move(*loop));
        }
        return result;
    }

  private:
    // Of a test that every iteration meets before the next one.
    std::optional<StridedLoop> bounds(const LoopIndices::Strided& rows) const {
        const ptx::Loop& loop = flow_.loops[rows.loop];
        const auto is_in = [&](BlockIndex block) { return loop.contains(block); };
        for (const BlockIndex block : loop.blocks) {
            const ptx::BasicBlock& body = flow_.blocks[block];
            if (body.first == body.last || body.successors.size() != 2) continue;
            const std::uint32_t last = body.last - 1;
            const bool out_if_taken = !is_in(body.successors[0]);
            if (kernel_.function().body[last].opcode != Opcode::bra ||
                out_if_taken == !is_in(body.successors[1]) ||
                !std::ranges::all_of(loop.latches,
                                     [&](BlockIndex latch) { return flow_.dominates(block, latch); }))
                continue;
            Symbolic out = kernel_.guard(last);
            if (out.width != 1 || !table_.is_small(out)) continue;
            out = indices_.with_indices(out_if_taken ? out : table_.negate(out), block);
            // A test of the row itself comes before all that is done with it.
            const Symbolic count = table_.row_count(rows.dimension, 64);
            if (table_.substitute(out, replacing(count, SymbolTable::constant(0, 64))) == out &&
                (block != loop.header || works(block)))
                continue;
            if (auto found = as_test(out, rows.dimension))
                return StridedLoop{.dimension = rows.dimension,
                                   .exits = {std::move(*found)},
                                   .instruction = last,
                                   .is_of_rows = true,
                                   .header = flow_.loops[rows.loop].header,
                                   .widens = !indices_.taken_for_granted(rows.loop).empty()};
        }
        return std::nullopt;
    }
    bool works(BlockIndex block) const {
        for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].last; i++)
            if (has_effect(kernel_, i)) return true;
        return false;
    }
    // With the global index in the place of the row's, whether it is tested in its own iteration or for the next one.
    std::optional<Symbolic> as_test(const Symbolic& out, Dimension dimension) const {
        const Symbolic row = table_.row_index(dimension, 64), count = table_.row_count(dimension, 64);
        Symbolic test = table_.substitute(out, replacing(count, SymbolTable::constant(0, 64)));
        if (test != out && table_.substitute(test, replacing(row, table_.add(row, count))) != out)
            return std::nullopt;
        bool others = false;
        table_.for_each_atom(test, [&](AtomIndex at) {
            const Atom& atom = table_.atom(at);
            others |= atom.kind == Atom::Kind::global_index || atom.kind == Atom::Kind::loop_index ||
                      (atom.kind == Atom::Kind::row_index && atom.dimension != dimension);
        });
        if (others) return std::nullopt;
        test = table_.substitute(test, replacing(row, table_.global_index(dimension, 64)));
        if (!is_expressible(table_, test) || trend(table_, test, dimension) != Trend::rises)
            return std::nullopt;
        return test;
    }

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const ptx::ControlFlow& flow_;
    const LoopIndices& indices_;
};

}  // namespace

std::expected<std::vector<StridedLoop>, Fault> row_loops(SymbolTable& table, const FunctionValues& kernel,
                                                         const LoopIndices& indices) {
    return RowLoops(table, kernel, indices).run();
}

}  // namespace trimtab::analysis
