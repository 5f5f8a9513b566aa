// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace trimtab::ptx {

bool has_parameter(const Function& function, std::string_view name) {
    for (const std::vector<Variable>* list : {&function.returns, &function.parameters}) {
        for (const Variable& parameter : *list) {
            if (parameter.name == name) return true;
        }
    }
    return false;
}

// From '{' to the matching '}', which stays under the cursor.
bool Parser::body(Function& function) {
    Scopes scopes(function, [&](std::string_view name) {
        return function_names_.contains(name) || variable_names_.contains(name) ||
               has_parameter(function, name);
    });
    function_ = &function;
    scopes_ = &scopes;
    location_ = {};
    inlined_places_.start_function();
    for (const std::vector<Variable>* list : {&function.returns, &function.parameters}) {
        for (const Variable& parameter : *list) {
            if (parameter.space == Space::reg && !scopes.declare_register(parameter.name, parameter.type)) {
                return tokens_.fail("parameter '" + parameter.name + "' is declared twice");
            }
        }
    }
    tokens_.advance();
    bool ok = true;
    while (ok && !(scopes.depth() == 1 && tokens_.now().is('}'))) ok = body_statement();
    if (ok) {
        Token missing;
        ok = scopes.pop(missing) ||
             tokens_.fail_at(missing, "label '" + std::string(missing.text) + "' is not declared");
    }
    function_ = nullptr;
    scopes_ = nullptr;
    return ok;
}

bool Parser::body_statement() {
    const Token at = tokens_.now();
    switch (at.kind) {
        case Token::Kind::word:
            return tokens_.ahead().is(':') ? label() : instruction();
        case Token::Kind::dot_word:
            break;
        case Token::Kind::mark:
            if (at.is('@')) return instruction();
            if (at.is(';')) {
                tokens_.advance();
                return true;
            }
            if (at.is('{')) {
                if (scopes_->depth() == 256) return tokens_.fail("the braces are nested too deep");
                scopes_->push();
                tokens_.advance();
                return true;
            }
            if (at.is('}')) {
                Token missing;
                (void)scopes_->pop(missing);  // only the outermost scope can miss a label
                tokens_.advance();
                return true;
            }
            return tokens_.fail_expected("an instruction");
        default:
            return tokens_.fail_expected("an instruction");
    }
    if (at.text == ".reg") return registers();
    if (at.text == ".loc") return location();
    if (at.text == ".pragma") {
        while (!tokens_.at_end() && !tokens_.now().is(';')) tokens_.advance();
        return tokens_.expect(';', "';'");
    }
    if (at.text == ".file") return file();
    if (at.text == ".section") return section();
    const auto space = find_space(at.text.substr(1));
    if (space && (*space == Space::local || *space == Space::shared || *space == Space::param ||
                  *space == Space::global || *space == Space::constant)) {
        tokens_.advance();
        return body_variables(*space);
    }
    return tokens_.fail("unknown directive '" + std::string(at.text.substr(0, 40)) + "'");
}

// Of a .loc that is read: it has the calls in it.
constexpr std::size_t longest_comment = 1 << 14;

// .loc 1 8 0    .loc 2 66 27, function_name $L__info_string0, inlined_at 1 10 68
bool Parser::location() {
    const std::string_view rest = tokens_.text().substr(tokens_.now().offset, longest_comment);
    const std::string_view line_text = rest.substr(0, rest.find('\n'));
    tokens_.advance();
    std::uint64_t ignored = 0;
    const auto place = [&](SourceLocation& out, const char* which) {
        std::uint64_t file = 0, line = 0, column = 0;
        if (!parse_count(tokens_, file, which) || !parse_count(tokens_, line, "the line") ||
            !parse_count(tokens_, column, "the column")) {
            return false;
        }
        out = {static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(line),
               static_cast<std::uint32_t>(column)};
        return true;
    };
    SourceLocation own;
    std::optional<SourceLocation> call;
    if (!place(own, "the file's index")) return false;
    while (tokens_.accept(',')) {
        std::string_view word, symbol;
        if (!tokens_.expect_word(word, "function_name or inlined_at")) return false;
        if (word == "function_name") {
            if (!tokens_.expect_word(symbol, "a label")) return false;
            if (tokens_.accept('+') && !parse_count(tokens_, ignored, "the offset")) return false;
        } else if (word == "inlined_at") {
            if (!place(call.emplace(), "the place of the call")) return false;
        } else {
            return tokens_.fail("unknown attribute '" + std::string(word) + "' of .loc");
        }
    }
    const std::size_t comment = line_text.find("//");
    location_ = inlined_places_.note(
        own, call, comment == std::string_view::npos ? std::string_view() : line_text.substr(comment));
    return true;
}

bool Parser::label() {
    const Token at = tokens_.now();
    tokens_.advance();
    tokens_.advance();
    const Token& now = tokens_.now();
    if (now.is(".branchtargets") || now.is(".calltargets") || now.is(".callprototype")) {
        const auto name = scopes_->declare_variable(at.text);
        if (!name) return tokens_.fail_at(at, "'" + std::string(at.text) + "' is declared twice");
        if (now.is(".branchtargets")) return branch_targets(*name);
        return now.is(".calltargets") ? call_targets(*name) : call_prototype(*name);
    }
    if (!scopes_->declare_label(at.text, static_cast<std::uint32_t>(function_->body.size()))) {
        return tokens_.fail_at(at, "label '" + std::string(at.text) + "' is declared twice");
    }
    return true;
}

bool Parser::branch_targets(const std::string& name) {
    std::vector<std::uint32_t>& table = function_->branch_targets[name];
    do {
        tokens_.advance();
        const Token at = tokens_.now();
        std::string_view label;
        if (!tokens_.expect_word(label, "a label")) return false;
        scopes_->wait_for_label({at, no_index, static_cast<std::uint32_t>(table.size()), &table});
        table.push_back(no_index);
    } while (tokens_.now().is(','));
    return tokens_.expect(';', "';'");
}

bool Parser::call_targets(const std::string& name) {
    do {
        tokens_.advance();
        const Token at = tokens_.now();
        std::string_view target;
        if (!tokens_.expect_word(target, "a function")) return false;
        if (!function_names_.contains(target)) {
            return tokens_.fail_at(at, "function '" + std::string(target) + "' is not declared");
        }
        function_->call_targets[name].emplace_back(target);
    } while (tokens_.now().is(','));
    return tokens_.expect(';', "';'");
}

// p: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;
bool Parser::call_prototype(const std::string& name) {
    tokens_.advance();
    CallPrototype made;
    if (tokens_.now().is('(') && !parameter_list(made.returns)) return false;
    std::string_view ignored;
    if (!tokens_.expect_word(ignored, "'_'")) return false;
    if (tokens_.now().is('(') && !parameter_list(made.parameters)) return false;
    function_->call_prototypes[name] = std::move(made);
    Function attributes_of_call;
    for (bool taken = true; taken;) {
        if (!performance_directive(attributes_of_call, taken)) return false;
    }
    return tokens_.expect(';', "';'");
}

}  // namespace trimtab::ptx
