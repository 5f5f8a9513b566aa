// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/block_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "core/analysis/launches/demangle.h"
#include "core/analysis/sharing/block_sweep.h"
#include "core/analysis/sharing/left_out.h"
#include "core/analysis/sharing/moved_variables.h"
#include "core/analysis/sharing/phases.h"
#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/values/guards.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/iteration_sums.h"
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
constexpr std::uint32_t tables_function_index = 0x7ffffffe;

// No GPU has more shared memory.
constexpr std::uint64_t most_dynamic_bytes = 1 << 18;

struct SharedAccess {
    std::uint32_t instruction = 0;
    Symbolic offset;  // of the variable; width 0: not known
    std::uint32_t bytes = 0;
};
struct SharedVariable {
    std::vector<SharedAccess> stores, loads, atomics;
};

class TableFinder {
  public:
    TableFinder(SymbolTable& table, const ptx::Module& module, const ptx::Function& function,
                const FunctionValues& values, bool may_reassociate)
        : table_(table),
          module_(module),
          function_(function),
          values_(values),
          may_reassociate_(may_reassociate),
          control_(function, values.flow()),
          indices_(table, values, {true, false, false}),
          labels_(table, values, indices_, control_),
          sweeps_(table, values, indices_, control_),
          phases_(values),
          left_(values) {}

    std::expected<BlockTables, Fault> run() {
        if (!find_accesses() || variables_.empty()) return std::unexpected(std::move(fault_));
        if (SharedAddresses(values_, module_).escape([&](std::uint32_t i) { return accesses_.contains(i); }))
            return std::unexpected(Fault{2, *accesses_.begin(), "hands on an address in shared memory"});
        for (const std::uint32_t barrier : phases_.barriers())
            if (!control_.deciding(values_.flow().block_of[barrier]).empty())
                return std::unexpected(Fault{
                    2, barrier, "has a barrier under a condition, so that its shared memory is no table"});
        BlockTables result;
        result.function = function_;
        for (const auto& [variable, accesses] : variables_)
            if (!(accesses.atomics.empty() ? take_table(*variable, accesses, result)
                                           : take_bins(*variable, accesses, result)))
                return std::unexpected(std::move(fault_));
        for (const std::uint32_t barrier : phases_.barriers()) gone_.insert(barrier);
        if (!left_.is_clean(gone_, filled_from_))
            return std::unexpected(
                Fault{2, *accesses_.begin(),
                      "does something else while it fills or flushes shared memory, or uses "
                      "there the values that it makes"});
        std::set<std::uint32_t> looked_at = gone_;
        looked_at.insert(accesses_.begin(), accesses_.end());
        result.orders_others = left_.has_order(phases_, looked_at);
        rewrite(result);
        return result;
    }

  private:
    // What stands in the way; the first counts.
    bool fail(std::uint32_t instruction, std::string text) {
        if (fault_.text.empty()) fault_ = {2, instruction, std::move(text)};
        return false;
    }
    static std::string source_name(const ptx::Variable& variable) {
        const std::string name = demangle(variable.name);
        const std::size_t scope = name.rfind("::");
        return scope == std::string::npos ? name : name.substr(scope + 2);
    }
    BlockIndex block_of(std::uint32_t instruction) const { return values_.flow().block_of[instruction]; }
    static std::uint32_t bytes_of(const ptx::Instruction& made) {
        return ptx::size_bytes(made.type) * std::max<std::uint32_t>(1, made.modifiers.vector_width);
    }

    // --- what there is ---

    bool find_accesses() {
        for (std::uint32_t i = 0; i < function_.body.size(); i++) {
            const ptx::Instruction& made = function_.body[i];
            if (!values_.is_reachable(i)) continue;
            if (made.opcode == Opcode::call || is_warp_barrier(values_, i)) return false;
            if (!is_shared_access(made)) continue;
            if (made.modifiers.space != ptx::Space::shared)
                return fail(i, fmt::format("accesses shared memory by {}", made.mnemonic));
            const SharedPlace place = shared_place(table_, values_, module_, indices_, i);
            if (place.variable == nullptr) return fail(i, "uses shared memory at an unknown address");
            SharedVariable& variable = variables_[place.variable];
            SharedAccess access{i, place.offset, bytes_of(made)};
            if (access.bytes == 0) return false;
            if (is_reduction(made))
                variable.atomics.push_back(std::move(access));
            else if (made.opcode == Opcode::st && made.modifiers.semantics == ptx::MemorySemantics::weak)
                variable.stores.push_back(std::move(access));
            else if (made.opcode == Opcode::ld && made.modifiers.semantics == ptx::MemorySemantics::weak)
                variable.loads.push_back(std::move(access));
            else
                return fail(i, fmt::format("accesses shared memory by {}", made.mnemonic));
            accesses_.insert(i);
        }
        // Dynamic shared memory is one, whatever its names are.
        return std::ranges::count_if(variables_, [](const auto& v) { return is_dynamic(*v.first); }) <= 1;
    }
    static bool is_dynamic(const ptx::Variable& variable) { return variable.size_bytes == 0; }
    static std::uint64_t most_bytes(const ptx::Variable& variable) {
        return is_dynamic(variable) ? most_dynamic_bytes : variable.size_bytes;
    }
    // What is filled of dynamic shared memory is all of it that is used: by other blocks too.
    bool note_dynamic(const ptx::Variable& variable, const BlockSweep& sweep, std::uint64_t stride,
                      BlockTables& result) {
        if (!is_dynamic(variable)) return true;
        if (stride == 0 || result.dynamic_bytes.width != 0) return false;
        const Symbolic bound =
            sweep.bound ? SymbolTable::constant(*sweep.bound, 64) : sweep.bound_of_arguments(table_);
        if (bound.width != 64) return false;
        result.dynamic_bytes = SymbolTable::scaled(bound, stride);
        return true;
    }

    // --- what is the same in every block ---

    // stride * k + first, and nothing else; of a sweep of k = 0 alone the stride is 0.
    struct Place {
        std::uint64_t stride = 0, first = 0;
    };
    std::optional<Place> place_in_sweep(const SharedAccess& access, const BlockSweep& sweep) const {
        const Symbolic& offset = access.offset;
        if (offset.width != 32 && offset.width != 64) return std::nullopt;
        Symbolic at = sweeps_.as_index(offset, block_of(access.instruction));
        if (at.width == 0) return std::nullopt;
        const auto k = std::ranges::find(at.terms, table_.global_index(Dimension::x, at.width).terms[0].atoms,
                                         &Term::atoms);
        const bool is_once = sweep.bound == 1U;
        Place place;
        if (k != at.terms.end()) {
            place.stride = is_once ? 0 : k->coefficient;
            at.terms.erase(k);
        } else if (!is_once) {
            return std::nullopt;
        }
        if (!at.is_constant()) return std::nullopt;
        place.first = at.constant();
        constexpr std::uint64_t most = 1 << 20;
        return (place.stride == 0 && !is_once) || place.stride > most || place.first > most
                   ? std::nullopt
                   : std::optional(place);
    }
    // All that an access of the sweep touches in global memory, for k below `bound`.
    std::optional<StridedAccess> range(std::uint32_t instruction, std::uint64_t bound) const {
        Symbolic address = sweeps_.as_index(values_.address(instruction), block_of(instruction));
        if (address.width != 64 || bound == 0) return std::nullopt;
        const auto k = std::ranges::find(address.terms, table_.global_index(Dimension::x, 64).terms[0].atoms,
                                         &Term::atoms);
        std::uint64_t stride = 0;
        if (k != address.terms.end()) {
            stride = k->coefficient;
            address.terms.erase(k);
        }
        const std::uint64_t bytes = stride * (bound - 1) + bytes_of(function_.body[instruction]);
        if (stride > (1 << 20) || bytes > (1 << 30) || !is_set_by_arguments(table_, address))
            return std::nullopt;
        StridedAccess result;
        result.address = std::move(address);
        result.bytes = static_cast<std::uint32_t>(bytes);
        return result;
    }

    // A store of a fill.
    struct Filling {
        std::uint32_t loop = no_index;
        std::uint64_t bound = 0;  // of k
        std::set<ValueIndex> visited;
    };
    std::uint32_t loop_of(BlockIndex block) const { return values_.flow().innermost_loop[block]; }
    // Is the value, of the right label, made of memory that the kernel leaves alone? What of it is read goes to
    // `result`.
    bool is_made_of_constants(ValueIndex value, Filling& filling, BlockTables& result) {
        if (value == no_index) return false;
        if (!filling.visited.insert(value).second) return true;
        const ptx::Value& made_value = values_.ssa().values[value];
        // What a loop over the block's threads carries is a function of its index, in that loop.
        if (made_value.kind == ptx::Value::Kind::phi)
            return filling.loop != no_index && made_value.block == values_.flow().loops[filling.loop].header;
        if (made_value.kind != ptx::Value::Kind::instruction || made_value.previous != no_index) return false;
        const std::uint32_t i = made_value.instruction, loop = loop_of(block_of(i));
        const ptx::Instruction& made = function_.body[i];
        if (made.guard != no_index || (loop != no_index && loop != filling.loop)) return false;
        if (!is_pure(made) && !values_.parameter_load(i)) {
            if (made.opcode != Opcode::ld || made.modifiers.semantics != ptx::MemorySemantics::weak)
                return false;
            const ptx::Space space = made.modifiers.space;
            filled_from_.insert(i);
            if (space == ptx::Space::global || made.modifiers.nc) {
                auto read = range(i, filling.bound);
                if (!read) return false;
                result.ranges.push_back(std::move(*read));
            } else if (space != ptx::Space::constant && space != ptx::Space::param) {
                return false;
            }
        } else if (made.opcode == Opcode::alloca_ || made.opcode == Opcode::call) {
            return false;
        }
        return std::ranges::all_of(values_.ssa().uses[i], [&](const ptx::Ssa::Use& use) {
            return is_made_of_constants(use.value, filling, result);
        });
    }
    // Is it the same in every thread block and launch? It may be of the fill's index: of a loop's, or of the number
    // of one of the block's first threads.
    bool is_alike_in_blocks(ValueIndex value, std::uint32_t store, bool by_loop) const {
        if (value == no_index) return true;
        const Label label = labels_.at(value, block_of(store));
        return label.without(by_loop ? Label::iteration : Label::index, Dimension::x) == Label();
    }
    void needs(const BlockSweep& sweep, BlockTables& result) const {
        if (!sweep.is_loop && sweep.bound != 1U)
            result.least_threads = std::max(result.least_threads, *sweep.bound);
    }
    void skip(const BlockSweep& sweep) {
        for (const BlockSweep::Branch& branch : sweep.branches) left_.leave_out(branch.block, branch.ways);
    }
    static bool never(BlockIndex, std::uint8_t) { return false; }

    // A barrier with all of `before` ahead of it alone, and all of `behind` behind it alone.
    bool are_parted(const std::vector<SharedAccess>& before, const std::vector<SharedAccess>& behind) const {
        return std::ranges::any_of(phases_.barriers(), [&](std::uint32_t barrier) {
            return std::ranges::none_of(before,
                                        [&](const SharedAccess& access) {
                                            return values_.flow().leads(barrier, access.instruction);
                                        }) &&
                   std::ranges::all_of(behind, [&](const SharedAccess& access) {
                       return values_.flow().precedes(barrier, access.instruction);
                   });
        });
    }

    // --- tables ---

    static std::string fills_otherwise(const std::string& name) {
        return "does not fill each element of '" + name +
               "' exactly once: write for (k = threadIdx.x; k < n; k += blockDim.x), "
               "if (threadIdx.x < 64), or if (threadIdx.x == 0)";
    }
    static std::string fills_dynamic(const std::string& name) {
        return "fills '" + name +
               "' in dynamic shared memory up to an end that does not follow from the arguments";
    }
    // What a store fills: [first, end), the same a stride on, and so on up to `last`.
    struct Slot {
        std::uint64_t first = 0, end = 0, stride = 0, last = 0;
    };
    static bool may_meet(const Slot& a, const Slot& b) {
        if (a.last <= b.first || b.last <= a.first) return false;
        if (a.stride == 0 || a.stride != b.stride) return true;
        const Slot &low = a.first <= b.first ? a : b, &high = a.first <= b.first ? b : a;
        return low.end > high.first || high.end > low.first + low.stride;
    }

    bool take_table(const ptx::Variable& variable, const SharedVariable& accesses, BlockTables& result) {
        const std::string name = source_name(variable);
        if (accesses.stores.empty())
            return fail(accesses.loads.front().instruction, "reads '" + name + "', which nothing fills");
        if (!are_parted(accesses.stores, accesses.loads))
            return fail(accesses.loads.empty() ? accesses.stores.front().instruction
                                               : accesses.loads.front().instruction,
                        "reads '" + name + "' without a barrier after everything that fills it");
        std::vector<Slot> slots;
        for (const SharedAccess& store : accesses.stores) {
            const auto sweep = sweeps_.of(store.instruction, never);
            const auto place = sweep ? place_in_sweep(store, *sweep) : std::nullopt;
            if (!place || sweep->bound == 0U) return fail(store.instruction, fills_otherwise(name));
            // Behind its end there is no shared memory.
            const std::uint64_t bound =
                sweep->bound ? *sweep->bound : most_bytes(variable) / place->stride + 1;
            if (!note_dynamic(variable, *sweep, place->stride, result) ||
                (is_dynamic(variable) && place->first + store.bytes > place->stride))
                return fail(store.instruction, fills_dynamic(name));
            slots.push_back({place->first, place->first + store.bytes, place->stride,
                             place->first + place->stride * (bound - 1) + store.bytes});
            Filling filling{loop_of(block_of(store.instruction)), bound, {}};
            for (const ptx::Ssa::Use& use : values_.ssa().uses[store.instruction])
                if (!is_alike_in_blocks(use.value, store.instruction, sweep->is_loop) ||
                    (function_.body[store.instruction].operands[use.operand].kind != Operand::Kind::address &&
                     !is_made_of_constants(use.value, filling, result)))
                    return fail(store.instruction,
                                "fills '" + name + "' with values that are not proved equal in every block");
            needs(*sweep, result);
            skip(*sweep);
            gone_.insert(store.instruction);
            result.fills.insert(store.instruction);
            if (filling.loop != no_index) result.fill_loops.insert(values_.flow().loops[filling.loop].header);
        }
        // Two stores to one place come in the order of threads.
        for (std::size_t i = 0; i < slots.size(); i++) {
            bool meets = slots[i].stride != 0 && slots[i].end - slots[i].first > slots[i].stride;
            for (std::size_t j = 0; j < i; j++) meets |= may_meet(slots[j], slots[i]);
            if (meets)
                return fail(accesses.stores[i].instruction, "may fill an element of '" + name + "' twice");
        }
        for (const SharedAccess& load : accesses.loads) to_constant_.insert(load.instruction);
        return true;
    }

    // --- bins ---

    bool is_identity(const IterationSum& sum, std::uint32_t store) const {
        const ptx::Instruction& made = function_.body[store];
        if (made.modifiers.vector_width > 1 || made.operands.size() != 2) return false;
        const Symbolic value = values_.operand(store, 1);
        return value.width == 8 * ptx::size_bytes(made.type) && value.is_constant() &&
               (value.constant() == sum.identity || sum.is_rounded_zero(value.constant()));
    }
    static bool do_the_same(const ptx::Instruction& a, const ptx::Instruction& b) {
        const auto op = a.modifiers.atomic;
        const bool is_ordered = op == ptx::AtomicOp::min || op == ptx::AtomicOp::max;
        return op == b.modifiers.atomic && ptx::size_bytes(a.type) == ptx::size_bytes(b.type) &&
               ptx::is_float(a.type) == ptx::is_float(b.type) &&
               (!is_ordered || is_signed_type(a.type) == is_signed_type(b.type));
    }
    std::optional<Operand> stored_value(const ptx::Instruction& atomic) const {
        const std::size_t at = atomic.destination_count + std::size_t{1};
        return atomic.operands.size() == at + 1 ? std::optional(atomic.operands[at]) : std::nullopt;
    }

    bool take_bins(const ptx::Variable& variable, const SharedVariable& accesses, BlockTables& result) {
        const ptx::Instruction& first = function_.body[accesses.atomics.front().instruction];
        const auto sum = sum_of_atomic(first, may_reassociate_);
        const std::string name = source_name(variable);
        const std::uint32_t counts = accesses.atomics.front().instruction;
        if (!sum)
            return fail(counts,
                        fmt::format("counts in '{}' by {}{}", name, first.mnemonic,
                                    ptx::is_float(first.type)
                                        ? ", which rounds differently in other blocks; TRIMTAB_REASSOCIATE=1 "
                                          "allows that"
                                        : ", whose outcome depends on the order of threads"));
        if (accesses.stores.size() != 1 || accesses.loads.size() != 1)
            return fail(counts, "sets or reads '" + name + "' in more than one place, or nowhere");
        for (const SharedAccess& atomic : accesses.atomics)
            if (!do_the_same(first, function_.body[atomic.instruction]))
                return fail(atomic.instruction, "counts in '" + name + "' by atomics of several kinds");
        if (!are_parted(accesses.stores, accesses.atomics) || !are_parted(accesses.atomics, accesses.loads))
            return fail(counts, "has no barrier between the fill, the count and the flush of '" + name + "'");
        const SharedAccess &fill = accesses.stores.front(), &load = accesses.loads.front();
        const auto filled = sweeps_.of(fill.instruction, never), read = sweeps_.of(load.instruction, never);
        const auto whole = [&](const SharedAccess& access, const BlockSweep& sweep) {
            const auto place = place_in_sweep(access, sweep);
            return access.bytes == ptx::size_bytes(first.type) && place && place->first == 0 &&
                   place->stride == (sweep.bound == 1U ? 0 : access.bytes);
        };
        if (!filled || !whole(fill, *filled)) return fail(fill.instruction, fills_otherwise(name));
        if (!is_identity(*sum, fill.instruction))
            return fail(fill.instruction,
                        fmt::format("does not fill '{}' with the value that {} leaves unchanged", name,
                                    first.mnemonic));
        const ptx::ValueIndex loaded = values_.ssa().definition(load.instruction);
        const auto flush = loaded == no_index ? std::nullopt : flush_of(loaded, first);
        if (!flush || !read || !whole(load, *read))
            return fail(load.instruction,
                        "reads '" + name +
                            "' for something other than adding each element once to global memory, by "
                            "an atomic of the same kind");
        // Nothing is added where what was found adds nothing.
        const auto skips_nothing = [&](BlockIndex branch, std::uint8_t ways) {
            Symbolic goes = values_.guard(values_.flow().blocks[branch].last - 1);
            if (goes.width != 1 || (ways != ptx::taken && ways != ptx::falls_through)) return false;
            if (ways == ptx::taken) goes = table_.negate(goes);
            const Atom* test = table_.as_operation(goes);
            return test != nullptr && test->operation.op == Operator::setp &&
                   test->operation.comparison == ptx::Comparison::eq && test->operands.size() == 2 &&
                   table_.subtract(test->operands[0], test->operands[1]) ==
                       table_.subtract(values_.value(loaded),
                                       SymbolTable::constant(sum->identity, values_.value(loaded).width));
        };
        const auto flushed = sweeps_.of(*flush, skips_nothing);
        if (!flushed || read->is_loop != flushed->is_loop || read->exits != flushed->exits)
            return fail(*flush, "adds some of '" + name + "' to global memory under a condition");
        // What is flushed was filled.
        if (read->bound ? !filled->bound || *filled->bound < *read->bound : filled->exits != read->exits)
            return fail(*flush, "adds more of '" + name + "' to global memory than it has filled");
        const std::uint64_t bound = std::min<std::uint64_t>(
            read->bound.value_or(UINT32_MAX), most_bytes(variable) / ptx::size_bytes(first.type));
        auto added = range(*flush, bound);
        if (!added)
            return fail(*flush, "adds '" + name +
                                    "' to an address that does not follow from the arguments and its index");
        if (!note_dynamic(variable, *filled, ptx::size_bytes(first.type), result))
            return fail(fill.instruction, fills_dynamic(name));
        added->writes = true;
        added->reduction = "bins " + variable.name;
        result.ranges.push_back(std::move(*added));
        for (const BlockSweep* sweep : {&*filled, &*read, &*flushed}) {
            needs(*sweep, result);
            skip(*sweep);
        }
        gone_.insert({fill.instruction, load.instruction, *flush});
        for (const SharedAccess& atomic : accesses.atomics) result.bin_atomics.insert(atomic.instruction);
        result.has_bins = true;
        return true;
    }

    // The one atomic that adds the value to global memory; nothing else is made of it but a test.
    std::optional<std::uint32_t> flush_of(ValueIndex loaded, const ptx::Instruction& bins) const {
        std::optional<std::uint32_t> flush;
        for (std::uint32_t i = 0; i < function_.body.size(); i++) {
            const ptx::Instruction& made = function_.body[i];
            for (const ptx::Ssa::Use& use : values_.ssa().uses[i]) {
                if (use.value != loaded || made.opcode == Opcode::setp) continue;
                const auto stored = stored_value(made);
                if (flush || !is_reduction(made) || made.modifiers.space != ptx::Space::global ||
                    !do_the_same(bins, made) || !stored || use.operand != made.operands.size() - 1 ||
                    stored->kind != Operand::Kind::reg || has_result(i))
                    return std::nullopt;
                flush = i;
            }
        }
        for (const ptx::Value& value : values_.ssa().values)
            if (std::ranges::find(value.incoming, loaded) != value.incoming.end() || value.previous == loaded)
                return std::nullopt;
        return flush;
    }
    bool has_result(std::uint32_t atomic) const {
        const ValueIndex result = values_.ssa().definition(atomic);
        if (result == no_index) return false;
        for (const auto& uses : values_.ssa().uses)
            if (std::ranges::find(uses, result, &ptx::Ssa::Use::value) != uses.end()) return true;
        return std::ranges::any_of(values_.ssa().values, [&](const ptx::Value& value) {
            return std::ranges::find(value.incoming, result) != value.incoming.end();
        });
    }

    // --- the rest of the kernel ---

    void rewrite(BlockTables& result) {
        ptx::Function& function = result.function;
        left_.take_out(function, gone_);
        for (const std::uint32_t i : to_constant_) move_access(function.body[i], ptx::Space::constant);
        for (const std::uint32_t i : result.bin_atomics) move_access(function.body[i], ptx::Space::global);
        for (const auto& [variable, accesses] : variables_)
            move_variable(function, *variable,
                          accesses.atomics.empty() ? ptx::Space::constant : ptx::Space::global);
    }

    SymbolTable& table_;
    const ptx::Module& module_;
    const ptx::Function& function_;
    const FunctionValues& values_;
    bool may_reassociate_ = false;  // floating-point numbers that are counted
    ptx::ControlDependence control_;
    LoopIndices indices_;
    Labels labels_;
    BlockSweeps sweeps_;
    Phases phases_;
    LeftOut left_;
    Fault fault_;
    std::map<const ptx::Variable*, SharedVariable> variables_;
    std::set<std::uint32_t> accesses_, gone_, to_constant_, filled_from_;
};

}  // namespace

std::expected<BlockTables, Fault> with_block_tables(SymbolTable& table, const ptx::Module& module,
                                                    const ptx::Function& function, const LaunchReads& reads,
                                                    bool may_reassociate) {
    const auto values = values_of_block(table, function, tables_function_index, reads);
    if (!values) return std::unexpected(Fault{});
    return TableFinder(table, module, function, *values, may_reassociate).run();
}

}  // namespace trimtab::analysis
