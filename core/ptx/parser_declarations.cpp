// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bit>

#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace trimtab::ptx {
namespace {

constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t max_parameter_bytes = std::uint64_t{1} << 24;

}  // namespace

bool Parser::alignment(std::uint32_t& out) {
    const Token at = tokens_.now();
    std::uint64_t bytes = 0;
    if (!parse_count(tokens_, bytes, "the alignment")) return false;
    if (!std::has_single_bit(bytes)) return tokens_.fail_at(at, "the alignment is no power of two");
    out = static_cast<std::uint32_t>(bytes);
    return true;
}

// What stands between the state space and the name: .align 8 .v4 .f32, .attribute(.managed), .ptr .global
// .align 4.
bool Parser::declarator(Declarator& out) {
    for (;;) {
        if (!attributes(out.is_managed)) return false;
        const Token at = tokens_.now();
        if (at.kind != Token::Kind::dot_word) break;
        tokens_.advance();
        const std::string_view word = at.text.substr(1);
        if (word == "align") {
            // After .ptr it is what the pointer points to that is aligned.
            std::uint32_t bytes = 0;
            if (!alignment(bytes)) return false;
            if (!out.is_pointer) out.alignment_bytes = bytes;
        } else if (word == "ptr") {
            out.is_pointer = true;
        } else if (word == "v2" || word == "v4" || word == "v8") {
            out.vector_width = static_cast<std::uint8_t>(word[1] - '0');
        } else if (const auto type = find_type(word)) {
            out.type = *type;
        } else if (const auto space = find_space(word); space && out.is_pointer) {
            out.pointer_space = *space;
        } else if (word != "unified" && word != "byref") {
            return tokens_.fail_at(at, "unknown directive '" + std::string(at.text.substr(0, 40)) + "'");
        }
    }
    if (out.type == Type::none) return tokens_.fail_expected("a type");
    return true;
}

// [4][3], [] at first. The sizes of the dimensions go to `sizes`, 0 for one left open.
bool Parser::dimensions(Variable& variable, std::vector<std::uint64_t>& sizes) {
    std::uint64_t elements = 1;
    while (tokens_.accept('[')) {
        variable.is_array = true;
        std::uint64_t size = 0;
        const Token at = tokens_.now();
        if (!at.is(']')) {
            Constant value;
            if (!parse_constant(tokens_, value)) return false;
            size = value.bits;
            if (!value.is_integer() || size > max_variable_bytes)
                return tokens_.fail_at(at, "no size of an array");
        } else if (!sizes.empty()) {
            return tokens_.fail("only the first dimension may be left open");
        }
        if (!tokens_.expect(']', "']'")) return false;
        if (sizes.size() == 8) return tokens_.fail_at(at, "an array of more than 8 dimensions");
        sizes.push_back(size);
        elements *= size;
        if (elements > max_variable_bytes) return tokens_.fail_at(at, "an array of more than 1 TiB");
    }
    variable.size_bytes *= elements;
    return true;
}

bool Parser::variable(const Declarator& declarator, Variable& out, bool may_be_nameless) {
    out.space = declarator.space;
    out.type = declarator.type;
    out.is_managed = declarator.is_managed;
    out.is_pointer = declarator.is_pointer;
    out.pointer_space = declarator.pointer_space;
    out.line = tokens_.now().line;
    const std::uint32_t width = declarator.vector_width;
    out.size_bytes = std::uint64_t{size_bytes(declarator.type)} * width;
    out.alignment_bytes =
        std::max({declarator.alignment_bytes, static_cast<std::uint32_t>(out.size_bytes), std::uint32_t{1}});
    // .align may only raise, but what compilers write, .align 4 .b8, is the element's own; trust what is
    // written.
    if (declarator.alignment_bytes != 0) out.alignment_bytes = declarator.alignment_bytes;
    std::string_view name;
    if (may_be_nameless && tokens_.now().kind != Token::Kind::word) return true;
    if (!tokens_.expect_word(name, "a name")) return false;
    out.name = name;
    return true;
}

bool Parser::module_variables(const Linkage& linkage, Space space) {
    Declarator common;
    common.space = space;
    if (!declarator(common)) return false;
    do {
        const Token at = tokens_.now();
        Variable made;
        if (!variable(common, made, false)) return false;
        std::vector<std::uint64_t> sizes;
        if (!dimensions(made, sizes)) return false;
        made.is_extern = linkage.is_extern;
        made.is_visible = linkage.is_visible;
        made.is_weak = linkage.is_weak;
        made.is_common = linkage.is_common;
        if (made.type == Type::texref || made.type == Type::samplerref || made.type == Type::surfref) {
            made.size_bytes = 0;
        }
        if (tokens_.accept('=') && !initialiser(made, sizes)) return false;
        if (!add_module_variable(std::move(made), at)) return false;
    } while (tokens_.accept(','));
    return tokens_.expect(';', "';'");
}

bool Parser::add_module_variable(Variable made, const Token& at) {
    const auto [known, is_new] = variable_names_.try_emplace(at.text, module_.variables.size());
    if (is_new) {
        module_.variables.push_back(std::move(made));
        return true;
    }
    Variable& before = module_.variables[known->second];
    if (made.is_extern) return true;
    if (!before.is_extern) return tokens_.fail_at(at, "variable '" + made.name + "' is declared twice");
    before = std::move(made);
    return true;
}

// ( .param .u64 .ptr .global .align 8 name, .param .align 4 .b8 name[16], .reg .b32 name )
bool Parser::parameter_list(std::vector<Variable>& out) {
    if (!tokens_.expect('(', "'('")) return false;
    if (tokens_.accept(')')) return true;
    std::uint64_t end = 0;
    do {
        Declarator common;
        if (tokens_.accept(std::string_view(".param")))
            common.space = Space::param;
        else if (tokens_.accept(std::string_view(".reg")))
            common.space = Space::reg;
        else
            return tokens_.fail_expected("a parameter");
        if (!declarator(common)) return false;
        Variable made;
        const Token at = tokens_.now();
        std::vector<std::uint64_t> sizes;
        if (!variable(common, made, true) || !dimensions(made, sizes)) return false;
        if (common.space == Space::param) {
            const std::uint64_t alignment = made.alignment_bytes;
            end = (end + alignment - 1) / alignment * alignment;
            if (end + made.size_bytes > max_parameter_bytes)
                return tokens_.fail_at(at, "too many parameters");
            made.offset_bytes = static_cast<std::uint32_t>(end);
            end += made.size_bytes;
        }
        out.push_back(std::move(made));
    } while (tokens_.accept(','));
    return tokens_.expect(')', "')' of the parameters");
}

bool Parser::body_variables(Space space) {
    Declarator common;
    common.space = space;
    if (!declarator(common)) return false;
    do {
        const Token at = tokens_.now();
        Variable made;
        std::vector<std::uint64_t> sizes;
        if (!variable(common, made, false) || !dimensions(made, sizes)) return false;
        if (tokens_.accept('=') && !initialiser(made, sizes)) return false;
        const auto name = scopes_->declare_variable(at.text);
        if (!name) return tokens_.fail_at(at, "variable '" + made.name + "' is declared twice");
        made.name = *name;
        function_->variables.push_back(std::move(made));
    } while (tokens_.accept(','));
    return tokens_.expect(';', "';'");
}

// .reg .b32 %r<5>, p, q;
bool Parser::registers() {
    tokens_.advance();
    Declarator common;
    common.space = Space::reg;
    if (!declarator(common)) return false;
    if (common.vector_width > 4) return tokens_.fail("a vector register has 2 or 4 components");
    do {
        const Token at = tokens_.now();
        std::string_view name;
        if (!tokens_.expect_word(name, "a register's name")) return false;
        if (tokens_.accept('<')) {
            std::uint64_t count = 0;
            const Token number = tokens_.now();
            const auto value = number.kind == Token::Kind::number ? read_number(number.text) : std::nullopt;
            if (!value || !value->is_integer()) return tokens_.fail_expected("the number of registers");
            count = value->bits;
            tokens_.advance();
            if (!tokens_.expect('>', "'>'")) return false;
            if (common.vector_width != 1) return tokens_.fail_at(at, "a range of vector registers");
            scopes_->declare_registers(name, count, common.type);
        } else if (!scopes_->declare_register(name, common.type, common.vector_width)) {
            return tokens_.fail_at(at, "register '" + std::string(name) + "' is declared twice");
        }
    } while (tokens_.accept(','));
    return tokens_.expect(';', "';'");
}

}  // namespace trimtab::ptx
