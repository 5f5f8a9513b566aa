#include "analysis/function_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/integer_operations.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::Value;
using ptx::ValueIndex;

// A sum of more than this is no index.
constexpr std::size_t max_terms = 64;

struct LaunchRegister {
    Atom::Kind kind;
    Dimension dimension;
};

std::optional<LaunchRegister> launch_register(ptx::SpecialRegister special) {
    using enum ptx::SpecialRegister;
    switch (special) {
        case tid_x:
            return LaunchRegister{Atom::Kind::thread_index, Dimension::x};
        case tid_y:
            return LaunchRegister{Atom::Kind::thread_index, Dimension::y};
        case tid_z:
            return LaunchRegister{Atom::Kind::thread_index, Dimension::z};
        case ntid_x:
            return LaunchRegister{Atom::Kind::block_size, Dimension::x};
        case ntid_y:
            return LaunchRegister{Atom::Kind::block_size, Dimension::y};
        case ntid_z:
            return LaunchRegister{Atom::Kind::block_size, Dimension::z};
        case ctaid_x:
            return LaunchRegister{Atom::Kind::block_index, Dimension::x};
        case ctaid_y:
            return LaunchRegister{Atom::Kind::block_index, Dimension::y};
        case ctaid_z:
            return LaunchRegister{Atom::Kind::block_index, Dimension::z};
        case nctaid_x:
            return LaunchRegister{Atom::Kind::grid_size, Dimension::x};
        case nctaid_y:
            return LaunchRegister{Atom::Kind::grid_size, Dimension::y};
        case nctaid_z:
            return LaunchRegister{Atom::Kind::grid_size, Dimension::z};
        default:
            return std::nullopt;
    }
}

// Bits of a register of any type: floats and packed values too.
unsigned bits_of(ptx::Type type) {
    if (const unsigned width = width_bits(type); width != 0) return width;
    return std::max(8u, ptx::size_bytes(type) * 8);
}

}  // namespace

LaunchReads launch_reads(const std::vector<const ptx::Function*>& functions) {
    LaunchReads reads;
    const auto note = [&reads](const Operand& operand) {
        const auto found =
            operand.kind == Operand::Kind::special ? launch_register(operand.special) : std::nullopt;
        if (!found) return;
        const auto d = static_cast<std::size_t>(found->dimension);
        switch (found->kind) {
            case Atom::Kind::thread_index:
                reads.thread_index[d] = true;
                break;
            case Atom::Kind::block_size:
                reads.block_size[d] = true;
                break;
            case Atom::Kind::block_index:
                reads.block_index[d] = true;
                break;
            default:
                reads.grid_size[d] = true;
                break;
        }
    };
    for (const ptx::Function* function : functions)
        for (const ptx::Instruction& instruction : function->body)
            for (const Operand& operand : instruction.operands) {
                note(operand);
                for (const Operand& element : operand.elements) note(element);
            }
    return reads;
}

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
    return reg == no_index ? 64 : bits_of(function_->registers[reg].type);
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
    if (!shared.terms.empty()) values_[index] = table_->add(shared, values_[index]);
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

Symbolic FunctionValues::special(ptx::SpecialRegister special, unsigned width) const {
    if (special == ptx::SpecialRegister::warp_size) return SymbolTable::constant(32, width);
    const auto found = launch_register(special);
    if (!found) return {};
    const Dimension dimension = found->dimension;
    // Alone, blockIdx is the index itself in a dimension whose block stays 1.
    const bool one = reads_.block_stays_one(static_cast<std::size_t>(dimension));
    switch (found->kind) {
        case Atom::Kind::thread_index:
            return table_->thread_index(dimension, width);
        case Atom::Kind::block_size:
            return table_->block_size(dimension, width);
        case Atom::Kind::block_index:
            return one ? table_->global_index(dimension, width) : table_->block_index(dimension, width);
        default:
            return one ? table_->total(dimension, width) : table_->grid_size(dimension, width);
    }
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
        const Symbolic offset =
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
    const ptx::Instruction& made = function_->body[instruction];
    if (made.opcode != Opcode::ld || !function_->is_entry) return std::nullopt;
    const auto place = symbol_offset(address(instruction));
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

// --- instructions ---

void FunctionValues::evaluate_instruction(std::uint32_t instruction) {
    const auto& defined = definitions_[instruction];
    // What writes no register, and call results in parameter space, only uses its operands.
    if (defined.empty()) {
        operands_are_clean(instruction);
        return;
    }
    for (const ValueIndex index : defined) define(instruction, index);
}

void FunctionValues::define(std::uint32_t instruction, ValueIndex index) {
    const Value& value = ssa_.values[index];
    const unsigned width = register_width(value.reg);
    evaluated_[index] = true;
    Symbolic result;
    if (const auto known = exact(instruction, value); known && known->terms.size() <= max_terms) {
        result = fit(*known, width, is_signed_type(function_->body[instruction].type));
    } else {
        result = unknown(index, operands_are_clean(instruction) ? Atom::Kind::opaque : Atom::Kind::tainted);
    }
    if (value.previous != no_index) {
        const Symbolic predicate = guard(instruction);
        if (predicate.width != 1 || !table_->is_clean(predicate))
            result = unknown(index, Atom::Kind::tainted);
        else
            result = merge(predicate, result, values_[value.previous], index);
    }
    values_[index] = std::move(result);
}

// predicate ? a : b, where both share what is not clean.
Symbolic FunctionValues::merge(const Symbolic& predicate, const Symbolic& a, const Symbolic& b,
                               ValueIndex index) {
    if (a == b) return a;
    if (predicate.is_constant()) return predicate.constant() != 0 ? a : b;
    const Symbolic shared = table_->unclean_part(a);
    if (table_->unclean_part(b) != shared) return unknown(index, Atom::Kind::tainted);
    if (a.width != b.width || (a.width & (a.width - 1)) != 0 || a.width > 64)
        return unknown(index, Atom::Kind::opaque);
    const Symbolic left = table_->subtract(a, shared), right = table_->subtract(b, shared);
    if (a.width == 1)
        return table_->logical(Operator::or_, table_->logical(Operator::and_, predicate, left),
                               table_->logical(Operator::and_, table_->negate(predicate), right));
    const auto select = decode_operation("selp.b" + std::to_string(a.width));
    if (!select) return unknown(index, Atom::Kind::opaque);
    return table_->add(table_->apply(*select, {left, right, predicate}), shared);
}

Symbolic FunctionValues::fit(const Symbolic& value, unsigned width, bool is_signed) const {
    if (value.width == width || value.width == 1) return value;
    if (value.width > width) return table_->truncate(value, width);
    const std::string text = fmt::format("cvt.{0}{1}.{0}{2}", is_signed ? 's' : 'u', width, value.width);
    const auto operation = decode_operation(text);
    if (!operation) return value;
    if (const auto wide = table_->polynomial(*operation, {value})) return *wide;
    return table_->is_clean(value) ? table_->apply(*operation, {value}) : Symbolic{};
}

// The value that an instruction writes, where it can be told without taking it for opaque.
std::optional<Symbolic> FunctionValues::exact(std::uint32_t instruction, const Value& value) {
    const ptx::Instruction& made = function_->body[instruction];
    if (made.opcode == Opcode::mov || made.opcode == Opcode::cvta) return moved(instruction, value);
    if (made.opcode == Opcode::ld) {
        const auto bytes = parameter_load(instruction);
        const unsigned size = ptx::size_bytes(made.type), width = register_width(value.reg);
        if (!bytes || size * 8 > width || width > 64) return std::nullopt;
        Atom atom;
        atom.kind = Atom::Kind::parameter;
        atom.width = size * 8;
        atom.parameter = bytes->parameter;
        atom.offset = bytes->offset + size * value.element;
        return table_->of(atom);
    }
    if (made.opcode == Opcode::setp) return compared(instruction, value);
    const auto operation = integer_operation(made);
    if (!operation || made.sources().size() != operation->arity || made.destination_count != 1)
        return std::nullopt;
    std::vector<Symbolic> operands;
    for (unsigned i = 0; i < operation->arity; i++) {
        const std::size_t at = made.destination_count + i;
        Symbolic part =
            operand_value(made.operands[at], ssa_.use(instruction, static_cast<std::uint16_t>(at)),
                          width_bits(operation->operand_type(i)));
        if (part.width == 0) return std::nullopt;
        operands.push_back(std::move(part));
    }
    if (operation->op == Operator::selp) {
        // Which side is taken may differ between threads, not what both sides share.
        if (!table_->is_clean(operands[2])) return std::nullopt;
        const unsigned width = width_bits(operation->result);
        if (operands[0].width != width || operands[1].width != width) return std::nullopt;
        const Symbolic shared = table_->unclean_part(operands[0]);
        if (table_->unclean_part(operands[1]) != shared) return std::nullopt;
        const Symbolic left = table_->subtract(operands[0], shared),
                       right = table_->subtract(operands[1], shared);
        return table_->add(table_->apply(*operation, {left, right, operands[2]}), shared);
    }
    return operated(*operation, std::move(operands));
}

std::optional<Symbolic> FunctionValues::operated(const Operation& operation, std::vector<Symbolic> operands) {
    bool clean = true;
    for (unsigned i = 0; i < operation.arity; i++) {
        const unsigned width = width_bits(operation.operand_type(i));
        // cvt may read the low part of a wider register.
        if (operands[i].width > width) operands[i] = table_->truncate(operands[i], width);
        if (operands[i].width != width) return std::nullopt;
        clean &= table_->is_clean(operands[i]);
    }
    if (clean) return table_->apply(operation, operands);
    return table_->polynomial(operation, operands);
}

std::optional<Symbolic> FunctionValues::moved(std::uint32_t instruction, const Value& value) {
    const ptx::Instruction& made = function_->body[instruction];
    if (made.sources().size() != 1 || made.destination_count != 1) return std::nullopt;
    const Operand &to = made.operands[0], &from = made.operands[1];
    const unsigned width = register_width(value.reg);
    if (made.opcode == Opcode::cvta) {
        // Generic and global addresses of one place are one number; kernel parameters are followed by name.
        const ptx::Space space = made.modifiers.space;
        if (space != ptx::Space::global && space != ptx::Space::param) return std::nullopt;
    }
    if (to.kind == Operand::Kind::vector) {
        // {low, high} = wide: the low part is a truncation; of a parameter, each part is one of its own.
        if (from.kind != Operand::Kind::reg) return std::nullopt;
        const Symbolic wide = operand(instruction, 1);
        if (wide.width != width * to.elements.size() || wide.width > 64) return std::nullopt;
        if (value.element == 0) return table_->truncate(wide, width);
        const auto whole = wide.single_atom();
        if (!whole || table_->atom(*whole).kind != Atom::Kind::parameter) return std::nullopt;
        Atom part = table_->atom(*whole);
        part.width = width;
        part.offset += value.element * width / 8;
        return table_->of(part);
    }
    if (from.kind == Operand::Kind::vector) {
        // wide = {low, 0}: an extension.
        for (std::size_t i = 1; i < from.elements.size(); i++) {
            const Symbolic part = operand(instruction, 1, i);
            if (part.width == 0 || !part.is_constant() || part.constant() != 0) return std::nullopt;
        }
        const Symbolic low = operand(instruction, 1, 0);
        if (from.elements.empty() || low.width * from.elements.size() != width || width > 64)
            return std::nullopt;
        const Symbolic extended = fit(low, width, false);
        return extended.width == width ? std::optional(extended) : std::nullopt;
    }
    const Symbolic source = operand_value(from, ssa_.use(instruction, 1), width);
    if (source.width == 0 || (source.width != width && from.kind != Operand::Kind::symbol))
        return std::nullopt;
    return source;
}

// setp p|q, a, b, c: p = (a < b) op c, q = !(a < b) op c.
std::optional<Symbolic> FunctionValues::compared(std::uint32_t instruction, const Value& value) {
    const ptx::Instruction& made = function_->body[instruction];
    const auto operation = integer_operation(made);
    const std::size_t first = made.destination_count;
    if (!operation || made.operands.size() < first + 2) return std::nullopt;
    std::vector<Symbolic> operands;
    for (unsigned i = 0; i < 2; i++) {
        Symbolic part = operand_value(made.operands[first + i],
                                      ssa_.use(instruction, static_cast<std::uint16_t>(first + i)),
                                      width_bits(operation->type));
        if (part.width != width_bits(operation->type)) return std::nullopt;
        operands.push_back(std::move(part));
    }
    if (!table_->is_clean(operands[0]) || !table_->is_clean(operands[1])) {
        // g == 0 is compiled to ctaid * ntid == -tid: equality is that of the difference.
        const Symbolic difference = table_->subtract(operands[0], operands[1]);
        const bool is_equality =
            operation->comparison == ptx::Comparison::eq || operation->comparison == ptx::Comparison::ne;
        if (!is_equality || !table_->is_clean(difference)) return std::nullopt;
        operands = {difference, SymbolTable::constant(0, difference.width)};
    }
    Symbolic result = table_->apply(*operation, operands);
    if (value.operand == 1) result = table_->negate(result);
    if (made.modifiers.boolean_op == ptx::BooleanOp::none) return result;
    if (made.operands.size() != first + 3) return std::nullopt;
    const Symbolic other = operand_value(made.operands[first + 2],
                                         ssa_.use(instruction, static_cast<std::uint16_t>(first + 2)), 1);
    if (other.width != 1 || !table_->is_clean(other)) return std::nullopt;
    switch (made.modifiers.boolean_op) {
        case ptx::BooleanOp::and_:
            return table_->logical(Operator::and_, result, other);
        case ptx::BooleanOp::or_:
            return table_->logical(Operator::or_, result, other);
        case ptx::BooleanOp::xor_:
            return table_->logical(Operator::xor_, result, other);
        default:
            return std::nullopt;
    }
}

// --- rule 1 ---

bool FunctionValues::operands_are_clean(std::uint32_t instruction) {
    bool clean = true;
    const auto check = [&](const Symbolic& used) {
        if (table_->is_clean(used)) return;
        if (clean) fault(instruction, used);
        clean = false;
    };
    for (const ptx::Ssa::Use& use : ssa_.uses[instruction])
        if (use.value != no_index && evaluated_[use.value]) check(values_[use.value]);
    const ptx::Instruction& made = function_->body[instruction];
    for (const Operand& operand : made.sources()) {
        if (operand.kind == Operand::Kind::special) check(special(operand.special, 32));
        for (const Operand& element : operand.elements)
            if (element.kind == Operand::Kind::special) check(special(element.special, 32));
    }
    return clean;
}

void FunctionValues::fault(std::uint32_t instruction, const Symbolic& value) {
    if (!faults_.empty() && faults_.back().instruction == instruction) return;
    Symbolic shown = value;
    if (!table_->is_small(value)) shown = table_->unclean_part(value);
    if (auto in_thread_indices = table_->with_thread_index(shown)) shown = std::move(*in_thread_indices);
    std::set<std::string> registers;
    std::optional<std::uint64_t> built_in;
    bool tainted = false;
    table_->for_each_atom(shown, [&](AtomIndex index) {
        const Atom& atom = table_->atom(index);
        std::string name;
        switch (atom.kind) {
            case Atom::Kind::thread_index:
                name = "threadIdx";
                break;
            case Atom::Kind::block_index:
                name = "blockIdx";
                break;
            case Atom::Kind::block_size:
                name = "blockDim";
                break;
            case Atom::Kind::grid_size:
                name = "gridDim";
                break;
            case Atom::Kind::tainted:
                tainted = true;
                return;
            default:
                return;
        }
        registers.insert(fmt::format("{}.{}", name, "xyz"[static_cast<std::size_t>(atom.dimension)]));
    });
    std::string names = fmt::format("{}", fmt::join(registers, " and "));
    // blockIdx.x * 256 + threadIdx.x: say which number the source has built in.
    for (const Term& term : shown.terms)
        if (term.atoms.size() == 1 && table_->atom(term.atoms[0]).kind == Atom::Kind::block_index &&
            term.coefficient > 1 && names.find("threadIdx") != std::string::npos)
            built_in = term.coefficient;
    // What follows from a value that was blamed already is no news.
    if (tainted && names.empty()) {
        if (!faults_.empty()) return;
        names = "the position in the block";
    }
    std::string text = fmt::format("uses {} otherwise than through blockIdx * blockDim + threadIdx", names);
    if (built_in)
        text += fmt::format("; a block of {} threads seems to be built in: write blockDim for it", *built_in);
    else
        text += "; index by the global thread index alone, or annotate the kernel";
    faults_.push_back({1, instruction, std::move(text)});
}

}  // namespace trimtab::analysis
