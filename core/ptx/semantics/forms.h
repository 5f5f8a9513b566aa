// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What semantics/integer.def is written in: forms of opcodes, sets of types, and what C++ types its functions take.
#pragma once

#include <type_traits>

#include "core/ptx/semantics/bits.h"
#include "core/ptx/semantics/integer.h"
#include "core/ptx/types.h"

namespace trimtab::ptx::semantics {

// Of one opcode, and told apart by modifiers of the mnemonic or by the type.
enum class Form : std::uint8_t {
    plain,
    plain_packed,
    lo,
    hi,
    wide,
    hi_sat,
    sat,
    relu,
    relu_packed,
    left,
    right
};

// A set of types, and the C++ integer that each is computed in: Set::Of<type>, void if the type is none of the set.
enum class Signs : std::uint8_t {
    bits,     // the sign makes no difference: all are computed as unsigned numbers
    numbers,  // signed types as signed numbers, others as unsigned ones
    only_signed
};
template <unsigned least_bits, unsigned most_bits, Signs signs>
struct Integers {
    template <Type type>
    static constexpr auto pick() {
        constexpr unsigned bits = integer_bits(type);
        constexpr bool is_signed_type = is_signed(type) && signs != Signs::bits;
        if constexpr (bits < least_bits || bits > most_bits || bits < 8 ||
                      (signs == Signs::only_signed && !is_signed_type))
            return std::type_identity<void>{};
        else
            return std::type_identity<typename IntegerOf<bits, is_signed_type>::Type>{};
    }
    template <Type type>
    using Of = typename decltype(pick<type>())::type;
};
using Bits = Integers<8, 64, Signs::bits>;
using Bits32 = Integers<32, 32, Signs::bits>;
using BitsFrom32 = Integers<32, 64, Signs::bits>;
using Numbers = Integers<8, 64, Signs::numbers>;
using Numbers32 = Integers<32, 32, Signs::numbers>;
using NumbersTo32 = Integers<16, 32, Signs::numbers>;
using NumbersFrom32 = Integers<32, 64, Signs::numbers>;
using SignedNumbers = Integers<8, 64, Signs::only_signed>;
using Signed32 = Integers<32, 32, Signs::only_signed>;
struct BitsAndPredicates {  // a predicate is the lowest bit of a byte
    template <Type type>
    using Of = std::conditional_t<type == Type::pred, u8, Bits::Of<type>>;
};
struct SignedPairs {
    template <Type type>
    using Of = std::conditional_t<type == Type::s16x2, s16, void>;
};
struct Pairs {
    template <Type type>
    using Of = std::conditional_t<type == Type::u16x2, u16, SignedPairs::Of<type>>;
};

// The types of a function's result and operands, Control left out.
template <class... Each>
struct List {};
template <class Done, class... Rest>
struct WithoutControl;
template <class... Done>
struct WithoutControl<List<Done...>> {
    using Operands = List<Done...>;
};
template <class... Done>
struct WithoutControl<List<Done...>, Control> {
    using Operands = List<Done...>;
};
template <class... Done, class First, class... Rest>
struct WithoutControl<List<Done...>, First, Rest...> : WithoutControl<List<Done..., First>, Rest...> {};

template <class Function>
struct SignatureOf;
template <class R, class... A>
struct SignatureOf<R (*)(A...)> {
    using Result = R;
    using Operands = typename WithoutControl<List<>, A...>::Operands;
};
template <class F, class T>
using Signature = SignatureOf<decltype(&F::template of<T>)>;

template <class F, class T, class... A>
[[gnu::always_inline]] constexpr auto call(Control control, A... a) {
    if constexpr (requires { F::template of<T>(a..., control); })
        return F::template of<T>(a..., control);
    else
        return F::template of<T>(a...);
}

}  // namespace trimtab::ptx::semantics
