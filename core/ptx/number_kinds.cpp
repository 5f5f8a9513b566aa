// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/number_kinds.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/ptx/instruction_registers.h"
#include "core/ptx/opcodes.h"

namespace trimtab::ptx {
namespace {

// How many of its sources an instruction may hand on as they are: it makes no new number of them. A vector that is taken
// apart or put together is of one kind with its elements.
std::size_t moved_operands(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::mov:
        case Opcode::shfl:
            return 1;
        case Opcode::selp:
        case Opcode::slct:
            return 2;
        // Of floating-point numbers these are exact.
        case Opcode::min:
        case Opcode::max:
            return is_float(instruction.type) ? 2 : 0;
        case Opcode::neg:
        case Opcode::abs:
            return is_float(instruction.type) ? 1 : 0;
        default:
            return 0;
    }
}

// What other instructions leave of a kind that is not their type's: a texel as it is in the texture, a matrix as it is in
// memory, 1.0 or 0.
bool leaves_what_was_there(Opcode opcode) {
    switch (opcode) {
        case Opcode::tex:
        case Opcode::tld4:
        case Opcode::suld:
        case Opcode::set:
            return true;
        default:
            return false;
    }
}

// A whole number as a floating-point one: as exact as it was.
bool is_conversion_of_whole_number(const Instruction& instruction) {
    return instruction.opcode == Opcode::cvt && is_float(instruction.type) &&
           !is_float(instruction.source_type);
}

}  // namespace

NumberKind joined(NumberKind one, NumberKind another) {
    if (one == another || another == NumberKind::moved) return one;
    return one == NumberKind::moved ? another : NumberKind::other;
}

NumberKind kind_of(Type type) {
    switch (element_of(type)) {
        case Type::f16:
            return NumberKind::f16;
        case Type::bf16:
            return NumberKind::bf16;
        case Type::f32:
        case Type::tf32:
            return NumberKind::f32;
        case Type::f64:
            return NumberKind::f64;
        default:
            return NumberKind::other;
    }
}

unsigned size_bytes(NumberKind kind) {
    switch (kind) {
        case NumberKind::f16:
        case NumberKind::bf16:
            return 2;
        case NumberKind::f32:
            return 4;
        case NumberKind::f64:
            return 8;
        case NumberKind::moved:
        case NumberKind::other:
            break;
    }
    return 0;
}

// Registers, and variables of .param and .local that are named, are places: what is moved from one to another makes an
// edge. All assignments of a register count at once, wherever they stand.
class NumberKinds::Builder {
  public:
    Builder(NumberKinds& out, std::span<const Function* const> functions) : out_(out), functions_(functions) {
        for (const Function* function : functions) {
            out_.first_.push_back(out_.origins_.size());
            out_.origins_.resize(out_.origins_.size() + function->registers.size());
        }
        out_.is_read_.resize(out_.origins_.size());
        edges_.resize(out_.origins_.size());
        std::uint32_t base = 0;
        for (at_ = 0; at_ < functions.size(); at_++) {
            const std::vector<Instruction>& body = functions[at_]->body;
            for (std::uint32_t i = 0; i < body.size(); i++) add(body[i], base + i);
            base += static_cast<std::uint32_t>(body.size());
        }
        spread();
    }

  private:
    using Place = std::size_t;

    [[nodiscard]] Place place_of(RegisterIndex reg) const { return out_.first_[at_] + reg; }
    // Variables lie behind all registers, by the name of their function and their own.
    [[nodiscard]] Place place_of(const std::string& function, const std::string& variable) {
        const auto [found, is_new] = variables_.try_emplace(function + "/" + variable, out_.origins_.size());
        if (is_new) {
            out_.origins_.emplace_back();
            edges_.emplace_back();
        }
        return found->second;
    }

    void make(Place place, NumberKind kind) { note(place, {.kind = kind, .loads = {}}); }
    void load(Place place, std::uint32_t instruction) {
        note(place, {.kind = NumberKind::moved, .loads = {instruction}});
    }
    void note(Place place, const Origin& more) {
        Origin& origin = out_.origins_[place];
        const NumberKind kind = joined(origin.kind, more.kind);
        std::vector<std::uint32_t> loads;
        std::ranges::set_union(origin.loads, more.loads, std::back_inserter(loads));
        if (kind == origin.kind && loads.size() == origin.loads.size()) return;
        origin = {.kind = kind, .loads = std::move(loads)};
        changed_.push_back(place);
    }
    void move(Place to, Place from) { edges_[from].push_back(to); }
    // From an operand; what is no register and no constant is an address, or a number of the machine's.
    void move(Place to, const Operand& from) {
        for (const Operand& element : from.elements) move(to, element);
        if (from.reg != no_index)
            move(to, place_of(from.reg));
        else if (from.kind == Operand::Kind::special || from.kind == Operand::Kind::symbol)
            make(to, NumberKind::other);
    }

    template <class Visit>
    void each_destination(const Instruction& instruction, const Visit& visit) {
        visit_writes(instruction, [&](RegisterIndex reg) {
            if (functions_[at_]->registers[reg].type != Type::pred) visit(place_of(reg));
        });
    }
    // An argument or a result of a call: a register, or a variable of .param.
    [[nodiscard]] std::optional<Place> place_of(const Operand& operand) {
        if (operand.reg != no_index) return place_of(operand.reg);
        if (operand.kind == Operand::Kind::label || operand.text.empty()) return std::nullopt;
        return place_of(functions_[at_]->name, operand.text);
    }

    void add(const Instruction& instruction, std::uint32_t number) {
        visit_reads(instruction, [&](RegisterIndex reg) { out_.is_read_[place_of(reg)] = true; });
        if (instruction.opcode == Opcode::call) return add_call(instruction);
        if (is_load(instruction)) return add_load(instruction, number);
        if (instruction.opcode == Opcode::st) return add_store(instruction);
        if (is_conversion_of_whole_number(instruction)) return;
        if (const std::size_t count = moved_operands(instruction); count > 0) {
            const auto from = instruction.sources();
            each_destination(instruction, [&](Place to) {
                for (std::size_t i = 0; i < std::min(count, from.size()); i++) move(to, from[i]);
            });
            return;
        }
        const bool is_load_of_kind = instruction.opcode == Opcode::ldmatrix ||
                                     (instruction.opcode == Opcode::atom && !is_float(instruction.type));
        each_destination(instruction, [&](Place to) {
            if (is_load_of_kind)
                load(to, number);
            else if (!leaves_what_was_there(instruction.opcode))
                make(to, kind_of(instruction.type));
        });
    }

    void add_load(const Instruction& instruction, std::uint32_t number) {
        const Operand& from = instruction.operands[instruction.destination_count];
        each_destination(instruction, [&](Place to) {
            if (const auto place = variable_of(instruction, from))
                move(to, *place);
            else if (instruction.modifiers.space != Space::param)
                load(to, number);
        });
    }

    void add_store(const Instruction& instruction) {
        const auto place = variable_of(instruction, instruction.operands[0]);
        if (place) move(*place, instruction.operands[1]);
    }

    // A place in .param or .local memory that the instruction names: each offset is one of its own.
    [[nodiscard]] std::optional<Place> variable_of(const Instruction& instruction, const Operand& at) {
        const Space space = instruction.modifiers.space;
        if (space == Space::local) {
            const std::string base = at.reg == no_index ? at.text : functions_[at_]->registers[at.reg].name;
            return place_of(functions_[at_]->name, base + "+" + std::to_string(at.offset));
        }
        if (space != Space::param || at.reg != no_index) return std::nullopt;
        return place_of(functions_[at_]->name, at.text);
    }

    void add_call(const Instruction& instruction) {
        const auto callee_at = static_cast<std::size_t>(instruction.destination_count);
        const Operand& target = instruction.operands[callee_at];
        const auto callee = std::ranges::find_if(functions_, [&](const Function* function) {
            return target.kind == Operand::Kind::symbol && function->name == target.text;
        });
        if (callee == functions_.end()) return;
        const auto formal = [&](const std::vector<Variable>& variables,
                                std::size_t i) -> std::optional<Place> {
            if (i >= variables.size()) return std::nullopt;
            return place_of((*callee)->name, variables[i].name);
        };
        for (std::size_t i = 0; i < instruction.operands.size(); i++) {
            const auto own = place_of(instruction.operands[i]);
            if (i == callee_at || !own) continue;
            const bool is_result = i < callee_at;
            const auto theirs =
                is_result ? formal((*callee)->returns, i) : formal((*callee)->parameters, i - callee_at - 1);
            if (!theirs) continue;
            if (is_result)
                move(*own, *theirs);
            else
                move(*theirs, *own);
        }
    }

    void spread() {
        for (std::size_t i = 0; i < out_.origins_.size(); i++) changed_.push_back(i);
        while (!changed_.empty()) {
            const Place from = changed_.back();
            changed_.pop_back();
            for (const Place to : edges_[from]) note(to, Origin(out_.origins_[from]));
        }
    }

    NumberKinds& out_;
    const std::span<const Function* const> functions_;
    std::size_t at_ = 0;
    std::vector<std::vector<Place>> edges_;  // by place that is moved from
    std::map<std::string, Place> variables_;
    std::vector<Place> changed_;
};

NumberKinds::NumberKinds(std::span<const Function* const> functions) {
    const Builder builder(*this, functions);
}

const NumberKinds::Origin& NumberKinds::of(std::size_t function, const Operand& operand) const {
    static const Origin constant{}, no_number{.kind = NumberKind::other, .loads = {}};
    if (operand.reg != no_index) return origins_[first_[function] + operand.reg];
    return operand.kind == Operand::Kind::immediate ? constant : no_number;
}

bool NumberKinds::is_read(std::size_t function, RegisterIndex reg) const {
    return is_read_[first_[function] + reg];
}

}  // namespace trimtab::ptx
