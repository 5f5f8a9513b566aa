// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The control fields of an instruction: what ptxas tells the hardware about when to issue it.
//
// Maxwell and what came after it leave hazards to the compiler. Where the fields lie was found by
// micro-benchmarks: Z. Jia, M. Maggioni, B. Staiger and D. P. Scarpazza, "Dissecting the NVIDIA Volta GPU
// Architecture via Microbenchmarking" (2018), section 2.1; of Maxwell and Pascal, S. Gray, "maxas" (2014),
// "Control Codes".
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
    bool issues_with_next = false;            // the first of a pair that Maxwell or Pascal issues at once

    [[nodiscard]] bool waits_for(std::uint8_t barrier) const { return (wait_mask >> barrier & 1) != 0; }
    // From its issue to the warp's next.
    [[nodiscard]] std::uint8_t issue_cycles() const {
        return issues_with_next || stall_cycles > 0 ? stall_cycles : std::uint8_t{1};
    }
    friend bool operator==(const ControlFields&, const ControlFields&) = default;
};

struct Encoding {
    std::uint64_t low = 0, high = 0;
    friend bool operator==(const Encoding&, const Encoding&) = default;
};

// How instructions lie in memory.
enum class Layout : std::uint8_t {
    grouped,  // Maxwell, Pascal: three of 8 bytes, behind a word of 8 bytes with the control fields of all three
    whole     // Volta and later: 16 bytes each, which hold the control fields
};
inline constexpr unsigned first_grouped_architecture = 50, first_whole_architecture = 70;
inline constexpr std::uint32_t group_size = 3;  // instructions
[[nodiscard]] constexpr Layout layout_of(unsigned architecture) {
    return architecture < first_whole_architecture ? Layout::grouped : Layout::whole;
}
// Of the n-th instruction of a function; of how many there are, the next one's.
[[nodiscard]] constexpr std::uint32_t address_of(Layout layout, std::uint32_t n) {
    return layout == Layout::whole ? n * 16 : n / group_size * 32 + 8 + n % group_size * 8;
}
// Which instruction stands at that address, or behind it where a control word does.
[[nodiscard]] constexpr std::uint32_t index_at(Layout layout, std::uint32_t address) {
    if (layout == Layout::whole) return address / 16;
    const std::uint32_t word = address % 32 / 8;
    return address / 32 * group_size + (word == 0 ? 0 : word - 1);
}

// One field: bits [first, first + count) of the 128 of a whole instruction.
struct EncodedField {
    const char* name;
    std::uint8_t first, count;
};
[[nodiscard]] const std::array<EncodedField, 6>& control_field_table();
[[nodiscard]] std::uint64_t field(const Encoding& encoding, const EncodedField& where);
[[nodiscard]] ControlFields control_fields(const Encoding& encoding);
// Of the n-th instruction, 0 to 2, behind that control word.
[[nodiscard]] ControlFields control_fields(std::uint64_t control_word, std::uint32_t n);

}  // namespace trimtab::sass
