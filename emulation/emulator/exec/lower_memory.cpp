// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and atomics.
#include <algorithm>
#include <iterator>

#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/address_resolution.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"
#include "emulation/emulator/exec/observer.h"

namespace trimtab::emulator {
namespace {

// The registers of a loaded or stored value: a vector's elements, or the one operand.
std::vector<const ptx::Operand*> elements_of(const ptx::Operand& operand) {
    std::vector<const ptx::Operand*> all;
    if (operand.kind != ptx::Operand::Kind::vector) return {&operand};
    for (const ptx::Operand& element : operand.elements) all.push_back(&element);
    return all;
}

bool is_async(const ptx::Instruction& instruction) {
    for (const std::string& suffix : instruction.suffixes) {
        if (suffix == "async" || suffix == "bulk") return true;
    }
    return false;
}

}  // namespace

Lowering::Address Lowering::address(const ptx::Operand& operand, ptx::Space space) {
    Address made;
    if (operand.kind != ptx::Operand::Kind::address) return made;
    made.offset = static_cast<std::uint64_t>(operand.offset);
    if (operand.reg != ptx::no_index) {
        const unsigned width = width_of(operand.reg);
        if (width != 4 && width != 8) return made;
        made.base = registers_[operand.reg];
        made.wide = width == 8;
        made.valid = true;
        return made;
    }
    if (operand.text.empty()) {
        made.offset += operand.bits;
        made.base = constant(0, 8);
        made.valid = true;
        return made;
    }
    ptx::Operand base = operand;
    base.kind = ptx::Operand::Kind::symbol;
    base.offset = 0;
    made.base = symbol(base, 8);
    // A generic address of a variable that lies in a window.
    if (space == ptx::Space::generic) {
        const bool shared = kernel_.shared_offsets.contains(function_.name + "/" + operand.text) ||
                            kernel_.shared_offsets.contains(operand.text);
        if (locals_.contains(operand.text))
            made.offset += local_window;
        else if (shared)
            made.offset += shared_window;
    }
    made.valid = made.base != no_operand;
    return made;
}

MemoryInfo& Lowering::memory_info(const ptx::Instruction& instruction, ptx::Space space, Access access,
                                  unsigned element_bytes, unsigned elements, bool wide) {
    MemoryInfo& info = out_.memory.emplace_back();
    info.space = space;
    info.access = access;
    info.is_ordered = ptx::is_ordered(instruction);
    info.element_bytes = static_cast<std::uint8_t>(element_bytes);
    info.element_count = static_cast<std::uint8_t>(elements);
    info.total_bytes = static_cast<std::uint8_t>(element_bytes * elements);
    info.alignment_bytes = info.total_bytes;
    info.counted = kernel_.counted;
    switch (space) {
        case ptx::Space::shared:
        case ptx::Space::shared_cluster:
            info.resolve = vector_.shared(wide);
            break;
        case ptx::Space::local:
            info.resolve = local_resolver(wide);
            break;
        case ptx::Space::param:
            info.resolve = parameter_resolver(wide);
            break;
        case ptx::Space::constant:
            info.counted = false;
            info.resolve = vector_.global(wide);
            break;
        default:
            info.resolve = vector_.global(wide);
            break;
    }
    if (kernel_.observed && space != ptx::Space::param) {
        info.unobserved = info.resolve;
        info.resolve = resolve_observed;
    }
    return info;
}

bool Lowering::lower_load(const ptx::Instruction& instruction) {
    if (instruction.operands.size() < 2) return false;
    ptx::Space space = instruction.modifiers.space;
    if (space == ptx::Space::param) {
        const ptx::Operand& place = instruction.operands[1];
        if (place.reg == ptx::no_index && !locals_.contains(place.text))
            return lower_parameter_access(instruction, true);
        if (!is_entry_) space = ptx::Space::local;  // its address was taken
    }
    const auto elements = elements_of(instruction.operands[0]);
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if (elements.empty() || elements.size() > 8 || bytes * elements.size() > 32) return false;
    unsigned width = 0;
    std::vector<OperandRef> refs;
    for (const ptx::Operand* element : elements) {
        refs.push_back(no_operand);
        if (element->kind == ptx::Operand::Kind::sink) continue;
        if (element->kind != ptx::Operand::Kind::reg) return false;
        const unsigned own = width_of(element->reg);
        if (width != 0 && own != width) return false;
        width = own;
        refs.back() = registers_[element->reg];
    }
    if (width == 0) {  // every element is a sink: the access still happens
        width = bytes < 2 ? 2 : bytes;
        refs[0] = temporary(width);
    }
    VectorKey key;
    key.type = instruction.type;
    key.memory_bytes = static_cast<std::uint8_t>(bytes);
    key.d_bytes = static_cast<std::uint8_t>(width);
    const Handler handler = bytes == 16 && width == 16 ? run::wide_load : vector_.load(key);
    const Address from = address(instruction.operands[1], space);
    if (handler == nullptr || !from.valid) return false;
    MemoryInfo& info = memory_info(instruction, space, Access::read, bytes,
                                   static_cast<unsigned>(elements.size()), from.wide);
    for (std::size_t i = 0; i < refs.size(); i++) info.elements[i] = refs[i];
    Op& op = emit(handler);
    op.a = from.base;
    op.imm = from.offset;
    op.info = &info;
    return true;
}

bool Lowering::lower_store(const ptx::Instruction& instruction) {
    if (instruction.operands.size() < 2 || is_async(instruction)) return false;
    ptx::Space space = instruction.modifiers.space;
    if (space == ptx::Space::param) {
        const ptx::Operand& place = instruction.operands[0];
        if (place.reg == ptx::no_index && !locals_.contains(place.text))
            return lower_parameter_access(instruction, false);
        if (is_entry_) return false;
        space = ptx::Space::local;
    }
    const auto elements = elements_of(instruction.operands[1]);
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if (elements.empty() || elements.size() > 8 || bytes * elements.size() > 32) return false;
    unsigned width = 0;
    for (const ptx::Operand* element : elements) {
        if (element->kind != ptx::Operand::Kind::reg) continue;
        const unsigned own = width_of(element->reg);
        if (width != 0 && own != width) return false;
        width = own;
    }
    if (width == 0) width = bytes < 2 ? 2 : bytes;
    std::vector<OperandRef> refs;
    for (const ptx::Operand* element : elements) refs.push_back(source(*element, width, instruction.type));
    VectorKey key;
    key.type = instruction.type;
    key.memory_bytes = static_cast<std::uint8_t>(bytes);
    key.a_bytes = static_cast<std::uint8_t>(width);
    const Handler handler = bytes == 16 && width == 16 ? run::wide_store : vector_.store(key);
    const Address to = address(instruction.operands[0], space);
    if (handler == nullptr || !to.valid) return false;
    MemoryInfo& info = memory_info(instruction, space, Access::write, bytes,
                                   static_cast<unsigned>(elements.size()), to.wide);
    info.register_bytes = static_cast<std::uint8_t>(width);
    for (std::size_t i = 0; i < refs.size(); i++) info.elements[i] = refs[i];
    Op& op = emit(handler);
    op.a = to.base;
    op.imm = to.offset;
    op.info = &info;
    return true;
}

// [name + offset] in .param: a kernel's parameter is a constant of the launch; everything else lies in the
// frame's parameter storage.
bool Lowering::lower_parameter_access(const ptx::Instruction& instruction, bool is_load) {
    const ptx::Operand& place = instruction.operands[is_load ? 1 : 0];
    const auto elements = elements_of(instruction.operands[is_load ? 0 : 1]);
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if (place.reg != ptx::no_index || bytes == 0 || elements.size() > 8) return false;
    const auto total = static_cast<std::uint32_t>(bytes * elements.size());
    const auto own = parameters_.find(place.text);
    const bool in_frame = own != parameters_.end();
    const ptx::Variable* parameter = in_frame || !is_entry_ ? nullptr : function_.parameter(place.text);
    if (!in_frame && parameter == nullptr) return false;
    const std::uint64_t size = in_frame ? own->second.bytes : parameter->size_bytes;
    if (place.offset < 0 || static_cast<std::uint64_t>(place.offset) + total > size) {
        fail(instruction, "it accesses '" + place.text + "' beyond its end");
        return false;
    }
    const auto offset = static_cast<std::uint32_t>(place.offset);
    if (!in_frame) {
        if (!is_load) return false;
        for (std::size_t i = 0; i < elements.size(); i++) {
            if (elements[i]->kind != ptx::Operand::Kind::reg) continue;
            const unsigned width = width_of(elements[i]->reg);
            const Handler handler = vector_.copy(width);
            if (handler == nullptr || width < bytes) return false;
            ParameterSlot slot;
            slot.offset = parameter->offset_bytes + offset + static_cast<std::uint32_t>(i * bytes);
            slot.memory_bytes = static_cast<std::uint8_t>(bytes);
            slot.register_bytes = static_cast<std::uint8_t>(width);
            slot.is_signed = ptx::is_signed(instruction.type);
            slot.slot_offset = kernel_.code.parameter_slot_bytes;
            kernel_.code.parameter_slot_bytes += (width * warp_lanes + 63) / 64 * 64;
            kernel_.code.parameter_slots.push_back(slot);
            Op& op = emit(handler);
            op.d = registers_[elements[i]->reg];
            op.a = operand_ref(Base::parameters, slot.slot_offset);
        }
        return true;
    }
    MemoryInfo& info = out_.memory.emplace_back();
    info.element_bytes = static_cast<std::uint8_t>(bytes);
    info.element_count = static_cast<std::uint8_t>(elements.size());
    unsigned width = 0;
    for (std::size_t i = 0; i < elements.size(); i++) {
        const ptx::Operand& element = *elements[i];
        info.elements[i] = no_operand;
        if (element.kind == ptx::Operand::Kind::sink) continue;
        if (element.kind == ptx::Operand::Kind::reg) {
            if (width != 0 && width_of(element.reg) != width) return false;
            width = width_of(element.reg);
            info.elements[i] = registers_[element.reg];
        }
    }
    if (width == 0) width = bytes < 2 ? 2 : bytes;
    for (std::size_t i = 0; i < elements.size(); i++) {
        if (elements[i]->kind != ptx::Operand::Kind::reg && !is_load)
            info.elements[i] = source(*elements[i], width, instruction.type);
    }
    if (width < bytes) return false;
    Op& op = emit(is_load ? run::load_parameter : run::store_parameter);
    op.imm = own->second.offset + offset;
    op.info = &info;
    op.d_bytes = static_cast<std::uint8_t>(width);
    op.a_bytes = ptx::is_signed(instruction.type) ? 1 : 0;
    return true;
}

// atom.v4.f32.add d, [a], b;  red likewise: element after element.
bool Lowering::lower_vector_atomic(const ptx::Instruction& instruction) {
    const bool returns = instruction.opcode == ptx::Opcode::atom;
    const std::size_t at = returns ? 1 : 0;
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if (instruction.operands.size() < at + 2 || (bytes != 2 && bytes != 4) ||
        !ptx::is_float(instruction.type) || !can_run_atomic(instruction.modifiers.atomic, instruction.type)) {
        return false;
    }
    const auto operands = elements_of(instruction.operands[at + 1]);
    if (operands.size() != instruction.modifiers.vector_width || operands.size() * bytes > 16) return false;
    VectorAtomic made;
    std::fill(std::begin(made.results), std::end(made.results), no_operand);
    OperandRef values[8];
    for (std::size_t i = 0; i < operands.size(); i++)
        values[i] = source(*operands[i], bytes, instruction.type);
    if (returns && instruction.operands[0].kind == ptx::Operand::Kind::vector) {
        const auto results = elements_of(instruction.operands[0]);
        if (results.size() != operands.size()) return false;
        for (std::size_t i = 0; i < results.size(); i++) {
            if (results[i]->kind != ptx::Operand::Kind::sink)
                made.results[i] = destination(*results[i], bytes);
        }
    }
    const ptx::Space space = instruction.modifiers.space;
    const Address where = address(instruction.operands[at], space);
    if (!where.valid || failed()) return false;
    static_cast<MemoryInfo&>(made) = memory_info(instruction, space, Access::read_write, bytes,
                                                 static_cast<unsigned>(operands.size()), where.wide);
    std::copy_n(values, operands.size(), made.elements);
    made.is_atomic = true;
    made.atomic = instruction.modifiers.atomic;
    made.type = instruction.type;
    const MemoryInfo& info = out_.keep(made);
    Op& op = emit(run::vector_atomic);
    op.a = where.base;
    op.imm = where.offset;
    op.info = &info;
    return true;
}

// atom d, [a], b{, c};   red [a], b;
bool Lowering::lower_atomic(const ptx::Instruction& instruction) {
    const bool returns = instruction.opcode == ptx::Opcode::atom;
    const std::size_t at = returns ? 1 : 0;
    const std::size_t count = instruction.operands.size();
    if (count < at + 2 || is_async(instruction)) return false;
    if (instruction.modifiers.vector_width != 1) return lower_vector_atomic(instruction);
    const unsigned bytes = ptx::size_bytes(instruction.type);
    const bool cas = instruction.modifiers.atomic == ptx::AtomicOp::cas;
    if ((bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) || (cas && count < at + 3)) return false;
    const ptx::Space space = instruction.modifiers.space;
    const OperandRef b = source(instruction.operands[at + 1], bytes, instruction.type);
    const OperandRef c = cas ? source(instruction.operands[at + 2], bytes, instruction.type) : no_operand;
    OperandRef d = no_operand;
    if (returns && instruction.operands[0].kind != ptx::Operand::Kind::sink)
        d = destination(instruction.operands[0], bytes);
    const Address where = address(instruction.operands[at], space);
    if (!where.valid || !can_run_atomic(instruction.modifiers.atomic, instruction.type)) return false;
    MemoryInfo& info = memory_info(instruction, space, Access::read_write, bytes, 1, where.wide);
    info.is_atomic = true;
    info.atomic = instruction.modifiers.atomic;
    info.type = instruction.type;
    Op& op = emit(run::atomic);
    op.d = d;
    op.a = where.base;
    op.imm = where.offset;
    op.b = b;
    op.c = c;
    op.info = &info;
    return true;
}

}  // namespace trimtab::emulator
