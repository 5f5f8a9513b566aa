// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/checker/iteration_sums.h"

#include <algorithm>

#include "core/ptx/opcodes.h"

namespace trimtab::checker {
namespace {

using ptx::AtomicOp;
using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

class Sum {
  public:
    Sum(const Reading& reading, const IterationSum& sum)
        : reading_(reading),
          sum_(sum),
          atomic_(reading.function().body[sum.atomic]),
          width_(8 * ptx::size_bytes(atomic_.type)) {}

    bool holds() const {
        const auto address = static_cast<std::uint16_t>(atomic_.destination_count);
        if (ptx::info(atomic_.opcode).opcode_class != ptx::OpcodeClass::atomic ||
            atomic_.operands.size() != address + 2U || atomic_.guard != no_index)
            return false;
        // One place for all threads.
        if ((reading_.uses(sum_.atomic, true) &
             (all_indices | all_iterations | all_shapes | others | rounding)) != 0)
            return false;
        if (!is_sum(reading_.ssa().use(sum_.atomic, address + 1))) return false;
        return std::ranges::all_of(sum_.values, [&](ValueIndex v) {
            return v < reading_.ssa().values.size() && is_made_of_sums(v);
        });
    }
    bool is_good(ValueIndex value) const { return is_made_of_sums(value); }

  private:
    bool is_sum(ValueIndex value) const {
        return value != no_index && std::ranges::find(sum_.values, value) != sum_.values.end();
    }
    std::uint32_t home(BlockIndex block) const {
        for (std::size_t d = 0; d < 3; d++)
            if (reading_.home(d, block) != no_index) return reading_.home(d, block);
        return no_index;
    }
    // Of this iteration, or the same in all.
    bool is_of_iteration(ValueIndex value, std::uint32_t i) const {
        const BlockIndex at = reading_.flow().block_of[i];
        return home(at) != no_index && (reading_.read(value, at) & (all_shapes | others | all_indices)) == 0;
    }
    bool adds_nothing(ValueIndex value) const {
        if (value == no_index) return false;
        const Form& form = reading_.form(value);
        std::optional<std::uint64_t> bits;
        if (form.width == width_ && form.is_constant()) bits = form.constant();
        if (!bits) return false;
        const std::uint64_t ones = truncate_bits(~std::uint64_t{0}, width_),
                            top = std::uint64_t{1} << (width_ - 1);
        const bool is_signed = ptx::is_signed(atomic_.type);
        switch (atomic_.modifiers.atomic) {
            case AtomicOp::add:
                return *bits == 0 || (ptx::is_float(atomic_.type) && *bits == top);
            case AtomicOp::or_:
            case AtomicOp::xor_:
                return *bits == 0;
            case AtomicOp::and_:
                return *bits == ones;
            case AtomicOp::min:
                return *bits == (is_signed ? ones >> 1 : ones);
            case AtomicOp::max:
                return *bits == (is_signed ? top : 0);
            default:
                return false;
        }
    }
    bool does(const ptx::Instruction& made) const {
        const bool is_same_type = made.opcode == Opcode::min || made.opcode == Opcode::max
                                      ? ptx::is_signed(made.type) == ptx::is_signed(atomic_.type)
                                      : true;
        if (8 * ptx::size_bytes(made.type) != width_ ||
            ptx::is_float(made.type) != ptx::is_float(atomic_.type) || !is_same_type || made.modifiers.sat ||
            made.modifiers.carry_out)
            return false;
        switch (atomic_.modifiers.atomic) {
            case AtomicOp::add:
                return made.opcode == Opcode::add || made.opcode == Opcode::sub ||
                       made.opcode == Opcode::fma ||
                       (made.opcode == Opcode::mad && made.modifiers.multiply_part == ptx::MultiplyPart::lo);
            case AtomicOp::or_:
                return made.opcode == Opcode::or_;
            case AtomicOp::xor_:
                return made.opcode == Opcode::xor_;
            case AtomicOp::and_:
                return made.opcode == Opcode::and_;
            case AtomicOp::min:
                return made.opcode == Opcode::min;
            case AtomicOp::max:
                return made.opcode == Opcode::max;
            default:
                return false;
        }
    }
    bool is_made_of_sums(ValueIndex index) const {
        const ptx::Value& value = reading_.ssa().values[index];
        if (value.kind == ptx::Value::Kind::phi) {
            const auto& predecessors = reading_.flow().blocks[value.block].predecessors;
            for (std::size_t p = 0; p < predecessors.size(); p++) {
                const ValueIndex from = value.incoming[p];
                if (adds_nothing(from) && home(predecessors[p]) == no_index) continue;
                if (!is_sum(from) || !is_whole(from, predecessors[p], value.block)) return false;
            }
            return true;
        }
        if (value.kind != ptx::Value::Kind::instruction) return false;
        const std::uint32_t i = value.instruction;
        const ptx::Instruction& made = reading_.function().body[i];
        if (value.previous != no_index &&
            (!is_sum(value.previous) || !is_of_iteration(reading_.ssa().guard(i), i)))
            return false;
        const auto used = [&](std::uint16_t operand) {
            const ptx::Operand& from = made.operands[operand];
            return from.kind == ptx::Operand::Kind::reg && !from.negated ? reading_.ssa().use(i, operand)
                                                                         : no_index;
        };
        const auto is_own = [&](std::uint16_t operand) {
            return made.operands[operand].kind == ptx::Operand::Kind::immediate
                       ? home(reading_.flow().block_of[i]) != no_index
                       : is_of_iteration(used(operand), i);
        };
        if (made.opcode == Opcode::mov) return is_sum(used(1)) || adds_nothing(index);
        if (made.opcode == Opcode::selp)
            return is_sum(used(1)) && is_sum(used(2)) && is_of_iteration(used(3), i);
        if (!does(made) || made.destination_count != 1) return false;
        if (made.operands.size() == 4) return is_sum(used(3)) && is_own(1) && is_own(2);
        return made.operands.size() == 3 && ((is_sum(used(1)) && is_own(2)) ||
                                             (made.opcode != Opcode::sub && is_sum(used(2)) && is_own(1)));
    }
    // Where the loop is left, with all iterations in it: behind an iteration what it came to, before one what was carried to it.
    bool is_whole(ValueIndex from, BlockIndex by, BlockIndex to) const {
        const auto& blocks = reading_.flow().blocks;
        while (home(by) == no_index && blocks[by].predecessors.size() == 1 &&
               blocks[by].successors.size() == 1)
            by = blocks[by].predecessors[0];
        for (std::size_t d = 0; d < 3; d++) {
            const std::uint32_t l = reading_.home(d, by);
            if (l == no_index || l == reading_.home(d, to)) continue;
            const BlockIndex header = reading_.certificate().loops[l].header;
            const ptx::Value& value = reading_.ssa().values[from];
            const bool is_of_next = (reading_.decides(by, by) & (shape_x << d)) != 0;
            const bool is_carried =
                std::ranges::any_of(reading_.ssa().values, [&](const ptx::Value& carried) {
                    if (carried.kind != ptx::Value::Kind::phi || carried.block != header) return false;
                    for (std::size_t p = 0; p < carried.incoming.size(); p++)
                        if (carried.incoming[p] == from &&
                            reading_.is_in(reading_.certificate().loops[l], blocks[header].predecessors[p]))
                            return true;
                    return false;
                });
            if (is_of_next ? !is_carried : value.kind != ptx::Value::Kind::phi || value.block != header)
                return false;
        }
        return true;
    }

    const Reading& reading_;
    const IterationSum& sum_;
    const ptx::Instruction& atomic_;
    unsigned width_;
};

}  // namespace

bool is_iteration_sum(const Reading& reading, const IterationSum& sum) {
    return sum.atomic < reading.function().body.size() && Sum(reading, sum).holds();
}

IterationSum with_sums_only(const Reading& reading, IterationSum sum) {
    for (bool changed = true; changed;) {
        IterationSum left = sum;
        std::erase_if(left.values, [&](ValueIndex v) { return !Sum(reading, sum).is_good(v); });
        changed = left.values.size() != sum.values.size();
        sum = std::move(left);
    }
    return sum;
}

}  // namespace trimtab::checker
