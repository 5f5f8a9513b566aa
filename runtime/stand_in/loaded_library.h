// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library as the loader has mapped it: its names and functions, read from memory.
#pragma once

#include <link.h>

#include <string_view>

namespace trimtab::runtime {

class LoadedLibrary {
  public:
    explicit LoadedLibrary(const link_map& object) : base_(object.l_addr), dynamic_(object.l_ld) {}
    // As dl_iterate_phdr(3) tells of it.
    explicit LoadedLibrary(const dl_phdr_info& object);

    // The name that it was built under, whatever it was opened by; empty where it has none.
    [[nodiscard]] std::string_view soname() const;
    // Of its dynamic symbols, among others; a null byte ends each.
    [[nodiscard]] std::string_view strings() const;
    // By the GNU hash table; null where it has none, as a program of another linker, or no such function.
    [[nodiscard]] void* find(std::string_view function) const;

  private:
    template <typename T>
    [[nodiscard]] const T* table(ElfW(Sxword) tag) const;

    ElfW(Addr) base_ = 0;
    const ElfW(Dyn) * dynamic_ = nullptr;  // null: it is linked statically
};

}  // namespace trimtab::runtime
