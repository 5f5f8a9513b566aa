// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/labels.h"

#include <algorithm>

#include "core/analysis/values/iteration_arrays.h"
#include "core/analysis/values/memory_roots.h"

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::ValueIndex;

namespace {

constexpr std::array dimensions = {Dimension::x, Dimension::y, Dimension::z};

}  // namespace

Labels::Labels(const SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
               const ptx::ControlDependence& control, const AgreedValues& agreed)
    : table_(table),
      kernel_(kernel),
      indices_(indices),
      control_(control),
      agreed_(agreed),
      labels_(kernel.ssa().values.size()) {
    const auto& flow = kernel.flow();
    for (auto& homes : homes_) homes.assign(flow.blocks.size(), outside);
    for (const LoopIndices::Strided& strided : indices.loops())
        for (const BlockIndex block : flow.loops[strided.loop].blocks)
            homes_[static_cast<std::size_t>(strided.dimension)][block] = strided.loop;
    for (auto* of_values : {&agreed_.told, &agreed_.by_all, &agreed_.by_first, &agreed_.rounded})
        of_values->resize(labels_.size());
    agreed_.within.resize(labels_.size(), no_index);
    agreed_.of_first_only.resize(flow.blocks.size());
    for (ValueIndex v = 0; v < labels_.size(); v++)
        if (agreed_.rounded[v]) labels_[v] = Label::rounding();
    merging_branches_.resize(flow.blocks.size());
    for (const BlockIndex block : flow.reverse_post_order)
        if (!kernel.phis(block).empty()) merging_branches_[block] = merging_branches(block);
    const auto& body = kernel.function().body;
    has_stack_ =
        std::ranges::any_of(kernel.function().variables,
                            [](const auto& variable) { return variable.space == ptx::Space::local; }) ||
        std::ranges::any_of(body, [](const auto& made) { return made.opcode == ptx::Opcode::alloca_; });
    of_stack_.resize(body.size());
    for (std::uint32_t i = 0; i < body.size(); i++) {
        if (!kernel.is_reachable(i) || !may_touch_stack(i)) continue;
        if (ptx::is_load(body[i]))
            of_stack_[i] = true;
        else
            stack_stores_.push_back(i);
    }
    for (const std::uint32_t store : stack_stores_)
        for (const auto& [branch, ways] : control_.deciding(kernel_.flow().block_of[store]))
            stack_deciding_.insert(branch);
    // The lattice is finite and labels only grow.
    for (bool changed = true; changed;) {
        changed = false;
        for (ValueIndex v = 0; v < labels_.size(); v++) {
            if (agreed_.by_all[v] && agreed_.within[v] == no_index) continue;
            Label now = labels_[v] | made(v);
            if (agreed_.told[v]) now |= Label::of(Label::shape, Dimension::x);
            changed |= now != labels_[v];
            labels_[v] = now;
        }
    }
}

// What a thread keeps on its stack lies at the same address for all of them, and is its own all the same.
bool Labels::may_touch_stack(std::uint32_t instruction) const {
    const ptx::Function& function = kernel_.function();
    const ptx::Instruction& made = function.body[instruction];
    if (is_stack_access(kernel_, instruction)) return true;
    const auto opcode_class = ptx::info(made.opcode).opcode_class;
    const bool is_access = opcode_class == ptx::OpcodeClass::load ||
                           opcode_class == ptx::OpcodeClass::store ||
                           opcode_class == ptx::OpcodeClass::atomic;
    if (!has_stack_ || !is_access || made.modifiers.space != ptx::Space::generic ||
        kernel_.parameter_load(instruction))
        return false;
    const MemoryRoots roots = memory_roots(table_, kernel_, instruction);
    return roots.is_private || roots.is_unknown;
}

BlockIndex Labels::block_of(const ptx::Value& value) const {
    if (value.kind == ptx::Value::Kind::phi) return value.block;
    if (value.kind == ptx::Value::Kind::instruction) return kernel_.flow().block_of[value.instruction];
    return 0;
}

// A value of one loop's iteration means nothing outside: which iteration it is from depends on how many threads
// there are.
Label Labels::moved(Label label, BlockIndex from, BlockIndex to) const {
    for (const Dimension dimension : dimensions)
        if (label.has(Label::iteration, dimension) && home(from, dimension) != home(to, dimension))
            label = label.without(Label::iteration, dimension) | Label::of(Label::shape, dimension);
    return label;
}

bool Labels::is_agreed(ValueIndex value, BlockIndex to) const {
    if (!agreed_.by_all[value] && !(agreed_.by_first[value] && agreed_.of_first_only[to])) return false;
    const std::uint32_t within = agreed_.within[value];
    return within == no_index || !kernel_.flow().loops[within].contains(to);
}

Label Labels::at(ValueIndex value, BlockIndex to) const {
    if (is_agreed(value, to)) return agreed_.rounded[value] ? Label::rounding() : Label();
    return moved(labels_[value], block_of(kernel_.ssa().values[value]), to);
}

Label Labels::of_atom(AtomIndex index, BlockIndex at) const {
    const Atom& atom = table_.atom(index);
    switch (atom.kind) {
        case Atom::Kind::global_index:
        case Atom::Kind::warp_index:
        case Atom::Kind::lane:
            return Label::of(Label::index, atom.dimension);
        case Atom::Kind::total:
        case Atom::Kind::warp_total:
            return Label::of(Label::shape, atom.dimension);
        case Atom::Kind::row_index:
        case Atom::Kind::row_count:
            return Label::of(Label::thread_block, atom.dimension);
        case Atom::Kind::loop_index:
            return Label::of(home(at, atom.dimension) == outside ? Label::shape : Label::iteration,
                             atom.dimension);
        case Atom::Kind::opaque:
            if (const Symbolic* function = indices_.function_at(index, at)) return of_atoms(*function, at);
            return atom.function == kernel_.index() ? this->at(atom.value, at) : Label::any_shape();
        default:
            return atom.is_clean() ? Label() : Label::any_shape();
    }
}

Label Labels::of_atoms(const Symbolic& value, BlockIndex at) const {
    Label result;
    table_.for_each_atom(value, [&](AtomIndex index) { result |= of_atom(index, at); });
    return result;
}

Label Labels::of(const Symbolic& value, BlockIndex at) const {
    const Label result = of_atoms(value, at);
    // What the total does to one register it may undo to another.
    return result.is_of_thread() && table_.is_small(value) ? of_atoms(indices_.with_indices(value, at), at)
                                                           : result;
}

Label Labels::made_by_phi(const ptx::Value& phi) const {
    Label result;
    const auto& flow = kernel_.flow();
    // Carried from iteration to iteration, and no function of the index.
    for (const Dimension dimension : dimensions)
        if (const std::uint32_t loop = home(phi.block, dimension);
            loop != outside && flow.loops[loop].header == phi.block)
            result |= Label::of(Label::shape, dimension);
    for (const ValueIndex incoming : phi.incoming)
        if (incoming != no_index) result |= at(incoming, phi.block);
    // Which of them it is, is decided by branches.
    for (const BlockIndex branch : merging_branches_[phi.block])
        result |= moved(uses(last_of(branch)), branch, phi.block);
    return result;
}

// The branches between the block that dominates this one and it, that decide from where it is reached.
std::vector<BlockIndex> Labels::merging_branches(BlockIndex block) const {
    const auto& flow = kernel_.flow();
    const BlockIndex above = flow.immediate_dominator[block];
    const auto between = ptx::reached_from(flow.blocks.size(), {block}, [&](BlockIndex at, const auto& go) {
        for (const BlockIndex from : flow.blocks[at].predecessors)
            if (at != above || at == block) go(from);
    });
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

// Is nothing known of the value but that it is what its instruction or its phi makes?
bool Labels::stands_for_itself(ValueIndex index) const {
    const Symbolic& symbolic = kernel_.value(index);
    if (symbolic.terms.empty() && symbolic.width == 0) return true;
    const BlockIndex block = block_of(kernel_.ssa().values[index]);
    for (const Term& term : symbolic.terms)
        for (const AtomIndex at : term.atoms) {
            const Atom& atom = table_.atom(at);
            if ((atom.kind == Atom::Kind::opaque || atom.kind == Atom::Kind::tainted) &&
                atom.value == index && indices_.function_at(at, block) == nullptr)
                return true;
        }
    return false;
}

Label Labels::made(ValueIndex index) const {
    const ptx::Value& value = kernel_.ssa().values[index];
    const BlockIndex block = block_of(value);
    Label result = of(kernel_.value(index), block);
    if (value.kind == ptx::Value::Kind::phi)
        return stands_for_itself(index) ? result | made_by_phi(value) : result;
    if (value.kind != ptx::Value::Kind::instruction) return result;
    const auto of_operands = [&] {
        Label operands = uses(value.instruction);
        if (value.previous != no_index) operands |= at(value.previous, block);
        return operands;
    };
    // Of what the thread of index 0 was told it may make more.
    if (agreed_.of_first_only[block])
        if (const Label operands = of_operands(); operands.is_same()) return operands;
    if (!stands_for_itself(index)) return result;
    if (of_stack_[value.instruction]) result |= loaded_from_stack(block);
    return result | of_operands();
}

// What any store left there, and which of them came last.
Label Labels::loaded_from_stack(BlockIndex block) const {
    Label result;
    for (const Dimension dimension : dimensions) {
        const bool in_iteration = home(block, dimension) != outside;
        if (in_iteration) result |= Label::of(Label::iteration, dimension);
        for (const std::uint32_t store : stack_stores_) {
            const BlockIndex from = kernel_.flow().block_of[store];
            result |= moved(uses(store), from, block).in(dimension);
            if (!in_iteration && home(from, dimension) != outside)
                result |= Label::of(Label::shape, dimension);
        }
        if (in_iteration) continue;  // what decides within an iteration is looked at with the loop
        for (const BlockIndex branch : stack_deciding_)
            result |= moved(uses(last_of(branch)), branch, block).in(dimension);
    }
    return result;
}

Label Labels::uses(std::uint32_t instruction) const {
    Label result;
    const BlockIndex block = kernel_.flow().block_of[instruction];
    for (const ptx::Ssa::Use& use : kernel_.ssa().uses[instruction])
        if (use.value != no_index) result |= at(use.value, block);
    const ptx::Instruction& made = kernel_.function().body[instruction];
    for (std::size_t i = 0; i < made.operands.size(); i++) {
        const ptx::Operand& operand = made.operands[i];
        if (operand.kind == ptx::Operand::Kind::special) result |= of(kernel_.operand(instruction, i), block);
        for (const ptx::Operand& element : operand.elements)
            if (element.kind == ptx::Operand::Kind::special) result |= Label::any_shape();
    }
    return result;
}

}  // namespace trimtab::analysis
