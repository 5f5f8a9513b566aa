// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every form of instruction that the emulator is asked to run.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace trimtab::emulator::test {

// `text` is an instruction in which $t is each of the types in turn. $d, $a, $b, $c are registers of that
// type's width, $D of twice the width; $h, $w, $l, $q are registers of 16, 32, 64 and 128 bits, $p and $P
// predicates, $G a global and $S a shared address, $s a symbol of shared memory.
struct Form {
    const char* group;
    const char* text;
    const char* types;
};

[[nodiscard]] std::span<const Form> instruction_forms();
[[nodiscard]] std::vector<std::string> split(const std::string& text);  // at blanks; at least one, if empty
[[nodiscard]] std::string instantiated(const std::string& text, const std::string& type);

// What `instantiated` instructions name.
inline constexpr const char* form_registers =
    ".reg .pred %p<2>; .reg .b16 %x16_<8>; .reg .b32 %x32_<16>; .reg .b64 %x64_<8>; .reg .b128 %x128_<8>;\n";

}  // namespace trimtab::emulator::test
