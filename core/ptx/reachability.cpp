// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/reachability.h"

#include <unordered_map>
#include <unordered_set>

namespace trimtab::ptx {
namespace {

using Names = std::unordered_set<std::string_view>;

Names inner_names(const Function& function) {
    Names out;
    for (const auto* list : {&function.returns, &function.parameters, &function.variables}) {
        for (const Variable& variable : *list) out.insert(variable.name);
    }
    return out;
}

void visit_operand(const Operand& operand, const Names& inner, bool is_called,
                   const std::function<void(std::string_view, bool)>& visit) {
    const bool names_symbol = operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::address;
    if (names_symbol && !operand.text.empty() && !inner.contains(operand.text))
        visit(operand.text, is_called);
    for (const Operand& element : operand.elements) visit_operand(element, inner, false, visit);
}

class Walk {
  public:
    explicit Walk(const Module& module) {
        for (const Function& function : module.functions) functions_.emplace(function.name, &function);
        for (const Variable& variable : module.variables) variables_.emplace(variable.name, &variable);
    }

    [[nodiscard]] const Function* function(std::string_view name) const {
        const auto found = functions_.find(name);
        return found == functions_.end() ? nullptr : found->second;
    }
    [[nodiscard]] const Variable* variable(std::string_view name) const {
        const auto found = variables_.find(name);
        return found == variables_.end() ? nullptr : found->second;
    }

    bool add(const Function* function, Closure& out) {
        if (function == nullptr || !seen_.insert(function).second) return false;
        out.functions.push_back(function);
        return true;
    }
    void add(const Variable* variable, Closure& out) {
        if (variable != nullptr && seen_.insert(variable).second) out.variables.push_back(variable);
    }

    // What direct calls reach, depth first: the order in which calls come first.
    void add_called(const Function& from, Closure& out) {
        std::vector<std::vector<const Function*>> path;
        const auto enter = [&](const Function& function) {
            std::vector<const Function*>& calls = path.emplace_back();
            for_each_outer_name(function, [&](std::string_view name, bool is_called) {
                if (!is_called) return;
                if (const Function* callee = this->function(name)) calls.push_back(callee);
            });
            std::vector<const Function*>(calls.rbegin(), calls.rend()).swap(calls);
        };
        if (!add(&from, out)) return;
        enter(from);
        while (!path.empty()) {
            if (path.back().empty()) {
                path.pop_back();
                continue;
            }
            const Function* callee = path.back().back();
            path.back().pop_back();
            if (add(callee, out)) enter(*callee);
        }
    }

    // Variables that the functions name, and those whose address a variable's initial value holds. With
    // `functions`, functions whose address is taken join as well.
    void add_named(Closure& out, bool functions) {
        std::size_t function = 0, variable = 0;
        while (function < out.functions.size() || variable < out.variables.size()) {
            if (function < out.functions.size()) {
                const Function& from = *out.functions[function++];
                for_each_outer_name(from, [&](std::string_view name, bool) {
                    add(this->variable(name), out);
                    if (functions) add(this->function(name), out);
                });
                if (!functions) continue;
                for (const auto& [key, targets] : from.call_targets) {
                    for (const std::string& target : targets) add(this->function(target), out);
                }
            } else {
                for (const Variable::Relocation& relocation : out.variables[variable++]->relocations) {
                    add(this->variable(relocation.symbol), out);
                    if (functions) add(this->function(relocation.symbol), out);
                }
            }
        }
    }

  private:
    std::unordered_map<std::string_view, const Function*> functions_;
    std::unordered_map<std::string_view, const Variable*> variables_;
    std::unordered_set<const void*> seen_;
};

}  // namespace

void for_each_outer_name(const Function& function, const std::function<void(std::string_view, bool)>& visit) {
    const Names inner = inner_names(function);
    for (const Instruction& instruction : function.body) {
        for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
            const bool is_called = instruction.opcode == Opcode::call && i == instruction.destination_count;
            visit_operand(instruction.operands[i], inner, is_called, visit);
        }
    }
}

Closure closure(const Module& module, const Function& kernel) {
    Walk walk(module);
    Closure out;
    walk.add_called(kernel, out);
    walk.add_named(out, true);
    return out;
}

std::vector<const Function*> reachable_functions(const Module& module, const Function& kernel) {
    Walk walk(module);
    Closure out;
    walk.add_called(kernel, out);
    return std::move(out.functions);
}

std::vector<const Variable*> reachable_variables(const Module& module, const Function& kernel) {
    Walk walk(module);
    Closure out;
    walk.add_called(kernel, out);
    walk.add_named(out, false);
    return std::move(out.variables);
}

}  // namespace trimtab::ptx
