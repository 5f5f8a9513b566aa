// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands: where their lanes lie.
#include <bit>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"

namespace trimtab::emulator {
namespace {

std::uint64_t truncated(std::uint64_t bits, unsigned bytes) {
    return bytes >= 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

// A literal in the type that the instruction works in.
std::uint64_t literal_bits(const ptx::Operand& operand, ptx::Type wanted) {
    if (operand.type == ptx::Type::f64 && wanted == ptx::Type::f32)
        return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
    if (operand.type == ptx::Type::f32 && wanted == ptx::Type::f64) {
        return std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
    }
    return operand.bits;
}

}  // namespace

unsigned Lowering::width_of(ptx::RegisterIndex reg) const {
    const unsigned width = ptx::size_bytes(function_.registers[reg].type);
    return width == 1 ? 2 : width;  // 8-bit registers live in 16 bits
}

OperandRef Lowering::constant(std::uint64_t bits, unsigned bytes) {
    const std::uint64_t value = truncated(bits, bytes);
    const auto [at, is_new] = constants_.try_emplace({value, bytes}, no_operand);
    if (!is_new) return at->second;
    const auto offset = static_cast<std::uint32_t>(out_.constants.size() * sizeof(LaneBytes));
    out_.constants.resize(out_.constants.size() + (bytes * warp_lanes + 63) / 64);
    auto* data = reinterpret_cast<std::byte*>(out_.constants.data()) + offset;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        for (unsigned byte = 0; byte < bytes; byte++)
            data[lane * bytes + byte] = static_cast<std::byte>(byte < 8 ? value >> (8 * byte) : 0);
    }
    return at->second = operand_ref(Base::constants, offset);
}

OperandRef Lowering::mask_constant(std::uint32_t mask) {
    // A predicate's mask: the first lane of a 32-bit constant.
    return constant(mask, 4);
}

OperandRef Lowering::temporary(unsigned bytes) {
    register_bytes_ = (register_bytes_ + 63) / 64 * 64;
    const OperandRef ref = operand_ref(Base::registers, register_bytes_);
    register_bytes_ += bytes == 0 ? 64 : bytes * warp_lanes;
    return ref;
}

OperandRef Lowering::source(const ptx::Operand& operand, unsigned bytes, ptx::Type type) {
    const ptx::Instruction& instruction = function_.body[current_];
    switch (operand.kind) {
        case ptx::Operand::Kind::reg: {
            if (bytes == 0) return predicate(operand);
            const unsigned width = width_of(operand.reg);
            if (width == bytes) return registers_[operand.reg];
            if (width == 0) break;
            return resized(registers_[operand.reg], width, bytes, ptx::is_signed(type));
        }
        case ptx::Operand::Kind::immediate:
            if (bytes == 0) return mask_constant(operand.bits != 0 ? all_lanes : 0);
            return constant(literal_bits(operand, type), bytes);
        case ptx::Operand::Kind::special:
            return special(operand, bytes);
        case ptx::Operand::Kind::symbol:
            return symbol(operand, bytes);
        default:
            break;
    }
    (void)unsupported(instruction);
    return no_operand;
}

OperandRef Lowering::predicate(const ptx::Operand& operand) {
    if (operand.kind == ptx::Operand::Kind::immediate)
        return mask_constant((operand.bits != 0) != operand.negated ? all_lanes : 0);
    if (operand.kind != ptx::Operand::Kind::reg || width_of(operand.reg) != 0) {
        (void)unsupported(function_.body[current_]);
        return no_operand;
    }
    const OperandRef ref = registers_[operand.reg];
    if (!operand.negated) return ref;
    Op& op = emit(run::predicate_not);
    op.d = temporary(0);
    op.a = ref;
    return op.d;
}

OperandRef Lowering::destination(const ptx::Operand& operand, unsigned bytes) {
    if (operand.kind == ptx::Operand::Kind::sink) return temporary(bytes);
    if (operand.kind == ptx::Operand::Kind::reg && width_of(operand.reg) == bytes)
        return registers_[operand.reg];
    if (operand.kind == ptx::Operand::Kind::reg) {
        fail(function_.body[current_], "'" + function_.registers[operand.reg].name +
                                           "' has another width than '" + function_.body[current_].mnemonic +
                                           "' writes");
    } else {
        (void)unsupported(function_.body[current_]);
    }
    return no_operand;
}

OperandRef Lowering::resized(OperandRef from, unsigned from_bytes, unsigned bytes, bool sign) {
    const auto type = [sign](unsigned width) {
        switch (width) {
            case 2:
                return sign ? ptx::Type::s16 : ptx::Type::u16;
            case 4:
                return sign ? ptx::Type::s32 : ptx::Type::u32;
            default:
                return sign ? ptx::Type::s64 : ptx::Type::u64;
        }
    };
    VectorKey key;
    key.opcode = ptx::Opcode::cvt;
    key.source_type = type(from_bytes);
    key.type = type(bytes);
    key.a_bytes = static_cast<std::uint8_t>(from_bytes);
    key.d_bytes = static_cast<std::uint8_t>(bytes);
    const Handler handler = vector_.convert(key);
    if (handler == nullptr) {
        (void)unsupported(function_.body[current_]);
        return no_operand;
    }
    Op& op = emit(handler);
    op.d = temporary(bytes);
    op.a = from;
    return op.d;
}

OperandRef Lowering::special(const ptx::Operand& operand, unsigned bytes) {
    using ptx::SpecialRegister;
    const auto timer = [&](Handler handler, unsigned width, unsigned shift) {
        Op& op = emit(handler);
        op.d = temporary(width);
        op.d_bytes = static_cast<std::uint8_t>(width);
        op.imm = shift;
        const OperandRef d = op.d;
        return width == bytes ? d : resized(d, width, bytes, false);
    };
    switch (operand.special) {
        case SpecialRegister::clock:
            return timer(run::read_clock, 4, 0);
        case SpecialRegister::clock_hi:
            return timer(run::read_clock, 4, 32);
        case SpecialRegister::clock64:
            return timer(run::read_clock, 8, 0);
        case SpecialRegister::globaltimer:
            return timer(run::read_global_timer, 8, 0);
        case SpecialRegister::globaltimer_lo:
            return timer(run::read_global_timer, 4, 0);
        case SpecialRegister::globaltimer_hi:
            return timer(run::read_global_timer, 4, 32);
        case SpecialRegister::is_explicit_cluster:
            if (bytes != 0) return no_operand;
            return operand_ref(Base::specials, static_cast<std::uint32_t>(operand.special) * 4 * warp_lanes);
        case SpecialRegister::other:
            if (operand.text == "%envreg1") return timer(run::read_grid_workspace, 4, 32);
            if (operand.text == "%envreg2") return timer(run::read_grid_workspace, 4, 0);
            fail(function_.body[current_],
                 "the emulator does not have the special register '" + operand.text + "'");
            return no_operand;
        default:
            break;
    }
    if (bytes == 0) {
        (void)unsupported(function_.body[current_]);
        return no_operand;
    }
    static_assert(static_cast<unsigned>(SpecialRegister::other) <= 64);
    kernel_.code.special_registers |= std::uint64_t{1} << static_cast<unsigned>(operand.special);
    const OperandRef ref =
        operand_ref(Base::specials, static_cast<std::uint32_t>(operand.special) * 4 * warp_lanes);
    return bytes == 4 ? ref : resized(ref, 4, bytes, false);
}

// The address of a variable or a function, plus an offset.
OperandRef Lowering::symbol(const ptx::Operand& operand, unsigned bytes) {
    const auto offset = static_cast<std::uint64_t>(operand.offset);
    if (const auto local = locals_.find(operand.text); local != locals_.end()) {
        Op& op = emit(run::local_address);
        op.d = temporary(bytes);
        op.d_bytes = static_cast<std::uint8_t>(bytes);
        op.imm = local->second.offset + offset;
        return op.d;
    }
    for (const std::string& name : {function_.name + "/" + operand.text, operand.text}) {
        const auto shared = kernel_.shared_offsets.find(name);
        if (shared != kernel_.shared_offsets.end()) return constant(shared->second + offset, bytes);
    }
    if (is_entry_) {
        if (const ptx::Variable* parameter = function_.parameter(operand.text))
            return constant(parameter->offset_bytes + offset, bytes);
    }
    if (const auto address = kernel_.program.symbol_address(operand.text))
        return constant(*address + offset, bytes);
    fail(function_.body[current_], "'" + operand.text + "' is not defined");
    return no_operand;
}

}  // namespace trimtab::emulator
