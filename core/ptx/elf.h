// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ELF files of 64 bits, little-endian: host programs and cubins. Every offset is checked against the file's
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::ptx {

struct ElfSection {
    std::string name;
    std::uint32_t type = 0, info = 0, link = 0;
    std::uint64_t offset = 0, size_bytes = 0;

    [[nodiscard]] bool occupies_file() const { return type != 0 && type != 8; }  // SHT_NULL, SHT_NOBITS
};

struct ElfSymbol {
    std::string name;
    std::uint8_t type = 0;   // STT_FUNC is 2
    std::uint8_t other = 0;  // st_other
    std::uint16_t section = 0;
    std::uint64_t value = 0, size_bytes = 0;
};

class ElfFile {
  public:
    // Reads headers; contents when they are asked for.
    [[nodiscard]] static std::expected<ElfFile, Error> open(const std::string& path);
    // `bytes` must outlive the object.
    [[nodiscard]] static std::expected<ElfFile, Error> from_memory(std::span<const std::byte> bytes,
                                                                   const std::string& origin);

    [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
    [[nodiscard]] std::expected<std::vector<std::byte>, Error> contents(const ElfSection& section) const;
    // Of .symtab, in its order; empty if there is none.
    [[nodiscard]] std::expected<std::vector<ElfSymbol>, Error> symbols() const;

    std::uint8_t os_abi = 0;
    std::uint16_t type = 0, machine = 0;
    std::uint32_t flags = 0;

  private:
    [[nodiscard]] std::expected<void, Error> read_headers();
    [[nodiscard]] std::expected<std::vector<std::byte>, Error> read(std::uint64_t offset, std::uint64_t size,
                                                                    const std::string& what) const;
    [[nodiscard]] Error error(std::string message) const { return {std::move(message), origin_}; }

    std::string origin_;
    std::span<const std::byte> bytes_;     // of an object in memory
    std::shared_ptr<std::ifstream> file_;  // else
    std::uint64_t size_ = 0;
    std::vector<ElfSection> sections_;
};

// The string that starts at `offset` of a string table; "" past its end.
[[nodiscard]] std::string elf_string(std::span<const std::byte> table, std::uint64_t offset);

}  // namespace trimtab::ptx
