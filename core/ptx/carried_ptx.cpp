// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/carried_ptx.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace trimtab::ptx {
namespace {

constexpr char section_text[] = ".trimtab_ptx";
constexpr std::string_view section_name{section_text, sizeof section_text};  // with its NUL

struct Headers {
    Elf64_Ehdr file{};
    std::vector<Elf64_Shdr> sections;
};

bool fits(std::uint64_t offset, std::uint64_t size, std::size_t known_bytes) {
    return offset <= known_bytes && size <= known_bytes - offset;
}

std::optional<Headers> headers_of(const std::byte* image, std::size_t known_bytes) {
    Headers out;
    // Before anything behind it is read: another image may be shorter than these headers.
    if (known_bytes < SELFMAG || std::memcmp(image, ELFMAG, SELFMAG) != 0 ||
        !fits(0, sizeof out.file, known_bytes))
        return std::nullopt;
    std::memcpy(&out.file, image, sizeof out.file);
    const Elf64_Ehdr& file = out.file;
    if (file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_ident[EI_DATA] != ELFDATA2LSB ||
        file.e_shentsize != sizeof(Elf64_Shdr) || file.e_shnum == 0 || file.e_shstrndx >= file.e_shnum ||
        !fits(file.e_shoff, file.e_shnum * sizeof(Elf64_Shdr), known_bytes))
        return std::nullopt;
    out.sections.resize(file.e_shnum);
    std::memcpy(out.sections.data(), image + file.e_shoff, out.sections.size() * sizeof(Elf64_Shdr));
    return out;
}

std::uint64_t append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    while (to.size() % alignof(Elf64_Shdr) != 0) to.push_back(std::byte{0});
    const std::uint64_t offset = to.size();
    to.insert(to.end(), bytes.begin(), bytes.end());
    return offset;
}

}  // namespace

// What was there keeps its place: the text, the names of all sections and their headers follow.
std::optional<std::vector<std::byte>> with_carried_ptx(std::span<const std::byte> cubin,
                                                       std::string_view text) {
    auto headers = headers_of(cubin.data(), cubin.size());
    if (!headers || headers->file.e_shnum + 1U >= SHN_LORESERVE) return std::nullopt;
    Elf64_Shdr& names = headers->sections[headers->file.e_shstrndx];
    if (names.sh_type != SHT_STRTAB || !fits(names.sh_offset, names.sh_size, cubin.size()))
        return std::nullopt;
    std::vector<std::byte> out(cubin.begin(), cubin.end());
    Elf64_Shdr carried{};
    carried.sh_name = static_cast<Elf64_Word>(names.sh_size);
    carried.sh_type = SHT_PROGBITS;
    carried.sh_addralign = 1;
    carried.sh_offset = append(out, std::as_bytes(std::span(text)));
    out.push_back(std::byte{0});
    carried.sh_size = text.size() + 1;
    names.sh_offset = append(out, cubin.subspan(names.sh_offset, names.sh_size));
    out.insert(out.end(), reinterpret_cast<const std::byte*>(section_name.data()),
               reinterpret_cast<const std::byte*>(section_name.data() + section_name.size()));
    names.sh_size += section_name.size();
    headers->sections.push_back(carried);
    headers->file.e_shoff = append(out, std::as_bytes(std::span(headers->sections)));
    ++headers->file.e_shnum;
    std::memcpy(out.data(), &headers->file, sizeof headers->file);
    return out;
}

std::span<const std::byte> carried_ptx(const std::byte* cubin, std::size_t known_bytes) {
    const auto headers = headers_of(cubin, known_bytes);
    if (!headers) return {};
    const Elf64_Shdr& names = headers->sections[headers->file.e_shstrndx];
    for (const Elf64_Shdr& section : headers->sections) {
        if (!fits(section.sh_name, section_name.size(), names.sh_size) ||
            !fits(names.sh_offset, names.sh_size, known_bytes) ||
            std::memcmp(cubin + names.sh_offset + section.sh_name, section_name.data(),
                        section_name.size()) != 0)
            continue;
        if (section.sh_size == 0 || !fits(section.sh_offset, section.sh_size, known_bytes) ||
            cubin[section.sh_offset + section.sh_size - 1] != std::byte{0})
            return {};
        return {cubin + section.sh_offset, section.sh_size};
    }
    return {};
}

}  // namespace trimtab::ptx
