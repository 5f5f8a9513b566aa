// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/strided_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/analysis/values/guards.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/iteration_arrays.h"
#include "core/analysis/values/memory_roots.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::Opcode;

constexpr std::string_view keeps_a_stack =
    "keeps an array on the stack, which may carry values from iteration to iteration";
// Shared memory as the launch sees it: each variable has a part of the address space that is nobody's.
constexpr std::string_view among_themselves = "threads among themselves";
constexpr std::uint64_t first_shared_address = std::uint64_t{1} << 62,
                        shared_variable_bytes = std::uint64_t{1} << 48;

std::string type_name_of(const ptx::Instruction& made) {
    return std::to_string(static_cast<unsigned>(made.type)) + " " +
           std::to_string(made.modifiers.vector_width);
}

class Accesses {
  public:
    Accesses(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices, const Once& once,
             const AccessRules& rules)
        : table_(table), kernel_(kernel), indices_(indices), once_(once), rules_(rules) {}

    std::expected<StridedAccesses, Fault> run() {
        const auto& body = kernel_.function().body;
        for (std::uint32_t i = 0; i < body.size(); i++) {
            if (!kernel_.is_reachable(i)) continue;
            // What is not a register by now is memory that outlives an iteration.
            if (!rules_.may_keep_stack && kernel_.is_frame_access(i) && body[i].opcode == Opcode::ld &&
                !is_of_the_iteration(i))
                return std::unexpected(Fault{3, i, std::string(keeps_a_stack)});
            if (!has_effect(kernel_, i) || rules_.is_known(i)) continue;
            if (auto fault = add(i)) return std::unexpected(std::move(*fault));
        }
        if (rules_.only_beside)
            for (Found& f : found_) f.access.reduction = among_themselves;
        for (const StridedAccess& access : rules_.beside)
            found_.push_back({.access = access, .is_known = true, .is_beside = true});
        const bool changes = std::ranges::any_of(found_, [](const Found& f) { return f.access.writes; });
        // Atomics of one kind leave the same sum, or the same extreme, in any order.
        const bool one_kind = std::ranges::all_of(found_, [&](const Found& f) {
            return !f.access.reduction.empty() && f.access.reduction == found_.front().access.reduction;
        });
        if (!changes || one_kind) return StridedAccesses();
        StridedAccesses result;
        for (const Found& f : found_) {
            if (f.is_known) continue;
            for (const Found& other : found_) {
                if (!meets(f, other)) continue;
                if (f.is_shared || other.is_beside || !is_of_an_iteration(f.instruction) ||
                    !is_of_an_iteration(other.instruction))
                    return std::unexpected(unknown(f));
                result.need_one_iteration_a_thread = true;
            }
        }
        for (Found& f : found_)
            if (f.is_known) result.known.push_back(std::move(f.access));
        return result;
    }

  private:
    struct Found {
        std::uint32_t instruction = 0;
        StridedAccess access;
        bool is_known = false;   // where it goes
        bool is_shared = false;  // memory of the block
        bool is_beside = false;  // of the block as a whole
        const ptx::Variable* variable = nullptr;
    };

    // In a loop of each dimension that has them: who makes no iteration does not come by.
    bool is_of_an_iteration(std::uint32_t i) const {
        const ptx::BlockIndex block = kernel_.flow().block_of[i];
        bool result = std::ranges::any_of(rules_.iterations_of, std::identity());
        for (std::size_t d = 0; d < 3; d++)
            result &= !rules_.iterations_of[d] ||
                      std::ranges::any_of(indices_.loops(), [&](const LoopIndices::Strided& strided) {
                          return static_cast<std::size_t>(strided.dimension) == d &&
                                 kernel_.flow().loops[strided.loop].contains(block);
                      });
        return result;
    }
    // On the stack, and no matter to other iterations.
    bool is_of_the_iteration(std::uint32_t i) const {
        if (kernel_.blocks_are_units() || !is_stack_access(kernel_, i)) return false;
        return kernel_.function().body[i].opcode == Opcode::st ||
               IterationArrays(table_, kernel_, indices_).loads_what_the_iteration_stored(i);
    }
    // May an access at a place that is not known meet the other?
    bool meets(const Found& unknown, const Found& other) const {
        const StridedAccess &a = unknown.access, &b = other.access;
        if (!a.writes && !b.writes) return false;
        if (unknown.is_shared != other.is_shared || (a.phases & b.phases) == 0) return false;
        if (unknown.is_shared && unknown.variable != nullptr && other.variable != nullptr &&
            unknown.variable != other.variable)
            return false;
        return a.reduction.empty() || a.reduction != b.reduction;
    }
    Fault unknown(const Found& at) const {
        const StridedAccess& access = at.access;
        const bool is_load = !access.writes;
        // Of a load that is declared so, no more can be asked.
        const bool could_be_constant = !at.is_shared && (is_load || !access.reduction.empty()) &&
                                       !reads_constant_memory(kernel_, at.instruction);
        return {3, at.instruction,
                fmt::format(
                    "{} memory in the loop at addresses that are not known beforehand, which other "
                    "iterations may {}{}",
                    is_load                    ? "reads"
                    : access.reduction.empty() ? "writes"
                                               : "updates",
                    is_load ? "write" : "use",
                    could_be_constant ? "; declare pointers that are only read const and __restrict__" : "")};
    }

    std::optional<Fault> add(std::uint32_t i) {
        const ptx::Instruction& made = kernel_.function().body[i];
        switch (ptx::info(made.opcode).opcode_class) {
            case ptx::OpcodeClass::texture:
            case ptx::OpcodeClass::image_query:
            case ptx::OpcodeClass::hint:
                return std::nullopt;
            case ptx::OpcodeClass::load:
            case ptx::OpcodeClass::store:
            case ptx::OpcodeClass::atomic:
                break;
            case ptx::OpcodeClass::barrier:
                if (rules_.phases != nullptr && is_block_barrier(kernel_, i)) return std::nullopt;
                [[fallthrough]];
            default:
                return Fault{3, i, fmt::format("has {} in the loop", made.mnemonic)};
        }
        Found found{.instruction = i, .access = {}, .is_shared = is_shared_access(made)};
        const bool is_global = made.modifiers.space == ptx::Space::global || made.modifiers.nc;
        if (found.is_shared && rules_.module == nullptr)
            return Fault{3, i, fmt::format("has {} in the loop", made.mnemonic)};
        if (reads_constant_memory(kernel_, i) && (rules_.trusts_read_only || !is_global)) return std::nullopt;
        if (!found.is_shared) {
            const MemoryRoots roots = memory_roots(table_, kernel_, i);
            if (roots.is_private && rules_.may_keep_stack && roots.bases.empty() && !roots.is_unknown)
                return std::nullopt;
            if (roots.is_private && is_of_the_iteration(i)) return std::nullopt;
            if (roots.is_private) return Fault{3, i, std::string(keeps_a_stack)};
        }
        const bool is_load = ptx::is_load(made);
        StridedAccess& access = found.access;
        access.bytes = ptx::size_bytes(made.type) * std::max<unsigned>(1, made.modifiers.vector_width);
        access.writes = !is_load;
        if (rules_.phases != nullptr) access.phases = rules_.phases->of(i);
        if (is_reduction(made))
            access.reduction =
                fmt::format("{} {}", static_cast<unsigned>(made.modifiers.atomic), type_name_of(made));
        Symbolic address = found.is_shared ? address_in_shared(i, found.variable) : kernel_.address(i);
        // Variables of no size are all one, and launches with such memory go out as written.
        if (found.variable != nullptr && found.variable->size_bytes == 0)
            return Fault{3, i, "uses dynamic shared memory"};
        if (address.width == 64) address = indices_.with_indices(address, kernel_.flow().block_of[i]);
        for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z})
            if (address.width == 64 && table_.is_small(address))
                address = table_.substitute(address, {{table_.loop_index(dimension, 64).terms[0].atoms[0],
                                                       table_.global_index(dimension, 64)}});
        found.is_known = address.width == 64 && is_expressible(table_, address) && moves_evenly(address) &&
                         access.bytes != 0;
        if (found.is_known) access.address = std::move(address);
        if (const auto once = once_.find(i); once != once_.end()) access.once = once->second;
        for (const LoopIndices::Strided& strided : indices_.loops())
            if (const ptx::Loop& loop = kernel_.flow().loops[strided.loop];
                loop.contains(kernel_.flow().block_of[i]))
                access.loops.push_back(loop.header);
        found_.push_back(std::move(found));
        return std::nullopt;
    }

    // Width 0: it is not known.
    Symbolic address_in_shared(std::uint32_t i, const ptx::Variable*& variable) {
        const SharedPlace place = shared_place(table_, kernel_, *rules_.module, indices_, i);
        variable = place.variable;
        if (variable == nullptr) return {};
        auto at = std::ranges::find(shared_, variable);
        if (at == shared_.end()) at = shared_.insert(shared_.end(), variable);
        const auto base = SymbolTable::constant(
            first_shared_address +
                shared_variable_bytes * static_cast<std::uint64_t>(1 + (at - shared_.begin())),
            64);
        Symbolic offset = place.offset;
        if (offset.width == 32) offset = table_.apply(*conversion(ptx::Type::u64, ptx::Type::u32), {offset});
        return offset.width == 64 ? table_.add(base, offset) : Symbolic{};
    }

    bool mentions_index(const Symbolic& value) const {
        bool found = false;
        table_.for_each_atom(value, [&](AtomIndex index) {
            const Atom::Kind kind = table_.atom(index).kind;
            found |= kind == Atom::Kind::global_index || kind == Atom::Kind::row_index ||
                     kind == Atom::Kind::warp_index || kind == Atom::Kind::lane;
        });
        return found;
    }
    // pointer + sum of stride * index: what else two iterations may do with an address is not told apart.
    bool moves_evenly(const Symbolic& value) const {
        return std::ranges::all_of(value.terms, [&](const Term& term) {
            unsigned factors = 0;
            for (const AtomIndex index : term.atoms) {
                const Atom& atom = table_.atom(index);
                if (!mentions_index({64, {{{index}, 1}}})) continue;
                factors++;
                if (atom.kind != Atom::Kind::operation) continue;
                if (atom.operation.op != Operator::cvt || !moves_evenly(atom.operands[0])) return false;
            }
            return factors <= 1;
        });
    }

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const LoopIndices& indices_;
    const Once& once_;
    const AccessRules& rules_;
    std::vector<Found> found_;
    std::vector<const ptx::Variable*> shared_;
};

}  // namespace

bool has_effect(const FunctionValues& kernel, std::uint32_t instruction) {
    return !is_pure(kernel.function().body[instruction]) && !kernel.parameter_load(instruction) &&
           !kernel.is_frame_access(instruction);
}

std::expected<StridedAccesses, Fault> strided_accesses(SymbolTable& table, const FunctionValues& kernel,
                                                       const LoopIndices& indices, const Once& once,
                                                       const AccessRules& rules) {
    return Accesses(table, kernel, indices, once, rules).run();
}

std::expected<std::vector<StridedAccess>, Fault> all_accesses(SymbolTable& table,
                                                              const FunctionValues& kernel,
                                                              const std::array<bool, 3>& reads_total,
                                                              const BesideIterations& beside) {
    const Once never;
    AccessRules rules;
    rules.may_keep_stack = true;
    rules.is_known = [&](std::uint32_t i) { return beside.instructions.contains(i); };
    rules.beside = beside.accesses;
    rules.only_beside = beside.alone;
    auto found = strided_accesses(table, kernel, LoopIndices(table, kernel, reads_total), never, rules);
    if (!found) return std::unexpected(std::move(found.error()));
    return std::move(found->known);
}

namespace {

// Addresses of shared memory may be of 32 bits. Width 0: there is none that is followed.
Symbolic shared_address(const SymbolTable& table, const FunctionValues& kernel, std::uint32_t instruction) {
    const ptx::Instruction& made = kernel.function().body[instruction];
    for (std::size_t o = 0; o < made.operands.size(); o++) {
        const ptx::Operand& operand = made.operands[o];
        if (operand.kind != ptx::Operand::Kind::address) continue;
        if (operand.reg == no_index) return kernel.address(instruction);
        const ptx::ValueIndex base = kernel.ssa().use(instruction, static_cast<std::uint16_t>(o));
        if (base == no_index) return {};
        const Symbolic& value = kernel.value(base);
        if (value.width != 32 && value.width != 64) return {};
        return table.add(value, SymbolTable::constant(
                                    static_cast<std::uint64_t>(operand.offset) + operand.bits, value.width));
    }
    return {};
}

// The shared variables whose addresses a value is made of.
class SharedRoots {
  public:
    SharedRoots(const SymbolTable& table, const FunctionValues& kernel, const ptx::Module& module)
        : table_(table), kernel_(kernel), module_(module) {}

    void add(const Symbolic& address) {
        for (const Term& term : address.terms)
            if (term.atoms.size() == 1 && term.coefficient == 1) add(table_.atom(term.atoms[0]));
    }
    [[nodiscard]] const std::set<const ptx::Variable*>& found() const { return found_; }
    // The symbol itself, or its low bits.
    [[nodiscard]] const ptx::Variable* named_by(const Atom& atom) const {
        if (atom.kind == Atom::Kind::symbol) return shared_variable(kernel_.function(), module_, atom.text);
        if (atom.kind != Atom::Kind::operation || atom.operands.size() != 1 ||
            atom.operation.op != Operator::cvt)
            return nullptr;
        const auto inner = atom.operands[0].single_atom();
        return inner ? named_by(table_.atom(*inner)) : nullptr;
    }

  private:
    void add(const Atom& atom) {
        if (const ptx::Variable* variable = named_by(atom)) {
            found_.insert(variable);
            return;
        }
        if (atom.kind == Atom::Kind::operation && atom.operation.op == Operator::selp) {
            add(atom.operands[0]);
            add(atom.operands[1]);
        }
        const auto phi = kernel_.phi_of(atom);
        if (!phi || !visited_.insert(*phi).second) return;
        for (const ptx::ValueIndex incoming : kernel_.ssa().values[*phi].incoming)
            if (incoming != no_index) add(kernel_.value(incoming));
    }

    const SymbolTable& table_;
    const FunctionValues& kernel_;
    const ptx::Module& module_;
    std::set<const ptx::Variable*> found_;
    std::set<ptx::ValueIndex> visited_;
};

}  // namespace

SharedPlace shared_place(const SymbolTable& table, const FunctionValues& kernel, const ptx::Module& module,
                         const LoopIndices& indices, std::uint32_t instruction) {
    const Symbolic address =
        indices.with_indices(shared_address(table, kernel, instruction), kernel.flow().block_of[instruction]);
    SharedRoots roots(table, kernel, module);
    roots.add(address);
    if (roots.found().size() != 1) return {};
    SharedPlace place{.variable = *roots.found().begin(), .offset = address};
    const auto named = std::ranges::find_if(address.terms, [&](const Term& term) {
        return term.atoms.size() == 1 && term.coefficient == 1 &&
               roots.named_by(table.atom(term.atoms[0])) != nullptr;
    });
    if (named == address.terms.end())
        place.offset = {};
    else
        std::erase(place.offset.terms, *named);
    return place;
}

}  // namespace trimtab::analysis
