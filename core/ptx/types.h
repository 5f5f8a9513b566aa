// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vocabulary of PTX that the rest of Trimtab shares (PTX ISA 8.8 and 9.0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trimtab::ptx {

inline constexpr std::uint32_t no_index = 0xffffffffu;  // of what is numbered: none

// PTX ISA, "Fundamental Types": types.def has a line of each. `none` where an instruction has no type.
enum class Type : std::uint8_t {
#define TYPE(name, bytes, kind, element) name,
#include "core/ptx/types.def"
};

enum class TypeKind : std::uint8_t { none, predicate, bits, unsigned_, signed_, real, opaque };

struct TypeInfo {
    std::string_view name;
    std::uint8_t size_bytes = 0;
    TypeKind kind = TypeKind::none;
    Type element = Type::none;
};
inline constexpr TypeInfo type_table[] = {
#define TYPE(name, bytes, kind, element) {#name, bytes, TypeKind::kind, Type::element},
#include "core/ptx/types.def"
};

[[nodiscard]] constexpr const TypeInfo& info(Type type) {
    return type_table[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr std::string_view name(Type type) {
    return info(type).name;
}
[[nodiscard]] constexpr unsigned size_bytes(Type type) {  // 0 for none and pred
    return info(type).size_bytes;
}
[[nodiscard]] constexpr bool is_signed(Type type) {  // s8 to s64, s16x2
    return info(type).kind == TypeKind::signed_;
}
[[nodiscard]] constexpr bool is_float(Type type) {  // every floating-point type, packed ones included
    return info(type).kind == TypeKind::real;
}
[[nodiscard]] constexpr bool is_packed(Type type) {
    return info(type).element != type;
}
// Of f16x2 it is f16; of what packs nothing, the type itself.
[[nodiscard]] constexpr Type element_of(Type type) {
    return info(type).element;
}
// Of one integer, or of bits that may be one, of at most 64 bits; a predicate has one bit; 0 of every other type.
[[nodiscard]] constexpr unsigned integer_bits(Type type) {
    const TypeInfo& of = info(type);
    if (of.kind == TypeKind::predicate) return 1;
    const bool is_integer =
        of.kind == TypeKind::bits || of.kind == TypeKind::unsigned_ || of.kind == TypeKind::signed_;
    return is_integer && !is_packed(type) && of.size_bytes <= 8 ? 8u * of.size_bytes : 0;
}

// modifiers.def has their spellings. `none` where an instruction has none.
enum class Space : std::uint8_t {
#define SPACE(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
[[nodiscard]] std::string_view name(Space space);

// Base mnemonic: what stands before the first dot. Modifiers are decoded into Modifiers and
// Instruction::suffixes. `unknown` is an instruction that the front end does not know: it parses (any
// operands), and whoever would run or prove something about it refuses, naming Instruction::mnemonic.
//
// opcodes.def has a line of each.
enum class Opcode : std::uint16_t {
#define OPCODE(enumerator, spelling, opcode_class, pipe, sources, traits) enumerator,
#include "core/ptx/opcodes.def"
};
[[nodiscard]] std::string_view name(Opcode opcode);

// PTX ISA, "Special Registers": special_registers.def has a line of each.
enum class SpecialRegister : std::uint8_t {
#define SPECIAL(enumerator, spelling, group, type) enumerator,
#include "core/ptx/special_registers.def"
};
[[nodiscard]] std::string_view name(SpecialRegister special);

enum class Comparison : std::uint8_t {
    none,
#define COMPARISON(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class Rounding : std::uint8_t {
    none,
#define ROUNDING(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class BooleanOp : std::uint8_t {
    none,
#define BOOLEAN_OP(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class MultiplyPart : std::uint8_t {
    none,
#define MULTIPLY_PART(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class CacheOp : std::uint8_t {
    none,
#define CACHE_OP(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class MemorySemantics : std::uint8_t {
#define MEMORY_SEMANTICS(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class Scope : std::uint8_t {
    none,
#define SCOPE(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class AtomicOp : std::uint8_t {
    none,
#define ATOMIC_OP(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class ShuffleMode : std::uint8_t {
    none,
#define SHUFFLE_MODE(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};
enum class VoteMode : std::uint8_t {
    none,
#define VOTE_MODE(enumerator, spelling) enumerator,
#include "core/ptx/modifiers.def"
};

}  // namespace trimtab::ptx
