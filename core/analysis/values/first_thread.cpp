// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/first_thread.h"

#include <algorithm>

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::Opcode;

bool FirstThread::has_alone(BlockIndex block) const {
    const auto deciding = control_.deciding(block);
    return std::ranges::any_of(deciding, [&](const auto& by) { return goes_to(by.first, block); });
}

bool FirstThread::goes_to(BlockIndex branch, BlockIndex block) const {
    const ptx::ControlFlow& flow = kernel_.flow();
    const std::uint32_t last = flow.blocks[branch].last - 1;
    const auto& successors = flow.blocks[branch].successors;
    const bool jumps = kernel_.function().body[last].opcode == Opcode::bra;
    for (std::size_t i = 0; i < successors.size(); i++) {
        if (flow.blocks[successors[i]].predecessors.size() != 1 || !flow.dominates(successors[i], block))
            continue;
        const Symbolic taken = kernel_.guard(last);
        if (taken.width != 1 || !table_.is_small(taken)) return false;
        return is_first_index(jumps && i == 0 ? taken : table_.negate(taken));
    }
    return false;
}

bool FirstThread::is_first_index(const Symbolic& predicate) const {
    const Atom* made = table_.as_operation(predicate);
    if (made == nullptr) return false;
    const std::vector<Symbolic>& operands = made->operands;
    if (made->operation.op == Operator::and_)
        return std::ranges::any_of(operands, [&](const Symbolic& part) { return is_first_index(part); });
    // Neither of two.
    if (made->operation.op == Operator::not_) {
        const Atom* inner = table_.as_operation(operands[0]);
        return inner != nullptr && inner->operation.op == Operator::or_ &&
               std::ranges::any_of(inner->operands,
                                   [&](const Symbolic& part) { return is_first_index(table_.negate(part)); });
    }
    if (made->operation.op != Operator::setp || made->operation.comparison != ptx::Comparison::eq ||
        operands[0].width < 32)
        return false;
    // An index is below 2^31: as a word it is 0 where it is.
    const Symbolic difference = table_.subtract(operands[0], operands[1]);
    return is_zero_where_first(difference) ||
           is_zero_where_first(SymbolTable::scaled(difference, ~std::uint64_t{0}));
}

// The index itself; or it and others, where none has a bit set.
bool FirstThread::is_zero_where_first(const Symbolic& value) const {
    if (value == table_.global_index(dimension_, value.width)) return true;
    const Atom* made = table_.as_operation(value);
    return made != nullptr && made->operation.op == Operator::or_ &&
           std::ranges::any_of(made->operands,
                               [&](const Symbolic& part) { return is_zero_where_first(part); });
}

}  // namespace trimtab::analysis
