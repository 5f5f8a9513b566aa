// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/carried_ptx.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "core/ptx/elf.h"

namespace {

using trimtab::ptx::carried_ptx;
using trimtab::ptx::with_carried_ptx;

// A file of two sections: none, and the names.
std::vector<std::byte> small_file() {
    constexpr std::string_view names{"\0.names", 8};
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 2;
    header.e_shstrndx = 1;
    header.e_shoff = sizeof header + names.size();
    Elf64_Shdr sections[2]{};
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = sizeof header;
    sections[1].sh_size = names.size();
    std::vector<std::byte> out(header.e_shoff + sizeof sections);
    std::memcpy(out.data(), &header, sizeof header);
    std::memcpy(out.data() + sizeof header, names.data(), names.size());
    std::memcpy(out.data() + header.e_shoff, sections, sizeof sections);
    return out;
}

TEST(CarriedPtxTest, IsReadBackAndLeavesTheOtherSections) {
    const std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n";
    const auto file = small_file();
    EXPECT_TRUE(carried_ptx(file.data(), file.size()).empty());
    const auto carrying = with_carried_ptx(file, text);
    ASSERT_TRUE(carrying);
    const auto found = carried_ptx(carrying->data(), SIZE_MAX);
    ASSERT_EQ(found.size(), text.size() + 1);
    EXPECT_EQ(std::memcmp(found.data(), text.c_str(), found.size()), 0);

    const auto elf = trimtab::ptx::ElfFile::from_memory(*carrying, "test");
    ASSERT_TRUE(elf);
    ASSERT_EQ(elf->sections().size(), 3);
    EXPECT_EQ(elf->sections()[1].name, ".names");
    EXPECT_EQ(elf->sections()[2].size_bytes, text.size() + 1);
}

TEST(CarriedPtxTest, NothingIsReadPastTheEndOfADamagedFile) {
    const std::vector<std::byte> whole = *with_carried_ptx(small_file(), ".version 9.0\n");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_TRUE(carried_ptx(part.data(), part.size()).empty()) << size;
        EXPECT_FALSE(with_carried_ptx(part, "text")) << size;
    }
    std::mt19937 random(1);
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::byte> file = whole;
        for (int i = 0; i < 3; ++i) file[random() % file.size()] = static_cast<std::byte>(random());
        const auto found = carried_ptx(file.data(), file.size());
        if (!found.empty()) {
            EXPECT_GE(found.data(), file.data());
            EXPECT_LE(found.data() + found.size(), file.data() + file.size());
        }
        static_cast<void>(with_carried_ptx(file, "text"));
    }
    EXPECT_TRUE(carried_ptx(reinterpret_cast<const std::byte*>(".version"), SIZE_MAX).empty());
}

}  // namespace
