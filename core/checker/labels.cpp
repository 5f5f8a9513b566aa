// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What values are functions of: locally, from the labels of what they are made of.
#include <algorithm>

#include "core/checker/reading.h"
#include "core/ptx/opcodes.h"
#include "core/ptx/special_registers.h"

namespace trimtab::checker {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::ValueIndex;

// With the global index, and that of the warp among all, in the place of threadIdx and the warp in the block.
Form Reading::normal(const Form& form) const {
    Form result = form;
    for (unsigned d = 0; d < 3; d++) {
        const Scheme scheme = certificate_->dimensions[d].scheme;
        if (scheme == Scheme::single || scheme == Scheme::in_block) continue;
        const bool is_of_warps = certificate_->dimensions[d].has_whole_warps;
        const Atom thread = is_of_warps ? Atom{warp_atom} : tid + d,
                   size = is_of_warps ? Atom{warps_atom} : ntid + d;
        const auto holds = [&](const auto& term) {
            return std::ranges::find(term.first, thread) != term.first.end();
        };
        if (std::ranges::none_of(result.terms, holds)) continue;
        const unsigned width = form.width;
        result = with(
            result, thread,
            sum(atom(thread, width), product(atom(ctaid + d, width), atom(size, width)), ~std::uint64_t{0}));
    }
    return result;
}

Labels Reading::of(const Form& form, BlockIndex at) const {
    Labels result = 0;
    if (std::ranges::none_of(
            form.terms, [&](const auto& term) { return std::ranges::any_of(term.first, is_register); })) {
        for (const auto& [atoms, coefficient] : form.terms)
            for (const Atom each : atoms) result |= of_atom(each, at);
        return result;
    }
    const Form known = normal(form);
    for (const auto& [atoms, coefficient] : known.terms) {
        std::vector<Atom> left = atoms;
        // Where it stays, the number of threads is no matter, nor are its powers.
        for (unsigned d = 0; d < 3; d++) {
            const DimensionRule& rule = certificate_->dimensions[d];
            const Atom size = rule.has_whole_warps ? Atom{warps_atom} : ntid + d;
            while (rule.scheme == Scheme::fixed_total) {
                const auto grid = std::ranges::find(left, nctaid + d), block = std::ranges::find(left, size);
                if (grid == left.end() || block == left.end()) break;
                left.erase(std::max(grid, block));
                left.erase(std::min(grid, block));
            }
        }
        for (const Atom each : left) result |= of_atom(each, at);
    }
    return result;
}

Labels Reading::of_atom(Atom of, BlockIndex at) const {
    if (of >= first_parameter) return 0;
    if (const Part* const part = part_of(of)) return this->of(part->form, at);
    if (of >= first_value) return of_value(of - first_value, at);
    if (of >= first_loop) {
        const std::size_t l = of - first_loop;
        if (is_of_rows(l)) return is_in(loop(l), at) ? thread_block : Labels{thread_block | all_shapes};
        return static_cast<Labels>((is_in(loop(l), at) ? iteration_x : shape_x) << loop(l).dimension);
    }
    if (of == lane_atom) return lane | index_x;
    if (of == warp_atom) return index_x;
    if (of == warps_atom) return shape_x;
    const unsigned d = of % 3;
    const DimensionRule& rule = certificate_->dimensions[d];
    const auto thread = static_cast<Labels>(index_x << d), shape = static_cast<Labels>(shape_x << d);
    if (of < ctaid) return thread;
    if (of >= ntid && of < nctaid) return shape;
    if (rule.scheme == Scheme::in_block) return thread_block;
    if (rule.has_blocks_of_one)
        return of < ntid ? thread : rule.scheme == Scheme::free_total ? shape : Labels{0};
    return shape;
}

// A value of one iteration means nothing behind its loop: which iteration it is from depends on the total.
Labels Reading::of_value(ValueIndex value, BlockIndex at) const {
    if (const Exchange::Agreed* agreed = agreed_[value]; agreed != nullptr) {
        const bool is_inside =
            agreed->within != no_index && std::ranges::find(flow_.loops[agreed->within].blocks, at) !=
                                              flow_.loops[agreed->within].blocks.end();
        if (!is_inside)
            return static_cast<Labels>(thread_block | (agreed->by_first ? index_x : 0) |
                                       (agreed->is_rounded ? rounding : 0));
    }
    Labels result = certificate_->labels[value];
    const BlockIndex from = block_of(value);
    for (unsigned d = 0; d < 3; d++)
        if ((result & (iteration_x << d)) != 0 && home(d, from) != home(d, at))
            result |= static_cast<Labels>(shape_x << d);
    return result;
}

Labels Reading::read(ValueIndex value, BlockIndex at) const {
    if (value == no_index) return 0;
    return forms_[value].width == 0 ? of_value(value, at) : of(forms_[value], at);
}

Labels Reading::of_special(ptx::SpecialRegister which, BlockIndex at) const {
    if (const auto form = special(which, 32)) return of(*form, at);
    return ptx::info(which).group == ptx::SpecialGroup::lane && certificate_->dimensions[0].has_whole_warps
               ? Labels{lane | index_x}
               : others;
}

Labels Reading::uses(std::uint32_t i, bool addresses) const {
    const ptx::Instruction& made = function().body[i];
    const BlockIndex at = flow_.block_of[i];
    Labels result = 0;
    for (const ptx::Ssa::Use& use : ssa_.uses[i]) {
        const bool is_address = use.operand < made.operands.size() &&
                                made.operands[use.operand].kind == ptx::Operand::Kind::address;
        if (is_address || !addresses) result |= read(use.value, at);
    }
    for (const ptx::Operand& operand : made.operands) {
        if (operand.kind == ptx::Operand::Kind::special) result |= of_special(operand.special, at);
        for (const ptx::Operand& element : operand.elements)
            if (element.kind == ptx::Operand::Kind::special) result |= of_special(element.special, at);
    }
    return result;
}

Labels Reading::decides(BlockIndex branch, BlockIndex to) const {
    const ptx::BasicBlock& block = flow_.blocks[branch];
    if (block.first == block.last) return 0;
    Labels result = uses(block.last - 1);
    for (unsigned d = 0; d < 3; d++)
        if ((result & (iteration_x << d)) != 0 && home(d, branch) != home(d, to))
            result |= static_cast<Labels>(shape_x << d);
    return result;
}

// The branches behind the block that dominates this one that decide from where it is reached.
const std::vector<BlockIndex>& Reading::merging(BlockIndex block) const {
    const auto [at, is_new] = merging_.try_emplace(block);
    if (!is_new) return at->second;
    const BlockIndex above = flow_.immediate_dominator[block];
    std::vector<bool> between(flow_.blocks.size());
    std::vector<BlockIndex> work{block};
    while (!work.empty()) {
        const BlockIndex to = work.back();
        work.pop_back();
        for (const BlockIndex from : flow_.blocks[to].predecessors) {
            if (between[from]) continue;
            between[from] = true;
            if (from != above) work.push_back(from);
        }
    }
    std::vector<bool> decides(flow_.blocks.size());
    for (const BlockIndex from : flow_.blocks[block].predecessors) {
        decides[from] = decides[from] || flow_.blocks[from].successors.size() > 1;
        for (const auto& [branch, ways] : deciding(from)) decides[branch] = true;
    }
    for (BlockIndex branch = 0; branch < decides.size(); branch++)
        if (decides[branch] && between[branch]) at->second.push_back(branch);
    return at->second;
}

Labels Reading::of_phi(ValueIndex index) const {
    const ptx::Value& value = ssa_.values[index];
    Labels result = 0;
    // Carried from iteration to iteration, and not known to follow the index.
    for (const StridedLoop& loop : certificate_->loops)
        if (loop.header == value.block) result |= static_cast<Labels>(shape_x << loop.dimension);
    const Form itself = own(index);
    const Form beside = itself.width == 0 ? Form{} : sum(forms_[index], itself, ~std::uint64_t{0});
    for (const ValueIndex incoming : value.incoming) {
        if (incoming == no_index) continue;
        const bool is_number = !beside.terms.empty() && forms_[incoming].width == itself.width;
        result |= is_number ? of(sum(forms_[incoming], beside, ~std::uint64_t{0}), value.block)
                            : read(incoming, value.block);
        if (!beside.terms.empty() && !is_number) result |= all_shapes;
    }
    for (const BlockIndex branch : merging(value.block)) result |= decides(branch, value.block);
    return result;
}

// What any store left there, and which of them came last.
Labels Reading::of_stack(BlockIndex at) const {
    Labels result = 0;
    for (const std::uint32_t store : stack_stores_) {
        const BlockIndex from = flow_.block_of[store];
        bool in_one_iteration = false;
        result |= uses(store);
        for (unsigned d = 0; d < 3; d++) {
            if (home(d, from) == no_index) continue;
            const bool is_same = home(d, from) == home(d, at);
            in_one_iteration |= is_same;
            result |= static_cast<Labels>((is_same ? iteration_x : shape_x) << d);
        }
        // What decides within an iteration is looked at with its loop.
        if (!in_one_iteration)
            for (const auto& [branch, ways] : deciding(from)) result |= decides(branch, from);
    }
    return result;
}

Labels Reading::required(ValueIndex index) const {
    const ptx::Value& value = ssa_.values[index];
    const BlockIndex at = block_of(index);
    if (value.kind == ptx::Value::Kind::undefined || !is_reachable(at)) return 0;
    const Form& form = forms_[index];
    if (form.width != 0 && !form.terms.contains({first_value + index})) return of(form, at);
    if (value.kind == ptx::Value::Kind::phi) return of_phi(index);
    const std::uint32_t i = value.instruction;
    const ptx::Instruction& made = function().body[i];
    if (made.opcode == Opcode::setp &&
        (made.modifiers.comparison == ptx::Comparison::eq ||
         made.modifiers.comparison == ptx::Comparison::ne) &&
        !ptx::is_float(made.type) && made.operands.size() == made.destination_count + std::size_t{2} &&
        made.guard == no_index) {
        const unsigned width = 8 * ptx::size_bytes(made.type);
        const Form a = operand(i, made.destination_count, width),
                   b = operand(i, made.destination_count + std::size_t{1}, width);
        if (a.width != 0 && b.width != 0) return of(sum(a, b, ~std::uint64_t{0}), at);
    }
    if (made.opcode == Opcode::selp && form.terms.size() > 1) {
        const Form beside = sum(form, own(index), ~std::uint64_t{0}), a = operand(i, 1, form.width),
                   b = operand(i, 2, form.width);
        if (a.width == 0 || b.width == 0) return all_shapes;
        return of(sum(a, beside, ~std::uint64_t{0}), at) | of(sum(b, beside, ~std::uint64_t{0}), at) |
               read(ssa_.use(i, 3), at);
    }
    Labels result = uses(i) | (value.previous == no_index ? Labels{0} : read(value.previous, at));
    if (is_exchanging(i)) result |= shape_x;
    if (may_be_of_stack_[i]) result |= of_stack(at);
    switch (ptx::info(made.opcode).opcode_class) {
        case OpcodeClass::pure:
        case OpcodeClass::control:
        case OpcodeClass::image_query:
        case OpcodeClass::load:
        case OpcodeClass::texture:
        case OpcodeClass::surface_load:
            // What a function that stays a call was called with.
            if (made.modifiers.space == ptx::Space::param && !function().is_entry) result |= all_indices;
            if (made.modifiers.space == ptx::Space::param && function().is_entry &&
                made.operands[1].reg == no_index && function().parameter(made.operands[1].text) == nullptr)
                result |= all_indices;
            return result;
        case OpcodeClass::warp:
            return result | (certificate_->dimensions[0].has_whole_warps ? Labels{lane | index_x} : shape_x);
        case OpcodeClass::call:
            return result | all_indices;
        default:
            return result | others;
    }
}

}  // namespace trimtab::checker
