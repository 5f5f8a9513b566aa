// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "core/ptx/parser.h"

namespace trimtab::ptx {

// .entry f (parameters) .maxntid 256, 1, 1 { body }    .func (result) f (parameters) .noreturn ;
bool Parser::function(const Linkage& linkage) {
    Function made;
    made.is_entry = tokens_.now().is(".entry");
    made.is_extern = linkage.is_extern;
    made.is_visible = linkage.is_visible;
    made.is_weak = linkage.is_weak;
    made.line = linkage.at.line;
    tokens_.advance();
    bool is_managed = false;
    if (!attributes(is_managed)) return false;
    if (!made.is_entry && tokens_.now().is('(') && !parameter_list(made.returns)) return false;
    const Token name = tokens_.now();
    std::string_view word;
    if (!tokens_.expect_word(word, "the function's name")) return false;
    made.name = word;
    tokens_.context = (made.is_entry ? "kernel " : "function ") + made.name;
    if (tokens_.now().is('(') && !parameter_list(made.parameters)) return false;
    for (bool taken = true; taken;) {
        if (!performance_directive(made, taken)) return false;
    }
    const bool is_definition = tokens_.now().is('{');
    if (is_definition) {
        // Known to its own body, for recursion and for its address.
        function_names_.try_emplace(name.text, no_index);
        if (!body(made)) return false;
        if (made.body.empty()) {
            // `{ }` returns, like any body at its end; only a declaration has no instruction.
            Instruction& end = made.body.emplace_back();
            end.opcode = Opcode::ret;
            end.mnemonic = "ret";
            end.line = tokens_.now().line;
        }
    } else if (!tokens_.now().is(';')) {
        return tokens_.fail_expected("'{' or ';'");
    }
    const Token end = tokens_.now();
    made.text = tokens_.text().substr(linkage.at.offset, end.offset + 1 - linkage.at.offset);
    tokens_.advance();
    if (!is_definition) made.is_extern = linkage.is_extern || !linkage.is_weak;
    return add_function(std::move(made), is_definition, name);
}

bool Parser::dimension_list(Dim3& out) {
    std::uint64_t sizes[3] = {1, 1, 1};
    for (unsigned i = 0; i < 3; ++i) {
        if (!parse_count(tokens_, sizes[i], "a block's size")) return false;
        if (i == 2 || !tokens_.accept(',')) break;
    }
    out = {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
           static_cast<std::uint32_t>(sizes[2])};
    return true;
}

bool Parser::performance_directive(Function& function, bool& taken) {
    const Token at = tokens_.now();
    taken = at.kind == Token::Kind::dot_word;
    if (!taken) return true;
    tokens_.advance();
    const std::string_view word = at.text;
    if (word == ".maxntid" || word == ".reqntid") {
        Dim3 block;
        if (!dimension_list(block)) return false;
        (word == ".maxntid" ? function.max_block : function.required_block) = block;
        return true;
    }
    if (word == ".minnctapersm" || word == ".maxnctapersm" || word == ".maxnreg") {
        std::uint64_t count = 0;
        if (!parse_count(tokens_, count, std::string(word))) return false;
        if (word == ".minnctapersm") function.min_blocks_per_sm = static_cast<std::uint32_t>(count);
        if (word == ".maxnreg") function.max_registers = static_cast<std::uint32_t>(count);
        return true;
    }
    if (word == ".reqnctapercluster") {
        Dim3 cluster;
        function.requires_cluster = true;
        if (!dimension_list(cluster)) return false;
        function.required_cluster = cluster;
        return true;
    }
    if (word == ".explicitcluster" || word == ".blocksareclusters") {
        function.requires_cluster = true;
        return true;
    }
    if (word == ".maxclusterrank" || word == ".abi_preserve" || word == ".abi_preserve_control") {
        std::uint64_t ignored = 0;
        return parse_count(tokens_, ignored, std::string(word));
    }
    if (word == ".noreturn" || word == ".unique") return true;
    if (word == ".pragma") {
        if (tokens_.now().kind != Token::Kind::string) return tokens_.fail_expected("the pragma's text");
        tokens_.advance();
        while (tokens_.accept(',')) tokens_.advance();
        return tokens_.expect(';', "';'");
    }
    return tokens_.fail_at(at, "unknown directive '" + std::string(word.substr(0, 40)) + "'");
}

bool Parser::add_function(Function made, bool is_definition, const Token& name) {
    auto& place = function_names_.try_emplace(name.text, no_index).first->second;
    if (place == no_index) {
        place = module_.functions.size();
        module_.functions.push_back(std::move(made));
        defined_.push_back(is_definition);
        return true;
    }
    Function& before = module_.functions[place];
    if (!is_definition) return true;
    if (defined_[place]) return tokens_.fail_at(name, "function '" + made.name + "' is defined twice");
    made.is_visible |= before.is_visible;
    made.is_weak |= before.is_weak;
    before = std::move(made);
    defined_[place] = true;
    return true;
}

}  // namespace trimtab::ptx
