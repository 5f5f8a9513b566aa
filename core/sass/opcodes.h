// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an opcode of SASS does: the pipe that takes it, the memory that it accesses.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace trimtab::sass {

enum class Pipe : std::uint8_t {
    fp32,
    fp64,
    fp16,
    integer,           // the ALU: adds, logic, shifts, comparisons, selections, moves
    multiply_add,      // integer multiply-adds, which share the FP32 pipe's multipliers
    special_function,  // MUFU, and the conversions that its unit does
    load_store,        // requests to memory of any space, shuffles too
    texture,
    tensor,
    uniform,  // once a warp
    branch,   // control flow, convergence barriers
    other     // block barriers, fences, special registers, what the table does not know
};
inline constexpr std::size_t pipe_count = static_cast<std::size_t>(Pipe::other) + 1;
[[nodiscard]] std::string_view name(Pipe pipe);

enum class Space : std::uint8_t { none, global, generic, shared, local, constant, texture };
[[nodiscard]] std::string_view name(Space space);

enum class Access : std::uint8_t {
    none,
    load,
    store,
    atomic,     // with a result or without
    copy,       // global to shared, without a register between
    load_pack,  // LDSM: a matrix, eight bytes a lane and register
};

struct OpcodeInfo {
    std::string_view name;  // without its modifiers
    Pipe pipe = Pipe::other;
    Space space = Space::none;
    Access access = Access::none;
    // Leading operands that are written: registers, and predicates that stand before or behind them.
    std::uint8_t register_results = 1, predicate_results = 0;
};

// By the opcode's first part ("LDG" of "LDG.E.64"); nullptr where it is not known.
[[nodiscard]] const OpcodeInfo* opcode_info(std::string_view opcode);

}  // namespace trimtab::sass
