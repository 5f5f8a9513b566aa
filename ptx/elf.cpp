// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/elf.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "ptx/binary.h"
#include "ptx/byte_reader.h"

namespace trimtab::ptx {
namespace {

constexpr std::uint64_t header_bytes = 64, section_header_bytes = 64, symbol_bytes = 24;
constexpr std::uint32_t section_type_symbols = 2;  // SHT_SYMTAB
constexpr std::array<unsigned char, 4> elf_magic = {0x7f, 'E', 'L', 'F'};

}  // namespace

std::string elf_string(std::span<const std::byte> table, std::uint64_t offset) {
    if (offset >= table.size()) return {};
    const char* start = reinterpret_cast<const char*>(table.data() + offset);
    return {start, strnlen(start, table.size() - offset)};
}

std::expected<ElfFile, Error> ElfFile::open(const std::string& path) {
    ElfFile out;
    out.origin_ = path;
    out.file_ = std::make_shared<std::ifstream>(path, std::ios::binary | std::ios::ate);
    if (!*out.file_) return std::unexpected(out.error("the file cannot be opened"));
    const std::streamoff size = out.file_->tellg();
    if (size < 0 || size == std::numeric_limits<std::streamoff>::max()) {
        return std::unexpected(out.error("this is no file"));
    }
    out.size_ = static_cast<std::uint64_t>(size);
    if (auto read = out.read_headers(); !read) return std::unexpected(std::move(read.error()));
    return out;
}

std::expected<ElfFile, Error> ElfFile::from_memory(std::span<const std::byte> bytes,
                                                   const std::string& origin) {
    ElfFile out;
    out.origin_ = origin;
    out.bytes_ = bytes;
    out.size_ = bytes.size();
    if (auto read = out.read_headers(); !read) return std::unexpected(std::move(read.error()));
    return out;
}

std::expected<std::vector<std::byte>, Error> ElfFile::read(std::uint64_t offset, std::uint64_t size,
                                                           const std::string& what) const {
    if (offset > size_ || size > size_ - offset) {
        return std::unexpected(error("the file is cut short: " + what + " at byte " + std::to_string(offset) +
                                     " needs " + std::to_string(size) + " bytes, the file has " +
                                     std::to_string(size_)));
    }
    if (!file_) {
        const auto part = bytes_.subspan(offset, size);
        return std::vector<std::byte>(part.begin(), part.end());
    }
    std::vector<std::byte> out(size);
    file_->clear();
    file_->seekg(static_cast<std::streamoff>(offset));
    file_->read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(size));
    if (!*file_) return std::unexpected(error(what + " cannot be read"));
    return out;
}

std::expected<void, Error> ElfFile::read_headers() {
    const auto header = read(0, std::min(header_bytes, size_), "the ELF header");
    if (!header) return std::unexpected(header.error());
    const std::span<const std::byte> h = *header;
    if (h.size() < 4 || std::memcmp(h.data(), elf_magic.data(), 4) != 0) {
        return std::unexpected(error("this is no ELF file"));
    }
    if (h.size() < header_bytes) return std::unexpected(error("the file is cut short inside its ELF header"));
    if (h[4] != std::byte{2} || h[5] != std::byte{1}) {
        return std::unexpected(error("this is no ELF file of 64 bits, little-endian"));
    }
    os_abi = static_cast<std::uint8_t>(h[7]);
    type = read_number_at<std::uint16_t>(h, 16);
    machine = read_number_at<std::uint16_t>(h, 18);
    flags = read_number_at<std::uint32_t>(h, 48);
    const auto table_offset = read_number_at<std::uint64_t>(h, 40);
    if (table_offset == 0) return {};
    if (read_number_at<std::uint16_t>(h, 58) != section_header_bytes) {
        return std::unexpected(error("its section headers have an unknown size"));
    }
    std::uint64_t count = read_number_at<std::uint16_t>(h, 60), names = read_number_at<std::uint16_t>(h, 62);
    const auto first = read(table_offset, section_header_bytes, "the section table");
    if (!first) return std::unexpected(first.error());
    // Where the counts do not fit their fields, the first section has them (gABI, "Sections").
    if (count == 0) count = read_number_at<std::uint64_t>(*first, 32);
    if (names == 0xffff) names = read_number_at<std::uint32_t>(*first, 40);
    if (count > size_ / section_header_bytes)
        return std::unexpected(error("it claims more sections than it can hold"));
    const auto table = read(table_offset, count * section_header_bytes, "the section table");
    if (!table) return std::unexpected(table.error());
    std::vector<std::uint32_t> name_offsets;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto s = std::span(*table).subspan(i * section_header_bytes, section_header_bytes);
        ElfSection section;
        name_offsets.push_back(read_number_at<std::uint32_t>(s, 0));
        section.type = read_number_at<std::uint32_t>(s, 4);
        section.offset = read_number_at<std::uint64_t>(s, 24);
        section.size_bytes = read_number_at<std::uint64_t>(s, 32);
        section.link = read_number_at<std::uint32_t>(s, 40);
        section.info = read_number_at<std::uint32_t>(s, 44);
        sections_.push_back(std::move(section));
    }
    if (names >= count) return std::unexpected(error("its sections have no names"));
    const auto strings = contents(sections_[names]);
    if (!strings) return std::unexpected(strings.error());
    for (std::uint64_t i = 0; i < count; ++i) sections_[i].name = elf_string(*strings, name_offsets[i]);
    return {};
}

std::expected<std::vector<std::byte>, Error> ElfFile::contents(const ElfSection& section) const {
    if (!section.occupies_file()) return std::vector<std::byte>{};
    return read(section.offset, section.size_bytes, "section '" + section.name + "'");
}

std::expected<std::vector<ElfSymbol>, Error> ElfFile::symbols() const {
    const auto found = std::find_if(sections_.begin(), sections_.end(), [](const ElfSection& section) {
        return section.type == section_type_symbols;
    });
    std::vector<ElfSymbol> out;
    if (found == sections_.end()) return out;
    if (found->link >= sections_.size()) return std::unexpected(error("its symbols have no names"));
    const auto table = contents(*found);
    if (!table) return std::unexpected(table.error());
    const auto strings = contents(sections_[found->link]);
    if (!strings) return std::unexpected(strings.error());
    for (std::size_t at = 0; at + symbol_bytes <= table->size(); at += symbol_bytes) {
        const auto s = std::span(*table).subspan(at, symbol_bytes);
        ElfSymbol symbol;
        symbol.name = elf_string(*strings, read_number_at<std::uint32_t>(s, 0));
        symbol.type = static_cast<std::uint8_t>(s[4]) & 15u;
        symbol.other = static_cast<std::uint8_t>(s[5]);
        symbol.section = read_number_at<std::uint16_t>(s, 6);
        symbol.value = read_number_at<std::uint64_t>(s, 8);
        symbol.size_bytes = read_number_at<std::uint64_t>(s, 16);
        out.push_back(std::move(symbol));
    }
    return out;
}

bool is_elf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 4> start{};
    return file.read(start.data(), start.size()) && std::memcmp(start.data(), elf_magic.data(), 4) == 0;
}

std::expected<std::optional<std::vector<std::byte>>, Error> read_elf_section(const std::string& path,
                                                                             const std::string& section) {
    const auto elf = ElfFile::open(path);
    if (!elf) return std::unexpected(elf.error());
    std::optional<std::vector<std::byte>> out;
    for (const ElfSection& candidate : elf->sections()) {
        if (candidate.name != section) continue;
        const auto part = elf->contents(candidate);
        if (!part) return std::unexpected(part.error());
        if (!out) out.emplace();
        out->insert(out->end(), part->begin(), part->end());
    }
    return out;
}

}  // namespace trimtab::ptx
