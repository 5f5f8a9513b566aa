// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX that a cubin carries along, in a section of its own: the emulator runs nothing else. Programs that ask ptxas for machine
// code get such a cubin where the emulator stands in for the GPU (runtime/stand_in/assembler.cpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trimtab::ptx {

// A copy of the cubin that carries the text; nullopt: this is no ELF file whose sections can be read.
[[nodiscard]] std::optional<std::vector<std::byte>> with_carried_ptx(std::span<const std::byte> cubin,
                                                                     std::string_view text);

// What a cubin in memory carries, its final NUL included; empty: nothing. As many bytes are read as its headers name, at most
// `known_bytes`, which is SIZE_MAX where nobody knows.
[[nodiscard]] std::span<const std::byte> carried_ptx(const std::byte* cubin, std::size_t known_bytes);

}  // namespace trimtab::ptx
