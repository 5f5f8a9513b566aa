// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/encoding.h"

namespace trimtab::sass {
namespace {

enum Field : std::uint8_t { stall, no_switch, write_barrier, read_barrier, wait_mask, reuse };
constexpr unsigned control_bits = 21;

}  // namespace

const std::array<EncodedField, 6>& control_field_table() {
    static constexpr std::array<EncodedField, 6> table{{{"stall", 105, 4},
                                                        {"no_switch", 109, 1},
                                                        {"write_barrier", 110, 3},
                                                        {"read_barrier", 113, 3},
                                                        {"wait_mask", 116, 6},
                                                        {"reuse", 122, 4}}};
    return table;
}

std::uint64_t field(const Encoding& encoding, const EncodedField& where) {
    const std::uint64_t mask = (std::uint64_t{1} << where.count) - 1;
    if (where.first >= 64) return encoding.high >> (where.first - 64) & mask;
    std::uint64_t bits = encoding.low >> where.first;
    if (where.first + where.count > 64) bits |= encoding.high << (64 - where.first);
    return bits & mask;
}

ControlFields control_fields(const Encoding& encoding) {
    const auto& table = control_field_table();
    const auto at = [&](Field which) { return static_cast<std::uint8_t>(field(encoding, table[which])); };
    return {.stall_cycles = at(stall),
            .may_switch = at(no_switch) == 0,
            .write_barrier = at(write_barrier),
            .read_barrier = at(read_barrier),
            .wait_mask = at(wait_mask),
            .reuse_mask = at(reuse)};
}

// The same fields in the same order.
ControlFields control_fields(std::uint64_t control_word, std::uint32_t n) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << control_bits) - 1;
    const unsigned first = control_field_table()[stall].first - 64;
    ControlFields fields =
        control_fields({.low = 0, .high = (control_word >> (control_bits * n) & mask) << first});
    // A stall count of none where no switch is asked for (Gray, "Control Codes").
    fields.issues_with_next = fields.stall_cycles == 0 && !fields.may_switch;
    return fields;
}

}  // namespace trimtab::sass
