// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One PTX translation unit as a value: what parse() makes of text and what link() makes of several.
//
// Positions: every instruction and declaration keeps the line of the PTX text and, where `.loc` gives it, the
// source line.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/types.h"
#include "trimtab/error.h"

namespace trimtab::ptx {

struct SourceLocation {
    std::uint32_t file = 0;  // key in Module::files; 0: unknown
    std::uint32_t line = 0;  // from 1; 0: unknown
    std::uint32_t column = 0;
};

using RegisterIndex = std::uint32_t;  // into Function::registers

struct Register {
    std::string name;  // with its percent sign: "%rd4"
    Type type = Type::none;
};

struct Operand {
    enum class Kind : std::uint8_t {
        none,
        reg,        // `reg`; `negated` for !%p and a video instruction's -%r; `text`: the part that one
                    // picks, "b0" to "b3", "h0", "h1", "h10", "b3210" ...
        immediate,  // `bits`, as an integer of 64 bits or, where `type` is f32 or f64, that type's bits
        special,    // `special`
        symbol,     // the address of, or call target, `text`; + `offset`
        address,    // [base + offset]: base is `reg` (no_index if none), or `text` (a variable or parameter),
                    // or `bits` alone; in [texture, sampler, {x, y}] what follows the base is in `elements`
        label,   // `target`, a block's first instruction in Function::body; of brx and indirect calls `text`
                 // alone, a key of Function::branch_targets, call_prototypes or call_targets
        vector,  // `elements`
        sink     // _
    };
    Kind kind = Kind::none;
    bool negated = false;
    Type type = Type::none;
    SpecialRegister special = SpecialRegister::other;
    RegisterIndex reg = no_index;
    std::uint32_t target = no_index;
    std::uint64_t bits = 0;
    std::int64_t offset = 0;
    std::string text;
    std::vector<Operand> elements;
};

// Modifiers, decoded once. What an opcode does not have keeps its default.
struct Modifiers {
    Space space = Space::generic;
    Space to_space = Space::generic;  // cvta.to.<space>: space, and `to` is set; cp: the destination's space
    bool to = false;                  // cvta.to
    Comparison comparison = Comparison::none;
    BooleanOp boolean_op = BooleanOp::none;
    Rounding rounding = Rounding::none;
    MultiplyPart multiply_part = MultiplyPart::none;
    CacheOp cache = CacheOp::none;
    MemorySemantics semantics = MemorySemantics::weak;
    Scope scope = Scope::none;
    AtomicOp atomic = AtomicOp::none;
    ShuffleMode shuffle = ShuffleMode::none;
    VoteMode vote = VoteMode::none;
    std::uint8_t vector_width = 1;  // .v2, .v4, .v8
    bool ftz = false, sat = false, carry_out = false, uniform = false, sync = false, arrive = false,
         nc = false, wrap = false, clamp = false, left = false, right = false, noftz = false, relu = false,
         xorsign_abs = false, nan_ = false, aligned = false;
};

struct Instruction {
    Opcode opcode = Opcode::unknown;
    Type type = Type::none;         // the type that the operation works in (for cvt, set: of the result)
    Type source_type = Type::none;  // cvt, set, slct, tex, dp4a ...: of the source; else none
    Modifiers modifiers;
    std::vector<Operand> operands;       // destinations first; call: results, function, arguments, prototype
    std::uint8_t destination_count = 0;  // of `operands`; 2 for setp p|q and shfl d|p
    RegisterIndex guard = no_index;      // @%p
    bool guard_negated = false;          // @!%p
    std::string mnemonic;                // as written: "ld.global.v4.f32"
    std::vector<std::string> suffixes;   // mnemonic split at dots, the base left out
    std::uint32_t line = 0;              // of the PTX text, from 1
    SourceLocation location;

    [[nodiscard]] std::span<const Operand> destinations() const {
        return {operands.data(), destination_count};
    }
    [[nodiscard]] std::span<const Operand> sources() const {
        return {operands.data() + destination_count, operands.size() - destination_count};
    }
};

// A variable in any space, a kernel parameter, or a function's parameter.
struct Variable {
    std::string name;
    Space space = Space::generic;
    Type type = Type::none;  // of an element
    std::uint32_t alignment_bytes = 1;
    std::uint64_t size_bytes = 0;  // 0 for `extern .shared x[]` (dynamic shared memory) and .texref
    bool is_array = false;
    bool is_pointer = false;               // .ptr
    Space pointer_space = Space::generic;  // .ptr .global
    std::uint32_t offset_bytes = 0;        // parameters: offset in the parameter buffer
    bool is_extern = false, is_visible = false, is_weak = false, is_common = false, is_managed = false;
    std::vector<std::byte> initial;  // empty: zero
    struct Relocation {              // an initialiser that is an address: generic(x)+8, or a function
        std::uint32_t offset_bytes = 0;
        std::string symbol;
        std::int64_t addend = 0;
        bool generic = false;
    };
    std::vector<Relocation> relocations;
    std::uint32_t line = 0;
};

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    friend bool operator==(const Dim3&, const Dim3&) = default;
};

// .callprototype, for indirect calls.
struct CallPrototype {
    std::vector<Variable> returns, parameters;
};

// Names in a body are unique: where an inner pair of braces declares a register, variable or label again, the
// later one is renamed "name$1", "name$2" ..., in its declaration and its uses.
struct Function {
    std::string name;
    bool is_entry = false, is_extern = false, is_visible = false, is_weak = false;
    std::vector<Variable> returns, parameters;
    std::vector<Register> registers;  // those that the body names; of %r<100> only what is used
    std::vector<Variable> variables;  // declared in the body: local, shared, param (call arguments)
    std::vector<Instruction> body;    // empty for a declaration
    std::map<std::string, std::uint32_t, std::less<>> labels;  // name -> index in body (body.size(): the end)
    std::map<std::string, std::vector<std::uint32_t>, std::less<>>
        branch_targets;  // .branchtargets of brx.idx
    std::map<std::string, std::vector<std::string>, std::less<>> call_targets;
    std::map<std::string, CallPrototype, std::less<>> call_prototypes;
    std::optional<Dim3> max_block, required_block;                  // .maxntid, .reqntid
    std::optional<std::uint32_t> min_blocks_per_sm, max_registers;  // .minnctapersm, .maxnreg
    bool requires_cluster = false;                                  // .reqnctapercluster, .explicitcluster
    std::optional<Dim3> required_cluster;                           // .reqnctapercluster
    std::uint32_t line = 0;
    std::string text;  // the PTX from its linking directive to the closing brace, for hashing and printing

    [[nodiscard]] const Variable* parameter(std::string_view name) const;
    [[nodiscard]] const Variable* variable(std::string_view name) const;
    [[nodiscard]] std::uint32_t parameter_bytes() const;  // size of the parameter buffer
};

struct Module {
    std::string version, target;  // "8.8", "sm_75"
    std::vector<std::string> target_options;
    unsigned address_bits = 64;
    std::map<std::uint32_t, std::string> files;  // .file
    std::vector<Variable> variables;             // module scope
    std::vector<Function> functions;
    std::string origin;  // the file name that errors give

    [[nodiscard]] const Function* function(std::string_view name) const;
    [[nodiscard]] const Variable* variable(std::string_view name) const;
    [[nodiscard]] std::vector<const Function*> kernels() const;
    // "file:line" of a location, or "" where it is unknown.
    [[nodiscard]] std::string source_text(const SourceLocation& location) const;
};

// Parses one PTX text. `origin` names it in errors, which give line and column. A text cut short is an error
// at its end.
[[nodiscard]] std::expected<Module, Error> parse(std::string_view text, std::string origin);

// Links modules as nvlink does: weak and common symbols merge, extern ones resolve, two strong definitions
// are an error. Module-local symbols of equal names stay apart (they are renamed). Unresolved symbols stay
// extern.
[[nodiscard]] std::expected<Module, Error> link(std::vector<Module> modules);

// The functions that `kernel` reaches by direct calls, itself first, in order of first call; and the module
// variables they use.
[[nodiscard]] std::vector<const Function*> reachable_functions(const Module& module, const Function& kernel);
[[nodiscard]] std::vector<const Variable*> reachable_variables(const Module& module, const Function& kernel);

// 16 hex digits of the XXH3 hash over the texts of the kernel, what it reaches, and the target; comments,
// blank space and .loc do not count.
[[nodiscard]] std::string kernel_hash(const Module& module, const Function& kernel);

// The parameter buffer offset at which `kernel`'s parameters lie is Variable::offset_bytes; their count is
// parameters.size().

}  // namespace trimtab::ptx
