// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "core/ptx/file_names.h"
#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace trimtab::ptx {

std::expected<Module, Error> parse(std::string_view text, std::string origin) {
    // Where PTX lies in a fat binary or a C string, zeros end it.
    while (text.ends_with('\0')) text.remove_suffix(1);
    if (text.size() > 0x7fffffffu)
        return std::unexpected(Error{"a PTX text of more than 2 GiB", std::move(origin)});
    return Parser(text, origin).run();
}

std::expected<Module, Error> Parser::run() {
    while (!tokens_.at_end()) {
        if (!module_statement()) return std::unexpected(*tokens_.error());
    }
    if (module_.version.empty()) {
        tokens_.context = "the header: there is no .version";
        (void)tokens_.fail("");
        return std::unexpected(*tokens_.error());
    }
    inlined_places_.resolve(module_);
    return std::move(module_);
}

bool Parser::module_statement() {
    tokens_.context = "a declaration";
    const Token& now = tokens_.now();
    if (now.is(';')) {
        tokens_.advance();
        return true;
    }
    if (now.is('@')) return section();
    if (now.kind != Token::Kind::dot_word) return tokens_.fail_expected("a directive");
    if (now.text == ".version") return version();
    if (module_.version.empty()) return tokens_.fail("this is no PTX: .version must come first");
    if (now.text == ".target") return target();
    if (now.text == ".address_size") {
        tokens_.advance();
        const Token at = tokens_.now();
        std::uint64_t bits = 0;
        if (!parse_count(tokens_, bits, "the address size")) return false;
        if (bits != 32 && bits != 64) return tokens_.fail_at(at, "the address size is neither 32 nor 64");
        module_.address_bits = static_cast<unsigned>(bits);
        return true;
    }
    if (now.text == ".file") return file();
    if (now.text == ".section") return section();
    if (now.text == ".alias") return alias();
    if (now.text == ".pragma") {
        while (!tokens_.at_end() && !tokens_.now().is(';')) tokens_.advance();
        return tokens_.expect(';', "';'");
    }
    return linked_declaration();
}

bool Parser::version() {
    tokens_.advance();
    if (tokens_.now().kind != Token::Kind::number) return tokens_.fail_expected("the version of PTX");
    module_.version = tokens_.now().text;
    tokens_.advance();
    return true;
}

bool Parser::target() {
    tokens_.advance();
    std::string_view word;
    if (!tokens_.expect_word(word, "the target")) return false;
    module_.target = word;
    while (tokens_.accept(',')) {
        if (!tokens_.expect_word(word, "an option of the target")) return false;
        module_.target_options.emplace_back(word);
    }
    return true;
}

// .file 1 "name", timestamp, size
bool Parser::file() {
    tokens_.advance();
    std::uint64_t index = 0;
    if (!parse_count(tokens_, index, "the file's index")) return false;
    if (tokens_.now().kind != Token::Kind::string) return tokens_.fail_expected("the file's name");
    module_.files[static_cast<std::uint32_t>(index)] = decode_file_name(tokens_.now().text);
    tokens_.advance();
    std::uint64_t ignored = 0;
    while (tokens_.accept(',')) {
        if (!parse_count(tokens_, ignored, "the file's time or size")) return false;
    }
    return true;
}

// Debug data: .section .debug_info { ... }; the line form of old, @@DWARF, goes token by token to its line's
// end.
bool Parser::section() {
    if (tokens_.now().is('@')) {
        const std::uint32_t line = tokens_.now().line;
        while (!tokens_.at_end() && tokens_.now().line == line) tokens_.advance();
        return true;
    }
    tokens_.context = "a .section";
    tokens_.advance();
    if (tokens_.now().kind != Token::Kind::dot_word && tokens_.now().kind != Token::Kind::word &&
        tokens_.now().kind != Token::Kind::string) {
        return tokens_.fail_expected("the section's name");
    }
    tokens_.advance();
    while (tokens_.accept(',')) tokens_.advance();
    if (!tokens_.expect('{', "'{' of the section")) return false;
    for (unsigned depth = 1; depth > 0; tokens_.advance()) {
        if (tokens_.at_end() || tokens_.now().kind == Token::Kind::bad) return tokens_.fail("");
        if (tokens_.now().is('{')) ++depth;
        if (tokens_.now().is('}')) --depth;
    }
    return true;
}

// .alias f, g;  f is another name of g.
bool Parser::alias() {
    tokens_.advance();
    const Token name_at = tokens_.now();
    std::string_view name, aliasee;
    if (!tokens_.expect_word(name, "the alias")) return false;
    if (!tokens_.expect(',', "','")) return false;
    const Token aliasee_at = tokens_.now();
    if (!tokens_.expect_word(aliasee, "the function it stands for")) return false;
    const auto found = function_names_.find(aliasee);
    if (found == function_names_.end() || module_.functions[found->second].body.empty()) {
        return tokens_.fail_at(aliasee_at, "function '" + std::string(aliasee) + "' is not defined");
    }
    const auto declared = function_names_.find(name);
    if (declared == function_names_.end()) {
        return tokens_.fail_at(name_at, "function '" + std::string(name) + "' is not declared");
    }
    Function& alias = module_.functions[declared->second];
    Function copy = module_.functions[found->second];
    copy.name = alias.name;
    copy.is_visible = alias.is_visible;
    copy.is_weak = alias.is_weak;
    alias = std::move(copy);
    return tokens_.expect(';', "';'");
}

bool Parser::attributes(bool& is_managed) {
    while (tokens_.accept(std::string_view(".attribute"))) {
        if (!tokens_.expect('(', "'(' of .attribute")) return false;
        for (unsigned depth = 1; depth > 0; tokens_.advance()) {
            if (tokens_.at_end() || tokens_.now().kind == Token::Kind::bad) return tokens_.fail("");
            if (tokens_.now().is(".managed")) is_managed = true;
            if (tokens_.now().is('(')) ++depth;
            if (tokens_.now().is(')')) --depth;
        }
    }
    return true;
}

bool Parser::linked_declaration() {
    Linkage linkage;
    linkage.at = tokens_.now();
    for (;; tokens_.advance()) {
        if (tokens_.now().is(".extern"))
            linkage.is_extern = true;
        else if (tokens_.now().is(".visible"))
            linkage.is_visible = true;
        else if (tokens_.now().is(".weak"))
            linkage.is_weak = true;
        else if (tokens_.now().is(".common"))
            linkage.is_common = true;
        else
            break;
    }
    const Token at = tokens_.now();
    if (at.is(".entry") || at.is(".func")) return function(linkage);
    if (at.kind == Token::Kind::dot_word) {
        const auto space = find_space(at.text.substr(1));
        if (space && (*space == Space::global || *space == Space::constant || *space == Space::shared ||
                      *space == Space::local || *space == Space::tex)) {
            tokens_.advance();
            return module_variables(linkage, *space);
        }
        return tokens_.fail("unknown directive '" + std::string(at.text.substr(0, 40)) + "'");
    }
    return tokens_.fail_expected("a declaration");
}

}  // namespace trimtab::ptx
