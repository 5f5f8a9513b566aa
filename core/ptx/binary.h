// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fat binaries, cubins and ELF files: where PTX and ptxas's numbers are found in programs of clang and nvcc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::ptx {

// What ptxas decided for one kernel, read from a cubin.
struct KernelResources {
    std::uint32_t registers_per_thread = 0;
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;  // stack frame and spills
    std::uint32_t max_threads_per_block = 0;   // 0: not stated
    std::uint32_t code_bytes = 0;
};

struct FatBinaryImage {
    enum class Kind : std::uint8_t { ptx, cubin };
    Kind kind = Kind::ptx;
    unsigned architecture = 0;      // 75 for sm_75
    std::string architecture_name;  // "sm_75", "sm_90a"
    std::vector<std::byte> bytes;   // decompressed; PTX without a trailing NUL
    std::string compression;        // "none", "lz4", "zstd"
};

struct FatBinary {
    std::vector<FatBinaryImage> images;
    std::string hash;  // 16 hex digits: XXH3 over the fat binary as it lies in the file, header included; of
                       // several containers over the first, which is what the runtime is handed
};

// One fat binary from memory (it starts with the magic 0xba55ed50; several concatenated containers are one).
// `origin` names it in errors, which give the byte offset.
[[nodiscard]] std::expected<FatBinary, Error> read_fat_binary(std::span<const std::byte> bytes,
                                                              const std::string& origin);

// Does it begin as a fat binary does?
[[nodiscard]] bool is_fat_binary(std::span<const std::byte> bytes);

// The hash alone, quick enough for a program's start: `bytes` begins at the magic; its length is in its
// header.
[[nodiscard]] std::expected<std::string, Error> fat_binary_hash(const std::byte* bytes);

// Every fat binary in an ELF object, executable or shared library (.nv_fatbin, and the like of nvcc's
// relocatable code).
[[nodiscard]] std::expected<std::vector<FatBinary>, Error> read_fat_binaries(const std::string& path);

// Kernel name -> resources, from a cubin (ELF of machine EM_CUDA): .nv.info, .text.*, .nv.shared.*.
[[nodiscard]] std::expected<std::map<std::string, KernelResources>, Error> read_cubin(
    std::span<const std::byte> cubin, const std::string& origin);

// The bytes of a named section of an ELF file; nullopt where it has none. All sections of that name, in
// order, joined.
[[nodiscard]] std::expected<std::optional<std::vector<std::byte>>, Error> read_elf_section(
    const std::string& path, const std::string& section);
[[nodiscard]] bool is_elf(const std::string& path);

}  // namespace trimtab::ptx
