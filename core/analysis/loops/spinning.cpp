// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/loops/spinning.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/analysis/values/instruction_rules.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

class LoopExits {
  public:
    LoopExits(SymbolTable& table, const FunctionValues& values, const ptx::Loop& loop)
        : table_(table), values_(values), loop_(loop) {
        inside_.resize(values.flow().blocks.size());
        for (const BlockIndex block : loop.blocks) inside_[block] = true;
    }

    // The loads in the loop that decide whether it goes on.
    std::vector<std::uint32_t> deciding_loads() {
        if (loop_.header == no_index) {
            visited_.assign(values_.ssa().values.size(), false);
            visit_all_branches();
            follow_all();
            return loads_;
        }
        follow_exits(false);
        follow_exits(true);
        return loads_;
    }

  private:
    // Those that count to a bound end whatever the bound is: what it is read from decides, and not by which
    // way an iteration came to read it.
    void follow_exits(bool that_count) {
        visited_.assign(values_.ssa().values.size(), false);
        all_branches_ = that_count;
        for (BlockIndex block = 0; block < inside_.size(); block++) {
            if (inside_[block] && leaves(block) && counts(block) == that_count) visit_branch(block);
        }
        follow_all();
    }
    void follow_all() {
        while (!work_.empty()) {
            const ValueIndex index = work_.back();
            work_.pop_back();
            follow(index);
        }
    }

    // By a branch, or by a guarded ret, behind which the function ends.
    bool leaves(BlockIndex block) const {
        const ptx::BasicBlock& body = values_.flow().blocks[block];
        if (body.first == body.last) return false;
        const Opcode last = values_.function().body[body.last - 1].opcode;
        return last == Opcode::ret || last == Opcode::exit ||
               std::ranges::any_of(body.successors, [&](BlockIndex to) { return !inside_[to]; });
    }

    // Does every iteration test there whether a register, one further each iteration, is below a bound? The largest
    // number of its type is below nothing, and it comes to that one.
    bool counts(BlockIndex block) const {
        const ptx::BasicBlock& body = values_.flow().blocks[block];
        if (body.first == body.last || body.successors.size() != 2 ||
            values_.function().body[body.last - 1].opcode != Opcode::bra ||
            !std::ranges::all_of(loop_.latches,
                                 [&](BlockIndex latch) { return values_.flow().dominates(block, latch); }))
            return false;
        Symbolic stays = values_.guard(body.last - 1);
        if (stays.width != 1 || !table_.is_small(stays)) return false;
        if (!inside_[body.successors[0]]) stays = table_.negate(stays);
        const Atom* test = table_.as_operation(stays);
        if (test == nullptr || test->operation.op != Operator::setp || ptx::is_float(test->operation.type))
            return false;
        using enum ptx::Comparison;
        const ptx::Comparison comparison = test->operation.comparison;
        if (comparison != lt && comparison != gt) return false;
        return steps_by(test->operands[0], comparison == lt ? 1 : -1) ||
               steps_by(test->operands[1], comparison == lt ? -1 : 1);
    }
    // A register of the loop's head that each iteration leaves so much further, and a constant.
    bool steps_by(const Symbolic& value, std::int64_t step) const {
        Symbolic counter = value;
        std::erase_if(counter.terms, [](const Term& term) { return term.atoms.empty(); });
        const auto atom = counter.single_atom();
        const auto phi = atom ? values_.phi_of(table_.atom(*atom)) : std::nullopt;
        if (!phi || values_.ssa().values[*phi].block != loop_.header) return false;
        const Symbolic& before = values_.value(*phi);
        if (before != counter) return false;
        const auto& predecessors = values_.flow().blocks[loop_.header].predecessors;
        for (std::size_t p = 0; p < predecessors.size(); p++) {
            if (!inside_[predecessors[p]]) continue;
            const ValueIndex incoming = values_.ssa().values[*phi].incoming[p];
            if (incoming == no_index || values_.value(incoming).width != before.width ||
                table_.subtract(values_.value(incoming), before) !=
                    SymbolTable::constant(static_cast<std::uint64_t>(step), before.width))
                return false;
        }
        return true;
    }

    void visit_branch(BlockIndex block) {
        const ptx::BasicBlock& body = values_.flow().blocks[block];
        if (body.first == body.last) return;
        const std::uint32_t last = body.last - 1;
        visit(values_.ssa().guard(last));
        // An indirect branch reads its register.
        if (values_.function().body[last].opcode == Opcode::brx)
            for (const ptx::Ssa::Use& use : values_.ssa().uses[last]) visit(use.value);
    }

    void visit(ValueIndex index) {
        if (index == no_index || visited_[index]) return;
        visited_[index] = true;
        work_.push_back(index);
    }

    void follow(ValueIndex index) {
        const ptx::Value& value = values_.ssa().values[index];
        if (value.kind == ptx::Value::Kind::phi) {
            if (!inside_[value.block]) return;
            for (const ValueIndex incoming : value.incoming) visit(incoming);
            // Which value a phi takes is decided by the branches inside the loop.
            if (merges_inside(value)) visit_all_branches();
            return;
        }
        if (value.kind != ptx::Value::Kind::instruction) return;
        if (!inside_[values_.flow().block_of[value.instruction]]) return;
        visit(value.previous);
        const ptx::Instruction& made = values_.function().body[value.instruction];
        if (!is_pure(made)) loads_.push_back(value.instruction);
        for (const ptx::Ssa::Use& use : values_.ssa().uses[value.instruction]) visit(use.value);
    }

    bool merges_inside(const ptx::Value& phi) const {
        const auto& predecessors = values_.flow().blocks[phi.block].predecessors;
        return std::ranges::count_if(predecessors, [&](BlockIndex from) { return bool{inside_[from]}; }) > 1;
    }

    void visit_all_branches() {
        if (all_branches_) return;
        all_branches_ = true;
        for (BlockIndex block = 0; block < inside_.size(); block++)
            if (inside_[block]) visit_branch(block);
    }

    SymbolTable& table_;
    const FunctionValues& values_;
    const ptx::Loop& loop_;
    std::vector<bool> inside_, visited_;
    std::vector<ValueIndex> work_;
    std::vector<std::uint32_t> loads_;
    bool all_branches_ = false;
};

bool may_be_written(const MemoryRoots& read, const MemoryRoots& written) {
    if (written.bases.empty() && !written.is_unknown) return false;
    if (read.is_private && read.bases.empty()) return false;
    if (read.is_unknown || written.is_unknown) return true;
    return std::ranges::any_of(read.bases, [&](AtomIndex base) { return written.bases.contains(base); });
}

}  // namespace

MemoryRoots written_memory(const SymbolTable& table, const std::vector<FunctionValues>& functions) {
    MemoryRoots written;
    for (const FunctionValues& values : functions) {
        const auto& body = values.function().body;
        for (std::uint32_t i = 0; i < body.size(); i++) {
            if (!values.is_reachable(i) || (!is_store(body[i]) && !is_reduction(body[i])) ||
                body[i].modifiers.space == ptx::Space::param)
                continue;
            written.join(memory_roots(table, values, i));
        }
    }
    written.is_private = false;
    return written;
}

namespace {

// What calls lead to, the function itself only where it comes back to itself.
std::vector<bool> called_from(const std::vector<FunctionValues>& functions, std::size_t function) {
    const auto calls = [&](std::uint32_t at, const auto& go) {
        const auto& body = functions[at].function().body;
        for (std::uint32_t i = 0; i < body.size(); i++) {
            if (!functions[at].is_reachable(i) || body[i].opcode != Opcode::call) continue;
            for (const ptx::Operand& operand : body[i].operands)
                for (std::uint32_t f = 0; f < functions.size(); f++)
                    if (operand.text == functions[f].function().name) go(f);
        }
    };
    return ptx::reached_from(functions.size(), {static_cast<std::uint32_t>(function)}, calls);
}

}  // namespace

// Any load of it, or of what it calls: as an argument or as a result it may decide.
std::vector<Fault> waiting_by_recursion(const SymbolTable& table,
                                        const std::vector<FunctionValues>& functions, std::size_t function,
                                        const MemoryRoots& written) {
    bool is_of_cycle = called_from(functions, function)[function];
    for (std::size_t f = 0; f < functions.size() && !is_of_cycle; f++) {
        const auto reached = called_from(functions, f);
        is_of_cycle = reached[f] && reached[function];
    }
    if (!is_of_cycle) return {};
    const FunctionValues& values = functions[function];
    const auto& body = values.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++) {
        const bool reads = body[i].opcode == Opcode::ld || body[i].opcode == Opcode::suld;
        if (!values.is_reachable(i) || !reads || reads_constant_memory(values, i) ||
            !may_be_written(memory_roots(table, values, i), written))
            continue;
        return {{2, i,
                 "loads memory that the kernel writes, in a recursion that may go on until it has a certain "
                 "value: other threads may have to run first; write it as a loop with a bound that its "
                 "arguments or constants set"}};
    }
    return {};
}

namespace {

// Cycles that are entered in several places are none of the flow's loops. All blocks that control may come back
// to as one, without a head: any branch among them may be what keeps a thread there.
std::optional<ptx::Loop> cycles_with_several_entries(const ptx::ControlFlow& flow) {
    if (flow.reducible) return std::nullopt;
    ptx::Loop all{.header = no_index, .blocks = {}, .latches = {}};
    for (const BlockIndex block : flow.reverse_post_order)
        if (flow.reached_from(block)[block]) all.blocks.push_back(block);
    return all;
}

}  // namespace

std::vector<Fault> spinning_loops(SymbolTable& table, const FunctionValues& values,
                                  const MemoryRoots& written) {
    std::vector<Fault> faults;
    std::vector<ptx::Loop> loops = values.flow().loops;
    if (auto cycles = cycles_with_several_entries(values.flow())) loops.push_back(std::move(*cycles));
    for (const ptx::Loop& loop : loops) {
        for (const std::uint32_t load : LoopExits(table, values, loop).deciding_loads()) {
            const ptx::Instruction& made = values.function().body[load];
            // Calls and atomics with a result are judged as instructions.
            const bool reads =
                ptx::info(made.opcode).opcode_class == ptx::OpcodeClass::surface_load || is_load(made);
            if (!reads || reads_constant_memory(values, load) ||
                !may_be_written(memory_roots(table, values, load), written))
                continue;
            faults.push_back(
                {2, load,
                 "has a loop that goes on until memory that it writes has a certain value: other "
                 "threads may have to run first; give the loop a bound that its arguments or constants set"});
            break;
        }
    }
    return faults;
}

}  // namespace trimtab::analysis
