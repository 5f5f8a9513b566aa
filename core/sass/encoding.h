// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The control fields of a 128-bit instruction: what ptxas tells the hardware about when to issue it.
//
// Volta and what came after it leave hazards to the compiler. Where the fields lie was found by
// micro-benchmarks: Z. Jia, M. Maggioni, B. Staiger and D. P. Scarpazza, "Dissecting the NVIDIA Volta GPU
// Architecture via Microbenchmarking" (2018), section 2.1.
#pragma once

#include <array>
#include <cstdint>

namespace trimtab::sass {

// A warp's scoreboard has six counters: an instruction of unknown latency takes one, a later one waits for
// it.
inline constexpr std::uint8_t barrier_count = 6;
inline constexpr std::uint8_t no_barrier = 7;

struct ControlFields {
    std::uint8_t stall_cycles = 0;            // before the warp's next instruction may issue, 0 to 15
    bool may_switch = false;                  // the scheduler is asked to turn to another warp
    std::uint8_t write_barrier = no_barrier;  // set until the results are written
    std::uint8_t read_barrier = no_barrier;   // set until the operands are read
    std::uint8_t wait_mask = 0;               // bit b: waits for barrier b before it issues
    std::uint8_t reuse_mask = 0;              // bit s: operand slot s stays in the operand cache

    [[nodiscard]] bool waits_for(std::uint8_t barrier) const { return (wait_mask >> barrier & 1) != 0; }
    friend bool operator==(const ControlFields&, const ControlFields&) = default;
};

struct Encoding {
    std::uint64_t low = 0, high = 0;
    friend bool operator==(const Encoding&, const Encoding&) = default;
};
inline constexpr std::uint32_t instruction_bytes = 16;
// What has this form of encoding.
inline constexpr unsigned least_architecture = 70;

// One field: bits [first, first + count) of the 128.
struct EncodedField {
    const char* name;
    std::uint8_t first, count;
};
[[nodiscard]] const std::array<EncodedField, 6>& control_field_table();
[[nodiscard]] std::uint64_t field(const Encoding& encoding, const EncodedField& where);
[[nodiscard]] ControlFields control_fields(const Encoding& encoding);

}  // namespace trimtab::sass
