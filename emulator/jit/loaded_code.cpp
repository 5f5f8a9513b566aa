#include "emulator/jit/loaded_code.h"

#include <elf.h>
#include <sys/mman.h>

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
    [[nodiscard]] std::string text(std::uint64_t offset) const {
        std::string made;
        for (; offset < bytes_.size() && bytes_[offset] != std::byte{0}; offset++)
            made += static_cast<char>(bytes_[offset]);
        return made;
    }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace

std::expected<std::unique_ptr<LoadedCode>, Error> LoadedCode::load(std::span<const std::byte> object) {
#if !defined(__x86_64__)
    (void)object;
    return bad("this processor is no x86-64");
#else
    const Reader reader(object);
    Elf64_Ehdr header;
    if (!reader.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_machine != EM_X86_64 || header.e_type != ET_REL) {
        return bad("no object of this processor");
    }
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    for (std::size_t i = 0; i < sections.size(); i++) {
        if (!reader.read(header.e_shoff + i * sizeof(Elf64_Shdr), sections[i])) return bad("it is cut short");
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
        const std::uint64_t alignment = section.sh_addralign < 64 ? 64 : section.sh_addralign;
        if (alignment > 4096) return bad("its alignment");
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
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            if (!reader.read(section.sh_offset + at, symbol)) return bad("it is cut short");
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx >= place.size() ||
                place[symbol.st_shndx] == ~std::uint64_t{0} ||
                symbol.st_value >= sections[symbol.st_shndx].sh_size) {
                continue;
            }
            const std::string name = reader.text(sections[section.sh_link].sh_offset + symbol.st_name);
            made->symbols_[name] = made->memory_ + place[symbol.st_shndx] + symbol.st_value;
        }
    }
    for (const Elf64_Shdr& section : sections) {
        // Those of unwinding tables are for sections that were left out.
        if (section.sh_type != SHT_RELA || section.sh_info >= place.size() ||
            place[section.sh_info] == ~std::uint64_t{0} || section.sh_link >= sections.size()) {
            continue;
        }
        for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
            Elf64_Rela relocation;
            Elf64_Sym symbol;
            if (!reader.read(section.sh_offset + at, relocation) ||
                !reader.read(
                    sections[section.sh_link].sh_offset + ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym),
                    symbol)) {
                return bad("it is cut short");
            }
            if (symbol.st_shndx >= place.size() || place[symbol.st_shndx] == ~std::uint64_t{0}) {
                const std::string name =
                    reader.text(sections[sections[section.sh_link].sh_link].sh_offset + symbol.st_name);
                return bad("it refers to '" + name + "'");
            }
            if (relocation.r_offset + 8 > sections[section.sh_info].sh_size + 4) return bad("a relocation");
            std::byte* where = made->memory_ + place[section.sh_info] + relocation.r_offset;
            const auto target = reinterpret_cast<std::uint64_t>(made->memory_) + place[symbol.st_shndx] +
                                symbol.st_value + static_cast<std::uint64_t>(relocation.r_addend);
            switch (ELF64_R_TYPE(relocation.r_info)) {
                case R_X86_64_PC32:
                case R_X86_64_PLT32: {
                    const auto distance =
                        static_cast<std::uint32_t>(target - reinterpret_cast<std::uint64_t>(where));
                    std::memcpy(where, &distance, sizeof distance);
                    break;
                }
                case R_X86_64_64:
                    if (relocation.r_offset + 8 > sections[section.sh_info].sh_size)
                        return bad("a relocation");
                    std::memcpy(where, &target, sizeof target);
                    break;
                default:
                    return bad("a relocation of kind " + std::to_string(ELF64_R_TYPE(relocation.r_info)));
            }
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
