// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/checker/replay.h"

#include <algorithm>
#include <vector>

#include "core/ptx/opcodes.h"
#include "core/ptx/semantics/evaluate.h"

namespace trimtab::checker {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

namespace {

using Known = std::optional<std::uint64_t>;

std::uint64_t mixed(std::uint64_t seed) {
    seed += 0x9e3779b97f4a7c15;
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
    return seed ^ seed >> 31;
}

// As the type reads them: sign-extended, or with zeros above.
std::uint64_t as(ptx::Type type, std::uint64_t bits) {
    const unsigned width = bits_of(type);
    return ptx::is_signed(type) ? static_cast<std::uint64_t>(sign_extend(bits, width))
                                : truncate_bits(bits, width);
}

}  // namespace

// Like those of real launches: small numbers, some that meet an index or count its warps, and some that wrap.
std::uint64_t Trial::parameter(std::uint32_t offset, ptx::Type type) const {
    const std::uint64_t bits = mixed(seed * 1024 + offset), more = bits / 16,
                        near = index[more % 3] + more / 3 % 3 - 1;
    switch (bits % 8) {
        case 0:
            return as(type, mixed(bits));
        case 1:
            return as(type, ~std::uint64_t{0} - more % 4);
        case 2:
        case 3:
            return as(type, near);
        case 4:
            return as(type, index[0] / 32 + more % 3);
        case 5:
            return as(type, more % 2000);
        default:
            return as(type, more % 12);
    }
}

Trial trial(const Certificate& certificate, std::uint64_t seed) {
    Trial result{.seed = mixed(seed)};
    std::uint64_t at = result.seed;
    const auto next = [&](std::uint64_t most) { return mixed(at++) % most; };
    for (unsigned d = 0; d < 3; d++) {
        const DimensionRule& rule = certificate.dimensions[d];
        const bool is_one = rule.scheme == Scheme::single, has_one = is_one || rule.has_blocks_of_one;
        const std::uint64_t block = has_one ? 1 : rule.has_whole_warps ? 32 * (1 + next(3)) : 1 + next(4);
        const std::uint64_t grid = is_one ? 1 : 1 + next(5);
        result.registers[ntid + d] = block;
        result.registers[nctaid + d] = grid;
        result.registers[tid + d] = next(3) == 0 ? block - 1 : next(block);
        result.registers[ctaid + d] = next(grid);
        result.index[d] = result.registers[tid + d] +
                          (rule.scheme == Scheme::in_block ? 0 : block * result.registers[ctaid + d]);
    }
    result.registers[lane_atom] = result.registers[tid] % 32;
    result.registers[warp_atom] = result.registers[tid] / 32;
    result.registers[warps_atom] = result.registers[ntid] / 32;
    return result;
}

Known computed(const ptx::Instruction& made, std::span<const std::uint64_t> sources) {
    const unsigned width = bits_of(made.type);
    if (ptx::is_float(made.type) || ptx::is_float(made.source_type) || width == 0 || width > 64)
        return std::nullopt;
    if (made.opcode == Opcode::mov || made.opcode == Opcode::cvta) return truncate_bits(sources[0], width);
    if (made.opcode == Opcode::cvt) {
        const bool is_integer = ptx::integer_bits(made.type) != 0 &&
                                ptx::integer_bits(made.source_type) != 0 && !made.modifiers.relu;
        if (!is_integer) return std::nullopt;
        return ptx::semantics::convert(sources[0], made.source_type, made.type, made.modifiers.sat);
    }
    const auto operation = ptx::semantics::operation_of(made);
    const Known result = operation ? ptx::semantics::evaluate(*operation, sources) : std::nullopt;
    if (!result || made.opcode != Opcode::setp || sources.size() == 2) return result;
    if (sources.size() != 3) return std::nullopt;
    switch (made.modifiers.boolean_op) {
        case ptx::BooleanOp::and_:
            return *result & sources[2];
        case ptx::BooleanOp::or_:
            return *result | sources[2];
        case ptx::BooleanOp::xor_:
            return *result ^ sources[2];
        default:
            return std::nullopt;
    }
}

Known value(const Expression& expression, const Trial& trial) {
    const unsigned width = bits_of(expression.type);
    switch (expression.kind) {
        case Expression::Kind::constant:
            return truncate_bits(expression.bits, width);
        case Expression::Kind::parameter:
            return truncate_bits(trial.parameter(expression.offset, expression.type), width);
        case Expression::Kind::index:
            return truncate_bits(trial.index[expression.dimension], width);
        case Expression::Kind::operation:
            break;
    }
    std::vector<std::uint64_t> sources;
    for (const Expression& argument : expression.arguments) {
        const Known known = value(argument, trial);
        if (!known) return std::nullopt;
        sources.push_back(*known);
    }
    return computed(expression.operation, sources);
}

namespace {

// The sources of an instruction; `value` tells what registers hold.
template <typename Value>
std::optional<std::vector<std::uint64_t>> sources_of(const Reading& reading, const Trial& trial,
                                                     std::uint32_t i, Value&& value) {
    const ptx::Instruction& made = reading.function().body[i];
    std::vector<std::uint64_t> result;
    for (std::size_t o = made.destination_count; o < made.operands.size(); o++) {
        const ptx::Operand& from = made.operands[o];
        Known known;
        if (from.kind == ptx::Operand::Kind::immediate) known = from.bits;
        // A number put together.
        if (from.kind == ptx::Operand::Kind::vector && made.opcode == Opcode::mov && !from.elements.empty()) {
            known = 0;
            const auto width = static_cast<unsigned>(bits_of(made.type) / from.elements.size());
            for (std::uint16_t e = 0; known && e < from.elements.size(); e++) {
                const bool is_number = from.elements[e].kind == ptx::Operand::Kind::immediate;
                const Known part = is_number ? Known(from.elements[e].bits)
                                             : value(reading.ssa().use(i, static_cast<std::uint16_t>(o), e));
                known = part ? Known(*known | truncate_bits(*part, width) << e * width) : std::nullopt;
            }
        }
        if (from.kind == ptx::Operand::Kind::symbol)
            if (const ptx::Variable* parameter = reading.function().parameter(from.text))
                known = parameter->offset_bytes + static_cast<std::uint64_t>(from.offset);
        if (from.kind == ptx::Operand::Kind::reg && from.text.empty()) {
            known = value(reading.ssa().use(i, static_cast<std::uint16_t>(o)));
            if (known && from.negated) *known ^= 1;
        }
        if (const auto form =
                from.kind == ptx::Operand::Kind::special ? reading.special(from.special, 32) : std::nullopt) {
            std::uint64_t sum = 0;
            for (const auto& [atoms, coefficient] : form->terms) {
                std::uint64_t term = coefficient;
                for (const Atom each : atoms) term *= trial.registers[each];
                sum += term;
            }
            known = truncate_bits(sum, 32);
        }
        if (!known) return std::nullopt;
        result.push_back(*known);
    }
    return result;
}

}  // namespace

Known Values::of(ValueIndex index) {
    if (index == no_index) return std::nullopt;
    const auto [at, is_new] = known_.try_emplace(index);
    if (!is_new) return at->second;
    const Form& form = reading_.form(index);
    const Known result = form.width == 0 ? made(index) : of(form, index);
    return known_[index] = result;
}

Known Values::of(const Form& form, ValueIndex self) {
    std::uint64_t result = 0;
    for (const auto& [atoms, coefficient] : form.terms) {
        std::uint64_t term = coefficient;
        for (const Atom each : atoms) {
            Known factor;
            if (each < register_count) factor = trial_.registers[each];
            if (each == reading_.index_of(loop_)) factor = index_;
            if (each >= first_parameter)
                factor = trial_.parameter(each >> 8 & 0x7fffff, static_cast<ptx::Type>(each & 0xff));
            if (const Reading::Part* const part = reading_.part_of(each)) {
                if (!part->is_widened()) return std::nullopt;
                factor = of(part->form, no_index);
                if (factor && part->is_signed())
                    factor = truncate_bits(static_cast<std::uint64_t>(sign_extend(*factor, part->form.width)),
                                           part->width);
            } else if (each >= first_value && each < first_parameter) {
                const ValueIndex value = each - first_value;
                factor = value == self ? made(self) : of(value);
            }
            if (!factor) return std::nullopt;
            term *= *factor;
        }
        result += term;
    }
    return truncate_bits(result, form.width);
}

Known Values::made(ValueIndex index) {
    const ptx::Value& value = reading_.ssa().values[index];
    if (value.kind != ptx::Value::Kind::instruction || value.operand != 0 || value.element != 0)
        return std::nullopt;
    if (value.previous != no_index) {
        const ptx::Instruction& instruction = reading_.function().body[value.instruction];
        const Known guard = of(reading_.ssa().guard(value.instruction));
        if (instruction.guard == no_index || !guard) return std::nullopt;
        if (((*guard & 1) != 0) == instruction.guard_negated) return of(value.previous);
    }
    const auto sources = sources_of(reading_, trial_, value.instruction, [&](ValueIndex v) { return of(v); });
    return sources ? computed(reading_.function().body[value.instruction], *sources) : std::nullopt;
}

namespace {

class Walk {
  public:
    Walk(const Reading& reading, const Trial& trial) : reading_(reading), trial_(trial) {}
    bool ends(BlockIndex block, std::vector<Known> values) {
        const ptx::Function& function = reading_.function();
        for (;;) {
            const ptx::BasicBlock& at = reading_.flow().blocks[block];
            if (++steps_ > most_steps) return false;
            for (std::uint32_t i = at.first; i < at.last; i++) {
                if (!is_harmless(i)) return false;
                run(i, values);
            }
            if (at.successors.empty()) return true;
            std::vector<BlockIndex> next = at.successors;
            if (at.first != at.last) {
                const ptx::Instruction& last = function.body[at.last - 1];
                const bool leaves = last.opcode == Opcode::ret || last.opcode == Opcode::exit;
                if (last.guard != no_index) {
                    const Known guard = of(reading_.ssa().guard(at.last - 1), values);
                    if (guard) {
                        const bool taken = ((*guard & 1) != 0) != last.guard_negated;
                        if (taken && leaves) return true;
                        next = {taken ? at.successors.front() : at.successors.back()};
                    }
                }
            }
            // Which way is not known: each.
            for (std::size_t way = 1; way < next.size(); way++) {
                auto other = values;
                enter(block, next[way], other);
                if (!ends(next[way], std::move(other))) return false;
            }
            enter(block, next[0], values);
            block = next[0];
        }
    }

  private:
    static constexpr unsigned most_steps = 2000;

    static Known of(ValueIndex value, const std::vector<Known>& values) {
        return value == no_index ? std::nullopt : values[value];
    }
    bool is_harmless(std::uint32_t i) const {
        const ptx::Instruction& made = reading_.function().body[i];
        const ptx::OpcodeClass of = ptx::info(made.opcode).opcode_class;
        if (of == ptx::OpcodeClass::pure || of == ptx::OpcodeClass::control || reading_.is_of_stack(i) ||
            (of == ptx::OpcodeClass::load && made.modifiers.space == ptx::Space::param))
            return true;
        // A load of one place that every thread makes.
        if (of != ptx::OpcodeClass::load || reading_.uses(i) != 0) return false;
        const BlockIndex block = reading_.flow().block_of[i];
        return std::ranges::all_of(reading_.deciding(block),
                                   [&](const auto& by) { return reading_.decides(by.first, block) == 0; });
    }
    void run(std::uint32_t i, std::vector<Known>& values) const {
        const ptx::Instruction& made = reading_.function().body[i];
        // A number taken apart.
        if (made.opcode == Opcode::mov && made.operands[0].kind == ptx::Operand::Kind::vector &&
            made.guard == no_index && !made.operands[0].elements.empty()) {
            const Known whole = of(reading_.ssa().use(i, 1), values);
            const auto width = static_cast<unsigned>(bits_of(made.type) / made.operands[0].elements.size());
            for (std::uint16_t e = 0; whole && e < made.operands[0].elements.size(); e++)
                if (const ValueIndex part = reading_.ssa().definition(i, 0, e); part != no_index)
                    values[part] = truncate_bits(*whole >> e * width, width);
        }
        if (made.opcode == Opcode::ld && made.modifiers.space == ptx::Space::param && made.guard == no_index)
            return load_parameter(i, values);
        const ValueIndex result = reading_.ssa().definition(i);
        if (result == no_index || made.destination_count != 1) return;
        Known known;
        const auto value = [&](ValueIndex v) { return of(v, values); };
        const auto chosen = [&](std::uint16_t operand) { return value(reading_.ssa().use(i, operand)); };
        if (const auto sources = sources_of(reading_, trial_, i, value))
            known = computed(made, *sources);
        else if (made.opcode == Opcode::selp && chosen(1) == chosen(2))
            known = chosen(1);
        const ValueIndex previous = reading_.ssa().values[result].previous;
        if (made.guard != no_index) {
            const Known guard = of(reading_.ssa().guard(i), values);
            if (!guard)
                known = std::nullopt;
            else if (((*guard & 1) != 0) == made.guard_negated)
                known = of(previous, values);
        }
        values[result] = known;
    }
    void load_parameter(std::uint32_t i, std::vector<Known>& values) const {
        const ptx::Instruction& made = reading_.function().body[i];
        const ptx::Operand& from = made.operands[1];
        const ptx::Variable* parameter = reading_.function().parameter(from.text);
        const Known base = from.reg != no_index   ? of(reading_.ssa().use(i, 1), values)
                           : parameter != nullptr ? Known(parameter->offset_bytes)
                                                  : std::nullopt;
        for (std::uint16_t e = 0; base && e < made.modifiers.vector_width; e++) {
            const ValueIndex result = reading_.ssa().definition(i, 0, e);
            if (result == no_index) continue;
            const std::uint64_t offset = *base + static_cast<std::uint64_t>(from.offset) +
                                         std::uint64_t{e} * ptx::size_bytes(made.type);
            values[result] =
                truncate_bits(trial_.parameter(static_cast<std::uint32_t>(offset), made.type),
                              bits_of(reading_.function().registers[reading_.ssa().values[result].reg].type));
        }
    }
    void enter(BlockIndex from, BlockIndex to, std::vector<Known>& values) const {
        const auto& predecessors = reading_.flow().blocks[to].predecessors;
        const auto edge =
            static_cast<std::size_t>(std::ranges::find(predecessors, from) - predecessors.begin());
        std::vector<Known> entered;
        for (const ValueIndex phi : reading_.phis(to))
            entered.push_back(of(reading_.ssa().values[phi].incoming[edge], values));
        for (std::size_t p = 0; p < entered.size(); p++) values[reading_.phis(to)[p]] = entered[p];
    }

    const Reading& reading_;
    const Trial& trial_;
    unsigned steps_ = 0;
};

}  // namespace

bool ends_without_effect(const Reading& reading, const Trial& trial) {
    return Walk(reading, trial).ends(0, std::vector<Known>(reading.ssa().values.size()));
}

}  // namespace trimtab::checker
