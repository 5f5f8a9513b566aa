// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/data_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/analysis/launches/parameters.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/model/launch_configuration.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

// What a scalar is used for. One scalar may have several roles.
enum Role : unsigned {
    bounds_index = 1,    // alone against a global index in a guard: i < n
    shapes_guard = 2,    // in a guard otherwise: i > k, i < n - k
    branch = 4,          // in another branch
    trip_count = 8,      // alone decides how often a loop runs
    shortens_loop = 16,  // decides that together with others: for (k = j + 1; k < n; ...)
    stride = 32,         // multiplies an index in an address
    offset = 64,         // added to an address
    passed_on = 128,     // given to a function
    base = 256,          // added to an address once, unscaled: a pointer, as far as its use tells
    divides = 512,  // in the divisor of an integer division: what it does to the quotient is another role
};

struct Scalar {
    std::uint32_t parameter = 0, offset = 0;
    unsigned width = 0;
    friend auto operator<=>(const Scalar&, const Scalar&) = default;
};

struct Use {
    unsigned roles = 0;
    std::optional<Dimension> bounds;
    ptx::Type type = ptx::Type::none;  // that an instruction took it for
    std::set<std::uint32_t> compared;  // numbers that it is tested for
};

class Finder {
  public:
    Finder(const SymbolTable& table, const Proof& proof)
        : table_(table), proof_(proof), kernel_(proof.functions.front()) {}

    std::map<Scalar, Use> run() {
        find_guards();
        // The loops that fill tables were left out of the function: they run as often as there are elements.
        if (proof_.dynamic_bytes) find_counts(*proof_.dynamic_bytes);
        const auto& body = kernel_.function().body;
        for (std::uint32_t i = 0; i < body.size(); i++) {
            if (!kernel_.is_reachable(i)) continue;
            const Opcode opcode = body[i].opcode;
            if ((opcode == Opcode::div || opcode == Opcode::rem) && !ptx::is_float(body[i].type))
                find_divisor(i);
            if (opcode == Opcode::bra || opcode == Opcode::brx || opcode == Opcode::ret ||
                opcode == Opcode::exit)
                find_branch(i);
            else if (opcode == Opcode::st && body[i].modifiers.space == ptx::Space::param)
                visit(i, passed_on);
            else if (!is_pure(body[i]) && opcode != Opcode::call && !kernel_.parameter_load(i))
                find_address(i);
        }
        find_types();
        return std::move(uses_);
    }

  private:
    Use& use(const Atom& atom) { return uses_[{atom.parameter, atom.offset, atom.width}]; }

    void find_guards() {
        for (const ExitCondition& condition : proof_.conditions) {
            const auto bound = index_bound(table_, condition.predicate);
            const bool guards = bound && trend(table_, condition.predicate, bound->dimension) == Trend::rises;
            table_.for_each_atom(condition.predicate, [&](AtomIndex index) {
                const Atom& atom = table_.atom(index);
                if (atom.kind != Atom::Kind::parameter) return;
                const bool ties = guards && bound->parameter == index;
                use(atom).roles |= ties                                    ? bounds_index
                                   : depends_on_index(condition.predicate) ? shapes_guard
                                                                           : branch;
                // Where the total is read the index runs on: the extent says nothing of the bound.
                auto& tied = use(atom).bounds;
                const auto d = bound ? static_cast<std::size_t>(bound->dimension) : 0;
                if (ties && !bound->counts_warps && proof_.dimensions[d].index == Index::global)
                    tied = std::min(tied.value_or(bound->dimension), bound->dimension);
            });
        }
        for (const ExitCondition& condition : proof_.conditions)
            guard_branches_.insert(condition.instruction);
    }
    void find_counts(const Expression& expression) {
        if (expression.kind == Expression::Kind::parameter)
            uses_[{expression.parameter, expression.offset, ptx::size_bytes(expression.type) * 8}].roles |=
                trip_count;
        for (const Expression& argument : expression.arguments) find_counts(argument);
    }
    bool depends_on_index(const Symbolic& value) const {
        bool found = false;
        table_.for_each_atom(value, [&](AtomIndex index) {
            const Atom::Kind kind = table_.atom(index).kind;
            found |= kind == Atom::Kind::global_index || kind == Atom::Kind::warp_index;
        });
        return found;
    }

    // Does the branch at the end of its block leave a loop?
    bool leaves_loop(std::uint32_t instruction) const {
        const BlockIndex block = kernel_.flow().block_of[instruction];
        const std::uint32_t loop = kernel_.flow().innermost_loop[block];
        if (loop == no_index) return false;
        const auto& inside = kernel_.flow().loops[loop].blocks;
        const auto& successors = kernel_.flow().blocks[block].successors;
        return std::ranges::any_of(
            successors, [&](BlockIndex to) { return std::ranges::find(inside, to) == inside.end(); });
    }

    void find_branch(std::uint32_t instruction) {
        const ptx::Instruction& made = kernel_.function().body[instruction];
        if (made.guard == no_index && made.opcode != Opcode::brx) return;
        if (guard_branches_.contains(instruction)) return;
        if (!leaves_loop(instruction)) {
            visit(instruction, branch);
            return;
        }
        // Which scalars decide together?
        std::set<Scalar> together;
        collect_ = &together;
        visited_for_collection_.clear();
        visit(instruction, 0);
        collect_ = nullptr;
        visit(instruction, together.size() > 1 ? shortens_loop : trip_count);
    }

    void find_divisor(std::uint32_t instruction) {
        constexpr std::uint16_t divisor = 2;  // of d, a, b
        visit_value(kernel_.ssa().use(instruction, divisor, 0), divides);
        follow();
    }

    void find_address(std::uint32_t instruction) {
        const Symbolic address = kernel_.address(instruction);
        if (address.width != 0) reach_address(address);
        const ptx::Instruction& made = kernel_.function().body[instruction];
        // Coordinates of a texture.
        for (std::size_t i = 0; i < made.operands.size(); i++)
            for (std::size_t e = 0; e < made.operands[i].elements.size(); e++)
                if (made.operands[i].kind == ptx::Operand::Kind::address)
                    visit_value(kernel_.ssa().use(instruction, static_cast<std::uint16_t>(i),
                                                  static_cast<std::uint16_t>(e + 1)),
                                offset);
        follow();
    }

    // Every register that the instruction reads, its guard too.
    void visit(std::uint32_t instruction, unsigned role) {
        for (const ptx::Ssa::Use& used : kernel_.ssa().uses[instruction]) visit_value(used.value, role);
        follow();
    }
    void visit_value(ValueIndex value, unsigned role) {
        if (value != no_index) reach(kernel_.value(value), role);
    }

    // Walks back from what was reached to the parameters that it is made of. Values are many and shared, so
    // there is a list of work, and no atom is walked twice in one role.
    void follow() {
        while (!work_.empty()) {
            const auto [index, role] = work_.back();
            work_.pop_back();
            visit_atom(table_.atom(index), role);
        }
    }
    void reach(AtomIndex index, unsigned role) {
        auto& visited = collect_ != nullptr ? visited_for_collection_ : visited_;
        if (visited.insert({index, role}).second) work_.emplace_back(index, role);
    }
    void reach(const Symbolic& value, unsigned role) {
        for (const Term& term : value.terms) {
            for (const AtomIndex index : term.atoms) {
                // In an address, what multiplies something that varies from thread to thread, or in a loop,
                // is a stride; k * n + i only starts elsewhere.
                const bool scales = role == offset && multiplies_index(term, index);
                reach(index, scales ? stride : role);
            }
        }
    }
    void reach_address(const Symbolic& address) {
        for (const Term& term : address.terms) {
            if (term.atoms.size() == 1 && term.coefficient == 1)
                reach(term.atoms[0], base);
            else
                reach(Symbolic{address.width, {term}}, offset);
        }
    }
    bool multiplies_index(const Term& term, AtomIndex factor) const {
        bool itself = false;
        return std::ranges::any_of(term.atoms, [&](AtomIndex other) {
            if (other == factor && !std::exchange(itself, true)) return false;
            return varies(other);
        });
    }
    bool varies(AtomIndex index) const {
        bool found = false;
        table_.for_each_atom(Symbolic{1, {{{index}, 1}}}, [&](AtomIndex inner) {
            const Atom::Kind kind = table_.atom(inner).kind;
            found |=
                kind != Atom::Kind::parameter && kind != Atom::Kind::symbol && kind != Atom::Kind::operation;
        });
        return found;
    }

    void visit_atom(const Atom& atom, unsigned role) {
        switch (atom.kind) {
            case Atom::Kind::parameter:
                if (collect_ != nullptr)
                    collect_->insert({atom.parameter, atom.offset, atom.width});
                else
                    use(atom).roles |= role == base && atom.width != 64 ? offset : role;
                break;
            case Atom::Kind::operation:
                visit_operation(atom, role == base ? offset : role);
                break;
            case Atom::Kind::opaque:
            case Atom::Kind::tainted:
                if (atom.function == kernel_.index()) visit_opaque(atom.value, role);
                break;
            default:
                break;
        }
    }

    void visit_operation(const Atom& atom, unsigned role) {
        const Operator op = atom.operation.op;
        // Division and remainder take an index apart as strides put it together; a shift may hide a product.
        const bool scales = op == Operator::div || op == Operator::rem || op == Operator::mul_hi ||
                            op == Operator::shl || op == Operator::shr;
        for (const Symbolic& operand : atom.operands)
            reach(operand, role == offset && scales ? stride : role);
    }

    void visit_opaque(ValueIndex index, unsigned role) {
        const ptx::Value& value = kernel_.ssa().values[index];
        if (value.kind == ptx::Value::Kind::phi) {
            for (const ValueIndex incoming : value.incoming) {
                if (incoming == no_index || incoming == index) continue;
                visit_moved(index, kernel_.value(incoming), role);
            }
            return;
        }
        if (value.kind != ptx::Value::Kind::instruction) return;
        const ptx::Instruction& made = kernel_.function().body[value.instruction];
        // What a load brings is no parameter, whatever its address was.
        if (!is_pure(made)) return;
        if (role == base) role = offset;
        for (const ptx::Ssa::Use& used : kernel_.ssa().uses[value.instruction]) visit_value(used.value, role);
        visit_value(value.previous, role);
    }

    // What comes around a loop to a phi: what is added there counts once an iteration, as a stride does.
    void visit_moved(ValueIndex phi, const Symbolic& incoming, unsigned role) {
        bool is_step = false;
        for (const Term& term : incoming.terms)
            is_step |= term.atoms.size() == 1 && kernel_.phi_of(table_.atom(term.atoms[0])) == phi;
        if (!is_step || (role != offset && role != base)) {
            if (role == base)
                reach_address(incoming);
            else
                reach(incoming, role);
            return;
        }
        for (const Term& term : incoming.terms)
            for (const AtomIndex index : term.atoms)
                if (kernel_.phi_of(table_.atom(index)) != phi) reach(index, stride);
    }

    // Modes, and sizes that have code of their own.
    static void note_compared(const ptx::Instruction& made, Use& use) {
        constexpr std::uint64_t least = 4, most = 4096;
        const bool tests = made.modifiers.comparison == ptx::Comparison::eq ||
                           made.modifiers.comparison == ptx::Comparison::ne;
        if (made.opcode != Opcode::setp || !tests || ptx::is_float(made.type)) return;
        for (const ptx::Operand& operand : made.sources())
            if (operand.kind == ptx::Operand::Kind::immediate && operand.bits >= least &&
                operand.bits <= most)
                use.compared.insert(static_cast<std::uint32_t>(operand.bits));
    }
    // A scalar's type, where the source does not say it: as its first typed use takes it.
    void find_types() {
        const auto& body = kernel_.function().body;
        std::map<ValueIndex, Scalar> loaded;
        for (ValueIndex v = 0; v < kernel_.ssa().values.size(); v++) {
            const auto index = kernel_.value(v).single_atom();
            if (!index || table_.atom(*index).kind != Atom::Kind::parameter) continue;
            const Atom& atom = table_.atom(*index);
            loaded[v] = {atom.parameter, atom.offset, atom.width};
        }
        for (std::uint32_t i = 0; i < body.size(); i++) {
            for (const ptx::Ssa::Use& used : kernel_.ssa().uses[i]) {
                const auto at = loaded.find(used.value);
                if (at == loaded.end()) continue;
                const auto found = uses_.find(at->second);
                if (found == uses_.end()) continue;
                note_compared(body[i], found->second);
                const ptx::Type type =
                    body[i].source_type != ptx::Type::none ? body[i].source_type : body[i].type;
                const bool says = ptx::is_float(type) || is_signed_type(type) ||
                                  body[i].opcode == Opcode::setp || body[i].opcode == Opcode::cvt;
                if (found->second.type == ptx::Type::none && says &&
                    ptx::size_bytes(type) * 8 == at->second.width)
                    found->second.type = type;
            }
        }
    }

    const SymbolTable& table_;
    const Proof& proof_;
    const FunctionValues& kernel_;
    std::map<Scalar, Use> uses_;
    std::set<std::uint32_t> guard_branches_;
    std::set<std::pair<AtomIndex, unsigned>> visited_, visited_for_collection_;
    std::vector<std::pair<AtomIndex, unsigned>> work_;
    std::set<Scalar>* collect_ = nullptr;
};

ptx::Type type_of(const Scalar& scalar, const KernelParameter& parameter, const Use& use) {
    // The mangled name's types are canonical; a member of a struct goes by its uses.
    if (scalar.width == parameter.size * 8)
        if (const auto type = scalar_type(parameter.type)) return *type;
    if (use.type != ptx::Type::none) {
        if (ptx::is_float(use.type)) return use.type;
        const std::string text =
            fmt::format("{}{}", is_signed_type(use.type) || type_name(use.type).starts_with('b') ? 's' : 'u',
                        scalar.width);
        if (const auto type = type_from_name(text)) return *type;
    }
    // Sizes below half the range are the same number either way.
    return type_from_name(fmt::format("s{}", scalar.width)).value_or(ptx::Type::u32);
}

// Code may take a scalar apart: the high word of a double is no datum of its own.
std::map<Scalar, Use> whole_scalars(const std::map<Scalar, Use>& parts, const ptx::Function& kernel) {
    std::map<Scalar, Use> whole;
    for (const auto& [part, use] : parts) {
        Scalar scalar = part;
        const bool known = part.parameter < kernel.parameters.size();
        if (known && !kernel.parameters[part.parameter].is_array) {
            scalar.offset = 0;
            scalar.width = static_cast<unsigned>(kernel.parameters[part.parameter].size_bytes * 8);
        }
        Use& merged = whole[scalar];
        merged.roles |= use.roles;
        if (!merged.bounds) merged.bounds = use.bounds;
        if (merged.type == ptx::Type::none && scalar == part) merged.type = use.type;
        if (scalar == part) merged.compared.insert(use.compared.begin(), use.compared.end());
    }
    return whole;
}

}  // namespace

std::vector<DataParameter> data_parameters(const SymbolTable& table, const Proof& proof,
                                           std::vector<KernelParameter>& parameters) {
    std::vector<DataParameter> data;
    if (!proof.functions.empty()) {
        const ptx::Function& kernel = proof.functions.front().function();
        for (const auto& [scalar, use] : whole_scalars(Finder(table, proof).run(), kernel)) {
            if (scalar.parameter >= parameters.size() || (use.roles & ~unsigned{divides}) == 0) continue;
            KernelParameter& parameter = parameters[scalar.parameter];
            if (parameter.is_pointer) continue;
            const ptx::Type type = type_of(scalar, parameter, use);
            // A pointer, where no source says otherwise.
            const bool typed = scalar.width == parameter.size * 8 && scalar_type(parameter.type).has_value();
            if (scalar.width == 64 && !typed && (use.roles & ~unsigned{base | passed_on | divides}) == 0) {
                if (parameter.size == 8) parameter.is_pointer = true;
                continue;
            }
            const bool decides = (use.roles & ~unsigned{stride | offset | base | divides}) != 0;
            if (ptx::is_float(type) && !decides) continue;
            DataParameter found;
            const bool whole = scalar.offset == 0 && scalar.width == parameter.size * 8;
            found.name = whole ? parameter.name : fmt::format("{}+{}", parameter.name, scalar.offset);
            found.parameter = scalar.parameter;
            found.offset = scalar.offset;
            found.type = type_name(type);
            found.bounds = use.bounds;
            found.compared.assign(use.compared.begin(), use.compared.end());
            found.divides = (use.roles & divides) != 0;
            found.counts = (use.roles & (trip_count | shortens_loop)) != 0 &&
                           (use.roles & ~unsigned{trip_count | shortens_loop | offset | base}) == 0;
            found.in_memo = (use.roles & ~unsigned{offset | base | divides}) != 0;
            // An exact value of these changes what a block does; of the others only how long it does it.
            const bool exact = (use.roles & (bounds_index | stride | trip_count)) != 0 ||
                               (use.roles & (shapes_guard | shortens_loop)) == 0;
            found.coarse_in_memo = found.in_memo && (!exact || ptx::is_float(type));
            data.push_back(std::move(found));
        }
    }
    for (std::size_t d = 0; d < 3; d++) {
        if (proof.dimensions[d].index == Index::none) continue;
        DataParameter extent;
        extent.name = fmt::format("extent.{}", model::axis_names[d]);
        extent.is_extent = true;
        extent.dimension = static_cast<Dimension>(d);
        extent.type = "u32";
        data.push_back(std::move(extent));
    }
    return data;
}

}  // namespace trimtab::analysis
