// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names inside one function's body. PTX's braces open scopes, where a register, variable or label hides one
// of the same name outside; here every one gets a name of its own: the first keeps it, a later one becomes
// "name$1", "name$2" and so on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/ptx/lexer.h"
#include "core/ptx/module.h"

namespace trimtab::ptx {

class Scopes {
  public:
    // A register, or the first of a vector register's `width`.
    struct RegisterName {
        RegisterIndex first = no_index;
        std::uint8_t width = 1;
    };
    // A branch or table entry whose label may come later.
    struct PendingLabel {
        Token at;  // where it is named
        std::uint32_t instruction = no_index;
        std::uint32_t place = 0;                      // operand, or entry of `table`
        std::vector<std::uint32_t>* table = nullptr;  // of Function::branch_targets; null: an operand
    };

    // `is_taken` says which names stand outside the function: no variable of the body ends up with one of
    // them.
    Scopes(Function& function, std::function<bool(std::string_view)> is_taken)
        : function_(function), is_taken_(std::move(is_taken)) {
        push();
    }

    void push() { scopes_.emplace_back(); }
    // Gives the labels of the innermost scope to those that wait for them; false: a label is nowhere, and
    // `missing` is where it was named. (Only the outermost scope can say so.)
    [[nodiscard]] bool pop(Token& missing);
    [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

    // False: this scope has one of another type already.
    [[nodiscard]] bool declare_register(std::string_view name, Type type, std::uint8_t width = 1);
    // %r<count>: %r0 to %r(count - 1). They take no room before they are used.
    void declare_registers(std::string_view prefix, std::uint64_t count, Type type);
    [[nodiscard]] std::optional<RegisterName> find_register(std::string_view name);

    // The final name; nullopt: this scope has the name already.
    [[nodiscard]] std::optional<std::string> declare_variable(std::string_view name);
    [[nodiscard]] const std::string* find_variable(std::string_view name) const;

    [[nodiscard]] bool declare_label(std::string_view name, std::uint32_t instruction);
    void wait_for_label(const PendingLabel& pending) { scopes_.back().pending.push_back(pending); }

  private:
    struct Range {
        std::string_view prefix;
        std::uint64_t count = 0;
        Type type = Type::none;
    };
    using Label = const std::pair<const std::string, std::uint32_t>*;  // in Function::labels
    struct Scope {
        std::unordered_map<std::string_view, RegisterName> registers;
        std::vector<Range> ranges;
        std::unordered_map<std::string_view, std::string> variables;
        std::unordered_map<std::string_view, Label> labels;
        std::vector<PendingLabel> pending;
    };

    [[nodiscard]] RegisterIndex add_register(std::string name, Type type);
    [[nodiscard]] static std::string unique(std::string_view name, std::unordered_set<std::string>& used);
    void settle(const PendingLabel& pending, Label label);

    Function& function_;
    std::function<bool(std::string_view)> is_taken_;
    std::vector<Scope> scopes_;
    std::unordered_set<std::string> used_registers_, used_names_;
};

}  // namespace trimtab::ptx
