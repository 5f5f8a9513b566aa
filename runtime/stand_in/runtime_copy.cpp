// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/stand_in/runtime_copy.h"

#include <elf.h>

#include <algorithm>
#include <charconv>

#include "runtime/stand_in/jump.h"

namespace trimtab::runtime {
namespace {

constexpr std::uint8_t function_type = STT_FUNC;

bool is_defined_function(const ptx::ElfSymbol& symbol) {
    return symbol.type == function_type && symbol.section != SHN_UNDEF;
}

bool is_of_runtime(std::string_view name) {
    return name.starts_with("cuda") || name.starts_with("__cuda");
}

}  // namespace

bool has_function(const std::vector<ptx::ElfSymbol>& symbols, std::string_view name) {
    return std::any_of(symbols.begin(), symbols.end(), [name](const ptx::ElfSymbol& symbol) {
        return symbol.name == name && symbol.section != SHN_UNDEF;
    });
}

std::vector<CopiedFunction> copied_functions(const std::vector<ptx::ElfSymbol>& symbols) {
    std::vector<std::uint64_t> starts;
    for (const ptx::ElfSymbol& symbol : symbols) {
        if (is_defined_function(symbol)) starts.push_back(symbol.value);
    }
    std::sort(starts.begin(), starts.end());
    std::vector<CopiedFunction> out;
    for (const ptx::ElfSymbol& symbol : symbols) {
        if (!is_defined_function(symbol) || !is_of_runtime(symbol.name)) continue;
        const auto next = std::upper_bound(starts.begin(), starts.end(), symbol.value);
        if (next == starts.end() || *next - symbol.value >= jump_bytes)
            out.push_back({.name = symbol.name, .address = symbol.value});
    }
    return out;
}

// That call went with CUDA 13, and the structure of the other is not what it was.
bool is_replaceable(const std::vector<ptx::ElfSymbol>& symbols) {
    return !has_function(symbols, "cudaGetDeviceProperties_v2");
}

bool hides_runtime(const ptx::ElfFile& file) {
    bool has_device_code = false;
    for (const ptx::ElfSection& section : file.sections()) {
        has_device_code = has_device_code || section.name == ".nv_fatbin";
        if (section.name != ".dynstr") continue;
        const auto names = file.contents(section);
        if (!names) return false;
        const std::string_view text(reinterpret_cast<const char*>(names->data()), names->size());
        if (text.contains("libcudart") || text.contains("libtrimtab")) return false;
    }
    return has_device_code;
}

bool is_older_runtime(std::string_view path) {
    constexpr std::string_view start = "libcudart.so.";
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (!name.starts_with(start)) return false;
    int major = 0;
    const auto [end, error] = std::from_chars(name.data() + start.size(), name.data() + name.size(), major);
    return error == std::errc() && major < 13;
}

}  // namespace trimtab::runtime
