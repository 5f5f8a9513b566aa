// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/private_shared.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/labels.h"
#include "core/analysis/values/no_instruction.h"
#include "core/analysis/values/shared_addresses.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::ValueIndex;

// Values of the function as it is never meet those of the function as it becomes.
constexpr std::uint32_t slots_function_index = 0x7fffffff;

// [stride * thread + first, + bytes) of a variable.
struct SlotAccess {
    std::uint32_t instruction = 0;
    const ptx::Variable* variable = nullptr;
    std::int64_t stride = 0, first = 0, bytes = 0;
};

bool is_shared(const ptx::Variable& variable) {
    return variable.space == ptx::Space::shared || variable.space == ptx::Space::shared_cluster;
}

class PrivateSharedFinder {
  public:
    PrivateSharedFinder(SymbolTable& table, const ptx::Module& module, const ptx::Function& function,
                        const LaunchReads& reads, const FunctionValues& values)
        : table_(table),
          module_(module),
          function_(function),
          reads_(reads),
          values_(values),
          control_(function, values.flow()),
          addresses_(values, module) {}

    std::optional<PrivateShared> run() {
        for (std::uint32_t i = 0; i < function_.body.size(); i++) {
            if (!values_.is_reachable(i)) continue;
            const ptx::Instruction& made = function_.body[i];
            if (made.opcode == Opcode::call) return std::nullopt;
            if (is_block_barrier(values_, i) || is_warp_barrier(values_, i)) barriers_.push_back(i);
            if ((made.opcode == Opcode::ld || made.opcode == Opcode::st) &&
                made.modifiers.space == ptx::Space::shared) {
                auto access = slot_access(i);
                if (!access) return std::nullopt;
                accesses_.push_back(*access);
            }
        }
        if (accesses_.empty() && barriers_.empty()) return std::nullopt;
        const auto is_looked_at = [&](std::uint32_t i) {
            return std::ranges::find(accesses_, i, &SlotAccess::instruction) != accesses_.end();
        };
        if (addresses_.escape(is_looked_at) ||
            !std::ranges::all_of(barriers_, [&](std::uint32_t i) { return all_meet(i, true); }))
            return std::nullopt;
        PrivateShared result{
            .function = function_,
            .had_barriers = std::ranges::any_of(barriers_, [&](std::uint32_t i) { return may_order(i); }),
            .barriers = {}};
        for (const std::uint32_t i : barriers_)
            if (is_block_barrier(values_, i) && all_meet(i, false)) result.barriers.push_back(i);
        for (const SlotAccess& access : accesses_) {
            const std::uint32_t most = threads_with_own_slots(*access.variable);
            if (most < 2) return std::nullopt;
            result.most_threads = result.most_threads == 0 ? most : std::min(result.most_threads, most);
        }
        rewrite(result.function);
        return result;
    }

  private:
    const ptx::Variable* shared_of(const std::string& name) const {
        return shared_variable(function_, module_, name);
    }

    // The index that no block size is multiplied with in the thread's number.
    Symbolic first_index(unsigned width) {
        for (const Dimension dimension : {Dimension::x, Dimension::y})
            if (counts(dimension)) return table_.global_index(dimension, width);
        return table_.global_index(Dimension::z, width);
    }
    bool counts(Dimension dimension) const {
        const auto d = static_cast<std::size_t>(dimension);
        return reads_.reads(d) && !reads_.block_stays_one(d);
    }
    // The thread's number in its block: different for any two of its threads.
    Symbolic thread_number(unsigned width) {
        Symbolic number = SymbolTable::constant(0, width), threads = SymbolTable::constant(1, width);
        for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z}) {
            if (!counts(dimension)) continue;
            const auto part = table_.multiply(threads, table_.thread_index(dimension, width));
            const auto more = table_.multiply(threads, table_.block_size(dimension, width));
            if (!part || !more) return {};
            number = table_.add(number, *part);
            threads = *more;
        }
        return number;
    }

    // The symbol itself, or its low bits: addresses of shared memory are narrow.
    const ptx::Variable* named_by(AtomIndex index) const {
        const Atom& atom = table_.atom(index);
        if (atom.kind == Atom::Kind::symbol) return shared_of(atom.text);
        if (atom.kind != Atom::Kind::operation || atom.operands.size() != 1) return nullptr;
        const auto inner = atom.operands[0].single_atom();
        return atom.operation.op == Operator::cvt && inner ? named_by(*inner) : nullptr;
    }

    Symbolic address(const ptx::Instruction& made, std::uint32_t instruction) const {
        for (std::size_t i = 0; i < made.operands.size(); i++) {
            const Operand& operand = made.operands[i];
            if (operand.kind != Operand::Kind::address) continue;
            if (operand.reg == no_index) return values_.address(instruction);
            const ValueIndex base = values_.ssa().use(instruction, static_cast<std::uint16_t>(i));
            if (base == no_index || values_.value(base).width < 32) return {};
            const Symbolic& value = values_.value(base);
            return table_.add(value,
                              SymbolTable::constant(static_cast<std::uint64_t>(operand.offset) + operand.bits,
                                                    value.width));
        }
        return {};
    }

    std::optional<SlotAccess> slot_access(std::uint32_t instruction) {
        const ptx::Instruction& made = function_.body[instruction];
        if (made.modifiers.semantics != ptx::MemorySemantics::weak) return std::nullopt;
        Symbolic rest = address(made, instruction);
        if (rest.width != 32 && rest.width != 64) return std::nullopt;
        SlotAccess access{.instruction = instruction};
        for (const Term& term : rest.terms) {
            if (term.atoms.size() != 1) continue;
            const ptx::Variable* variable = named_by(term.atoms[0]);
            if (variable == nullptr) continue;
            if (access.variable != nullptr || term.coefficient != 1) return std::nullopt;
            access.variable = variable;
        }
        if (access.variable == nullptr || access.variable->size_bytes == 0) return std::nullopt;
        std::erase_if(rest.terms, [&](const Term& term) {
            return term.atoms.size() == 1 && named_by(term.atoms[0]) != nullptr;
        });
        const Symbolic number = thread_number(rest.width);
        if (number.terms.empty()) return std::nullopt;
        // The multiple of the thread's number that leaves a constant, if one does.
        const auto same = std::ranges::find(rest.terms, first_index(rest.width).terms[0].atoms, &Term::atoms);
        if (same == rest.terms.end()) return std::nullopt;
        const std::uint64_t stride = same->coefficient;
        const Symbolic first = table_.subtract(rest, SymbolTable::scaled(number, stride));
        if (!first.is_constant()) return std::nullopt;
        access.stride = sign_extend(stride, rest.width);
        access.first = sign_extend(first.constant(), rest.width);
        access.bytes = static_cast<std::int64_t>(ptx::size_bytes(made.type)) *
                       std::max<std::int64_t>(1, made.modifiers.vector_width);
        const auto size = static_cast<std::int64_t>(access.variable->size_bytes);
        if (size > (1 << 20) || access.bytes == 0 || access.stride < 1 || access.stride > size ||
            access.first < 0 || access.first + access.bytes > size)
            return std::nullopt;
        return access;
    }

    // How many threads keep to the variable, and to places of it that none of the others touches.
    std::uint32_t threads_with_own_slots(const ptx::Variable& variable) const {
        std::vector<SlotAccess> all;
        for (const SlotAccess& access : accesses_)
            if (access.variable == &variable) all.push_back(access);
        std::int64_t end = 0;
        for (const SlotAccess& access : all) {
            if (access.stride != all.front().stride) return 0;
            end = std::max(end, access.first + access.bytes);
        }
        const std::int64_t stride = all.front().stride;
        const std::int64_t inside = (static_cast<std::int64_t>(variable.size_bytes) - end) / stride + 1;
        const auto meet = [&](std::int64_t apart) {
            return std::ranges::any_of(all, [&](const SlotAccess& a) {
                const std::int64_t first = a.first + apart * stride;
                return std::ranges::any_of(all, [&](const SlotAccess& b) {
                    return first < b.first + b.bytes && b.first < first + a.bytes;
                });
            });
        };
        std::int64_t most = 1;
        while (most < std::min<std::int64_t>(inside, most_block_threads) && !meet(most)) most++;
        return static_cast<std::uint32_t>(most);
    }

    // Does a thread touch memory before the barrier that others share, and one behind it? One at the kernel's end
    // or at its beginning orders nothing.
    bool may_order(std::uint32_t barrier) const {
        const ptx::ControlFlow& flow = values_.flow();
        const BlockIndex block = flow.block_of[barrier];
        const auto touches = [&](std::uint32_t first, std::uint32_t last) {
            for (std::uint32_t i = first; i < last; i++)
                if (values_.is_reachable(i) && !is_pure(function_.body[i]) && !values_.parameter_load(i) &&
                    std::ranges::find(barriers_, i) == barriers_.end() &&
                    std::ranges::find(accesses_, i, &SlotAccess::instruction) == accesses_.end())
                    return true;
            return false;
        };
        const auto touches_beyond = [&](auto beside) {
            const auto reached =
                ptx::reached_from(flow.blocks.size(), {block}, [&](BlockIndex at, const auto& go) {
                    for (const BlockIndex next : flow.blocks[at].*beside) go(next);
                });
            for (BlockIndex b = 0; b < flow.blocks.size(); b++)
                if (reached[b] && touches(flow.blocks[b].first, flow.blocks[b].last)) return true;
            return false;
        };
        return (touches(flow.blocks[block].first, barrier) ||
                touches_beyond(&ptx::BasicBlock::predecessors)) &&
               (touches(barrier + 1, flow.blocks[block].last) ||
                touches_beyond(&ptx::BasicBlock::successors));
    }

    // Every thread of the block that has not ended comes by, as often as the others: what decides whether one
    // does is the same for all, or else the thread ends there and then, as one past the end does.
    bool all_meet(std::uint32_t barrier, bool but_for_ended) {
        const BlockIndex block = values_.flow().block_of[barrier];
        for (const auto& [branch, ways] : control_.deciding(block)) {
            if (is_same_for_all(branch)) continue;
            if (!but_for_ended) return false;
            if (values_.flow().innermost_loop[branch] != no_index) return false;
            const auto& successors = values_.flow().blocks[branch].successors;
            if (ways != ptx::taken && ways != ptx::falls_through) return false;
            if (function_.body[values_.flow().blocks[branch].last - 1].opcode != Opcode::bra) {
                // A guarded ret: the other way is out.
                if (ways != ptx::falls_through) return false;
                continue;
            }
            if (successors.size() != 2 || !only_ends(successors[ways == ptx::taken ? 1 : 0])) return false;
        }
        return true;
    }
    bool is_same_for_all(BlockIndex branch) {
        if (!labels_) labels_.emplace(table_, values_, no_loops_, control_);
        return labels_->uses(values_.flow().blocks[branch].last - 1).is_exactly_same();
    }
    // Without an effect, and without a loop that might not end.
    bool only_ends(BlockIndex from) const {
        std::vector<std::uint8_t> state(values_.flow().blocks.size());  // 1: on the path, 2: done
        const auto walk = [&](auto&& self, BlockIndex at) -> bool {
            if (state[at] == 2) return true;
            if (state[at] == 1) return false;
            state[at] = 1;
            const ptx::BasicBlock& body = values_.flow().blocks[at];
            for (std::uint32_t i = body.first; i < body.last; i++)
                if (!is_pure(function_.body[i]) && !values_.parameter_load(i)) return false;
            for (const BlockIndex next : body.successors)
                if (!self(self, next)) return false;
            state[at] = 2;
            return true;
        };
        return walk(walk, from);
    }

    void rewrite(ptx::Function& function) const {
        std::map<const ptx::Variable*, std::string> slots;
        for (const SlotAccess& access : accesses_) {
            std::string& name = slots[access.variable];
            if (name.empty()) {
                name = "$private$" + access.variable->name;
                ptx::Variable local = *access.variable;
                local.name = name;
                local.space = ptx::Space::local;
                function.variables.push_back(std::move(local));
            }
            ptx::Instruction& made = function.body[access.instruction];
            for (Operand& operand : made.operands) {
                if (operand.kind != Operand::Kind::address) continue;
                operand = {};
                operand.kind = Operand::Kind::address;
                operand.text = name;
                operand.offset = access.first;
            }
            made.modifiers.space = ptx::Space::local;
        }
        std::erase_if(function.variables, [&](const ptx::Variable& variable) {
            return is_shared(variable) && std::ranges::any_of(slots, [&](const auto& slot) {
                       return slot.first->name == variable.name;
                   });
        });
        // What only led to addresses leads nowhere now.
        const ptx::RegisterIndex unused = add_unused_register(function);
        for (std::uint32_t i = 0; i < function.body.size(); i++) {
            const bool is_dropped_barrier = std::ranges::find(barriers_, i) != barriers_.end();
            const bool leads_to_address =
                values_.is_reachable(i) && only_computes(function_.body[i]) && addresses_.mentions(i);
            if (is_dropped_barrier || leads_to_address) become_nothing(function.body[i], unused);
        }
    }

    SymbolTable& table_;
    const ptx::Module& module_;
    const ptx::Function& function_;
    const LaunchReads& reads_;
    const FunctionValues& values_;
    ptx::ControlDependence control_;
    SharedAddresses addresses_;
    LoopIndices no_loops_{table_, values_, {}};
    std::optional<Labels> labels_;
    std::vector<std::uint32_t> barriers_;
    std::vector<SlotAccess> accesses_;
};

}  // namespace

std::optional<PrivateShared> with_private_shared(SymbolTable& table, const ptx::Module& module,
                                                 const ptx::Function& function, const LaunchReads& reads) {
    const auto values = FunctionValues::make(table, function, slots_function_index, reads);
    if (!values || !values->flow().reducible) return std::nullopt;
    return PrivateSharedFinder(table, module, function, reads, *values).run();
}

}  // namespace trimtab::analysis
