#include "analysis/spinning.h"

#include <algorithm>

#include "analysis/instruction_rules.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

class LoopExits {
  public:
    LoopExits(const FunctionValues& values, const ptx::Loop& loop) : values_(values) {
        inside_.resize(values.flow().blocks.size());
        for (const BlockIndex block : loop.blocks) inside_[block] = true;
    }

    // The loads in the loop that decide whether it goes on.
    std::vector<std::uint32_t> deciding_loads() {
        visited_.assign(values_.ssa().values.size(), false);
        for (BlockIndex block = 0; block < inside_.size(); block++) {
            if (!inside_[block]) continue;
            const auto& successors = values_.flow().blocks[block].successors;
            if (std::ranges::any_of(successors, [&](BlockIndex to) { return !inside_[to]; }))
                visit_branch(block);
        }
        while (!work_.empty()) {
            const ValueIndex index = work_.back();
            work_.pop_back();
            follow(index);
        }
        return loads_;
    }

  private:
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

    const FunctionValues& values_;
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
    std::vector<bool> reached(functions.size());
    std::vector<std::size_t> work{function};
    while (!work.empty()) {
        const FunctionValues& values = functions[work.back()];
        work.pop_back();
        const auto& body = values.function().body;
        for (std::uint32_t i = 0; i < body.size(); i++) {
            if (!values.is_reachable(i) || body[i].opcode != Opcode::call) continue;
            for (const ptx::Operand& operand : body[i].operands)
                for (std::size_t f = 0; f < functions.size(); f++)
                    if (!reached[f] && operand.text == functions[f].function().name) {
                        reached[f] = true;
                        work.push_back(f);
                    }
        }
    }
    return reached;
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

std::vector<Fault> spinning_loops(const SymbolTable& table, const FunctionValues& values,
                                  const MemoryRoots& written) {
    std::vector<Fault> faults;
    for (const ptx::Loop& loop : values.flow().loops) {
        for (const std::uint32_t load : LoopExits(values, loop).deciding_loads()) {
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
