// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/iteration_sums.h"

#include <algorithm>

#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/integer_operations.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::ValueIndex;

std::uint64_t identity_of(Operator op, bool is_signed, unsigned width) {
    const std::uint64_t ones = truncate_bits(~std::uint64_t{0}, width), top = std::uint64_t{1} << (width - 1);
    switch (op) {
        case Operator::min:
            return is_signed ? top - 1 : ones;
        case Operator::max:
            return is_signed ? top : 0;
        case Operator::and_:
            return ones;
        default:
            return 0;
    }
}

// What an atomic does to memory, and what changes nothing there.
std::optional<IterationSum> reduction_of(const ptx::Instruction& made, bool may_reassociate) {
    const bool is_float = made.type == ptx::Type::f32 || made.type == ptx::Type::f64;
    if (is_float && !(may_reassociate && made.modifiers.atomic == ptx::AtomicOp::add)) return std::nullopt;
    const unsigned width = 8 * ptx::size_bytes(made.type);
    if (!is_reduction(made) || (width != 32 && width != 64) || made.modifiers.vector_width > 1)
        return std::nullopt;
    IterationSum sum;
    sum.is_signed = is_signed_type(made.type);
    sum.width = width;
    switch (made.modifiers.atomic) {
        case ptx::AtomicOp::add:
            sum.op = Operator::add;
            break;
        case ptx::AtomicOp::min:
            sum.op = Operator::min;
            break;
        case ptx::AtomicOp::max:
            sum.op = Operator::max;
            break;
        case ptx::AtomicOp::and_:
            sum.op = Operator::and_;
            break;
        case ptx::AtomicOp::or_:
            sum.op = Operator::or_;
            break;
        case ptx::AtomicOp::xor_:
            sum.op = Operator::xor_;
            break;
        default:
            return std::nullopt;
    }
    if (is_float) sum.float_type = made.type;
    sum.identity = identity_of(sum.op, sum.is_signed, width);
    return sum;
}

// In the type of the sum, to the nearest.
bool rounds_as(const ptx::Instruction& made, const IterationSum& sum) {
    const ptx::Modifiers& how = made.modifiers;
    return made.type == sum.float_type && how.ftz == sum.ftz && !how.sat && how.vector_width <= 1 &&
           (how.rounding == ptx::Rounding::none || how.rounding == ptx::Rounding::rn);
}

class Sums {
  public:
    Sums(const FunctionValues& kernel, LabelsInDimension labels, const IterationParts& parts,
         const IterationSum& reduction, bool any_start = false)
        : kernel_(kernel),
          flow_(kernel.flow()),
          labels_(labels),
          parts_(parts),
          reduction_(reduction),
          any_start_(any_start),
          visited_(kernel.ssa().values.size()) {}

    // Outside the loops: nothing as yet, or what a loop added to such a sum.
    bool is_sum(ValueIndex index) {
        if (index == no_index) return false;
        if (is_identity(index)) {
            start_ = reduction_.identity;
            return true;
        }
        if (visited_[index]) return false;
        visited_[index] = true;
        const ptx::Value& value = value_of(index);
        if (any_start_ && home(index) == Labels::outside && labels_.at(index, block_of(index)).is_same()) {
            start_ = constant(index);
            return true;
        }
        if (home(index) != Labels::outside) {
            const auto from = carried(index, only_exit(home(index)));
            return from && is_sum(*from);
        }
        if (value.kind == ptx::Value::Kind::phi) return merges(value);
        if (value.kind != ptx::Value::Kind::instruction || value.previous != no_index) return false;
        const ptx::Instruction& made = kernel_.function().body[value.instruction];
        return made.opcode == ptx::Opcode::mov && made.destination_count == 1 && made.operands.size() == 2 &&
               made.operands[1].kind == ptx::Operand::Kind::reg && is_sum(used(value.instruction, 1));
    }

    [[nodiscard]] std::optional<std::uint64_t> start() const { return start_; }

  private:
    const ptx::Value& value_of(ValueIndex index) const { return kernel_.ssa().values[index]; }
    BlockIndex block_of(ValueIndex index) const {
        const ptx::Value& value = value_of(index);
        if (value.kind == ptx::Value::Kind::phi) return value.block;
        return value.kind == ptx::Value::Kind::instruction ? flow_.block_of[value.instruction] : 0;
    }
    std::uint32_t home(ValueIndex index) const { return labels_.home(block_of(index)); }
    bool is_identity(ValueIndex index) const {
        if (reduction_.is_rounded()) {
            const auto bits = constant(index);
            return bits && reduction_.is_rounded_zero(*bits);
        }
        const Symbolic& known = kernel_.value(index);
        return reduction_.float_type == ptx::Type::none && known.width == reduction_.width &&
               known.is_constant() && known.constant() == reduction_.identity;
    }
    // The bits, of integers and of floating-point numbers.
    std::optional<std::uint64_t> constant(ValueIndex index) const {
        const Symbolic& known = kernel_.value(index);
        if (known.width == reduction_.width && known.is_constant()) return known.constant();
        const ptx::Value& value = value_of(index);
        if (value.kind != ptx::Value::Kind::instruction || value.previous != no_index) return std::nullopt;
        const ptx::Instruction& made = kernel_.function().body[value.instruction];
        if (made.opcode != ptx::Opcode::mov || made.operands.size() != 2 ||
            8 * ptx::size_bytes(made.type) != reduction_.width)
            return std::nullopt;
        // One register may be set from another that was.
        if (const ValueIndex from = used(value.instruction, 1); from != no_index) return constant(from);
        if (made.operands[1].kind != ptx::Operand::Kind::immediate) return std::nullopt;
        return truncate_bits(made.operands[1].bits, reduction_.width);
    }
    bool is_same(ValueIndex a, ValueIndex b) const {
        if (a == b) return true;
        if (a == no_index || b == no_index) return false;
        if (!any_start_) return is_identity(a) && is_identity(b);
        const auto left = constant(a);
        return left && left == constant(b) && home(a) == Labels::outside && home(b) == Labels::outside;
    }

    // Ways from one loop, and past it: a thread that goes past it has what the loop would have begun with.
    bool merges(const ptx::Value& phi) {
        const auto& predecessors = flow_.blocks[phi.block].predecessors;
        std::optional<ValueIndex> first, other;
        std::optional<std::uint32_t> loop;
        for (std::size_t i = 0; i < phi.incoming.size(); i++) {
            const ValueIndex incoming = phi.incoming[i];
            if (incoming == no_index) return false;
            const BlockIndex near = near_end(predecessors[i]);
            const std::uint32_t from = labels_.home(near);
            if (from == Labels::outside) {
                if (other && !is_same(*other, incoming)) return false;
                other = incoming;
                continue;
            }
            const auto carried_in = carried(incoming, near);
            if (!carried_in || (loop && *loop != from) || (first && !is_same(*first, *carried_in)))
                return false;
            loop = from;
            first = carried_in;
        }
        if (first && other && !is_same(*first, *other)) return false;
        return is_sum(first ? *first : other.value_or(no_index));
    }

    // The loop's block that the way comes from, if nothing but it leads there and on.
    BlockIndex near_end(BlockIndex block) const {
        for (BlockIndex at = block; flow_.blocks[at].successors.size() == 1;) {
            if (labels_.home(at) != Labels::outside) return at;
            if (flow_.blocks[at].predecessors.size() != 1) break;
            at = flow_.blocks[at].predecessors[0];
            if (labels_.home(at) != Labels::outside) return at;
        }
        return block;
    }
    BlockIndex only_exit(std::uint32_t loop) const {
        BlockIndex found = no_index;
        for (const BlockIndex block : flow_.loops[loop].blocks)
            for (const BlockIndex to : flow_.blocks[block].successors)
                if (labels_.home(to) != loop && found != block) {
                    if (found != no_index) return no_index;
                    found = block;
                }
        return found;
    }

    // What a loop's sum began with, if the value is that sum as it is where `exit` leaves the loop: with all
    // iterations in it, each once.
    std::optional<ValueIndex> carried(ValueIndex index, BlockIndex exit) const {
        if (exit == no_index) return std::nullopt;
        const auto is_done = parts_.iteration_is_done(exit);
        if (!is_done) return std::nullopt;
        const std::uint32_t l = labels_.home(exit);
        const BlockIndex header = flow_.loops[l].header;
        const auto& predecessors = flow_.blocks[header].predecessors;
        for (const ValueIndex phi : kernel_.phis(header)) {
            const std::vector<bool> sums = sums_of_iteration(phi, l);
            std::optional<ValueIndex> before, after;
            bool good = true;
            for (std::size_t p = 0; p < predecessors.size() && good; p++) {
                auto& found = labels_.home(predecessors[p]) == l ? after : before;
                const ValueIndex incoming = value_of(phi).incoming[p];
                good = incoming != no_index && (!found || is_same(*found, incoming));
                found = incoming;
            }
            if (!good || !before || !after || !sums[*after]) continue;
            if (index == (*is_done ? *after : phi)) return before;
        }
        return std::nullopt;
    }

    // The values of an iteration that are the sum as the iteration found it and what the iteration added so far. All of the
    // iteration's values are taken for such at first; what is none makes none of others, until those that are left
    // agree.
    std::vector<bool> sums_of_iteration(ValueIndex carried, std::uint32_t loop) const {
        std::vector<bool> sums(kernel_.ssa().values.size());
        std::vector<ValueIndex> open;
        for (ValueIndex v = 0; v < sums.size(); v++) {
            const ptx::Value& value = value_of(v);
            const bool is_of_other_iteration =
                value.kind == ptx::Value::Kind::phi && value.block == flow_.loops[loop].header;
            if (v != carried &&
                (home(v) != loop || is_of_other_iteration || value.kind == ptx::Value::Kind::undefined))
                continue;
            sums[v] = true;
            if (v != carried) open.push_back(v);
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (const ValueIndex v : open) {
                if (!sums[v] || holds(v, sums)) continue;
                sums[v] = false;
                changed = true;
            }
        }
        return sums;
    }
    bool holds(ValueIndex index, const std::vector<bool>& sums) const {
        const auto contains = [&](ValueIndex v) { return v != no_index && sums[v]; };
        const ptx::Value& value = value_of(index);
        // Which of them it is, the iteration decides: so do all branches in the loop that do not leave it.
        if (value.kind == ptx::Value::Kind::phi) return std::ranges::all_of(value.incoming, contains);
        const std::uint32_t i = value.instruction;
        const ptx::Instruction& made = kernel_.function().body[i];
        if (value.kind != ptx::Value::Kind::instruction || made.destination_count != 1 ||
            !made.operands[0].elements.empty())
            return false;
        if (value.previous != no_index &&
            (!contains(value.previous) || !is_iterations_own(kernel_.ssa().guard(i), i)))
            return false;
        if (made.opcode == ptx::Opcode::mov)
            return made.operands[1].kind == ptx::Operand::Kind::reg && contains(used(i, 1));
        if (does(made, reduction_) && ((contains(used(i, 1)) && is_of_iteration(i, 2)) ||
                                       (contains(used(i, 2)) && is_of_iteration(i, 1))))
            return true;
        if (reduction_.is_rounded()) return adds_float(i, sums);
        if (reduction_.float_type != ptx::Type::none) return false;
        const auto operation = integer_operation(made);
        if (!operation || width_bits(operation->result) != reduction_.width) return false;
        const bool adds = reduction_.op == Operator::add;
        switch (operation->op) {
            case Operator::selp:
                return contains(used(i, 1)) && contains(used(i, 2)) && is_iterations_own(used(i, 3), i);
            case Operator::mad_lo:
                return adds && contains(used(i, 3)) && is_of_iteration(i, 1) && is_of_iteration(i, 2);
            case Operator::sub:
                return adds && contains(used(i, 1)) && is_of_iteration(i, 2);
            default:
                return false;
        }
    }

    // s + a * b, s - a
    bool adds_float(std::uint32_t i, const std::vector<bool>& sums) const {
        const ptx::Instruction& made = kernel_.function().body[i];
        const auto contains = [&](std::uint16_t operand) {
            const ValueIndex value = used(i, operand);
            return value != no_index && sums[value];
        };
        if (!rounds_as(made, reduction_)) return false;
        if (made.opcode == ptx::Opcode::fma && made.operands.size() == 4)
            return contains(3) && is_of_iteration(i, 1) && is_of_iteration(i, 2);
        return made.opcode == ptx::Opcode::sub && made.operands.size() == 3 && contains(1) &&
               is_of_iteration(i, 2);
    }

    ValueIndex used(std::uint32_t instruction, std::uint16_t operand) const {
        const ptx::Operand& read = kernel_.function().body[instruction].operands[operand];
        return read.negated || read.kind != ptx::Operand::Kind::reg ? no_index
                                                                    : kernel_.ssa().use(instruction, operand);
    }
    bool is_iterations_own(ValueIndex value, std::uint32_t instruction) const {
        const BlockIndex block = flow_.block_of[instruction];
        return value != no_index && parts_.counts(block) && !labels_.at(value, block).is_of_thread();
    }
    bool is_of_iteration(std::uint32_t instruction, std::uint16_t operand) const {
        if (kernel_.function().body[instruction].operands[operand].kind == ptx::Operand::Kind::immediate)
            return parts_.counts(flow_.block_of[instruction]);
        return is_iterations_own(used(instruction, operand), instruction);
    }

    const FunctionValues& kernel_;
    const ptx::ControlFlow& flow_;
    LabelsInDimension labels_;
    const IterationParts& parts_;
    const IterationSum& reduction_;
    bool any_start_ = false;
    std::optional<std::uint64_t> start_;
    std::vector<bool> visited_;  // by value
};

}  // namespace

std::optional<IterationSum> sum_of_atomic(const ptx::Instruction& atomic, bool may_reassociate) {
    return reduction_of(atomic, may_reassociate);
}

bool does(const ptx::Instruction& made, const IterationSum& sum) {
    if (made.operands.size() != 3 || made.destination_count != 1) return false;
    if (sum.float_type != ptx::Type::none) {
        const ptx::Modifiers& how = made.modifiers;
        if (sum.op == Operator::add)
            return made.opcode == ptx::Opcode::add && rounds_as(made, sum) && !made.operands[1].negated &&
                   !made.operands[2].negated;
        return made.opcode == (sum.op == Operator::min ? ptx::Opcode::min : ptx::Opcode::max) &&
               made.type == sum.float_type && how.ftz == sum.ftz && how.nan_ == sum.nan && !how.xorsign_abs &&
               !made.operands[1].negated && !made.operands[2].negated;
    }
    const auto operation = integer_operation(made);
    if (!operation || operation->op != sum.op || width_bits(operation->result) != sum.width) return false;
    return (sum.op != Operator::min && sum.op != Operator::max) ||
           is_signed_type(operation->type) == sum.is_signed;
}

std::optional<IterationSum> sum_of_iterations(const FunctionValues& kernel, LabelsInDimension labels,
                                              const IterationParts& parts, ValueIndex value) {
    const auto is_one = [&](IterationSum& sum) {
        Sums sums(kernel, labels, parts, sum, sum.is_idempotent());
        if (!sums.is_sum(value)) return false;
        sum.start = sums.start();
        return true;
    };
    const unsigned width = kernel.value(value).width;
    if (width != 32 && width != 64) return std::nullopt;
    for (const Operator op :
         {Operator::add, Operator::xor_, Operator::min, Operator::max, Operator::and_, Operator::or_})
        for (const bool is_signed : {true, false}) {
            IterationSum sum;
            sum.op = op;
            sum.is_signed = is_signed;
            sum.width = width;
            sum.identity = identity_of(op, is_signed, width);
            if (is_one(sum)) return sum;
            if (op != Operator::min && op != Operator::max) break;
        }
    for (const Operator op : {Operator::min, Operator::max})
        for (const bool ftz : {false, true})
            for (const bool nan : {false, true}) {
                IterationSum sum;
                sum.op = op;
                sum.width = width;
                sum.ftz = ftz;
                sum.nan = nan;
                sum.float_type = width == 32 ? ptx::Type::f32 : ptx::Type::f64;
                if (is_one(sum)) return sum;
            }
    if (!parts.may_reassociate) return std::nullopt;
    for (const bool ftz : {false, true}) {
        IterationSum sum;
        sum.op = Operator::add;
        sum.width = width;
        sum.ftz = ftz;
        sum.float_type = width == 32 ? ptx::Type::f32 : ptx::Type::f64;
        if (is_one(sum)) return sum;
    }
    return std::nullopt;
}

bool is_sum_of_iterations(const FunctionValues& kernel, LabelsInDimension labels, const IterationParts& parts,
                          std::uint32_t instruction) {
    const ptx::Instruction& made = kernel.function().body[instruction];
    auto reduction = reduction_of(made, parts.may_reassociate);
    const BlockIndex block = kernel.flow().block_of[instruction];
    if (!reduction || made.guard != no_index || labels.home(block) != Labels::outside) return false;
    // It takes the address and the value; a result is not used.
    if (made.operands.size() != made.destination_count + 2u) return false;
    const auto at = static_cast<std::uint16_t>(made.destination_count),
               what = static_cast<std::uint16_t>(at + 1);
    if (made.operands[at].kind != ptx::Operand::Kind::address ||
        made.operands[what].kind != ptx::Operand::Kind::reg || made.operands[what].negated)
        return false;
    const ValueIndex address = kernel.ssa().use(instruction, at);
    if (address != no_index && !labels.at(address, block).is_exactly_same()) return false;
    const auto is_one = [&] {
        return Sums(kernel, labels, parts, *reduction).is_sum(kernel.ssa().use(instruction, what));
    };
    if (is_one()) return true;
    // The iterations' additions may flush what is denormal, whatever the atomic does.
    reduction->ftz = true;
    return reduction->is_rounded() && is_one();
}

}  // namespace trimtab::analysis
