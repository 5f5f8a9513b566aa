// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program hands to cuModuleLoadData and its like: PTX, or a fat binary that may hold some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trimtab::choosing {

struct ModuleImage {
    enum class Kind : std::uint8_t { ptx, fat_binary, none };
    Kind kind = Kind::none;
    std::span<const std::byte> bytes;  // PTX without the NUL that ends it
    std::string hash;                  // 16 hex digits: XXH3 of the bytes
    std::string why_none;
};

// Larger ones are left alone: libraries of thousands of kernels.
inline constexpr std::size_t max_module_bytes = std::size_t{16} << 20;

// An image that CUDA has loaded, and whose end is therefore where its own beginning or a NUL says.
[[nodiscard]] ModuleImage recognise_module(const void* image);
// The same where the size is known, as of a file.
[[nodiscard]] ModuleImage recognise_module(std::span<const std::byte> bytes);

// Of PTX all of whose kernels are compiled for one block each, as Triton's are: why none can have another. Empty: one may, or it is
// not known without reading more than the words of the text.
[[nodiscard]] std::string why_blocks_are_fixed(const ModuleImage& image);

// A file's name says which it is.
[[nodiscard]] std::string_view extension(ModuleImage::Kind kind);

}  // namespace trimtab::choosing
