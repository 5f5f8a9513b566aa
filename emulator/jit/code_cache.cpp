#include "emulator/jit/code_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#define XXH_INLINE_ALL
#include <xxhash.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace trimtab::emulator::jit {
namespace {

// A file: this, the hash of what follows it, and the object.
constexpr std::array<char, 8> magic = {'T', 'R', 'I', 'M', 'J', 'I', 'T', '1'};

}  // namespace

CodeCache CodeCache::of_environment() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache != 0) return CodeCache(std::filesystem::path(cache) / "trimtab" / "code");
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == 0) return CodeCache({});
    return CodeCache(std::filesystem::path(home) / ".cache" / "trimtab" / "code");
}

std::filesystem::path CodeCache::file(const std::string& key) const {
    return folder_ / (key + ".o");
}

std::optional<std::vector<std::byte>> CodeCache::find(const std::string& key) const {
    if (folder_.empty()) return std::nullopt;
    std::ifstream in(file(key), std::ios::binary | std::ios::ate);
    if (!in) return std::nullopt;
    const auto size = static_cast<std::streamoff>(in.tellg());
    constexpr std::streamoff head = magic.size() + sizeof(std::uint64_t);
    if (size <= head) return std::nullopt;
    std::array<char, magic.size()> begins{};
    std::uint64_t hash = 0;
    std::vector<std::byte> object(static_cast<std::size_t>(size - head));
    in.seekg(0);
    in.read(begins.data(), begins.size());
    in.read(reinterpret_cast<char*>(&hash), sizeof hash);
    in.read(reinterpret_cast<char*>(object.data()), static_cast<std::streamsize>(object.size()));
    if (!in || begins != magic || XXH3_64bits(object.data(), object.size()) != hash) return std::nullopt;
    return object;
}

void CodeCache::keep(const std::string& key, std::span<const std::byte> object) const {
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    // Whole or not at all, whoever else writes it.
    const std::filesystem::path temporary = folder_ / fmt::format("{}.{}.tmp", key, getpid());
    {
        std::ofstream out(temporary, std::ios::binary);
        const std::uint64_t hash = XXH3_64bits(object.data(), object.size());
        out.write(magic.data(), magic.size());
        out.write(reinterpret_cast<const char*>(&hash), sizeof hash);
        out.write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
        if (!out) {
            out.close();
            std::filesystem::remove(temporary, ignored);
            return;
        }
    }
    std::filesystem::rename(temporary, file(key), ignored);
    if (ignored) std::filesystem::remove(temporary, ignored);
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
