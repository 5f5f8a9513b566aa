// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction of SASS, read from nvdisasm's text.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "core/sass/encoding.h"
#include "core/sass/opcodes.h"
#include "trimtab/error.h"

namespace trimtab::sass {

enum class RegisterFile : std::uint8_t {
    general,            // R0 ...
    predicate,          // P0 to P6
    uniform,            // UR0 ..., one value a warp
    uniform_predicate,  // UP0 to UP6
};
[[nodiscard]] std::string_view name(RegisterFile file);

// Consecutive registers: a pair for 64 bits, four for 128. RZ, PT and their like hold no value and are none.
struct RegisterRange {
    RegisterFile file = RegisterFile::general;
    std::uint16_t first = 0, count = 1;
    friend bool operator==(const RegisterRange&, const RegisterRange&) = default;
};

struct Guard {
    bool is_there = false, negated = false;
    RegisterRange reg{};  // count 0: PT, always true, or never where it is negated
};

struct Instruction {
    std::uint32_t address = 0;  // in its function, bytes
    std::uint32_t line = 0;     // of the PTX text, from 1; 0: ptxas made it of none
    Guard guard;
    std::string opcode;                 // "LDG.E.64"
    std::vector<std::string> operands;  // as written, without .reuse: "R2", "[R4.64+0x10]", "c[0x0][0x160]"
    const OpcodeInfo* info = nullptr;   // nullptr: an opcode that is not in the table
    std::uint32_t access_bytes = 0;     // of a lane; 0: no access to memory
    std::vector<RegisterRange> reads, writes;  // the guard is read, too
    std::uint32_t target = no_target;          // address that it may go to
    std::uint8_t reused_operands = 0;          // so many are marked .reuse in the text
    Encoding encoding;
    ControlFields control;

    static constexpr std::uint32_t no_target = 0xffffffffu;

    [[nodiscard]] std::string_view base() const {
        return std::string_view(opcode).substr(0, opcode.find('.'));
    }
    [[nodiscard]] bool has_modifier(std::string_view modifier) const;
    [[nodiscard]] Pipe pipe() const { return info != nullptr ? info->pipe : Pipe::other; }
    [[nodiscard]] Space space() const { return info != nullptr ? info->space : Space::none; }
    [[nodiscard]] Access access() const { return info != nullptr ? info->access : Access::none; }
    [[nodiscard]] bool is_load() const {
        return access() == Access::load || access() == Access::load_pack ||
               (access() == Access::atomic && !writes.empty());
    }
    [[nodiscard]] bool is_call() const { return base() == "CALL" || base() == "CAL" || base() == "JCAL"; }
    // Maxwell and Pascal: a warp has a stack of addresses, to which these push theirs ...
    [[nodiscard]] bool pushes_target() const {
        return base() == "SSY" || base() == "PBK" || base() == "PCNT";
    }
    // ... and which these go to.
    [[nodiscard]] bool pops_target() const { return base() == "SYNC" || base() == "BRK" || base() == "CONT"; }
    // Global memory, or what may be.
    [[nodiscard]] bool is_global() const { return space() == Space::global || space() == Space::generic; }
    // "@!P0 LDG.E R0, [R2.64]".
    [[nodiscard]] std::string text() const;
};

// "@P0 LDG.E.64 R4, [R2.64+0x8]" as nvdisasm writes it, without the final semicolon: guard, opcode, operands.
// The error says what is wrong with it.
[[nodiscard]] std::expected<Instruction, Error> read_instruction(std::string_view text);

// Fills in what follows from opcode and operands: access_bytes, reads, writes.
void find_registers(Instruction& instruction);

}  // namespace trimtab::sass
