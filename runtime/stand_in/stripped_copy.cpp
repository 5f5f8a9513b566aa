// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/stand_in/stripped_copy.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>

#include "runtime/stand_in/loaded_library.h"

namespace trimtab::runtime {
namespace {

// Written by scripts/static_runtimes.py, where these two are chosen.
constexpr std::size_t start_bytes = 6;
constexpr std::size_t alignment_bytes = 16;

struct StaticRuntime {
    const char* version = nullptr;
    std::size_t code_bytes = 0;
    std::size_t stretch_offset = 0, stretch_bytes = 0;  // which no linker changes
    std::array<std::uint64_t, 2> stretch_start{};       // its first bytes
    std::uint64_t stretch_hash = 0, starts_hash = 0;    // the latter: of the functions' first bytes
};

constexpr auto runtimes = std::to_array<StaticRuntime>({
#define RUNTIME(version, bytes, offset, length, first, second, hash, starts) \
    {version, bytes, offset, length, {first, second}, hash, starts},
#include "runtime/stand_in/static_runtimes.def"
});

struct Function {
    const char* name = nullptr;
    std::array<std::uint16_t, runtimes.size()> offsets{};  // in units of their alignment
};

constexpr auto functions = std::to_array<Function>({
#define FUNCTION(name, ...) {name, {__VA_ARGS__}},
#include "runtime/stand_in/static_runtimes.def"
});

// FNV-1a.
std::uint64_t hashed(std::span<const std::byte> bytes, std::uint64_t value = 0xcbf29ce484222325) {
    for (const std::byte byte : bytes) value = (value ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    return value;
}

// `code` starts where that runtime's would.
bool is_code_of(std::size_t index, std::span<const std::byte> code) {
    const StaticRuntime& runtime = runtimes[index];
    if (hashed(code.subspan(runtime.stretch_offset, runtime.stretch_bytes)) != runtime.stretch_hash)
        return false;
    std::uint64_t starts = hashed({});
    for (const Function& function : functions)
        starts = hashed(code.subspan(function.offsets[index] * alignment_bytes, start_bytes), starts);
    return starts == runtime.starts_hash;
}

std::vector<ptx::ElfSymbol> symbols_at(std::size_t index, std::uint64_t offset) {
    std::vector<ptx::ElfSymbol> out;
    for (const Function& function : functions)
        out.push_back({.name = function.name,
                       .type = STT_FUNC,
                       .section = SHN_ABS,
                       .value = offset + function.offsets[index] * alignment_bytes,
                       .size_bytes = alignment_bytes});
    return out;
}

// An object that does not import this holds no copy, and need not be searched: few others do.
bool may_hold_runtime(const link_map& object) {
    using namespace std::string_view_literals;
    return LoadedLibrary(object).strings().contains("dlvsym\0"sv);
}

std::vector<ElfW(Phdr)> program_headers(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    ElfW(Ehdr) header;
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        return {};
    std::vector<ElfW(Phdr)> out(header.e_phnum);
    if (!file.seekg(static_cast<std::streamoff>(header.e_phoff)) ||
        !file.read(reinterpret_cast<char*>(out.data()),
                   static_cast<std::streamsize>(out.size() * sizeof(ElfW(Phdr)))))
        return {};
    return out;
}

}  // namespace

std::vector<ptx::ElfSymbol> find_runtime_functions(std::span<const std::byte> code) {
    for (std::size_t index = 0; index < runtimes.size(); ++index) {
        const StaticRuntime& runtime = runtimes[index];
        std::array<std::byte, sizeof runtime.stretch_start> start;
        std::memcpy(start.data(), runtime.stretch_start.data(), start.size());
        const std::boyer_moore_horspool_searcher searcher(start.begin(), start.end());
        for (auto at = code.begin();; ++at) {
            at = std::search(at, code.end(), searcher);
            if (at == code.end()) break;
            const auto offset = static_cast<std::size_t>(at - code.begin());
            if (offset < runtime.stretch_offset) continue;
            const std::size_t first = offset - runtime.stretch_offset;
            if (first + runtime.code_bytes > code.size()) break;
            if (is_code_of(index, code.subspan(first))) return symbols_at(index, first);
        }
    }
    return {};
}

std::vector<ptx::ElfSymbol> find_runtime_functions(const link_map& object, const std::string& path) {
    if (!may_hold_runtime(object)) return {};
    for (const ElfW(Phdr) & header : program_headers(path)) {
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || (header.p_flags & PF_R) == 0)
            continue;
        const auto* code = reinterpret_cast<const std::byte*>(object.l_addr + header.p_vaddr);
        std::vector<ptx::ElfSymbol> out = find_runtime_functions({code, header.p_filesz});
        for (ptx::ElfSymbol& symbol : out) symbol.value += header.p_vaddr;
        if (!out.empty()) return out;
    }
    return {};
}

}  // namespace trimtab::runtime
