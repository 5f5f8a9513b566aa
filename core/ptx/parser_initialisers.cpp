// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initial values of variables (PTX ISA, "Initializers"): numbers, addresses, and single bytes of addresses.
#include <bit>

#include "core/ptx/parser.h"

namespace trimtab::ptx {
namespace {

constexpr std::uint64_t max_initialised_bytes = std::uint64_t{1} << 28;
constexpr std::uint64_t max_module_bytes = std::uint64_t{1} << 30;  // a short text must not fill the memory
constexpr unsigned max_braces = 16;

class Initialiser {
  public:
    Initialiser(TokenStream& tokens, Variable& variable) : tokens_(tokens), variable_(variable) {}

    bool run(std::vector<std::uint64_t>& sizes) {
        element_bytes_ = size_bytes(variable_.type);
        if (element_bytes_ == 0) return tokens_.fail("a variable of this type has no initial value");
        limit_ = max_initialised_bytes;
        if (!sizes.empty() && sizes[0] == 0) {
            open_ = true;
        } else {
            if (variable_.size_bytes > max_initialised_bytes) {
                return tokens_.fail("a variable of more than 256 MiB with initial values");
            }
            limit_ = variable_.size_bytes;
        }
        // What each depth of braces fills: the variable, then a row of its first dimension, and so on.
        std::uint64_t row = element_bytes_;
        for (std::size_t i = 1; i < sizes.size(); ++i) row *= sizes[i];
        if (!open_) row = variable_.size_bytes / (sizes.empty() ? 1 : sizes[0]);
        strides_.push_back(open_ ? 0 : variable_.size_bytes);
        for (std::size_t i = 1; i < sizes.size() && sizes[i] != 0; ++i) {
            strides_.push_back(row);
            row /= sizes[i];
        }
        if (!level(0)) return false;
        if (open_) variable_.size_bytes = variable_.initial.size();
        variable_.initial.resize(variable_.size_bytes);
        return true;
    }

  private:
    // One brace or value; what stands in a brace fills strides_[depth] bytes.
    bool level(unsigned depth) {
        if (!tokens_.accept('{')) return value();
        if (depth >= max_braces) return tokens_.fail("the braces are nested too deep");
        const std::uint64_t start = at_;
        while (!tokens_.now().is('}')) {
            if (!level(depth + 1)) return false;
            if (!tokens_.accept(',')) break;
        }
        if (!tokens_.expect('}', "'}' or ','")) return false;
        if (depth < strides_.size() && strides_[depth] != 0) {
            if (at_ > start + strides_[depth]) return tokens_.fail("too many initial values");
            at_ = start + strides_[depth];
        }
        return true;
    }

    bool room(std::uint64_t bytes) {
        if (at_ + bytes > limit_) return tokens_.fail("too many initial values");
        if (variable_.initial.size() < at_ + bytes) variable_.initial.resize(at_ + bytes);
        return true;
    }

    void store(std::uint64_t bits, std::uint64_t bytes) {
        for (std::uint64_t i = 0; i < bytes && i < 8; ++i) {
            variable_.initial[at_ + i] = static_cast<std::byte>(bits >> (8 * i));
        }
        at_ += bytes;
    }

    bool value() {
        if (tokens_.now().kind == Token::Kind::word && !tokens_.now().is("WARP_SZ")) return address();
        const Token at = tokens_.now();
        Constant constant;
        if (!parse_constant_or_mask(constant)) return false;
        if (tokens_.now().is('(')) return address_byte(constant, at);
        if (!room(element_bytes_)) return false;
        switch (variable_.type) {
            case Type::f32:
                if (constant.is_integer()) {
                    constant = {Constant::Kind::f32, std::bit_cast<std::uint32_t>(static_cast<float>(
                                                         static_cast<std::int64_t>(constant.bits)))};
                }
                constant = constant.as_f32();
                break;
            case Type::f64:
                if (constant.is_integer()) {
                    constant = {Constant::Kind::f64, std::bit_cast<std::uint64_t>(static_cast<double>(
                                                         static_cast<std::int64_t>(constant.bits)))};
                }
                constant = constant.as_f64();
                break;
            default:
                break;
        }
        store(constant.bits, element_bytes_);
        return true;
    }

    // 0xFF00(symbol) starts with a plain number: the parenthesis is not part of an expression.
    bool parse_constant_or_mask(Constant& out) {
        if (tokens_.now().kind == Token::Kind::number && tokens_.ahead().is('(')) {
            const auto number = read_number(tokens_.now().text);
            if (!number || !number->is_integer()) return tokens_.fail_expected("a mask");
            out = *number;
            tokens_.advance();
            return true;
        }
        return parse_constant(tokens_, out);
    }

    // symbol, symbol+8, generic(symbol)-8
    bool symbol(Variable::Relocation& out) {
        out.generic = tokens_.now().is("generic") && tokens_.ahead().is('(');
        if (out.generic) {
            tokens_.advance();
            tokens_.advance();
        }
        std::string_view name;
        if (!tokens_.expect_word(name, "a symbol")) return false;
        out.symbol = name;
        if (!offset(out)) return false;
        if (out.generic && (!tokens_.expect(')', "')' of generic(") || !offset(out))) return false;
        return true;
    }

    bool offset(Variable::Relocation& out) {
        if (!tokens_.now().is('+') && !tokens_.now().is('-')) return true;
        Constant constant;
        if (!parse_constant(tokens_, constant)) return false;
        if (!constant.is_integer()) return tokens_.fail("an address with a fraction");
        out.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(out.addend) + constant.bits);
        return true;
    }

    bool address() {
        Variable::Relocation relocation;
        if (!symbol(relocation)) return false;
        if (element_bytes_ < 4) return tokens_.fail("an element of this type cannot hold an address");
        if (!room(element_bytes_)) return false;
        relocation.offset_bytes = static_cast<std::uint32_t>(at_);
        store(0, element_bytes_);
        variable_.relocations.push_back(std::move(relocation));
        return true;
    }

    // One byte of an address: 0xFF(x) is the lowest, 0xFF00(x) the next, eight in a row make one relocation.
    bool address_byte(const Constant& mask, const Token& at) {
        Variable::Relocation relocation;
        if (!tokens_.expect('(', "'('") || !symbol(relocation) ||
            !tokens_.expect(')', "')' of a masked address")) {
            return false;
        }
        if (element_bytes_ != 1) return tokens_.fail_at(at, "a masked address needs a variable of bytes");
        const int byte = mask.bits == 0 ? -1 : std::countr_zero(mask.bits) / 8;
        if (byte < 0 || mask.bits != std::uint64_t{0xff} << (8 * byte)) {
            return tokens_.fail_at(at, "the mask does not pick one byte");
        }
        if (!room(1)) return false;
        relocation.offset_bytes = static_cast<std::uint32_t>(at_);
        store(0, 1);
        if (byte == 0) {
            variable_.relocations.push_back(std::move(relocation));
            return true;
        }
        const Variable::Relocation* last =
            variable_.relocations.empty() ? nullptr : &variable_.relocations.back();
        if (last == nullptr || last->symbol != relocation.symbol || last->addend != relocation.addend ||
            last->offset_bytes + static_cast<unsigned>(byte) != relocation.offset_bytes) {
            return tokens_.fail_at(at, "the bytes of an address are not in order");
        }
        return true;
    }

    TokenStream& tokens_;
    Variable& variable_;
    std::uint64_t element_bytes_ = 1, at_ = 0, limit_ = 0;
    std::vector<std::uint64_t> strides_;
    bool open_ = false;
};

}  // namespace

bool Parser::initialiser(Variable& variable, std::vector<std::uint64_t>& sizes) {
    if (variable.type == Type::samplerref || variable.type == Type::texref ||
        variable.type == Type::surfref) {
        // { addr_mode_0 = wrap, filter_mode = linear }: the emulator's textures take their state from the
        // host.
        while (!tokens_.at_end() && !tokens_.now().is('}')) tokens_.advance();
        return tokens_.expect('}', "'}'");
    }
    if (!Initialiser(tokens_, variable).run(sizes)) return false;
    initialised_bytes_ += variable.size_bytes;
    if (initialised_bytes_ > max_module_bytes) return tokens_.fail("initial values of more than 1 GiB");
    return true;
}

}  // namespace trimtab::ptx
