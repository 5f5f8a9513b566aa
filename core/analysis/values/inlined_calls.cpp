// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/inlined_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace trimtab::analysis {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;

// Libraries' slow paths are hundreds of instructions; more than this is followed call by call.
constexpr std::size_t max_instructions = 20'000;
constexpr std::size_t max_depth = 12;

using Names = std::map<std::string, std::string, std::less<>>;

class Inliner {
  public:
    Inliner(const ptx::Module& module, const Function& kernel) : module_(module), kernel_(kernel) {}

    Inlined run() {
        Function& function = result_.function;
        function = kernel_;
        function.body.clear();
        function.labels.clear();
        function.branch_targets.clear();
        append(kernel_, {}, 0, nullptr);
        return std::move(result_);
    }

  private:
    struct Jump {
        std::uint32_t instruction = 0;
        std::size_t operand = 0;
        std::uint32_t target = 0;  // in the function that is being copied
    };

    // The callee of a call that can be written out; null otherwise.
    const Function* callee_of(const Function& caller, const Instruction& call) const {
        if (call.opcode != Opcode::call || call.guard != no_index || path_.size() >= max_depth)
            return nullptr;
        const std::size_t results = call.destination_count;
        if (call.operands.size() <= results || call.operands[results].kind != Operand::Kind::symbol)
            return nullptr;
        const Function* callee = module_.function(call.operands[results].text);
        if (callee == nullptr || callee->body.empty() || callee->is_entry || callee == &kernel_ ||
            std::ranges::find(path_, callee) != path_.end())
            return nullptr;
        const std::size_t arguments = call.operands.size() - results - 1;
        if (callee->parameters.size() != arguments || callee->returns.size() != results) return nullptr;
        for (std::size_t i = 0; i < results; i++)
            if (!passes(caller, call.operands[i], callee->returns[i])) return nullptr;
        for (std::size_t i = 0; i < arguments; i++)
            if (!passes(caller, call.operands[results + 1 + i], callee->parameters[i])) return nullptr;
        const bool has_plain_variables = std::ranges::all_of(callee->variables, [](const auto& variable) {
            return variable.space == ptx::Space::local || variable.space == ptx::Space::param;
        });
        if (!has_plain_variables || result_.function.body.size() + callee->body.size() > max_instructions)
            return nullptr;
        return callee;
    }
    // Through a variable in parameter space, as large as what the callee takes it for.
    static bool passes(const Function& caller, const Operand& argument, const ptx::Variable& parameter) {
        if (argument.kind != Operand::Kind::symbol || parameter.space != ptx::Space::param) return false;
        const ptx::Variable* variable = caller.variable(argument.text);
        return variable != nullptr && variable->space == ptx::Space::param &&
               variable->size_bytes >= parameter.size_bytes;
    }

    // Names of the callee's own variables, and of what the caller passes.
    Names names_of(const Function& callee, const Instruction& call, const Names& caller_names) {
        Names names;
        const auto in_caller = [&](const std::string& name) {
            const auto at = caller_names.find(name);
            return at == caller_names.end() ? name : at->second;
        };
        const std::size_t results = call.destination_count;
        for (std::size_t i = 0; i < callee.returns.size(); i++)
            names[callee.returns[i].name] = in_caller(call.operands[i].text);
        for (std::size_t i = 0; i < callee.parameters.size(); i++)
            names[callee.parameters[i].name] = in_caller(call.operands[results + 1 + i].text);
        for (ptx::Variable variable : callee.variables) {
            const std::string name = fmt::format("{}@{}", variable.name, count_);
            names[variable.name] = name;
            variable.name = name;
            result_.function.variables.push_back(std::move(variable));
        }
        return names;
    }

    static void rename(Operand& operand, const Names& names, std::uint32_t registers) {
        if (operand.kind == Operand::Kind::label) return;
        if (!operand.text.empty())
            if (const auto at = names.find(operand.text); at != names.end()) operand.text = at->second;
        if (operand.reg != no_index) operand.reg += registers;
        for (Operand& element : operand.elements) rename(element, names, registers);
    }

    void append(const Function& function, const Names& names, std::uint32_t registers,
                const std::uint32_t* kernel_instruction) {
        path_.push_back(&function);
        const std::string suffix = &function == &kernel_ ? std::string() : fmt::format("@{}", count_);
        std::vector<std::uint32_t> places(function.body.size() + 1);
        std::vector<Jump> jumps;
        std::vector<std::uint32_t> returns;
        auto& body = result_.function.body;
        for (std::uint32_t i = 0; i < function.body.size(); i++) {
            places[i] = static_cast<std::uint32_t>(body.size());
            std::uint32_t outermost = kernel_instruction != nullptr ? *kernel_instruction : i;
            const Instruction& made = function.body[i];
            if (const Function* callee = callee_of(function, made); callee != nullptr) {
                count_++;
                const auto first = static_cast<std::uint32_t>(result_.function.registers.size());
                result_.function.registers.insert(result_.function.registers.end(), callee->registers.begin(),
                                                  callee->registers.end());
                const Names callee_names = names_of(*callee, made, names);
                append(*callee, callee_names, first, &outermost);
                continue;
            }
            Instruction copy = made;
            if (copy.guard != no_index) copy.guard += registers;
            for (Operand& operand : copy.operands) rename(operand, names, registers);
            if (copy.opcode == Opcode::ret && &function != &kernel_) {
                become_branch(copy);
                returns.push_back(static_cast<std::uint32_t>(body.size()));
            } else {
                for (std::size_t o = 0; o < copy.operands.size(); o++) {
                    Operand& operand = copy.operands[o];
                    if (operand.kind != Operand::Kind::label) continue;
                    if (made.opcode == Opcode::brx) operand.text += suffix;
                    if (operand.target != no_index)
                        jumps.push_back({static_cast<std::uint32_t>(body.size()), o, operand.target});
                }
            }
            body.push_back(std::move(copy));
            result_.origins.push_back({&function, outermost});
        }
        const auto end = static_cast<std::uint32_t>(body.size());
        places.back() = end;
        for (const Jump& jump : jumps)
            body[jump.instruction].operands[jump.operand].target = places[jump.target];
        for (const std::uint32_t instruction : returns) body[instruction].operands[0].target = end;
        for (const auto& [name, targets] : function.branch_targets) {
            auto& moved = result_.function.branch_targets[name + suffix];
            for (const std::uint32_t target : targets) moved.push_back(places[target]);
        }
        path_.pop_back();
    }

    static void become_branch(Instruction& made) {
        made.opcode = Opcode::bra;
        made.mnemonic = "bra";
        made.suffixes.clear();
        made.modifiers = {};
        made.destination_count = 0;
        made.operands.assign(1, {});
        made.operands[0].kind = Operand::Kind::label;
    }

    const ptx::Module& module_;
    const Function& kernel_;
    Inlined result_;
    std::vector<const Function*> path_;
    unsigned count_ = 0;
};

}  // namespace

Inlined with_inlined_calls(const ptx::Module& module, const ptx::Function& kernel) {
    return Inliner(module, kernel).run();
}

}  // namespace trimtab::analysis
