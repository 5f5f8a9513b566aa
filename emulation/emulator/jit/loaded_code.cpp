// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/loaded_code.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace trimtab::emulator::jit {
namespace {

std::unexpected<Error> bad(const std::string& what) {
    return std::unexpected(Error{"compiled code cannot be loaded: " + what, ""});
}

// Reads that stay within the object.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    template <class T>
    [[nodiscard]] bool read(std::uint64_t offset, T& out) const {
        if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
        std::memcpy(&out, bytes_.data() + offset, sizeof(T));
        return true;
    }
    [[nodiscard]] std::span<const std::byte> part(std::uint64_t offset, std::uint64_t size) const {
        if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
        return bytes_.subspan(offset, size);
    }
    // Element `index` of a section that is a table of them.
    template <class T>
    [[nodiscard]] bool read(const Elf64_Shdr& section, std::uint64_t index, T& out) const {
        const auto table = part(section.sh_offset, section.sh_size);
        return index < table.size() / sizeof(T) && Reader(table).read(index * sizeof(T), out);
    }
    [[nodiscard]] std::string text(const Elf64_Shdr& section, std::uint64_t offset) const {
        const auto all = part(section.sh_offset, section.sh_size);
        std::string made;
        for (; offset < all.size() && all[offset] != std::byte{0}; offset++)
            made += static_cast<char>(all[offset]);
        return made;
    }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace

std::expected<std::unique_ptr<LoadedCode>, Error> LoadedCode::load(std::span<const std::byte> object) {
#if !defined(__x86_64__)
    (void)object;
    return bad("this processor is not x86-64");
#else
    const Reader reader(object);
    Elf64_Ehdr header;
    if (!reader.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_machine != EM_X86_64 || header.e_type != ET_REL) {
        return bad("not an object file for this processor");
    }
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    const Reader headers(reader.part(header.e_shoff, sections.size() * sizeof(Elf64_Shdr)));
    for (std::size_t i = 0; i < sections.size(); i++) {
        if (!headers.read(i * sizeof(Elf64_Shdr), sections[i])) return bad("it is cut short");
    }
    // Everything in one piece: distances between the sections are known when it is loaded.
    std::vector<std::uint64_t> place(sections.size(), ~std::uint64_t{0});
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < sections.size(); i++) {
        const Elf64_Shdr& section = sections[i];
        if ((section.sh_flags & SHF_ALLOC) == 0) continue;
        if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_WRITE) != 0) {
            if (section.sh_size == 0 || section.sh_type == SHT_X86_64_UNWIND) continue;  // nothing unwinds it
            return bad("it has data of its own");
        }
        if (section.sh_size != 0 && reader.part(section.sh_offset, section.sh_size).empty())
            return bad("it is cut short");
        const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 64);
        if (alignment > 4096 || !std::has_single_bit(alignment)) return bad("its alignment");
        size = (size + alignment - 1) / alignment * alignment;
        place[i] = size;
        size += section.sh_size;
    }
    std::unique_ptr<LoadedCode> made(new LoadedCode);
    made->size_ = (size + 4095) / 4096 * 4096 + 4096;
    void* memory = mmap(nullptr, made->size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return bad("no memory");
    made->memory_ = static_cast<std::byte*>(memory);
    for (std::size_t i = 0; i < sections.size(); i++) {
        if (place[i] == ~std::uint64_t{0} || sections[i].sh_size == 0) continue;
        const auto bytes = reader.part(sections[i].sh_offset, sections[i].sh_size);
        std::memcpy(made->memory_ + place[i], bytes.data(), bytes.size());
    }
    for (const Elf64_Shdr& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); i++) {
            Elf64_Sym symbol;
            if (!reader.read(section, i, symbol)) return bad("it is cut short");
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx >= place.size() ||
                place[symbol.st_shndx] == ~std::uint64_t{0} ||
                symbol.st_value >= sections[symbol.st_shndx].sh_size) {
                continue;
            }
            const std::string name = reader.text(sections[section.sh_link], symbol.st_name);
            made->symbols_[name] = made->memory_ + place[symbol.st_shndx] + symbol.st_value;
        }
    }
    for (const Elf64_Shdr& section : sections) {
        // Those of unwinding tables are for sections that were left out.
        if (section.sh_type != SHT_RELA || section.sh_info >= place.size() ||
            place[section.sh_info] == ~std::uint64_t{0} || section.sh_link >= sections.size()) {
            continue;
        }
        const Elf64_Shdr& symbols = sections[section.sh_link];
        const std::uint64_t room = sections[section.sh_info].sh_size;
        for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Rela); i++) {
            Elf64_Rela relocation;
            Elf64_Sym symbol;
            if (!reader.read(section, i, relocation) ||
                !reader.read(symbols, ELF64_R_SYM(relocation.r_info), symbol)) {
                return bad("it is cut short");
            }
            if (symbol.st_shndx >= place.size() || place[symbol.st_shndx] == ~std::uint64_t{0}) {
                const std::string name = symbols.sh_link < sections.size()
                                             ? reader.text(sections[symbols.sh_link], symbol.st_name)
                                             : std::string();
                return bad("it refers to '" + name + "'");
            }
            const auto kind = ELF64_R_TYPE(relocation.r_info);
            const bool is_distance = kind == R_X86_64_PC32 || kind == R_X86_64_PLT32;
            if (!is_distance && kind != R_X86_64_64)
                return bad("a relocation of kind " + std::to_string(kind));
            const std::uint64_t bytes = is_distance ? 4 : 8;
            if (relocation.r_offset > room || bytes > room - relocation.r_offset)
                return bad("a relocation outside its section");
            std::byte* where = made->memory_ + place[section.sh_info] + relocation.r_offset;
            std::uint64_t value = reinterpret_cast<std::uint64_t>(made->memory_) + place[symbol.st_shndx] +
                                  symbol.st_value + static_cast<std::uint64_t>(relocation.r_addend);
            if (is_distance) {
                value -= reinterpret_cast<std::uint64_t>(where);
                if (static_cast<std::uint64_t>(static_cast<std::int32_t>(value)) != value)
                    return bad("a relocation out of range");
            }
            std::memcpy(where, &value, bytes);
        }
    }
    if (mprotect(memory, made->size_, PROT_READ | PROT_EXEC) != 0) return bad("the system forbids it");
    return made;
#endif
}

LoadedCode::~LoadedCode() {
    if (memory_ != nullptr) munmap(memory_, size_);
}

const void* LoadedCode::symbol(const std::string& name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? nullptr : found->second;
}

}  // namespace trimtab::emulator::jit
