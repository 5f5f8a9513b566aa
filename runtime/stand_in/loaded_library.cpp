// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/stand_in/loaded_library.h"

#include <elf.h>

#include <cstdint>
#include <span>

namespace trimtab::runtime {

LoadedLibrary::LoadedLibrary(const dl_phdr_info& object) : base_(object.dlpi_addr) {
    for (const ElfW(Phdr) & header : std::span(object.dlpi_phdr, object.dlpi_phnum))
        if (header.p_type == PT_DYNAMIC)
            dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
}

// What a dynamic section says, as an address: the loader may have added the object's base already.
template <typename T>
const T* LoadedLibrary::table(ElfW(Sxword) tag) const {
    for (const ElfW(Dyn)* at = dynamic_; at != nullptr && at->d_tag != DT_NULL; ++at) {
        if (at->d_tag != tag) continue;
        const ElfW(Addr) address = at->d_un.d_ptr;
        return reinterpret_cast<const T*>(address < base_ ? address + base_ : address);
    }
    return nullptr;
}

std::string_view LoadedLibrary::soname() const {
    const auto* names = table<char>(DT_STRTAB);
    for (const ElfW(Dyn)* at = dynamic_; names != nullptr && at->d_tag != DT_NULL; ++at)
        if (at->d_tag == DT_SONAME) return names + at->d_un.d_val;
    return {};
}

std::string_view LoadedLibrary::strings() const {
    const auto* first = table<char>(DT_STRTAB);
    for (const ElfW(Dyn)* at = dynamic_; first != nullptr && at->d_tag != DT_NULL; ++at)
        if (at->d_tag == DT_STRSZ) return {first, at->d_un.d_val};
    return {};
}

void* LoadedLibrary::find(std::string_view function) const {
    const auto* symbols = table<ElfW(Sym)>(DT_SYMTAB);
    const auto* names = table<char>(DT_STRTAB);
    const auto* hashes = table<std::uint32_t>(DT_GNU_HASH);
    if (symbols == nullptr || names == nullptr || hashes == nullptr || hashes[0] == 0) return nullptr;
    std::uint32_t hash = 5381;
    for (const char c : function) hash = hash * 33 + static_cast<unsigned char>(c);
    const std::uint32_t bucket_count = hashes[0], first_symbol = hashes[1], filter_words = hashes[2];
    const std::uint32_t* buckets = hashes + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* chain = buckets + bucket_count;
    std::uint32_t index = buckets[hash % bucket_count];
    if (index < first_symbol) return nullptr;
    for (;; ++index) {
        const std::uint32_t other = chain[index - first_symbol];
        const ElfW(Sym) & symbol = symbols[index];
        if ((other | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF && function == names + symbol.st_name)
            return reinterpret_cast<void*>(base_ + symbol.st_value);
        if ((other & 1) != 0) return nullptr;
    }
}

}  // namespace trimtab::runtime
