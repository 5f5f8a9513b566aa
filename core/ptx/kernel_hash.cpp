// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <memory>

#include "core/ptx/lexer.h"
#include "core/ptx/reachability.h"

namespace trimtab::ptx {
namespace {

struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

class Hash {
  public:
    Hash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }

    // Length first, so that no two sequences of parts run together.
    void add(std::string_view text) {
        add(std::uint64_t{text.size()});
        XXH3_64bits_update(state_.get(), text.data(), text.size());
    }
    void add(std::uint64_t number) { XXH3_64bits_update(state_.get(), &number, sizeof number); }

    [[nodiscard]] std::string digits() const {
        return fmt::format("{:016x}", XXH3_64bits_digest(state_.get()));
    }

  private:
    std::unique_ptr<XXH3_state_t, FreeState> state_;
};

// .loc 2 66 27, function_name $L__info_string0, inlined_at 1 10 68
Token skip_location(Lexer& lexer) {
    Token token = lexer.next();
    const auto skip_numbers = [&] {
        while (token.kind == Token::Kind::number) token = lexer.next();
    };
    skip_numbers();
    while (token.is(',')) {
        token = lexer.next();  // function_name, inlined_at
        token = lexer.next();  // its label or first number
        if (token.kind == Token::Kind::word) token = lexer.next();
        if (token.is('+')) token = lexer.next();
        skip_numbers();
    }
    return token;
}

void add_tokens(Hash& hash, std::string_view text) {
    Lexer lexer(text);
    for (Token token = lexer.next(); token.kind != Token::Kind::end;) {
        if (token.is(".loc")) {
            token = skip_location(lexer);
            continue;
        }
        hash.add(token.text);
        token = lexer.next();
    }
}

}  // namespace

std::string kernel_hash(const Module& module, const Function& kernel) {
    Hash hash;
    hash.add(module.target);
    const Closure reached = closure(module, kernel);
    for (const Function* function : reached.functions) add_tokens(hash, function->text);
    for (const Variable* variable : reached.variables) {
        hash.add(variable->name);
        hash.add(static_cast<std::uint64_t>(variable->space));
        hash.add(static_cast<std::uint64_t>(variable->type));
        hash.add(std::uint64_t{variable->alignment_bytes});
        hash.add(variable->size_bytes);
        hash.add({reinterpret_cast<const char*>(variable->initial.data()), variable->initial.size()});
        for (const Variable::Relocation& relocation : variable->relocations) {
            hash.add(std::uint64_t{relocation.offset_bytes});
            hash.add(relocation.symbol);
            hash.add(static_cast<std::uint64_t>(relocation.addend));
            hash.add(std::uint64_t{relocation.generic});
        }
    }
    return hash.digits();
}

}  // namespace trimtab::ptx
