// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/code_cache.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>

#include "core/base/cache_path.h"
#include "core/base/kept_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace trimtab::emulator::jit {

CodeCache CodeCache::of_environment() {
    return CodeCache(base::cache_path("code"), Limits{});
}

std::optional<std::vector<std::byte>> CodeCache::find(const std::string& key) const {
    constexpr std::size_t most_bytes = std::size_t{256} << 20;
    if (folder_.empty()) return std::nullopt;
    const auto sealed = base::read_sealed(file(key), most_bytes, key);
    if (!sealed || !*sealed) return std::nullopt;
    const auto bytes = (*sealed)->bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void CodeCache::keep(const std::string& key, std::span<const std::byte> object) const {
    constexpr unsigned prune_every = 64;
    if (folder_.empty() || !base::make_private_folder(folder_)) return;
    if (!base::write_sealed(file(key), object, key)) return;
    static std::atomic<unsigned> kept = 0;
    if (kept.fetch_add(1) % prune_every == 0) prune();
}

void CodeCache::prune() const {
    if (!folder_.empty()) base::prune_oldest(folder_, limits_.files, limits_.bytes);
}

const std::string& processor_hash() {
    static const std::string made = [] {
        std::array<unsigned, 4 * 16> words{};
#if defined(__x86_64__)
        std::size_t at = 0;
        const auto ask = [&](unsigned leaf, unsigned sub) {
            unsigned* w = &words[at];
            at += 4;
            if (__get_cpuid_count(leaf, sub, &w[0], &w[1], &w[2], &w[3]) == 0) std::memset(w, 0, 16);
            // Which of the cores answered is no property of the processor.
            if (leaf == 1) w[1] = 0;
        };
        ask(0, 0);
        ask(1, 0);
        ask(7, 0);
        ask(7, 1);
        ask(0x80000001u, 0);
#endif
        return fmt::format("{:016x}", XXH3_64bits(words.data(), sizeof words));
    }();
    return made;
}

}  // namespace trimtab::emulator::jit
