// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/elf.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "core/ptx/binary.h"

namespace trimtab::ptx {
namespace {

// Bytes may lie anywhere in the file: structs are copied out of it.
template <class T>
T read_struct(std::span<const std::byte> from) {
    T out{};
    std::memcpy(&out, from.data(), sizeof out);
    return out;
}

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
    const auto header = read(0, std::min<std::uint64_t>(sizeof(Elf64_Ehdr), size_), "the ELF header");
    if (!header) return std::unexpected(header.error());
    const std::span<const std::byte> h = *header;
    if (h.size() < SELFMAG || std::memcmp(h.data(), ELFMAG, SELFMAG) != 0) {
        return std::unexpected(error("this is no ELF file"));
    }
    if (h.size() < sizeof(Elf64_Ehdr))
        return std::unexpected(error("the file is cut short inside its ELF header"));
    const auto known = read_struct<Elf64_Ehdr>(h);
    if (known.e_ident[EI_CLASS] != ELFCLASS64 || known.e_ident[EI_DATA] != ELFDATA2LSB) {
        return std::unexpected(error("this is no ELF file of 64 bits, little-endian"));
    }
    os_abi = known.e_ident[EI_OSABI];
    type = known.e_type;
    machine = known.e_machine;
    flags = known.e_flags;
    const std::uint64_t table_offset = known.e_shoff;
    if (table_offset == 0) return {};
    if (known.e_shentsize != sizeof(Elf64_Shdr)) {
        return std::unexpected(error("its section headers have an unknown size"));
    }
    std::uint64_t count = known.e_shnum, names = known.e_shstrndx;
    const auto first = read(table_offset, sizeof(Elf64_Shdr), "the section table");
    if (!first) return std::unexpected(first.error());
    // Where the counts do not fit their fields, the first section has them (gABI, "Sections").
    if (count == 0) count = read_struct<Elf64_Shdr>(*first).sh_size;
    if (names == SHN_XINDEX) names = read_struct<Elf64_Shdr>(*first).sh_link;
    if (count > size_ / sizeof(Elf64_Shdr))
        return std::unexpected(error("it claims more sections than it can hold"));
    const auto table = read(table_offset, count * sizeof(Elf64_Shdr), "the section table");
    if (!table) return std::unexpected(table.error());
    std::vector<std::uint32_t> name_offsets;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto s = read_struct<Elf64_Shdr>(std::span(*table).subspan(i * sizeof(Elf64_Shdr)));
        name_offsets.push_back(s.sh_name);
        ElfSection section;
        section.type = s.sh_type;
        section.offset = s.sh_offset;
        section.size_bytes = s.sh_size;
        section.link = s.sh_link;
        section.info = s.sh_info;
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
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [](const ElfSection& section) { return section.type == SHT_SYMTAB; });
    std::vector<ElfSymbol> out;
    if (found == sections_.end()) return out;
    if (found->link >= sections_.size()) return std::unexpected(error("its symbols have no names"));
    const auto table = contents(*found);
    if (!table) return std::unexpected(table.error());
    const auto strings = contents(sections_[found->link]);
    if (!strings) return std::unexpected(strings.error());
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table->size(); at += sizeof(Elf64_Sym)) {
        const auto s = read_struct<Elf64_Sym>(std::span(*table).subspan(at));
        ElfSymbol symbol;
        symbol.name = elf_string(*strings, s.st_name);
        symbol.type = ELF64_ST_TYPE(s.st_info);
        symbol.other = s.st_other;
        symbol.section = s.st_shndx;
        symbol.value = s.st_value;
        symbol.size_bytes = s.st_size;
        out.push_back(std::move(symbol));
    }
    return out;
}

bool is_elf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, SELFMAG> start{};
    return file.read(start.data(), start.size()) && std::memcmp(start.data(), ELFMAG, SELFMAG) == 0;
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
