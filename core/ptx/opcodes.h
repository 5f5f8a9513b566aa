// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What opcodes are, what they read and leave besides their operands, and what they are counted as: the lines of
// opcodes.def.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/ptx/module.h"

namespace trimtab::ptx {

enum class OpcodeClass : std::uint8_t {
    pure,  // results from its operands and the states below alone; no memory, no other thread, no trap
    control,
    load,
    store,
    atomic,
    copy,          // cp: between memories, asynchronously
    texture,       // reads by the texture path
    image_query,   // reads what an image is, not what is in it
    surface_load,  // reads what surface stores may have written
    surface_store,
    hint,  // for the caches: nothing depends on it
    call,
    barrier,
    warp,  // exchange between the threads of a warp, or work that they share
    fence,
    trap,
    cluster,
    other
};

// What an execution is counted as.
enum class Pipe : std::uint8_t {
    by_type,   // arithmetic of the instruction's type
    by_space,  // an access to the instruction's state space
    integer,
    conversion,
    special_function,
    control,
    barrier,
    warp_collective,
    other
};

// What an instruction leaves to later ones of its thread outside registers and memory.
// carry: the condition code (PTX ISA, "Extended-Precision Integer Arithmetic Instructions"), of a function's
// own and undefined behind a call. stack: the stack pointer that alloca moves.
//
// That is all there is. Other things that outlive an instruction, and why they are no states here:
// - predicates of setp p|q and shfl d|p, results of calls: destinations like others;
// - a register under a guard that does not hold keeps its value: Value::previous of SSA;
// - .param, .local and the depot, .shared, .global, surfaces: memory, told by class and space; the read-only
//   data of tex, ldu and ld.global.nc is nobody's to write while the kernel runs;
// - which lanes are active, wait at a barrier, hold a vote (activemask, elect, bar, shfl, vote, match, redux,
//   mma): what other threads do; the classes warp and barrier;
// - groups of cp.async and cp.bulk, phases of an mbarrier, order made by fences, reservations of registers
//   (setmaxnreg), wgmma's groups: between threads and memory; the classes copy, barrier, fence and other;
// - clocks and counters are special registers that are read as operands; tables of brx.idx are constants;
// - there is no rounding or flush mode, and no flag of floating-point exceptions.
enum class State : std::uint8_t { carry, stack };
inline constexpr std::size_t state_count = 2;

struct OpcodeInfo {
    Opcode opcode = Opcode::unknown;
    std::string_view name;  // the base mnemonic
    OpcodeClass opcode_class = OpcodeClass::other;
    Pipe pipe = Pipe::by_type;
    std::uint8_t sources = 0;  // that it reads, whatever its type and form; 0: that depends on these
    std::uint16_t traits = 0;  // of the enumeration below

    [[nodiscard]] bool has(unsigned trait) const { return (traits & trait) != 0; }
};

enum OpcodeTrait : std::uint16_t {
    no_result = 1,       // it writes none of its operands
    result_by_form = 2,  // ... in some of its forms
    reads_result = 4,    // it reads the operand that it writes as well
    leaves = 8,          // ends the thread, or its stay in the function
    jumps = 16,          // bra, brx
    suspends = 32,       // its path may be put aside, and others of the warp or block go on
    is_video = 64,       // operands may be a byte or half of a register
    takes_carry = 128,   // adds what the condition code holds
    takes_stack_pointer = 256,
    sets_stack_pointer = 512,
};

[[nodiscard]] const OpcodeInfo& info(Opcode opcode);

[[nodiscard]] bool is_pure(Opcode opcode);
// Each lane's result is made from the lane's own operands and nothing else.
[[nodiscard]] bool is_elementwise(const Instruction& instruction);
[[nodiscard]] bool has(const Instruction& instruction, std::string_view suffix);  // "sync", "L2::cache_hint"
[[nodiscard]] bool ends_block(Opcode opcode);
[[nodiscard]] bool is_load(const Instruction& instruction);  // ld, ldu
// Others may see it, or change what it sees, while the kernel runs.
[[nodiscard]] bool is_ordered(const Instruction& instruction);

[[nodiscard]] bool reads(const Instruction& instruction, State state);
[[nodiscard]] bool writes(const Instruction& instruction, State state);

}  // namespace trimtab::ptx
