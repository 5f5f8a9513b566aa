// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov in all its forms, and conversions between addresses.
#include <algorithm>
#include <bit>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"

namespace trimtab::emulator {

bool Lowering::lower_move(const ptx::Instruction& instruction) {
    if (instruction.operands.size() != 2) return false;
    const ptx::Operand& to = instruction.operands[0];
    const ptx::Operand& from = instruction.operands[1];
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if (instruction.type == ptx::Type::pred) {
        const OperandRef a = predicate(from), d = destination(to, 0);
        Op& op = emit(run::predicate_copy);
        op.d = d;
        op.a = a;
        return true;
    }
    using Kind = ptx::Operand::Kind;
    if (from.kind == Kind::vector) {
        const auto count = static_cast<unsigned>(from.elements.size());
        if (count == 0 || bytes % count != 0) return false;
        const bool wide = bytes == 16 && count == 2;
        const Handler handler = wide ? run::wide_pack : vector_.pack(bytes / count, count);
        if (handler == nullptr) return false;
        OperandRef refs[4] = {no_operand, no_operand, no_operand, no_operand};
        for (unsigned i = 0; i < count; i++)
            refs[i] = source(from.elements[i], bytes / count, ptx::Type::none);
        const OperandRef d = destination(to, bytes);
        Op& op = emit(handler);
        op.d = d;
        op.a = refs[0];
        op.b = refs[1];
        op.c = refs[2];
        op.e = refs[3];
        return true;
    }
    if (to.kind == Kind::vector) {
        const auto count = static_cast<unsigned>(to.elements.size());
        if (count == 0 || bytes % count != 0) return false;
        const bool wide = bytes == 16 && count == 2;
        const Handler handler = wide ? run::wide_unpack : vector_.unpack(bytes / count, count);
        if (handler == nullptr) return false;
        const OperandRef a = source(from, bytes, instruction.type);
        OperandRef refs[4] = {no_operand, no_operand, no_operand, no_operand};
        for (unsigned i = 0; i < count; i++) {
            if (to.elements[i].kind != Kind::sink) refs[i] = destination(to.elements[i], bytes / count);
        }
        Op& op = emit(handler);
        op.a = a;
        op.d = refs[0];
        op.b = refs[1];
        op.c = refs[2];
        op.e = refs[3];
        return true;
    }
    const Handler handler = bytes == 16 ? run::wide_copy : vector_.copy(bytes);
    if (handler == nullptr) return false;
    const OperandRef a = source(from, bytes, instruction.type), d = destination(to, bytes);
    Op& op = emit(handler);
    op.d = d;
    op.a = a;
    return true;
}

// Generic addresses are global ones, but for the windows of the other spaces.
bool Lowering::lower_address_conversion(const ptx::Instruction& instruction) {
    if (instruction.operands.size() != 2 || ptx::size_bytes(instruction.type) != 8) return false;
    std::uint64_t window = 0;
    switch (instruction.modifiers.space) {
        case ptx::Space::global:
        case ptx::Space::constant:
            break;
        case ptx::Space::shared:
        case ptx::Space::shared_cluster:
            window = shared_window;
            break;
        case ptx::Space::local:
            window = local_window;
            break;
        case ptx::Space::param:
            window = parameter_window;
            break;
        default:
            return false;
    }
    const OperandRef a = source(instruction.operands[1], 8, ptx::Type::u64);
    const OperandRef d = destination(instruction.operands[0], 8);
    if (window == 0) {
        Op& op = emit(vector_.copy(8));
        op.d = d;
        op.a = a;
        return true;
    }
    const OperandRef b = constant(instruction.modifiers.to ? 0 - window : window, 8);
    Op& op = emit(vector_.integer(ptx::Opcode::add, ptx::semantics::Form::plain, ptx::Type::u64));
    op.d = d;
    op.a = a;
    op.b = b;
    return true;
}

// mapa{.shared::cluster}.u64 d, a, rank;  getctarank{.shared::cluster}.u64 d, a;
bool Lowering::lower_cluster_address(const ptx::Instruction& instruction) {
    const unsigned bytes = ptx::size_bytes(instruction.type);
    const bool maps = instruction.opcode == ptx::Opcode::mapa;
    if (instruction.operands.size() != (maps ? 3u : 2u) || (bytes != 4 && bytes != 8)) return false;
    const bool is_generic = instruction.modifiers.space != ptx::Space::shared_cluster;
    if (is_generic && bytes != 8) return false;
    const OperandRef a = source(instruction.operands[1], bytes, instruction.type);
    const OperandRef b = maps ? source(instruction.operands[2], 4, ptx::Type::u32) : no_operand;
    const OperandRef d = destination(instruction.operands[0], maps ? bytes : 4);
    Op& op = emit(maps ? run::map_shared_rank : run::shared_rank);
    op.d = d;
    op.a = a;
    op.b = b;
    op.d_bytes = static_cast<std::uint8_t>(bytes);
    op.imm = is_generic ? shared_window : 0;
    return true;
}

// alloca.u64 d, bytes{, alignment};  stacksave.u64 d;  stackrestore.u64 a;
bool Lowering::lower_stack(const ptx::Instruction& instruction) {
    using ptx::Opcode;
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if ((bytes != 4 && bytes != 8) || instruction.operands.empty()) return false;
    if (instruction.opcode == Opcode::stackrestore) {
        const OperandRef a = source(instruction.operands[0], 8, ptx::Type::u64);
        emit(run::restore_stack).a = a;
        return true;
    }
    const bool saves = instruction.opcode == Opcode::stacksave;
    std::uint64_t alignment = 16;
    if (!saves && instruction.operands.size() < 2) return false;
    if (!saves && instruction.operands.size() > 2) {
        alignment = std::max<std::uint64_t>(instruction.operands[2].bits, 8);
        if (instruction.operands[2].kind != ptx::Operand::Kind::immediate ||
            !std::has_single_bit(alignment) || alignment > 4096) {
            return false;
        }
    }
    const OperandRef a = saves ? no_operand : source(instruction.operands[1], 8, ptx::Type::u64);
    const OperandRef d = destination(instruction.operands[0], bytes);
    Op& op = emit(saves ? run::save_stack : run::allocate_stack);
    op.d = d;
    op.a = a;
    op.d_bytes = static_cast<std::uint8_t>(bytes);
    op.imm = alignment;
    return true;
}

}  // namespace trimtab::emulator
