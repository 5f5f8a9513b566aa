// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/function_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/values/integer_operations.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::Value;
using ptx::ValueIndex;

// Bits of a register of any type: floats and packed values too.
unsigned bits_of(ptx::Type type) {
    if (const unsigned width = width_bits(type); width != 0) return width;
    return std::max(8u, ptx::size_bytes(type) * 8);
}

}  // namespace

std::expected<FunctionValues, Error> FunctionValues::make(SymbolTable& table, const ptx::Function& function,
                                                          std::uint32_t index, const LaunchReads& reads) {
    auto flow = ptx::control_flow(function);
    if (!flow) return std::unexpected(std::move(flow.error()));
    FunctionValues values(table, function, index, reads);
    values.flow_ = std::move(*flow);
    values.ssa_ = ptx::build_ssa(function, values.flow_);
    values.phis_.resize(values.flow_.blocks.size());
    values.definitions_.resize(function.body.size());
    for (ValueIndex v = 0; v < values.ssa_.values.size(); v++) {
        const Value& value = values.ssa_.values[v];
        if (value.kind == Value::Kind::phi) values.phis_[value.block].push_back(v);
        if (value.kind == Value::Kind::instruction) values.definitions_[value.instruction].push_back(v);
    }
    // A phi that turns out to mix what it may not is known from then on; there are finitely many.
    while (!values.evaluate()) values.faults_.clear();
    return values;
}

unsigned FunctionValues::register_width(ptx::RegisterIndex reg) const {
    if (reg == no_index) return 64;
    // A state.
    if (reg >= function_->registers.size()) return reg == ssa_.first_state ? 1 : 64;
    return bits_of(function_->registers[reg].type);
}

bool FunctionValues::is_reachable(std::uint32_t instruction) const {
    const ptx::BlockIndex block = flow_.block_of[instruction];
    return block == 0 || flow_.immediate_dominator[block] != no_index;
}

Symbolic FunctionValues::unknown(ValueIndex index, Atom::Kind kind) const {
    Atom atom;
    atom.kind = kind;
    atom.function = index_;
    atom.value = index;
    atom.width = register_width(ssa_.values[index].reg);
    return table_->of(atom);
}

std::optional<ValueIndex> FunctionValues::phi_of(const Atom& atom) const {
    if (atom.kind != Atom::Kind::opaque || atom.function != index_ || atom.value >= ssa_.values.size() ||
        ssa_.values[atom.value].kind != Value::Kind::phi)
        return std::nullopt;
    return atom.value;
}

bool FunctionValues::evaluate() {
    values_.assign(ssa_.values.size(), Symbolic{});
    evaluated_.assign(ssa_.values.size(), false);
    for (ValueIndex v = 0; v < ssa_.values.size(); v++) {
        if (ssa_.values[v].kind != Value::Kind::undefined) continue;
        values_[v] = unknown(v, Atom::Kind::opaque);
        evaluated_[v] = true;
    }
    for (const ptx::BlockIndex block : flow_.reverse_post_order) {
        for (const ValueIndex phi : phis_[block]) evaluate_phi(phi);
        for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].last; i++)
            evaluate_instruction(i);
    }
    return check_phis();
}

// A phi is what its incoming values share that is not clean, and for the rest a value of its own: which
// incoming value it takes is decided by branches, and these are clean. Around a loop the share is taken from
// outside, and checked afterwards.
void FunctionValues::evaluate_phi(ValueIndex index) {
    evaluated_[index] = true;
    if (tainted_phis_.contains(index)) {
        values_[index] = unknown(index, Atom::Kind::tainted);
        return;
    }
    const Value& phi = ssa_.values[index];
    const Symbolic* first = nullptr;
    bool all_equal = true;
    for (const ValueIndex incoming : phi.incoming) {
        if (incoming == index) continue;
        if (incoming == no_index || !evaluated_[incoming]) {
            all_equal = false;
            continue;
        }
        if (first == nullptr) first = &values_[incoming];
        all_equal &= values_[incoming] == *first;
    }
    if (first != nullptr && all_equal) {
        values_[index] = *first;
        return;
    }
    values_[index] = unknown(index, Atom::Kind::opaque);
    if (first == nullptr) return;
    const Symbolic shared = table_->unclean_part(*first);
    if (shared.terms.empty()) return;
    // Without loop headers, what comes from outside a loop cannot be told from what comes around it.
    values_[index] =
        flow_.reducible ? table_->add(shared, values_[index]) : unknown(index, Atom::Kind::tainted);
}

bool FunctionValues::check_phis() {
    bool good = true;
    for (const ptx::BlockIndex block : flow_.reverse_post_order) {
        for (const ValueIndex index : phis_[block]) {
            if (tainted_phis_.contains(index)) continue;
            const Symbolic shared = table_->unclean_part(values_[index]);
            for (const ValueIndex incoming : ssa_.values[index].incoming) {
                if (incoming == no_index || !evaluated_[incoming] ||
                    table_->unclean_part(values_[incoming]) == shared)
                    continue;
                tainted_phis_.insert(index);
                good = false;
                break;
            }
        }
    }
    return good;
}

Symbolic FunctionValues::operand_value(const Operand& operand, ValueIndex value, unsigned width) const {
    switch (operand.kind) {
        case Operand::Kind::reg: {
            if (value == no_index) return {};
            if (!operand.negated) return values_[value];
            return values_[value].width == 1 ? table_->negate(values_[value]) : Symbolic{};
        }
        case Operand::Kind::immediate:
            if (operand.type == ptx::Type::f32 || operand.type == ptx::Type::f64) return {};
            return SymbolTable::constant(operand.bits, width);
        case Operand::Kind::special:
            return special(operand.special, width);
        case Operand::Kind::symbol: {
            Atom atom;
            atom.kind = Atom::Kind::symbol;
            atom.width = 64;
            atom.function = index_;
            atom.text = operand.text;
            return table_->add(table_->of(atom),
                               SymbolTable::constant(static_cast<std::uint64_t>(operand.offset), 64));
        }
        default:
            return {};
    }
}

Symbolic FunctionValues::operand(std::uint32_t instruction, std::size_t operand, std::size_t element) const {
    const ptx::Instruction& made = function_->body[instruction];
    const Operand& whole = made.operands[operand];
    const Operand& part = whole.kind == Operand::Kind::vector ? whole.elements[element] : whole;
    const ValueIndex value =
        ssa_.use(instruction, static_cast<std::uint16_t>(operand), static_cast<std::uint16_t>(element));
    return operand_value(part, value, std::max(1u, bits_of(made.type)));
}

Symbolic FunctionValues::guard(std::uint32_t instruction) const {
    const ptx::Instruction& made = function_->body[instruction];
    if (made.guard == no_index) return SymbolTable::constant(1, 1);
    const ValueIndex value = ssa_.guard(instruction);
    if (value == no_index) return {};
    return made.guard_negated ? table_->negate(values_[value]) : values_[value];
}

Symbolic FunctionValues::address(std::uint32_t instruction) const {
    const ptx::Instruction& made = function_->body[instruction];
    for (std::size_t i = 0; i < made.operands.size(); i++) {
        const Operand& operand = made.operands[i];
        if (operand.kind != Operand::Kind::address) continue;
        Symbolic offset =
            SymbolTable::constant(static_cast<std::uint64_t>(operand.offset) + operand.bits, 64);
        if (operand.reg != no_index) {
            const ValueIndex base = ssa_.use(instruction, static_cast<std::uint16_t>(i));
            if (base == no_index || values_[base].width != 64) return {};
            return table_->add(values_[base], offset);
        }
        if (operand.text.empty()) return offset;
        Operand symbol;
        symbol.kind = Operand::Kind::symbol;
        symbol.text = operand.text;
        return table_->add(operand_value(symbol, no_index, 64), offset);
    }
    return {};
}

std::optional<FunctionValues::SymbolOffset> FunctionValues::symbol_offset(const Symbolic& address) const {
    std::optional<AtomIndex> symbol;
    std::uint64_t offset = 0;
    for (const Term& term : address.terms) {
        if (term.atoms.empty()) {
            offset = term.coefficient;
        } else if (term.atoms.size() == 1 && term.coefficient == 1 && !symbol) {
            symbol = term.atoms[0];
        } else {
            return std::nullopt;
        }
    }
    if (!symbol || table_->atom(*symbol).kind != Atom::Kind::symbol) return std::nullopt;
    return SymbolOffset{*symbol, offset};
}

namespace {

bool lies_inside(const ptx::Instruction& access, const ptx::Variable& variable, std::uint64_t offset) {
    const std::uint64_t bytes =
        std::uint64_t{ptx::size_bytes(access.type)} * std::max<unsigned>(1, access.modifiers.vector_width);
    return offset <= variable.size_bytes && variable.size_bytes - offset >= bytes;
}

}  // namespace

std::optional<FunctionValues::ParameterBytes> FunctionValues::parameter_load(
    std::uint32_t instruction) const {
    return parameter_at(function_->body[instruction], address(instruction));
}

std::optional<FunctionValues::ParameterBytes> FunctionValues::parameter_at(const ptx::Instruction& made,
                                                                           const Symbolic& address) const {
    if (made.opcode != Opcode::ld || !function_->is_entry) return std::nullopt;
    const auto place = symbol_offset(address);
    if (!place) return std::nullopt;
    const auto& parameters = function_->parameters;
    for (std::uint32_t i = 0; i < parameters.size(); i++) {
        if (parameters[i].name != table_->atom(place->symbol).text) continue;
        if (!lies_inside(made, parameters[i], place->offset)) return std::nullopt;
        return ParameterBytes{i, static_cast<std::uint32_t>(place->offset)};
    }
    return std::nullopt;
}

bool FunctionValues::is_frame_access(std::uint32_t instruction) const {
    const ptx::Instruction& made = function_->body[instruction];
    if ((made.opcode != Opcode::ld && made.opcode != Opcode::st) || made.modifiers.space != ptx::Space::local)
        return false;
    const auto place = symbol_offset(address(instruction));
    if (!place) return false;
    const ptx::Variable* variable = function_->variable(table_->atom(place->symbol).text);
    return variable != nullptr && variable->space == ptx::Space::local &&
           lies_inside(made, *variable, place->offset);
}

}  // namespace trimtab::analysis
