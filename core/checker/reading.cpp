// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/checker/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/checker/form.h"
#include "core/ptx/comparison.h"
#include "core/ptx/opcodes.h"
#include "core/ptx/special_registers.h"

namespace trimtab::checker {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

namespace {

// Larger polynomials are not followed.
constexpr std::size_t most_terms = 64, most_atoms = 8;

}  // namespace

std::expected<Reading, Error> Reading::make(const Certificate& certificate) {
    Reading reading(certificate);
    auto flow = ptx::control_flow(*certificate.function);
    if (!flow) return std::unexpected(flow.error());
    reading.flow_ = std::move(*flow);
    reading.ssa_ = ptx::build_ssa(*certificate.function, reading.flow_);
    reading.control_ = std::make_shared<ptx::ControlDependence>(*certificate.function, reading.flow_);
    const std::size_t values = reading.ssa_.values.size(), instructions = certificate.function->body.size();
    reading.phis_.resize(reading.flow_.blocks.size());
    reading.definitions_.resize(instructions);
    for (ValueIndex v = 0; v < values; v++) {
        const ptx::Value& value = reading.ssa_.values[v];
        if (value.kind == ptx::Value::Kind::phi) reading.phis_[value.block].push_back(v);
        if (value.kind == ptx::Value::Kind::instruction) reading.definitions_[value.instruction].push_back(v);
    }
    for (auto& homes : reading.homes_) homes.assign(reading.flow_.blocks.size(), no_index);
    for (std::uint32_t l = 0; l < certificate.loops.size(); l++)
        for (const BlockIndex block : reading.loop_at(certificate.loops[l].header).blocks)
            reading.homes_[certificate.loops[l].dimension][block] = l;
    reading.agreed_.resize(values);
    for (const Exchange& exchange : certificate.exchanges)
        for (const Exchange::Agreed& agreed : exchange.agreed) reading.agreed_[agreed.value] = &agreed;
    reading.exchanging_.resize(instructions);
    for (const std::uint32_t i : certificate.exchanging) reading.exchanging_[i] = true;
    reading.find_forms();
    std::vector<std::size_t> order;
    for (std::size_t l = 0; l < reading.loop_count(); l++) order.push_back(l);
    // Outer loops first: inner ones begin at what outer ones count.
    std::ranges::sort(order, {}, [&](std::size_t l) {
        return std::ranges::find(reading.flow_.loops, reading.loop(l).header, &ptx::Loop::header) -
               reading.flow_.loops.begin();
    });
    for (const std::size_t l : order) {
        reading.find_function(l);
        reading.find_forms();
    }
    reading.find_stack_accesses();
    return reading;
}

const ptx::Loop& Reading::loop_at(BlockIndex header) const {
    static const ptx::Loop none;
    const auto at = std::ranges::find(flow_.loops, header, &ptx::Loop::header);
    return at == flow_.loops.end() ? none : *at;
}
bool Reading::is_in(const StridedLoop& loop, BlockIndex block) const {
    const auto& blocks = loop_at(loop.header).blocks;
    return std::ranges::find(blocks, block) != blocks.end();
}
BlockIndex Reading::block_of(ValueIndex index) const {
    const ptx::Value& value = ssa_.values[index];
    if (value.kind == ptx::Value::Kind::phi) return value.block;
    return value.kind == ptx::Value::Kind::instruction ? flow_.block_of[value.instruction] : 0;
}
const std::map<BlockIndex, std::uint8_t>& Reading::deciding(BlockIndex block) const {
    const auto [at, is_new] = deciding_.try_emplace(block);
    if (is_new) at->second = control_->deciding(block);
    return at->second;
}

// --- registers as polynomials ---

Form Reading::own(ValueIndex value) const {
    const ptx::RegisterIndex reg = ssa_.values[value].reg;
    const unsigned width = reg < function().registers.size() ? bits_of(function().registers[reg].type) : 0;
    return width == 0 || width > 64 ? Form{} : atom(first_value + value, width);
}

std::optional<Form> Reading::special(ptx::SpecialRegister of, unsigned width) const {
    using enum ptx::SpecialRegister;
    const auto launch = static_cast<unsigned>(of);
    if (of == warp_size) return number(32, width);
    if (of == laneid && certificate_->dimensions[0].has_whole_warps) return atom(lane_atom, width);
    if (launch > static_cast<unsigned>(nctaid_z)) return std::nullopt;
    const unsigned d = launch % 3;
    const DimensionRule& rule = certificate_->dimensions[d];
    const bool is_one = rule.scheme == Scheme::single;
    // In the order of the enumeration: tid, ntid, ctaid, nctaid.
    switch (launch / 3) {
        case 0:
            if (is_one || rule.has_blocks_of_one) return number(0, width);
            return rule.has_whole_warps ? sum(atom(lane_atom, width), atom(warp_atom, width), 32)
                                        : atom(tid + d, width);
        case 1:
            if (is_one || rule.has_blocks_of_one) return number(1, width);
            return rule.has_whole_warps ? sum(Form{width, {}}, atom(warps_atom, width), 32)
                                        : atom(ntid + d, width);
        case 2:
            return is_one ? number(0, width) : atom(ctaid + d, width);
        default:
            return is_one ? number(1, width) : atom(nctaid + d, width);
    }
}

Form Reading::launch(ptx::SpecialRegister first, std::size_t d, unsigned width) const {
    return *special(static_cast<ptx::SpecialRegister>(static_cast<unsigned>(first) + d), width);
}
Form Reading::start(std::size_t l, unsigned width) const {
    const std::size_t d = loop(l).dimension;
    if (is_of_rows(l)) return launch(ptx::SpecialRegister::ctaid_x, d, width);
    Form thread = launch(ptx::SpecialRegister::tid_x, d, width);
    if (certificate_->dimensions[d].scheme == Scheme::in_block) return thread;
    return sum(thread, product(launch(ptx::SpecialRegister::ctaid_x, d, width),
                               launch(ptx::SpecialRegister::ntid_x, d, width)));
}
Form Reading::total(std::size_t l, unsigned width) const {
    const std::size_t d = loop(l).dimension;
    Form grid = launch(ptx::SpecialRegister::nctaid_x, d, width),
         block = launch(ptx::SpecialRegister::ntid_x, d, width);
    if (is_of_rows(l)) return grid;
    return certificate_->dimensions[d].scheme == Scheme::in_block ? block : product(block, grid);
}

Form Reading::operand(std::uint32_t i, std::size_t o, unsigned width) const {
    const ptx::Operand& from = function().body[i].operands[o];
    switch (from.kind) {
        case ptx::Operand::Kind::immediate:
            return number(from.bits, width);
        case ptx::Operand::Kind::special:
            return special(from.special, width).value_or(Form{});
        case ptx::Operand::Kind::reg: {
            const ValueIndex value = ssa_.use(i, static_cast<std::uint16_t>(o));
            if (from.negated || !from.text.empty() || value == no_index || forms_[value].width < width)
                return {};
            return with_width(forms_[value], width);
        }
        default:
            return {};
    }
}

// What both ways leave of the launch's registers as it is stands beside what they decide about.
Form Reading::merged(ValueIndex value, const Form& first) const {
    Form result = own(value);
    if (result.width == 0 || first.width != result.width) return result;
    const Form known = normal(first);
    for (const auto& [atoms, coefficient] : known.terms) {
        Form registers{known.width, {{{}, 1}}};
        for (const Atom each : atoms)
            if (is_register(each)) registers = product(registers, atom(each, known.width));
        if (atoms.empty() ||
            std::ranges::any_of(atoms, [](Atom each) { return each < ctaid || each == warp_atom; }))
            continue;
        if ((of(registers, 0) & all_shapes) != 0) result.terms[atoms] = coefficient;
    }
    return result;
}

bool Reading::holds(std::vector<ValueIndex> StridedLoop::* list, ValueIndex value) const {
    for (std::size_t l = 0; l < loop_count(); l++)
        if (std::ranges::find(loop(l).*list, value) != (loop(l).*list).end()) return true;
    return false;
}

// Set nowhere, or by the value alone.
bool Reading::is_undefined(ValueIndex index, ValueIndex by) const {
    if (index == no_index) return false;
    const ptx::Value& value = ssa_.values[index];
    const auto is_nothing = [&](ValueIndex from) {
        return from == by || (from != no_index && ssa_.values[from].kind == ptx::Value::Kind::undefined);
    };
    return value.kind == ptx::Value::Kind::undefined ||
           (value.kind == ptx::Value::Kind::phi && std::ranges::all_of(value.incoming, is_nothing));
}

// Known without a guard, or with one that compares numbers.
std::optional<bool> Reading::runs(std::uint32_t i) const {
    const ptx::Instruction& made = function().body[i];
    if (made.guard == no_index) return true;
    const ValueIndex guard = ssa_.guard(i);
    if (guard == no_index || ssa_.values[guard].kind != ptx::Value::Kind::instruction) return std::nullopt;
    const std::uint32_t at = ssa_.values[guard].instruction;
    const ptx::Instruction& test = function().body[at];
    const unsigned width = bits_of(test.type);
    if (test.opcode != Opcode::setp || test.guard != no_index || test.operands.size() != 3 ||
        test.destination_count != 1 || ptx::is_float(test.type))
        return std::nullopt;
    const Form a = operand(at, 1, width), b = operand(at, 2, width);
    if (a.width == 0 || b.width == 0) return std::nullopt;
    const ptx::Comparison how = test.modifiers.comparison;
    const Form between = sum(a, b, ~std::uint64_t{0});
    if ((how == ptx::Comparison::eq || how == ptx::Comparison::ne) && between.is_constant())
        return ptx::holds(how, between.constant(), std::uint64_t{0}) != made.guard_negated;
    if (ptx::is_signed(test.type) || !a.is_constant() || !b.is_constant()) return std::nullopt;
    return ptx::holds(how, a.constant(), b.constant()) != made.guard_negated;
}

Form Reading::form_of(ValueIndex index) {
    const ptx::Value& value = ssa_.values[index];
    if (value.kind == ptx::Value::Kind::undefined || agreed_[index] != nullptr) return own(index);
    if (value.kind == ptx::Value::Kind::phi) {
        if (const auto at = functions_.find(index); at != functions_.end()) return at->second;
        if (holds(&StridedLoop::phis, index)) return own(index);
        const Form* first = nullptr;
        bool are_equal = true;
        for (const ValueIndex incoming : value.incoming) {
            if (incoming == no_index) return own(index);
            if (first == nullptr && forms_[incoming].width != 0) first = &forms_[incoming];
            are_equal &= first != nullptr && forms_[incoming] == *first;
        }
        return first == nullptr ? own(index) : are_equal ? *first : merged(index, *first);
    }
    const ptx::Instruction& made = function().body[value.instruction];
    Form itself = own(index);
    const std::optional<bool> is_run = runs(value.instruction);
    if (is_run == false && value.previous != no_index && forms_[value.previous].width == itself.width)
        return forms_[value.previous];
    const bool may_stay = is_run != true && !is_undefined(value.previous, index);
    if (made.destination_count != 1 || may_stay || itself.width == 0 || value.operand != 0) return itself;
    // An element of a vector is followed where it is a parameter.
    if (const auto offset_bytes = loaded_parameter(value.instruction)) {
        constexpr std::uint64_t most_bytes = 32764;  // of a kernel's parameters: PTX ISA, section 4.4
        const std::uint64_t at = *offset_bytes + std::uint64_t{value.element} * ptx::size_bytes(made.type);
        if (at >= most_bytes) return itself;
        return atom(first_parameter | static_cast<Atom>(at) << 8 | static_cast<Atom>(made.type),
                    itself.width);
    }
    if (made.operands[0].kind != ptx::Operand::Kind::reg || !made.operands[0].text.empty()) return itself;
    Form result = computed(index, made, value.instruction, itself.width);
    std::size_t atoms = 0;
    for (const auto& [each, coefficient] : result.terms) atoms = std::max(atoms, each.size());
    return result.width == itself.width && result.terms.size() <= most_terms && atoms <= most_atoms ? result
                                                                                                    : itself;
}

namespace {

// Compilers extend 32 bits by a shift to the left and one back: by less, they multiply too.
bool is_upper_half(const Form& form) {
    return form.width == 64 && !form.is_constant() && std::ranges::all_of(form.terms, [](const auto& term) {
               return std::countr_zero(term.second) >= 32;
           });
}
Form upper_half(const Form& form) {
    Form half{32, {}};
    for (const auto& [atoms, coefficient] : form.terms) half.terms[atoms] = coefficient >> 32;
    return half;
}

}  // namespace

std::optional<std::uint64_t> Reading::loaded_parameter(std::uint32_t i) const {
    const ptx::Instruction* made = &function().body[i];
    if (made->opcode != Opcode::ld || made->modifiers.space != ptx::Space::param || !function().is_entry)
        return std::nullopt;
    auto offset_bytes = static_cast<std::uint64_t>(made->operands[1].offset);
    // Its address may be in a register: unoptimised code copies it there.
    while (made->operands[1].reg != no_index) {
        const ValueIndex address = ssa_.use(i, 1);
        if (address == no_index || ssa_.values[address].kind != ptx::Value::Kind::instruction)
            return std::nullopt;
        i = ssa_.values[address].instruction;
        made = &function().body[i];
        if (made->opcode != Opcode::mov || made->guard != no_index) return std::nullopt;
        if (made->operands[1].kind == ptx::Operand::Kind::symbol)
            offset_bytes += static_cast<std::uint64_t>(made->operands[1].offset);
        else if (made->operands[1].kind != ptx::Operand::Kind::reg || !made->operands[1].text.empty())
            return std::nullopt;
    }
    const ptx::Variable* parameter = function().parameter(made->operands[1].text);
    return parameter == nullptr ? std::nullopt : std::optional(parameter->offset_bytes + offset_bytes);
}

Form Reading::computed(ValueIndex index, const ptx::Instruction& made, std::uint32_t i, unsigned width) {
    const unsigned work = bits_of(made.type);
    const bool is_integer = !ptx::is_float(made.type) && work >= 16 && work <= 64 && !made.modifiers.sat;
    const auto source = [&](std::size_t o) { return operand(i, o, work); };
    const auto granted = [&] { return holds(&StridedLoop::widened, index); };
    const bool is_wide = made.modifiers.multiply_part == ptx::MultiplyPart::wide;
    const bool is_low = made.modifiers.multiply_part == ptx::MultiplyPart::lo;
    const auto wide = [&](const Form& form) {
        return widened(form, width, ptx::is_signed(made.type), granted());
    };
    const auto both = [](const Form& a, const Form& b, auto&& make) {
        return a.width == 0 || b.width == 0 ? Form{} : make(a, b);
    };
    const auto multiply = [&](const Form& a, const Form& b) { return both(a, b, product); };
    const auto add = [&](const Form& a, const Form& b, std::uint64_t factor) {
        return both(a, b, [&](const Form& x, const Form& y) { return sum(x, y, factor); });
    };
    std::optional<Form> result;
    if (made.opcode == Opcode::cvta) return operand(i, 1, width);
    // Copies keep the bits of floating-point numbers too.
    if (made.opcode == Opcode::mov && work == width) result = source(1);
    if (made.opcode == Opcode::cvt && is_integer && !ptx::is_float(made.source_type)) {
        Form from = operand(i, 1, bits_of(made.source_type));
        if (from.width != 0)
            result = bits_of(made.source_type) >= work
                         ? narrowed(from, work)
                         : widened(from, work, ptx::is_signed(made.source_type), granted());
    } else if (is_integer) {
        switch (made.opcode) {
            case Opcode::add:
                result = add(source(1), source(2), 1);
                break;
            case Opcode::sub:
                result = add(source(1), source(2), ~std::uint64_t{0});
                break;
            case Opcode::neg:
                result = add(number(0, work), source(1), ~std::uint64_t{0});
                break;
            case Opcode::not_:
                result = add(number(~std::uint64_t{0}, work), source(1), ~std::uint64_t{0});
                break;
            case Opcode::mul:
                if (is_wide) result = multiply(wide(source(1)), wide(source(2)));
                if (is_low) result = multiply(source(1), source(2));
                break;
            case Opcode::mad:
                if (is_wide)
                    result = add(multiply(wide(source(1)), wide(source(2))), operand(i, 3, width), 1);
                if (is_low) result = add(multiply(source(1), source(2)), source(3), 1);
                break;
            case Opcode::mul24:
                // Sizes and numbers of blocks are below 2^24.
                if (is_low && source(1).width != 0 && source(2).width != 0 && source(1).terms.size() == 1 &&
                    is_small(source(1)) && source(2).terms.size() == 1 && is_small(source(2)))
                    result = multiply(source(1), source(2));
                break;
            case Opcode::shl:
                if (const Form by = operand(i, 2, 32);
                    by.width != 0 && by.is_constant() && by.constant() < work)
                    result = multiply(source(1), number(std::uint64_t{1} << by.constant(), work));
                break;
            case Opcode::or_:
                // Where no bit is in both, nothing is carried: it is a sum.
                if (const Form a = source(1), b = source(2);
                    a.width != 0 && b.width != 0 && b.is_constant()) {
                    const int bits = std::bit_width(b.constant());
                    if (std::ranges::all_of(
                            a.terms, [&](const auto& term) { return std::countr_zero(term.second) >= bits; }))
                        result = sum(a, b);
                }
                break;
            case Opcode::bfe:
            case Opcode::shr:
            case Opcode::div:
            case Opcode::rem:
            case Opcode::and_:
                if (const Form a = source(1),
                    b = operand(i, 2, made.opcode == Opcode::shr || made.opcode == Opcode::bfe ? 32 : work);
                    a.width != 0 && b.width != 0)
                    result = made.opcode == Opcode::and_ && a.is_constant() && b.is_constant()
                                 ? number(a.constant() & b.constant(), work)
                             : made.opcode == Opcode::shr && is_upper_half(a) && b.is_constant() &&
                                     b.constant() <= 32
                                 ? multiply(wide(upper_half(a)),
                                            number(std::uint64_t{1} << (32 - b.constant()), work))
                                 : of_warps(made, a, b);
                break;
            case Opcode::selp:
                if (const Form a = source(1); a.width != 0 && a == source(2)) return a;
                return merged(index, source(1));
            default:
                break;
        }
    }
    if (result && result->width != 0) return *result;
    if (!ptx::is_elementwise(made) || made.modifiers.carry_out || ptx::reads(made, ptx::State::carry) ||
        ptx::reads(made, ptx::State::stack))
        return own(index);
    // One operation of the same operands is one value.
    std::string key = made.mnemonic;
    for (std::size_t o = 1; o < made.operands.size(); o++) {
        const ptx::Operand& from = made.operands[o];
        key += fmt::format("|{}.{}.{}.{}.{}.{}", static_cast<int>(from.kind), from.negated, from.text,
                           from.bits, from.offset, static_cast<int>(from.special));
        if (!from.elements.empty()) return own(index);
        if (from.reg == no_index) continue;
        const ValueIndex used = ssa_.use(i, static_cast<std::uint16_t>(o));
        if (used == no_index || forms_[used].width == 0) return own(index);
        if (is_agreed_on(forms_[used])) return own(index);
        for (const auto& [atoms, coefficient] : forms_[used].terms)
            key += fmt::format("+{}*{}", coefficient, fmt::join(atoms, "*"));
    }
    return known_.try_emplace(fmt::format("{}:{}", key, width), own(index)).first->second;
}

void Reading::find_forms() {
    forms_.assign(ssa_.values.size(), {});
    known_.clear();
    for (ValueIndex v = 0; v < forms_.size(); v++)
        if (ssa_.values[v].kind == ptx::Value::Kind::undefined) forms_[v] = own(v);
    for (const BlockIndex block : flow_.reverse_post_order) {
        for (const ValueIndex phi : phis_[block]) forms_[phi] = form_of(phi);
        for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].last; i++)
            for (const ValueIndex v : definitions_[i]) forms_[v] = form_of(v);
    }
}

// What the phis of a loop are, of its index i: what they begin with, and what an iteration adds for each i.
void Reading::find_function(std::size_t l) {
    const StridedLoop& loop = this->loop(l);
    const auto& predecessors = flow_.blocks[loop.header].predecessors;
    for (const ValueIndex phi : loop.phis) {
        if (phi >= forms_.size() || ssa_.values[phi].block != loop.header) continue;
        Form first, last;
        for (std::size_t p = 0; p < predecessors.size(); p++)
            if (const ValueIndex incoming = ssa_.values[phi].incoming[p]; incoming != no_index)
                (is_in(loop, predecessors[p]) ? last : first) = forms_[incoming];
        const unsigned width = own(phi).width;
        if (width == 0 || first.width != width || last.width != width) continue;
        const Form index = atom(index_of(l), width), begins = start(l, width), by = total(l, width);
        Form step = sum(last, own(phi), ~std::uint64_t{0}), rate{width, {}};
        const auto& [unit, scale] = *by.terms.begin();
        for (const auto& [atoms, coefficient] : step.terms) {
            std::vector<Atom> left;
            std::ranges::set_difference(atoms, unit, std::back_inserter(left));
            if (left.size() + unit.size() == atoms.size() && coefficient % scale == 0)
                rate.terms[left] = coefficient / scale;
        }
        if (product(rate, by) == step)
            functions_[phi] = sum(first, product(rate, sum(index, begins, ~std::uint64_t{0})));
        else if (is_of_rows(l))
            functions_[phi] = with_parts(first, ctaid + loop.dimension, index);
        else if (!certificate_->dimensions[loop.dimension].has_whole_warps)
            functions_[phi] =
                with_parts(first, tid + loop.dimension,
                           sum(index, sum(begins, atom(tid + loop.dimension, width), ~std::uint64_t{0}),
                               ~std::uint64_t{0}));
    }
}

bool Reading::follows_index(std::size_t l, ValueIndex phi) {
    const StridedLoop& loop = this->loop(l);
    const auto at = functions_.find(phi);
    if (at == functions_.end()) return false;
    const unsigned width = at->second.width;
    if (width == 0) return false;
    const Form first = with_parts(at->second, index_of(l), start(l, width));
    const Form next = with_parts(at->second, index_of(l), sum(atom(index_of(l), width), total(l, width)));
    const auto& predecessors = flow_.blocks[loop.header].predecessors;
    for (std::size_t p = 0; p < predecessors.size(); p++) {
        const ValueIndex incoming = ssa_.values[phi].incoming[p];
        if (incoming == no_index || forms_[incoming] != (is_in(loop, predecessors[p]) ? next : first))
            return false;
    }
    return true;
}

std::optional<std::string> Reading::check_loops() {
    for (std::size_t l = 0; l < loop_count(); l++) {
        if (loop_at(loop(l).header).blocks.empty()) return "it names a loop that is none";
        for (const ValueIndex phi : loop(l).phis)
            if (!follows_index(l, phi)) return "a register of a loop is not what its index says";
    }
    return std::nullopt;
}

}  // namespace trimtab::checker
