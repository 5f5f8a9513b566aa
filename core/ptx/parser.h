// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parser: one object a text. Its parts lie in parser_*.cpp; each member function takes what it names from
// the token stream, and returns false where it recorded an error there.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ptx/constant_expression.h"
#include "core/ptx/inlined_places.h"
#include "core/ptx/mnemonic.h"
#include "core/ptx/module.h"
#include "core/ptx/scopes.h"
#include "core/ptx/token_stream.h"

namespace trimtab::ptx {

// A parameter or result of the function.
[[nodiscard]] bool has_parameter(const Function& function, std::string_view name);

class Parser {
  public:
    Parser(std::string_view text, const std::string& origin) : tokens_(text, origin) {
        module_.origin = origin;
    }

    [[nodiscard]] std::expected<Module, Error> run();

  private:
    struct Linkage {
        bool is_extern = false, is_visible = false, is_weak = false, is_common = false;
        Token at;  // the first token of the declaration
    };
    struct Declarator {  // what a declaration says once for all its names
        Space space = Space::generic;
        Type type = Type::none;
        std::uint32_t alignment_bytes = 0;  // 0: the type's own
        std::uint8_t vector_width = 1;
        bool is_managed = false, is_pointer = false;
        Space pointer_space = Space::generic;
    };

    // parse.cpp: module scope
    [[nodiscard]] bool module_statement();
    [[nodiscard]] bool version();
    [[nodiscard]] bool target();
    [[nodiscard]] bool file();
    [[nodiscard]] bool section();
    [[nodiscard]] bool alias();
    [[nodiscard]] bool linked_declaration();
    [[nodiscard]] bool attributes(bool& is_managed);

    // parser_declarations.cpp: variables and parameters
    [[nodiscard]] bool declarator(Declarator& out);
    [[nodiscard]] bool alignment(std::uint32_t& out);
    [[nodiscard]] bool dimensions(Variable& variable, std::vector<std::uint64_t>& sizes);
    [[nodiscard]] bool variable(const Declarator& declarator, Variable& out, bool may_be_nameless);
    [[nodiscard]] bool module_variables(const Linkage& linkage, Space space);
    [[nodiscard]] bool add_module_variable(Variable variable, const Token& at);
    [[nodiscard]] bool parameter_list(std::vector<Variable>& out);
    [[nodiscard]] bool body_variables(Space space);
    [[nodiscard]] bool registers();

    // parser_initialisers.cpp
    [[nodiscard]] bool initialiser(Variable& variable, std::vector<std::uint64_t>& sizes);

    // parser_functions.cpp
    [[nodiscard]] bool function(const Linkage& linkage);
    [[nodiscard]] bool performance_directive(Function& function, bool& taken);
    [[nodiscard]] bool dimension_list(Dim3& out);
    [[nodiscard]] bool add_function(Function made, bool is_definition, const Token& name);

    // parser_body.cpp
    [[nodiscard]] bool body(Function& function);
    [[nodiscard]] bool body_statement();
    [[nodiscard]] bool location();
    [[nodiscard]] bool label();
    [[nodiscard]] bool branch_targets(const std::string& name);
    [[nodiscard]] bool call_targets(const std::string& name);
    [[nodiscard]] bool call_prototype(const std::string& name);

    // parser_operands.cpp
    [[nodiscard]] bool instruction();
    [[nodiscard]] bool guard(Instruction& instruction);
    [[nodiscard]] const Mnemonic* mnemonic(Instruction& instruction);
    [[nodiscard]] bool operands(Instruction& instruction, const Mnemonic& mnemonic);
    [[nodiscard]] bool call_operands(Instruction& instruction);
    [[nodiscard]] bool argument_list(std::vector<Operand>& out);
    [[nodiscard]] bool branch_operands(Instruction& instruction);
    [[nodiscard]] bool operand(Operand& out, const Instruction& instruction);
    [[nodiscard]] bool simple_operand(Operand& out, const Instruction& instruction);
    [[nodiscard]] bool address_operand(Operand& out, const Instruction& instruction);
    [[nodiscard]] bool named_operand(Operand& out, const Instruction& instruction);
    [[nodiscard]] bool immediate(Operand& out, const Instruction& instruction);
    [[nodiscard]] bool known_symbol(std::string_view name, std::string& final_name) const;

    TokenStream tokens_;
    Module module_;
    std::unordered_map<std::string_view, std::size_t> function_names_, variable_names_;
    std::uint64_t initialised_bytes_ = 0;
    std::vector<bool> defined_;  // by function: it has a body, if an empty one
    // Views of mnemonics in the text. unique_ptr: Mnemonic must not move while an instruction is read.
    std::unordered_map<std::string_view, std::unique_ptr<Mnemonic>> mnemonics_;

    // Of the function that is being read.
    Function* function_ = nullptr;
    Scopes* scopes_ = nullptr;
    SourceLocation location_;
    InlinedPlaces inlined_places_;
    bool selector_seen_ = false;  // %r1.b0 and the like, in the present instruction
};

}  // namespace trimtab::ptx
