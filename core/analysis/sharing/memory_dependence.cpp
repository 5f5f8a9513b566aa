// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/memory_dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/opcodes.h"
#include "core/ptx/ssa.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::ValueIndex;

class Follower {
  public:
    Follower(const ptx::Module& module, const ptx::Function& function)
        : module_(module), function_(function) {}

    std::string run() {
        const auto flow = ptx::control_flow(function_);
        if (!flow) return "its control flow cannot be followed: " + flow.error().message;
        ssa_ = ptx::build_ssa(function_, *flow);
        follow();
        for (const ptx::BlockIndex block : flow->reverse_post_order)
            for (std::uint32_t i = flow->blocks[block].first; i < flow->blocks[block].last; ++i)
                if (std::string why = judge(i); !why.empty()) return why;
        return {};
    }

  private:
    // What a value that the instruction writes may hold beside what it is made of.
    [[nodiscard]] bool reads_memory(const ptx::Instruction& made) const {
        if (ptx::is_load(made) && made.modifiers.space == ptx::Space::param && function_.is_entry)
            return false;
        // Loads, atomics, textures, and what calls and other threads give.
        return !ptx::is_pure(made.opcode);
    }
    [[nodiscard]] bool is_from_memory(ValueIndex value) const {
        return value != no_index && from_memory_[value];
    }
    [[nodiscard]] bool is_made_from_memory(const ptx::Value& value) const {
        if (value.kind == ptx::Value::Kind::phi)
            return std::ranges::any_of(value.incoming, [&](ValueIndex one) { return is_from_memory(one); });
        if (value.kind != ptx::Value::Kind::instruction) return false;
        return reads_memory(function_.body[value.instruction]) || is_from_memory(value.previous) ||
               std::ranges::any_of(ssa_.uses[value.instruction],
                                   [&](const ptx::Ssa::Use& used) { return is_from_memory(used.value); });
    }
    // Until nothing changes: values only ever come to be from memory, each once.
    void follow() {
        from_memory_.assign(ssa_.values.size(), false);
        for (bool changed = true; changed;) {
            changed = false;
            for (ValueIndex v = 0; v < ssa_.values.size(); ++v) {
                if (from_memory_[v] || !is_made_from_memory(ssa_.values[v])) continue;
                from_memory_[v] = changed = true;
            }
        }
    }

    [[nodiscard]] std::string place(const ptx::Instruction& made) const {
        const std::string source = module_.source_text(made.location);
        return source.empty() ? fmt::format("line {} of its PTX", made.line) : source;
    }
    [[nodiscard]] std::string judge(std::uint32_t index) const {
        const ptx::Instruction& made = function_.body[index];
        const bool is_pure = ptx::is_pure(made.opcode);
        // Of a pure instruction under a guard only the result counts, and that is followed.
        if (!is_pure && is_from_memory(ssa_.guard(index)))
            return fmt::format("whether the {} at {} is {} depends on memory",
                               ptx::ends_block(made.opcode) ? "branch" : "instruction", place(made),
                               ptx::ends_block(made.opcode) ? "taken" : "run");
        for (const ptx::Ssa::Use& used : ssa_.uses[index]) {
            if (!is_from_memory(used.value) || used.operand >= made.operands.size()) continue;
            if (ptx::info(made.opcode).has(ptx::jumps))
                return fmt::format("where the branch at {} goes depends on memory", place(made));
            if (!is_pure && made.operands[used.operand].kind == ptx::Operand::Kind::address)
                return fmt::format("the address at {} depends on memory", place(made));
        }
        return {};
    }

    const ptx::Module& module_;
    const ptx::Function& function_;
    ptx::Ssa ssa_;
    std::vector<bool> from_memory_;
};

}  // namespace

std::string memory_dependence(const ptx::Module& module, std::string_view kernel) {
    const ptx::Function* entry = module.function(kernel);
    if (entry == nullptr) return fmt::format("there is no kernel {}", kernel);
    for (const ptx::Function* function : ptx::reachable_functions(module, *entry))
        if (std::string why = Follower(module, *function).run(); !why.empty()) return why;
    return {};
}

}  // namespace trimtab::analysis
