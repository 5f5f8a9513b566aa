// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lowered instruction: what the interpreter's loop runs.
#pragma once

#include <cstdint>

namespace trimtab::emulator {

struct Op;
struct Warp;

inline constexpr std::uint32_t warp_lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffffu;

// Runs `op` on the warp's active lanes and returns the next one; nullptr stops the warp: it waits, it has
// exited, it gave up its time slice, or it faulted (Warp::stop).
using Handler = const Op* (*)(Warp & warp, const Op* op);

// One lane of an instruction that is not worth vectorising: operands zero-extended to 64 bits.
using ScalarFunction = std::uint64_t (*)(const Op& op, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                         std::uint64_t e);

// Where an operand's 32 lanes lie: a base in the two upper bits and a byte offset from it. A predicate is one
// 32-bit mask; everything else is an array of 32 elements of the register's width.
using OperandRef = std::uint32_t;
enum class Base : std::uint32_t {
    registers,   // of the current frame
    constants,   // of the current function: immediates, repeated for each lane
    specials,    // of the warp: %tid.x and the like
    parameters,  // of the launch: kernel parameters, repeated for each lane
};
inline constexpr std::uint32_t base_shift = 30;
[[nodiscard]] constexpr OperandRef operand_ref(Base base, std::uint32_t offset) {
    return (static_cast<std::uint32_t>(base) << base_shift) | offset;
}
inline constexpr OperandRef no_operand = 0xffffffffu;

struct alignas(64) Op {
    Handler run = nullptr;
    OperandRef d = no_operand, a = no_operand, b = no_operand, c = no_operand;
    std::uint64_t imm = 0;
    union {
        const void* info = nullptr;  // MemoryInfo, CallInfo, ... by handler
        const Op* target;            // branches
        ScalarFunction scalar;
        Handler inner;  // what a wrapper runs
    };
    std::uint32_t index = 0;    // of the PTX instruction in its function
    OperandRef e = no_operand;  // a second destination or a fourth source
    std::uint32_t cost = 0;     // branches: instructions since the last one, for the launch's limit
    std::uint8_t d_bytes = 0, a_bytes = 0, b_bytes = 0,
                 c_bytes = 0;  // widths, 0 of a predicate: scalar functions
    [[nodiscard]] const void* data() const { return info; }
};
static_assert(sizeof(Op) == 64);

}  // namespace trimtab::emulator
