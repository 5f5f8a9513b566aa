// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is fuzzed: each function takes any bytes, and nothing may crash, hang or read what is not its own.
// Each is a libFuzzer program of its own (scripts/fuzz.sh); the corpus is replayed by a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trimtab::fuzz {

using Input = std::span<const std::byte>;

// PTX text: parsed, linked, described, loaded, every kernel run for a while.
void fuzz_ptx(Input input);
// Fat binaries, cubins and what describes them.
void fuzz_fat_binary(Input input);
// JSON: descriptions, profiles, fits, devices, reports, records of binaries.
void fuzz_json(Input input);
// A launch of a known kernel: its shape, and the bytes of its parameters.
void fuzz_launch(Input input);

}  // namespace trimtab::fuzz
