// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic, logic, comparisons and conversions: a vectorised handler where there is one, else a lane
// function.
#include <algorithm>

#include "core/ptx/opcodes.h"
#include "core/ptx/semantics/evaluate.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"
#include "emulation/emulator/exec/scalar/function.h"
#include "emulation/emulator/exec/video_info.h"

namespace trimtab::emulator {
namespace {

using ptx::Opcode;
using ptx::Type;

bool is_real(Type type) {
    return type == Type::f32 || type == Type::f64;
}
bool is_half(Type type) {
    return ptx::element_of(type) == Type::f16 || ptx::element_of(type) == Type::bf16;
}

VectorKey key_of(const ptx::Instruction& instruction) {
    VectorKey key;
    key.opcode = instruction.opcode;
    key.type = instruction.type;
    key.source_type = instruction.source_type;
    key.comparison = instruction.modifiers.comparison;
    key.rounding = instruction.modifiers.rounding;
    key.ftz = instruction.modifiers.ftz;
    key.sat = instruction.modifiers.sat;
    key.propagate_nan = instruction.modifiers.nan_;
    return key;
}

bool is_directed(ptx::Rounding rounding) {
    return rounding == ptx::Rounding::rz || rounding == ptx::Rounding::rm || rounding == ptx::Rounding::rp;
}

struct Widths {  // widths of an instruction's operands that is none on integers
    unsigned d = 0;
    std::vector<std::pair<unsigned, Type>> sources;
};

Widths widths_of(const ptx::Instruction& instruction) {
    const Type type = instruction.type;
    const unsigned width = ptx::size_bytes(type);
    const std::pair<unsigned, Type> own{width, type};
    switch (instruction.opcode) {
        case Opcode::slct: {
            const Type by = instruction.source_type;
            return {width, {own, own, {ptx::size_bytes(by), by}}};
        }
        case Opcode::testp:
            return {0, {own}};
        case Opcode::isspacep:
            return {0, {{8, Type::u64}}};
        case Opcode::set: {
            const std::pair<unsigned, Type> from{ptx::size_bytes(instruction.source_type),
                                                 instruction.source_type};
            if (instruction.modifiers.boolean_op == ptx::BooleanOp::none) return {width, {from, from}};
            return {width, {from, from, {0, Type::pred}}};
        }
        default: {
            Widths widths{width, {}};
            widths.sources.assign(instruction.sources().size(), own);
            return widths;
        }
    }
}

}  // namespace

void Lowering::emit_operands(Handler run, const ptx::Instruction& instruction, unsigned d_bytes,
                             const std::vector<std::pair<unsigned, Type>>& sources) {
    OperandRef refs[4] = {no_operand, no_operand, no_operand, no_operand};
    const auto given = instruction.sources();
    for (std::size_t i = 0; i < sources.size() && i < 4; i++)
        refs[i] = source(given[i], sources[i].first, sources[i].second);
    const OperandRef d = destination(instruction.operands[0], d_bytes);
    Op& op = emit(run);
    op.d = d;
    op.a = refs[0];
    op.b = refs[1];
    op.c = refs[2];
    op.e = refs[3];
    op.d_bytes = static_cast<std::uint8_t>(d_bytes);
    op.a_bytes = static_cast<std::uint8_t>(sources.empty() ? 0 : sources[0].first);
    op.b_bytes = static_cast<std::uint8_t>(sources.size() < 2 ? 0 : sources[1].first);
    op.c_bytes = static_cast<std::uint8_t>(sources.size() < 3 ? 0 : sources[2].first);
}

bool Lowering::lower_arithmetic(const ptx::Instruction& instruction) {
    const Opcode opcode = instruction.opcode;
    if (instruction.destination_count == 0 || instruction.operands.empty()) return false;
    if (opcode == Opcode::setp) return lower_compare(instruction);
    if (opcode == Opcode::selp) return lower_select(instruction);
    if (instruction.type == Type::pred) return lower_predicate_logic(instruction);
    if (opcode == Opcode::addc || opcode == Opcode::subc || opcode == Opcode::madc ||
        instruction.modifiers.carry_out) {
        return lower_carry(instruction);
    }
    if (const auto video = video_info(instruction)) {
        const std::pair<unsigned, Type> word{4, Type::u32};
        emit_operands(run::video, instruction, 4, {instruction.sources().size(), word});
        out_.ops.back().info = &out_.keep(*video);
        return true;
    }
    if (instruction.destination_count != 1) return false;
    if (const auto operation = ptx::semantics::operation_of(instruction))
        return lower_integer(instruction, *operation);
    if (const std::size_t count = ptx::info(opcode).sources;
        count != 0 && instruction.sources().size() != count)
        return false;

    const Widths widths = widths_of(instruction);
    Handler handler = nullptr;
    if ((is_real(instruction.type) || instruction.type == Type::f32x2) && opcode != Opcode::set &&
        opcode != Opcode::slct && opcode != Opcode::testp && !instruction.modifiers.xorsign_abs) {
        const VectorKey key = key_of(instruction);
        handler = vector_.real(key);
        if (handler == nullptr && is_directed(key.rounding)) return lower_directed(instruction);
    }
    if (widths.sources.size() != instruction.sources().size()) return false;
    if (handler == nullptr) return lower_scalar(instruction);
    emit_operands(handler, instruction, widths.d, widths.sources);
    return true;
}

// core/ptx/semantics/integer.def has all that there is to know.
bool Lowering::lower_integer(const ptx::Instruction& instruction,
                             const ptx::semantics::Operation& operation) {
    const ptx::semantics::Function& function =
        *ptx::semantics::find(operation.opcode, operation.form, operation.type);
    const Handler handler = vector_.integer(operation.opcode, operation.form, operation.type);
    const std::size_t literals =
        operation.opcode == Opcode::lop3 ? 1 : 0;  // that are part of the instruction
    if (handler == nullptr || instruction.sources().size() != function.arity + literals) return false;
    std::vector<std::pair<unsigned, Type>> sources;
    for (std::size_t i = 0; i < function.arity; i++)
        sources.emplace_back(ptx::size_bytes(function.operands[i]), function.operands[i]);
    emit_operands(handler, instruction, ptx::size_bytes(function.result), sources);
    out_.ops.back().imm = operation.control.bits;
    return true;
}

// add.rz and the like: what rounds to nearest, run in another mode of the host's.
bool Lowering::lower_directed(const ptx::Instruction& instruction) {
    VectorKey key = key_of(instruction);
    key.rounding = ptx::Rounding::rn;
    const Handler inner = vector_.real(key);
    const Widths widths = widths_of(instruction);
    if (inner == nullptr || widths.sources.size() != instruction.sources().size()) return false;
    emit_operands(run::rounded, instruction, widths.d, widths.sources);
    Op& op = out_.ops.back();
    op.inner = inner;
    op.imm = static_cast<std::uint64_t>(instruction.modifiers.rounding);
    return true;
}

bool Lowering::lower_scalar(const ptx::Instruction& instruction) {
    ScalarChoice choice;
    if (is_half(instruction.type) || is_half(instruction.source_type))
        choice = scalar_half(instruction);
    else if (is_real(instruction.type) || is_real(instruction.source_type))
        choice = scalar_real(instruction);
    else if (instruction.opcode == Opcode::set)
        choice = scalar_comparison(instruction);
    else
        choice = scalar_space_test(instruction);
    if (choice.function == nullptr) return false;
    const Widths widths = widths_of(instruction);
    if (widths.sources.size() != instruction.sources().size()) return false;
    emit_operands(run::scalar_function, instruction, widths.d, widths.sources);
    Op& op = out_.ops.back();
    op.scalar = choice.function;
    op.imm = choice.imm;
    return true;
}

// setp.lt{.and} p{|q}, a, b{, c};
bool Lowering::lower_compare(const ptx::Instruction& instruction) {
    const auto sources = instruction.sources();
    const bool combined = instruction.modifiers.boolean_op != ptx::BooleanOp::none;
    if (sources.size() != (combined ? 3u : 2u)) return false;
    const unsigned width = ptx::size_bytes(instruction.type);
    const OperandRef a = source(sources[0], width, instruction.type);
    const OperandRef b = source(sources[1], width, instruction.type);
    const OperandRef c = combined ? predicate(sources[2]) : no_operand;
    const OperandRef p = destination(instruction.operands[0], 0);
    const OperandRef q =
        instruction.destination_count > 1 ? destination(instruction.operands[1], 0) : no_operand;
    const Handler handler = is_half(instruction.type) ? nullptr : vector_.compare(key_of(instruction));
    if (handler != nullptr) {
        Op& op = emit(handler);
        op.d = p;
        op.e = q;
        op.a = a;
        op.b = b;
        op.c = c;
        op.imm = static_cast<std::uint64_t>(instruction.modifiers.boolean_op) |
                 (q != no_operand ? std::uint64_t{0x200} : 0);
        return true;
    }
    const ScalarChoice choice = scalar_comparison(instruction);
    if (choice.function == nullptr) return false;
    const auto compared = [&](const ScalarChoice& how) {
        const OperandRef d = temporary(0);
        Op& op = emit(run::scalar_function);
        op.d = d;
        op.a = a;
        op.b = b;
        op.a_bytes = op.b_bytes = static_cast<std::uint8_t>(width);
        op.scalar = how.function;
        op.imm = how.imm;
        return d;
    };
    const OperandRef result = compared(choice);
    const auto combine = [&](OperandRef from, OperandRef to) {
        Handler logic = run::predicate_copy;
        if (instruction.modifiers.boolean_op == ptx::BooleanOp::and_) logic = run::predicate_and;
        if (instruction.modifiers.boolean_op == ptx::BooleanOp::or_) logic = run::predicate_or;
        if (instruction.modifiers.boolean_op == ptx::BooleanOp::xor_) logic = run::predicate_xor;
        Op& op = emit(logic);
        op.d = to;
        op.a = from;
        op.b = c;
    };
    if (q != no_operand) {
        if (instruction.type == Type::f16x2 || instruction.type == Type::bf16x2) {
            combine(compared(scalar_comparison(instruction, true)), q);
        } else {
            const OperandRef opposite = temporary(0);
            Op& op = emit(run::predicate_not);
            op.d = opposite;
            op.a = result;
            combine(opposite, q);
        }
    }
    combine(result, p);
    return true;
}

bool Lowering::lower_predicate_logic(const ptx::Instruction& instruction) {
    Handler handler = nullptr;
    switch (instruction.opcode) {
        case Opcode::and_:
            handler = run::predicate_and;
            break;
        case Opcode::or_:
            handler = run::predicate_or;
            break;
        case Opcode::xor_:
            handler = run::predicate_xor;
            break;
        case Opcode::not_:
            handler = run::predicate_not;
            break;
        default:
            return false;
    }
    const auto sources = instruction.sources();
    if (sources.size() != (instruction.opcode == Opcode::not_ ? 1u : 2u)) return false;
    const OperandRef a = predicate(sources[0]);
    const OperandRef b = sources.size() > 1 ? predicate(sources[1]) : no_operand;
    const OperandRef d = destination(instruction.operands[0], 0);
    Op& op = emit(handler);
    op.d = d;
    op.a = a;
    op.b = b;
    return true;
}

bool Lowering::lower_select(const ptx::Instruction& instruction) {
    const auto sources = instruction.sources();
    const unsigned width = ptx::size_bytes(instruction.type);
    const Handler handler = vector_.select(width);
    if (handler == nullptr || sources.size() != 3) return false;
    const OperandRef a = source(sources[0], width, instruction.type);
    const OperandRef b = source(sources[1], width, instruction.type);
    const OperandRef c = predicate(sources[2]);
    const OperandRef d = destination(instruction.operands[0], width);
    Op& op = emit(handler);
    op.d = d;
    op.a = a;
    op.b = b;
    op.c = c;
    return true;
}

bool Lowering::lower_convert(const ptx::Instruction& instruction) {
    if (instruction.destination_count != 1 || instruction.operands[0].kind == ptx::Operand::Kind::vector)
        return false;
    const auto sources = instruction.sources();
    const auto width_in_register = [&](const ptx::Operand& operand, Type type) {
        const unsigned own = ptx::size_bytes(type) == 1 ? 2 : ptx::size_bytes(type);
        return operand.kind == ptx::Operand::Kind::reg ? width_of(operand.reg) : own;
    };
    if (has(instruction, "pack")) {
        const ScalarChoice choice = scalar_pack(instruction);
        if (choice.function == nullptr || sources.size() < 2 || sources.size() > 3) return false;
        emit_operands(run::scalar_function, instruction, 4,
                      std::vector<std::pair<unsigned, Type>>(sources.size(), {4, instruction.source_type}));
        Op& op = out_.ops.back();
        op.scalar = choice.function;
        op.imm = choice.imm;
        return true;
    }
    const unsigned d_bytes = width_in_register(instruction.operands[0], instruction.type);
    if (sources.empty() || sources.size() > 2) return false;
    const unsigned a_bytes = width_in_register(sources[0], instruction.source_type);
    if (d_bytes == 0 || a_bytes == 0 || d_bytes < ptx::size_bytes(instruction.type) ||
        a_bytes < ptx::size_bytes(instruction.source_type)) {
        return false;
    }
    VectorKey key = key_of(instruction);
    key.d_bytes = static_cast<std::uint8_t>(d_bytes);
    key.a_bytes = static_cast<std::uint8_t>(a_bytes);
    const bool plain = !instruction.modifiers.relu && sources.size() == 1;
    if (const Handler handler = plain ? vector_.convert(key) : nullptr) {
        emit_operands(handler, instruction, d_bytes, {{a_bytes, instruction.source_type}});
        return true;
    }
    const ScalarChoice choice = scalar_conversion(instruction);
    if (choice.function == nullptr) return false;
    std::vector<std::pair<unsigned, Type>> widths(sources.size(), {a_bytes, instruction.source_type});
    emit_operands(run::scalar_function, instruction, d_bytes, widths);
    Op& op = out_.ops.back();
    op.scalar = choice.function;
    op.imm = choice.imm;
    return true;
}

// add.cc, addc{.cc}, sub.cc, subc{.cc}, mad.lo.cc, madc.hi{.cc} ...: the carry is a predicate of the frame.
bool Lowering::lower_carry(const ptx::Instruction& instruction) {
    const unsigned width = ptx::size_bytes(instruction.type);
    if ((width != 4 && width != 8) || instruction.destination_count != 1) return false;
    const bool multiplies = instruction.opcode == Opcode::mad || instruction.opcode == Opcode::madc;
    const std::pair<unsigned, Type> own{width, instruction.type};
    if (instruction.sources().size() != (multiplies ? 3u : 2u)) return false;
    emit_operands(run::carry, instruction, width,
                  multiplies ? std::vector{own, own, own} : std::vector{own, own});
    Op& op = out_.ops.back();
    op.e = carry_;
    const bool in = instruction.opcode == Opcode::addc || instruction.opcode == Opcode::subc ||
                    instruction.opcode == Opcode::madc;
    const bool subtracts = instruction.opcode == Opcode::sub || instruction.opcode == Opcode::subc;
    const bool high = instruction.modifiers.multiply_part == ptx::MultiplyPart::hi;
    op.imm = (in ? 1u : 0u) | (instruction.modifiers.carry_out ? 2u : 0u) | (subtracts ? 4u : 0u) |
             (multiplies ? 8u : 0u) | (high ? 16u : 0u) | (ptx::is_signed(instruction.type) ? 32u : 0u);
    return true;
}

}  // namespace trimtab::emulator
