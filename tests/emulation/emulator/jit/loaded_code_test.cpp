// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled code as it is kept and loaded.
#include "emulation/emulator/jit/loaded_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <span>

#include "emulation/emulator/jit/code_cache.h"
#include "tests/emulation/emulator/jit/compiled.h"

namespace trimtab::emulator::test {
namespace {

TEST_F(Compiled, ComesFromTheCacheTheSecondTime) {
    std::vector<std::uint32_t> data(1000);
    std::iota(data.begin(), data.end(), 0u);
    HostMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{1000});
    for (const std::uint32_t factor : {3u, 9u}) {
        const auto program = load(scale);
        run(*program, memory, "scale", {{8, 1, 1}, {128, 1, 1}, 0, 2}, parameters);
        EXPECT_TRUE(is_compiled(*program, "scale", {128, 1, 1}));
        EXPECT_EQ(cached_objects(), 1u);
        for (std::uint32_t i = 0; i < data.size(); i++) ASSERT_EQ(data[i], i * factor);
    }
}

TEST_F(Compiled, DamagedCacheFilesAreMadeAgain) {
    std::vector<std::uint32_t> data(64, 1);
    HostMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{64});
    run(*load(scale), memory, "scale", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "trimtab" / "code"))
        std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) / 2);
    const auto program = load(scale);
    run(*program, memory, "scale", {{1, 1, 1}, {64, 1, 1}, 0, 1}, parameters);
    EXPECT_TRUE(is_compiled(*program, "scale", {64, 1, 1}));
    EXPECT_EQ(data, std::vector<std::uint32_t>(64, 9));
}

// Of the object's section headers and, in those of type SHT_RELA, its relocations.
std::vector<std::size_t> places_of_relocations(std::span<const std::byte> object) {
    Elf64_Ehdr header;
    std::memcpy(&header, object.data(), sizeof header);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section, target;
        std::memcpy(&section, object.data() + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_RELA) continue;
        std::memcpy(&target, object.data() + header.e_shoff + section.sh_info * sizeof target, sizeof target);
        if ((target.sh_flags & SHF_ALLOC) == 0 || target.sh_type != SHT_PROGBITS) continue;
        for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Rela))
            places.push_back(section.sh_offset + at);
    }
    return places;
}

TEST_F(Compiled, ObjectsThatLieAreNotLoaded) {
    const trimtab_dim3 block{64, 1, 1};
    // Its lanes' offsets are constants that the code refers to.
    ASSERT_FALSE(outputs(kernel_of("mul.lo.s32 %r2, %r0, 7;"), "compiled", block).empty());
    ASSERT_EQ(cached_objects(), 1u);
    const auto file = *std::filesystem::directory_iterator(folder_ / "trimtab" / "code");
    const auto object = jit::CodeCache::of_environment().find(file.path().stem());
    ASSERT_TRUE(object.has_value());
    ASSERT_TRUE(jit::LoadedCode::load(*object).has_value());
    const auto places = places_of_relocations(*object);
    ASSERT_FALSE(places.empty());
    for (const std::uint64_t offset : {~std::uint64_t{0}, ~std::uint64_t{0} - 3, ~std::uint64_t{0} - 7,
                                       std::uint64_t{1} << 63, std::uint64_t{1} << 32}) {
        auto changed = *object;
        std::memcpy(changed.data() + places.front() + offsetof(Elf64_Rela, r_offset), &offset, sizeof offset);
        EXPECT_FALSE(jit::LoadedCode::load(changed).has_value()) << offset;
        changed = *object;
        std::memcpy(changed.data() + places.front() + offsetof(Elf64_Rela, r_addend), &offset, sizeof offset);
        const bool reaches_it =
            static_cast<std::int64_t>(offset) >= -8 && static_cast<std::int64_t>(offset) < 0;
        EXPECT_EQ(jit::LoadedCode::load(changed).has_value(), reaches_it) << offset;
    }
    // Any byte that is not what it was, and any end: loaded or refused, and nothing else touched.
    for (std::size_t at = 0; at < object->size(); at++) {
        auto changed = *object;
        for (const int value : {0x00, 0x7f, 0xff}) {
            changed[at] = static_cast<std::byte>(value);
            (void)jit::LoadedCode::load(changed);
        }
        if (at % 16 == 0) (void)jit::LoadedCode::load(std::span(*object).first(at));
    }
}

TEST(LoadedCode, WhatIsNoObjectIsAnError) {
    std::vector<std::byte> bytes(200, std::byte{7});
    EXPECT_FALSE(jit::LoadedCode::load(bytes).has_value());
    EXPECT_FALSE(jit::LoadedCode::load({}).has_value());
}

}  // namespace
}  // namespace trimtab::emulator::test
