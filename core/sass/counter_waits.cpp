// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/counter_waits.h"

#include <charconv>

namespace trimtab::sass {
namespace {

// 5 of "SB5", 2 of "0x2".
std::uint8_t number(std::string_view text) {
    int base = 10;
    if (text.starts_with("SB")) text.remove_prefix(2);
    if (text.starts_with("0x")) {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint8_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

void add_named(const Instruction& i, std::vector<CounterWait>& out) {
    for (std::size_t o = 0; o < i.operands.size(); ++o) {
        const std::string_view operand = i.operands[o];
        if (operand.starts_with("SB") && number(operand) < barrier_count) {
            const bool has_count = o + 1 < i.operands.size() && i.operands[o + 1].starts_with("0x");
            out.push_back({.counter = number(operand),
                           .left = has_count ? number(i.operands[o + 1]) : std::uint8_t{0}});
        } else if (operand.starts_with('{')) {
            for (const char c : operand)
                if (c >= '0' && c < '0' + barrier_count)
                    out.push_back({.counter = static_cast<std::uint8_t>(c - '0')});
        }
    }
}

}  // namespace

std::vector<CounterWait> counter_waits(const Instruction& instruction) {
    std::vector<CounterWait> out;
    for (std::uint8_t counter = 0; counter < barrier_count; ++counter)
        if (instruction.control.waits_for(counter)) out.push_back({.counter = counter});
    if (instruction.base() == "DEPBAR") add_named(instruction, out);
    return out;
}

}  // namespace trimtab::sass
