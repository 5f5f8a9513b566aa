// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One PTX instruction on many operands.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace trimtab::emulator::test {

// `text` reads %a, %b, %c (and %p, which holds a's lowest bit; %e, a fourth 32-bit operand) and writes %d, of
// the given widths in bytes. Registers of other widths that it may use as it likes: %h0-%h3 (16 bits),
// %w0-%w3 (32), %l0-%l3 (64), %q0-%q3 (predicates).
struct Widths {
    unsigned d = 4, a = 4, b = 4, c = 4;
};
struct Operands {
    std::uint64_t a = 0, b = 0, c = 0, e = 0;
};

// The result for each of the operands. Runs the instruction twice, on full warps and under a guard that holds
// in odd lanes alone, and fails the test where the two differ or the guard is not obeyed.
[[nodiscard]] std::vector<std::uint64_t> run_instruction(const std::string& text, const Widths& widths,
                                                         std::span<const Operands> operands);

using Reference = std::function<std::uint64_t(const Operands&)>;
// Expects `text` to compute `reference`.
void expect_instruction(const std::string& text, const Widths& widths, std::span<const Operands> operands,
                        const Reference& reference);

// Every combination of values that tend to be wrong, for integers of `bits` bits.
[[nodiscard]] std::vector<Operands> integer_operands(unsigned bits, unsigned b_bits, unsigned c_bits);
[[nodiscard]] std::vector<Operands> f32_operands(unsigned arity);
[[nodiscard]] std::vector<Operands> f64_operands(unsigned arity);

}  // namespace trimtab::emulator::test
